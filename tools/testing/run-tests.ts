/** Runs test files: each in a process of its own, or many that need no database in few processes. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import type { TestEvent } from './report.ts';
import { eventsByFile } from './shared-process.ts';

/** Longest time of one test, in ms; of one file: end-in-time.mjs. */
const testTimeoutMs = 5 * 60_000;
const shard = join(import.meta.dirname, 'shard.ts');

export interface Run {
  readonly root: string;
  /** Processes at once. */
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly handle: (event: TestEvent) => void;
}

/** One process per file. */
export async function runApart(paths: readonly string[], options: Run): Promise<void> {
  if (paths.length === 0) return;
  const { root, concurrency } = options;
  await pass({ files: paths.map((path) => join(root, path)), concurrency }, options, options.handle);
}

/** As many processes as may be at once, among which the files are shared out as each gets on. */
export async function runTogether(paths: readonly string[], options: Run): Promise<void> {
  if (paths.length === 0) return;
  const claims = mkdtempSync(join(tmpdir(), 'praxis-claims-'));
  const argv = [claims, ...paths.map((path) => join(options.root, path))];
  try {
    const shards = Array.from({ length: Math.min(options.concurrency, paths.length) }, () =>
      pass({ files: [shard], argv }, options, eventsByFile(shard, options.handle)),
    );
    await Promise.all(shards);
  } finally {
    rmSync(claims, { recursive: true });
  }
}

async function pass(
  what: NonNullable<Parameters<typeof run>[0]>,
  { signal }: Run,
  handle: (event: TestEvent) => void,
): Promise<void> {
  const events: AsyncIterable<TestEvent> = run({
    ...what,
    timeout: testTimeoutMs,
    execArgv: ['--import', new URL('./end-in-time.mjs', import.meta.url).href],
    signal,
  });
  for await (const event of events) handle(event);
}
