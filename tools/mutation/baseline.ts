/**
 * What the tests do without a mutant: which of them pass, how long each file takes, and what it runs. Kept on disk by the
 * text of the test file, so that another run asks only the files that are new.
 */
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { coverageOf, type Parts } from './coverage.ts';
import type { Workbench } from './workbench.ts';

/** What one test file runs. */
export interface TestFile {
  readonly file: string;
  /** Hash of its text. */
  readonly text: string;
  readonly ms: number;
  readonly parts: Readonly<Record<string, Parts>>;
  /** Hashes of the sources that `parts` is about, as they were then. */
  readonly sources: Readonly<Record<string, string>>;
}

export type Baseline = ReadonlyMap<string, TestFile>;

/** A file that takes longer without a mutant is none for mutants. */
const limitMs = 600_000;
const storeName = 'baseline.jsonl';

/** A short name of a text. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/**
 * Runs each of the files that `directory` does not know with its present text, on all workbenches at once, and keeps there what
 * comes of it. Files that fail are left out, and said so.
 * @param folders whose sources are of interest, from the root
 */
export async function takeBaseline(
  benches: readonly Workbench[],
  files: readonly string[],
  folders: readonly string[],
  directory: string,
): Promise<Baseline> {
  const known = readBaseline(directory);
  const tests = new Map<string, TestFile>();
  const waiting = [...files];
  const work = async (bench: Workbench): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      const old = known.get(file);
      const isSame = old?.text === hashOf(bench.tree.read(file));
      const taken = isSame ? old : await takeFile(bench, file, folders);
      if (taken === undefined) console.log(`left out, as it fails without a mutant: ${file}`);
      else tests.set(file, taken);
      if (taken !== undefined && taken !== old)
        appendFileSync(join(directory, storeName), `${JSON.stringify(taken)}\n`);
    }
  };
  await Promise.all(benches.map(work));
  return tests;
}

async function takeFile(bench: Workbench, file: string, folders: readonly string[]): Promise<TestFile | undefined> {
  const { root } = bench.tree;
  const { outcome, parts } = await coverageOf(root, folders, (environment) => bench.run(file, limitMs, environment));
  if (outcome.status !== 'passed') return undefined;
  const sources = Object.fromEntries(Object.keys(parts).map((path) => [path, hashOf(bench.tree.read(path))]));
  return { file, text: hashOf(bench.tree.read(file)), ms: outcome.ms, parts, sources };
}

/** What earlier runs have kept in the directory; nothing where there was none. */
export function readBaseline(directory: string): Baseline {
  const path = join(directory, storeName);
  if (!existsSync(path)) return new Map();
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n').filter(Boolean);
  return new Map(
    lines.map((line) => {
      const test: TestFile = JSON.parse(line);
      return [test.file, test] as const;
    }),
  );
}
