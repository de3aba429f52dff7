/**
 * What a test run prints: one line per file, each failure in full as soon as its file has ended, and at the end what
 * failed, what was skipped and why, if asked for which files took longest, and the sums of node's test runner.
 */
import { relative } from 'node:path';
import type { EventData } from 'node:test';
import { inspect } from 'node:util';

/** An event of the runner: https://nodejs.org/api/test.html#class-testsstream */
export type TestEvent =
  | { readonly type: 'test:pass'; readonly data: EventData.TestPass }
  | { readonly type: 'test:fail'; readonly data: EventData.TestFail }
  | { readonly type: 'test:stdout' | 'test:stderr'; readonly data: EventData.TestStdout }
  | { readonly type: 'test:diagnostic'; readonly data: EventData.TestDiagnostic }
  | { readonly type: 'test:summary'; readonly data: EventData.TestSummary };

interface Skip {
  readonly file: string;
  readonly reason: string;
  readonly names: string[];
}

interface Options {
  /** Names each test, and shows what a file printed though it passed. */
  readonly isVerbose: boolean;
  /** Names at the end the files that took longest. */
  readonly hasDurations: boolean;
}

/** So many files are named as those that took longest. */
const durationsMax = 40;

interface State extends Options {
  readonly root: string;
  readonly print: (line: string) => void;
  readonly durations: { readonly file: string; readonly durationMs: number }[];
  /** Output and failures of files that have not ended yet. */
  readonly output: Map<string, string>;
  readonly failures: Map<string, string[]>;
  readonly failed: string[];
  readonly skips: Map<string, Skip>;
}

/** A listener for the runner's events and a function to call after the last one. */
export function testReport(
  root: string,
  print: (line: string) => void,
  options: Options,
): { readonly handle: (event: TestEvent) => void; readonly end: () => void } {
  const state: State = {
    root,
    print,
    ...options,
    durations: [],
    output: new Map(),
    failures: new Map(),
    failed: [],
    skips: new Map(),
  };
  const sums = new Map<string, number>();
  const handle = (event: TestEvent): void => {
    if (event.type === 'test:diagnostic') {
      if (event.data.file === undefined) addUp(sums, event.data.message);
    } else handleFile(state, event);
  };
  const end = (): void => {
    if (state.failed.length > 0) print('');
    for (const line of state.failed) print(`✖ ${line}`);
    for (const skip of state.skips.values()) print(skipLine(skip));
    if (options.hasDurations) printDurations(state);
    for (const [name, sum] of sums) print(`ℹ ${name} ${sum}`);
  };
  return { handle, end };
}

/** Several runs side by side count together; the time is that of the longest. */
function addUp(sums: Map<string, number>, message: string): void {
  const [name = '', text = ''] = message.split(' ');
  const [sum, number] = [sums.get(name) ?? 0, Number(text)];
  sums.set(name, name === 'duration_ms' ? Math.max(sum, number) : sum + number);
}

function printDurations({ durations, print }: State): void {
  const longest = durations.toSorted((a, b) => b.durationMs - a.durationMs).slice(0, durationsMax);
  const seconds = durations.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  print(`the ${durations.length} files took ${seconds.toFixed(0)} s, one after the other; the longest:`);
  for (const { file, durationMs } of longest) print(`${(durationMs / 1000).toFixed(1).padStart(7)} s  ${file}`);
}

function handleFile(state: State, event: Exclude<TestEvent, { type: 'test:diagnostic' }>): void {
  switch (event.type) {
    case 'test:stdout':
    case 'test:stderr': {
      const { file = '', message } = event.data;
      state.output.set(file, (state.output.get(file) ?? '') + message);
      return;
    }
    case 'test:pass':
      noteSkip(state, event.data);
      if (state.isVerbose && event.data.skip === undefined) state.print(`  ✔ ${event.data.name}`);
      return;
    case 'test:fail':
      noteFailure(state, event.data);
      return;
    case 'test:summary':
      if (event.data.file !== undefined) endFile(state, event.data.file, event.data);
  }
}

/** The test file that an event belongs to; `file` may be one of its imports, which called `test` or `after`. */
function entryOf(data: { readonly file?: string | undefined }): string {
  if ('entryFile' in data && typeof data.entryFile === 'string') return data.entryFile;
  return data.file ?? '';
}

function noteSkip(state: State, data: EventData.TestPass): void {
  const { name, skip, todo } = data;
  const file = entryOf(data);
  const given = skip ?? todo;
  if (given === undefined || given === false) return;
  const reason = given === true || given === '' ? 'no reason given' : given;
  const key = `${file}\n${reason}`;
  const entry = state.skips.get(key) ?? { file: relative(state.root, file), reason, names: [] };
  entry.names.push(name);
  state.skips.set(key, entry);
}

function skipLine({ file, reason, names }: Skip): string {
  const what = names.length === 1 ? `"${names[0]}"` : `${names.length} tests`;
  return `skipped ${what} in ${file}: ${reason.replaceAll('\n', ' ')}`;
}

function noteFailure(state: State, data: EventData.TestFail): void {
  const { file = '', name, line, details } = data;
  const entry = entryOf(data);
  // A suite fails because a test in it does: that test says why.
  if (
    details.error instanceof Error &&
    'failureType' in details.error &&
    details.error.failureType === 'subtestsFailed'
  ) {
    return;
  }
  const path = relative(state.root, entry);
  if (name === entry) {
    const message = `${path} could not be run to its end: ${details.error.message}`;
    state.failed.push(message);
    state.print(`✖ ${message}`);
    printOutput(state, entry);
    return;
  }
  // A hook outside of any test has no name: the runner gives it that of its file.
  const title = name === file ? `a hook of ${relative(state.root, file)}` : name;
  state.failed.push(`${relative(state.root, file)}:${line ?? 1} ${title}`);
  const failure = `  ✖ ${title}\n${indent(reasonOf(details.error))}`;
  state.failures.set(entry, [...(state.failures.get(entry) ?? []), failure]);
}

/** The error that the test threw, without the lines of the test runner. */
function reasonOf(error: Error): string {
  const thrown = error.cause ?? error;
  if (!(thrown instanceof Error)) return inspect(thrown);
  const text = (thrown.stack ?? thrown.message).replace(/^ +at .*\bnode:internal\/.*\n?/gm, '').trimEnd();
  return thrown.cause === undefined ? text : `${text}\ncaused by ${inspect(thrown.cause)}`;
}

function endFile(
  state: State,
  file: string,
  { counts, success, duration_ms: durationMs }: EventData.TestSummary,
): void {
  const notes = [
    `${counts.tests} ${counts.tests === 1 ? 'test' : 'tests'}`,
    counts.skipped > 0 && `${counts.skipped} skipped`,
  ].filter(Boolean);
  const seconds = (durationMs / 1000).toFixed(1);
  const failures = state.failures.get(file) ?? [];
  const isPassed = success && failures.length === 0;
  if (file.endsWith('.test.ts')) state.durations.push({ file: relative(state.root, file), durationMs });
  state.print(`${isPassed ? '✔' : '✖'} ${relative(state.root, file)} (${notes.join(', ')}, ${seconds} s)`);
  for (const failure of failures) state.print(failure);
  state.failures.delete(file);
  if (isPassed && !state.isVerbose) state.output.delete(file);
  else printOutput(state, file);
}

function printOutput(state: State, file: string): void {
  const text = state.output.get(file) ?? '';
  state.output.delete(file);
  if (text.trim() !== '') state.print(`  what it printed:\n${indent(text.trimEnd())}`);
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '    ');
}
