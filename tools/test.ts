/**
 * Runs the tests: `npm test`, or `npm test -- FILTER … [--verbose]` for the files whose path contains a filter.
 * One embedded PostgreSQL serves the whole run; each test file makes databases of its own in it.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { run } from 'node:test';
import { parseArgs } from 'node:util';
import { type TestEvent, testReport } from './testing/report.ts';
import { testFiles } from './testing/test-files.ts';

interface TestCluster {
  /** What test files find in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

/** Longest time of one test, in ms; of one file: testing/end-in-time.mjs. */
const testTimeoutMs = 5 * 60_000;
/** Longest time without any result, in ms: then a file blocks its process, and the run is given up. */
const silenceMaxMs = 12 * 60_000;
const concurrency = Math.min(3, Math.max(2, availableParallelism()));
const root = join(import.meta.dirname, '..');
const interruptedExitCode = 130;

const { values, positionals } = parseArgs({ allowPositionals: true, options: { verbose: { type: 'boolean' } } });
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());

const files = testFiles(root, positionals);
if (typeof files === 'string') {
  console.error(files);
  process.exitCode = 1;
} else {
  forgetSettings();
  process.exitCode = await runAll(files);
}

/** Tests neither follow the settings of the shell they were started in nor touch the database that it names. */
function forgetSettings(): void {
  for (const name of Object.keys(process.env)) {
    const isSetting = name === 'DATABASE_URL' || name.startsWith('PRAXIS_') || name.startsWith('PG');
    if (isSetting && !name.startsWith('PRAXIS_TEST_')) delete process.env[name];
  }
}

async function startCluster(): Promise<TestCluster | undefined> {
  const file = join(root, 'packages/server/test/support/cluster.ts');
  if (!existsSync(file)) return undefined;
  const support: { startTestCluster(): Promise<TestCluster> } = await import(file);
  return support.startTestCluster();
}

async function runAll(paths: readonly string[]): Promise<number> {
  const cluster = paths.some((path) => path.startsWith('packages/server/')) ? await startCluster() : undefined;
  try {
    Object.assign(process.env, cluster?.environment);
    const isPassed = await runTests(paths);
    if (stopping.signal.aborted) return interruptedExitCode;
    return isPassed ? 0 : 1;
  } finally {
    await cluster?.stop();
  }
}

async function runTests(paths: readonly string[]): Promise<boolean> {
  const report = testReport(root, (line) => console.log(line), values.verbose ?? false);
  let isPassed = true;
  const silence = setTimeout(() => stopping.abort(), silenceMaxMs);
  const events: AsyncIterable<TestEvent> = run({
    files: paths.map((path) => join(root, path)),
    concurrency,
    timeout: testTimeoutMs,
    execArgv: ['--import', new URL('./testing/end-in-time.mjs', import.meta.url).href],
    signal: stopping.signal,
  });
  for await (const event of events) {
    silence.refresh();
    report.handle(event);
    if (event.type === 'test:summary' && !event.data.success) isPassed = false;
    if (event.type === 'test:fail') isPassed = false;
  }
  clearTimeout(silence);
  report.end();
  return isPassed;
}
