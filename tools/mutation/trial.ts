/** Tries one mutant: puts it into the copied tree, asks the tests that run it one by one, and takes it out again. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type Baseline, hashOf } from './baseline.ts';
import { ran } from './coverage.ts';
import type { Mutant } from './mutants.ts';
import type { Result } from './results.ts';
import type { Candidate, Experience } from './test-order.ts';
import type { Outcome } from './test-process.ts';
import type { Workbench } from './workbench.ts';

/** Beyond this many times its usual time, and at least this long, a test file hangs. Other work may slow it down. */
const slowness = 6;
const patienceMs = 15_000;
/** A test file that fails after so many times its usual time is asked again. */
const late = 2;

export interface Trial {
  readonly baseline: Baseline;
  readonly experience: Experience;
  /** Test files after which a mutant that none has noticed is left as a survivor, for this run. */
  readonly testsMax: number;
}

/**
 * What comes of the mutant. Tests that it has survived in an earlier run are not asked again unless their text is another.
 * @param known of an earlier run
 */
export async function tryMutant(
  bench: Workbench,
  mutant: Mutant,
  { baseline, experience, testsMax }: Trial,
  known: Result | undefined,
): Promise<Result> {
  const original = bench.tree.read(mutant.file);
  const covering = testsFor(mutant, original, baseline);
  const base = { id: mutant.id, covering: covering.length };
  if (covering.length === 0) return { ...base, status: 'uncovered', passed: {}, ms: 0 };
  const passed: Record<string, string> = { ...known?.passed };
  const isAsked = ({ file }: Candidate): boolean => passed[file] !== baseline.get(file)?.text;
  let ms = known?.ms ?? 0;
  return await withMutant(bench, mutant, async () => {
    const ordered = experience.order(mutant.file, original, covering.filter(isAsked));
    for (const { file, ms: usualMs } of ordered.slice(0, testsMax)) {
      const outcome = await ask(bench, file, usualMs);
      ms += outcome.ms;
      if (outcome.status !== 'passed') {
        const by = { file, test: outcome.failed ?? file, isTimeout: outcome.status === 'timeout' };
        return { ...base, status: 'killed', by, passed, ms };
      }
      passed[file] = baseline.get(file)?.text ?? '';
    }
    return { ...base, status: 'survived', passed, ms, ...(known?.isTyped === true ? { isTyped: true } : {}) };
  });
}

/** A survivor, as one that the type check of every change refuses or as one that it accepts. */
export async function checkTypes(bench: Workbench, mutant: Mutant, survivor: Result): Promise<Result> {
  const isSound = await withMutant(bench, mutant, () => typesAreSound(bench.tree.root));
  return isSound ? { ...survivor, isTyped: true } : { ...survivor, status: 'refused' };
}

async function withMutant<T>({ tree }: Workbench, mutant: Mutant, work: () => Promise<T>): Promise<T> {
  const original = tree.read(mutant.file);
  tree.write(mutant.file, original.slice(0, mutant.start) + mutant.replacement + original.slice(mutant.end));
  try {
    return await work();
  } finally {
    tree.write(mutant.file, original);
  }
}

/** A failure that comes late may be one of a busy machine: then the second answer counts. */
async function ask(bench: Workbench, file: string, usualMs: number): Promise<Outcome> {
  const limitMs = usualMs * slowness + patienceMs;
  const first = await bench.run(file, limitMs);
  if (first.status === 'passed' || first.ms < usualMs * late) return first;
  const second = await bench.run(file, limitMs);
  return { ...second, ms: first.ms + second.ms };
}

/** Whether there are tests left that a survivor was not asked by. */
export function isUnfinished(mutant: Mutant, text: string, baseline: Baseline, known: Result | undefined): boolean {
  if (known === undefined) return true;
  if (known.status !== 'survived' && known.status !== 'uncovered') return false;
  return testsFor(mutant, text, baseline).some(({ file }) => known.passed[file] !== baseline.get(file)?.text);
}

/** Test files that run the place; where the source is not that of their coverage, those that run anything of the file. */
function testsFor(mutant: Mutant, text: string, baseline: Baseline): readonly Candidate[] {
  const hash = hashOf(text);
  return [...baseline.values()].filter(({ parts, sources }) => {
    const own = parts[mutant.file];
    return sources[mutant.file] === hash ? ran(own, mutant.start) : own !== undefined;
  });
}

/** As `npm run check` asks it. */
function typesAreSound(root: string): Promise<boolean> {
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const child = spawn(process.execPath, [compiler, '--project', '.', '--noEmit'], { cwd: root, stdio: 'ignore' });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0));
  });
}
