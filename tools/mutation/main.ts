/**
 * `npm run mutation [-- options]`: changes the sources of access/, search/ and engine/ one small mistake at a time, in a
 * copy, and counts how many of these mutants the tests notice. docs/decisions/0174-mutants-are-sampled-and-survivors-explained.md
 *
 *     --mutants N       how many to try, the same number in each folder (480)
 *     --seed S          which (1)
 *     --folder F …      only these folders
 *     --workers N       how many are tried at once (2); one alone while the machine is busy with other work
 *     --tests N         test files that are asked about a mutant in one run: what none of them notices is a survivor (8)
 *     --only TEXT       only mutants whose id, or file:line, begins with it; the report is not written
 *     --survivors       only what earlier runs have left as survivors without an explanation, for instance after a test was added
 *     --state DIR       where coverage and results are kept, from which the next run goes on (a directory for temporary files)
 *     --fresh           forget them
 *     --kept            try nothing: write the report from what is kept
 *     --report FILE     where the report goes (docs/contribute/mutation.md where all folders are tried)
 */
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { filterTestFiles, findTestFiles } from '../testing/test-files.ts';
import { readBaseline, takeBaseline } from './baseline.ts';
import { accessExplained } from './explained/access.ts';
import { engineExplained } from './explained/engine.ts';
import { searchExplained } from './explained/search.ts';
import { changeText, explanationOf, sourcesFolder } from './explanation.ts';
import { type Mutant, mutantsOf, sampleOf } from './mutants.ts';
import { reportText } from './report.ts';
import { keepResult, type Result, readResults } from './results.ts';
import { newExperience } from './test-order.ts';
import { checkTypes, isUnfinished, type Trial, tryMutant } from './trial.ts';
import { openWorkbench, type Workbench } from './workbench.ts';

const root = join(import.meta.dirname, '../..');
const allFolders = ['access', 'search', 'engine'];
const explanations = [...accessExplained, ...searchExplained, ...engineExplained];

/** They start servers or processes of their own, which would outlive a test that is ended early; and one that takes minutes. */
const leftOutTests = [
  'test/cli/',
  'test/durability/',
  'database/embedded-',
  'http/shutdown',
  'oauth/client-libraries',
  'history-replay-long',
];

/** How long a worker waits before it looks again whether the machine is idle. */
const busyPauseMs = 5000;

const { values } = parseArgs({
  options: {
    mutants: { type: 'string', default: '480' },
    seed: { type: 'string', default: '1' },
    folder: { type: 'string', multiple: true, default: allFolders },
    workers: { type: 'string', default: '2' },
    tests: { type: 'string', default: '8' },
    only: { type: 'string' },
    survivors: { type: 'boolean', default: false },
    state: { type: 'string', default: join(tmpdir(), 'praxis-mutation') },
    fresh: { type: 'boolean', default: false },
    kept: { type: 'boolean', default: false },
    report: { type: 'string' },
  },
});

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());

process.exitCode = await main();

async function main(): Promise<number> {
  const [count, workers, testsMax] = [values.mutants, values.workers, values.tests].map(Number);
  const numbers = [count, workers, testsMax].filter((number) => number !== undefined && number > 0);
  if (count === undefined || workers === undefined || testsMax === undefined || numbers.length < 3) {
    console.error('--mutants, --workers and --tests take numbers above 0');
    return 2;
  }
  const unknown = values.folder.filter((folder) => !allFolders.includes(folder));
  if (unknown.length > 0) {
    console.error(`--folder takes ${allFolders.join(', ')}, not ${unknown.join(', ')}`);
    return 2;
  }
  if (values.fresh) rmSync(values.state, { recursive: true, force: true });
  mkdirSync(values.state, { recursive: true });
  const folders = values.folder.map((folder) => sourcesFolder + folder);
  const texts = sourceTexts(folders);
  const all = mutantsOf(texts);
  const sample = sampleOf(all, folders, count, values.seed).filter(isWanted);
  console.log(`${all.length} mutants are possible, ${sample.length} of them are tried`);
  if (!values.kept) await tryAll(sample, texts, workers, testsMax);
  const isWhole = values.only === undefined && folders.length === allFolders.length;
  const target =
    values.report ?? (isWhole && !stopping.signal.aborted ? join(root, 'docs/contribute/mutation.md') : undefined);
  const asked = readBaseline(values.state);
  const { text, unexplained } = reportText({
    all,
    sample,
    folders,
    results: readResults(values.state),
    explanations,
    seed: values.seed,
    leftOutTests,
    tests: asked.size,
    testsNotAsked: serverTests().filter((file) => !asked.has(file)),
  });
  if (target !== undefined) writeFileSync(target, text);
  console.log(`${unexplained} survivors are not explained`);
  return unexplained === 0 && !stopping.signal.aborted ? 0 : 1;
}

function isWanted({ id, file, line }: Mutant): boolean {
  const { only } = values;
  return only === undefined || id.startsWith(only) || `${file.slice(sourcesFolder.length)}:${line}`.startsWith(only);
}

/** By path from the root, in order. */
function sourceTexts(folders: readonly string[]): ReadonlyMap<string, string> {
  const paths = folders.flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: root }).toSorted());
  return new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(root, path), 'utf8')] as const));
}

async function tryAll(
  sample: readonly Mutant[],
  texts: ReadonlyMap<string, string>,
  workers: number,
  testsMax: number,
): Promise<void> {
  const benches = await Promise.all(
    Array.from({ length: workers }, () => openWorkbench(root, values.state, stopping.signal)),
  );
  try {
    const baseline = await takeBaseline(
      benches,
      serverTests(),
      allFolders.map((folder) => sourcesFolder + folder),
      values.state,
    );
    const results = readResults(values.state);
    const open = sample.filter((mutant) =>
      isUnfinished(mutant, texts.get(mutant.file) ?? '', baseline, results.get(mutant.id)),
    );
    const isOpen = (mutant: Mutant): boolean => !values.survivors || explanationOf(mutant, explanations) === undefined;
    const survivors = open.filter((mutant) => results.has(mutant.id) && isOpen(mutant));
    const others = values.survivors ? [] : open.filter(({ id }) => !results.has(id));
    const experience = newExperience();
    for (const mutant of sample) experience.note(mutant.file, results.get(mutant.id));
    await tryOpen(benches, [...others, ...survivors], results, { baseline, experience, testsMax });
    await checkAllTypes(benches, sample);
  } finally {
    await Promise.all(benches.map((bench) => bench.close()));
  }
}

function serverTests(): readonly string[] {
  const files = filterTestFiles(findTestFiles(root), ['packages/server/']);
  if (typeof files === 'string') throw new Error(files);
  return files.filter((file) => !leftOutTests.some((part) => file.includes(part)));
}

async function tryOpen(
  benches: readonly Workbench[],
  open: readonly Mutant[],
  results: ReadonlyMap<string, Result>,
  trial: Trial,
): Promise<void> {
  const waiting = [...open];
  const work = async (bench: Workbench, at: number): Promise<void> => {
    while (waiting.length > 0 && !stopping.signal.aborted) {
      if (at > 0) await untilIdle();
      const mutant = waiting.shift();
      if (mutant === undefined) return;
      const result = await tryMutant(bench, mutant, trial, results.get(mutant.id));
      if (stopping.signal.aborted) return;
      trial.experience.note(mutant.file, result);
      keepResult(values.state, result);
      console.log(lineOf(mutant, result, open.length - waiting.length, open.length));
    }
  };
  await Promise.all(benches.map(work));
}

/** After the trials, as it takes longer than a test. */
async function checkAllTypes([bench]: readonly Workbench[], sample: readonly Mutant[]): Promise<void> {
  const results = readResults(values.state);
  for (const mutant of sample) {
    const result = results.get(mutant.id);
    if (stopping.signal.aborted || bench === undefined) return;
    if (result?.status !== 'survived' || result.isTyped === true) continue;
    const checked = await checkTypes(bench, mutant, result);
    keepResult(values.state, checked);
    if (checked.status === 'refused') console.log(`refused by the compiler: ${mutant.id}`);
  }
}

async function untilIdle(): Promise<void> {
  while ((loadavg()[0] ?? 0) > availableParallelism() + 1 && !stopping.signal.aborted) await delay(busyPauseMs);
}

function lineOf(mutant: Mutant, { status, by, passed, covering, ms }: Result, at: number, of: number): string {
  const place = `${mutant.file.slice(sourcesFolder.length)}:${mutant.line}`;
  const how = by === undefined ? `${Object.keys(passed).length}/${covering} test files` : by.file;
  return `${at}/${of} ${status} ${mutant.id} ${place} [${mutant.mutator}] ${changeText(mutant)} (${how}, ${ms} ms)`;
}
