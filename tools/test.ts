/**
 * Runs the tests. One embedded PostgreSQL serves the whole run; each test file makes databases of its own in it.
 *
 *     npm test                              all but the slow ones
 *     npm test -- FILTER …                  the files whose path contains a filter, slow ones too
 *     npm test -- --changed[=REF] [--list]  those near to what differs from main, or from REF; --list: only names them
 *     npm run test:unit                     those that need no database
 *     npm run test:slow [-- FILTER …]       the slow ones alone
 *
 * With --verbose each test is named, with --durations the files that took longest.
 */
import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findDifference, selectTests } from './testing/changed.ts';
import { type ImportGraph, readImportGraph } from './testing/import-graph.ts';
import { awaitsAtTop, isSlow, isUnit } from './testing/lanes.ts';
import { type TestEvent, testReport } from './testing/report.ts';
import { runApart, runTogether } from './testing/run-tests.ts';
import { filterTestFiles, findTestFiles } from './testing/test-files.ts';

interface TestCluster {
  /** What test files find in their environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly stop: () => Promise<void>;
}

interface Plan {
  /** Each in a process of its own. */
  readonly apart: readonly string[];
  /** In few processes. */
  readonly together: readonly string[];
}

/** Longest time without any result, in ms: then a file blocks its process, and the run is given up. */
const silenceMaxMs = 12 * 60_000;
const cores = availableParallelism();
const root = join(import.meta.dirname, '..');
const interruptedExitCode = 130;

const { values, positionals } = parseArgs({
  // A value is not needed: --changed alone compares with main.
  args: process.argv.slice(2).map((word) => (word === '--changed' ? '--changed=' : word)),
  allowPositionals: true,
  options: {
    verbose: { type: 'boolean', default: false },
    durations: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    unit: { type: 'boolean', default: false },
    slow: { type: 'boolean', default: false },
    changed: { type: 'string' },
  },
});
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopping.abort());

const plan = planRun();
if (typeof plan === 'string') {
  console.error(plan);
  process.exitCode = 1;
} else if (values.list) {
  for (const path of [...plan.together, ...plan.apart]) console.log(path);
} else {
  forgetSettings();
  process.exitCode = await runAll(plan);
}

/** What is to run, or a line that says why nothing can. */
function planRun(): Plan | string {
  const all = findTestFiles(root);
  if (all.length === 0) return `there is no test file under ${root}`;
  const files = filterTestFiles(all, positionals);
  if (typeof files === 'string') return files;
  if (values.slow) return { apart: (positionals.length > 0 ? files : all).filter(isSlow), together: [] };
  if (positionals.length > 0) return { apart: files, together: [] };
  const graph = readImportGraph(root);
  if (values.unit)
    return divide(
      all.filter((path) => isUnit(path, graph)),
      graph,
    );
  return values.changed === undefined ? divide(files, graph) : planChanged(all, graph, values.changed);
}

function divide(files: readonly string[], graph: ImportGraph): Plan {
  const together = files.filter((path) => isUnit(path, graph) && !awaitsAtTop(root, path));
  return { apart: files.filter((path) => !together.includes(path)), together };
}

function planChanged(all: readonly string[], graph: ImportGraph, ref: string): Plan | string {
  const difference = findDifference(root, ref);
  if (typeof difference === 'string') return difference;
  const { tests, lines } = selectTests(root, graph, all, difference);
  for (const line of lines) console.log(line);
  return divide(tests, graph);
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

async function runAll(wanted: Plan): Promise<number> {
  const needsCluster = !values.unit && wanted.apart.some((path) => /^packages\/(?:client|server)\//.test(path));
  const cluster = needsCluster ? await startCluster() : undefined;
  try {
    Object.assign(process.env, cluster?.environment);
    const isPassed = await runTests(wanted);
    if (stopping.signal.aborted) return interruptedExitCode;
    return isPassed ? 0 : 1;
  } finally {
    await cluster?.stop();
  }
}

async function runTests({ apart, together }: Plan): Promise<boolean> {
  const report = testReport(root, (line) => console.log(line), {
    isVerbose: values.verbose,
    hasDurations: values.durations,
  });
  let isPassed = true;
  const silence = setTimeout(() => stopping.abort(), silenceMaxMs);
  const handle = (event: TestEvent): void => {
    silence.refresh();
    report.handle(event);
    if (event.type === 'test:summary' && !event.data.success) isPassed = false;
    if (event.type === 'test:fail') isPassed = false;
  };
  const options = { root, signal: stopping.signal, handle };
  await runTogether(together, { ...options, concurrency: cores });
  // One more than cores, for while one waits: for the database, a process that it has started, or a moment. Slow ones keep
  // the cores busy themselves, and hold the transactions of the server open that others wait for.
  await runApart(apart, { ...options, concurrency: values.slow ? cores : cores + 1 });
  clearTimeout(silence);
  report.end();
  return isPassed;
}
