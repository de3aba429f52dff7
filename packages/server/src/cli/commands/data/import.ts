/** `praxis import`: store resources from files at a firm. */
import { closeSync, fsyncSync, ftruncateSync, openSync, statSync, writeFileSync } from 'node:fs';
import type { Platform } from '../../../app.ts';
import type { Firm } from '../../../tenancy/firms.ts';
import { type Command, type CommandContext, type CommandInput, UsageError } from '../../command.ts';
import { importFiles } from '../../importing/files.ts';
import { importDocuments } from '../../importing/import-documents.ts';
import { type ImportReport, importFilesAt } from '../../importing/import-files.ts';
import { importModes, openLoader } from '../../importing/loader.ts';
import { type ImportProblem, listProblemLines } from '../../importing/problem.ts';
import { environmentOption, findNamedFirm, firmOption } from '../../options.ts';
import { formatCount, showProgress } from '../../progress.ts';

/** Lines about problems on standard error, at most. */
const linesMax = 1_000;
const threadsMax = 64;

export const importCommands: readonly Command[] = [
  {
    name: 'import',
    summary: 'Store resources from NDJSON and JSON files, Bundles and directories at a firm',
    description:
      'If the command is interrupted, run it again with the same files and options: it continues with the first line that is not stored.',
    arguments: [
      {
        label: 'FILE|DIR',
        description: 'NDJSON and JSON files, or directories of them',
        isFile: true,
        isRepeated: true,
      },
    ],
    options: {
      ...firmOption,
      ...environmentOption,
      mode: {
        kind: 'value',
        description: 'What becomes of a resource whose id is in use: a new version, a refusal, or nothing',
        values: importModes,
        default: 'upsert',
        noted: true,
      },
      errors: {
        kind: 'value',
        description: 'A new file for an OperationOutcome, one a line, of each resource that is refused',
        isFile: true,
      },
      'check-references': {
        kind: 'flag',
        description: 'At the end, report resources that refer to a resource of the firm that is not there',
      },
      'lenient-invariants': {
        kind: 'flag',
        description: 'Store and count resources that break invariants of FHIR, rather than refuse them',
      },
      anew: {
        kind: 'flag',
        description: 'Begin at the first line, although an import of the same files was interrupted',
      },
      documents: {
        kind: 'value',
        description: 'The directory of an export of everything: the content of its documents is stored first',
        isFile: true,
      },
      threads: { kind: 'value', description: 'The number of threads. The default is the number of cores' },
    },
    run,
  },
];

async function run(context: CommandContext, input: CommandInput): Promise<void> {
  const errors = input.option('errors');
  const files = await importFiles(input.positionals, errors);
  const threads = readThreads(input.option('threads'));
  if (errors !== undefined) requireWritable(errors);
  const platform = await context.platform();
  const firm = await findNamedFirm(platform, input, input.required('firm'));
  const documents = input.option('documents');
  const isWhole = documents === undefined || (await storeDocuments(context, platform, firm, documents));
  const progress = showProgress(context, 'resources');
  const bytesAll = files.reduce((sum, file) => sum + file.bytes, 0);
  let lines = 0;
  let stored = 0;
  let continuedFrom = 0;
  const onProblem = (problem: ImportProblem): void => {
    for (const line of listProblemLines(problem)) {
      lines += 1;
      if (lines <= linesMax) progress.line(line);
      if (lines === linesMax) progress.line('Further problems are counted; --errors writes them to a file');
    }
  };
  let isTold = false;
  try {
    await importFilesAt(platform, firm, files, {
      mode: importModes.find((mode) => mode === input.required('mode')) ?? 'upsert',
      validate: true,
      lenientInvariants: input.flag('lenient-invariants'),
      isAnew: input.flag('anew'),
      checksReferences: input.flag('check-references'),
      ...(threads === undefined ? {} : { threads }),
      onContinue(done) {
        continuedFrom = done.stored;
        stored = done.stored;
        progress.line(`continues an import that was interrupted: ${formatCount(done.stored)} resources are stored`);
      },
      onProblem,
      onProgress(counts, bytes) {
        stored = counts.stored;
        progress.update(stored - continuedFrom, bytesAll === 0 ? 1 : bytes / bytesAll);
      },
      onReport(report) {
        tell(context, firm.prefix, report, progress.end(stored - continuedFrom)); // the pace of this run
        isTold = true;
        if (errors !== undefined) writeOutcomes(errors, report.outcomes);
        if (report.refused > 0 || (report.referring ?? 0) > 0) process.exitCode = 1;
      },
    });
  } finally {
    if (!isTold) {
      const pace = progress.end(stored - continuedFrom);
      context.print(`${formatCount(stored)} resources stored at ${firm.prefix} (${pace}): run it again to continue`);
    }
  }
  if (!isWhole) process.exitCode = 1;
}

/** Whether all are there. */
async function storeDocuments(
  context: CommandContext,
  platform: Platform,
  firm: Firm,
  directory: string,
): Promise<boolean> {
  const progress = showProgress(context, 'documents');
  const rules = { mode: 'upsert', validate: true, lenientInvariants: false } as const;
  const loader = await openLoader(platform, firm, rules);
  const { stored, skipped, problems } = await importDocuments(loader, directory, progress.update);
  const pace = progress.end(stored);
  for (const line of problems.slice(0, linesMax)) progress.line(line);
  const passed = skipped === 0 ? '' : `, ${formatCount(skipped)} were there`;
  context.print(
    `${formatCount(stored)} documents stored at ${firm.prefix}${passed}, ${formatCount(problems.length)} refused (${pace})`,
  );
  return problems.length === 0;
}

function tell(context: CommandContext, firm: string, report: ImportReport, pace: string): void {
  const { stored, skipped, refused, notes, referring } = report;
  for (const [words, times] of notes) context.print(`stored nevertheless, ${formatCount(times)} times: ${words}`);
  const passed = skipped === 0 ? '' : `, ${formatCount(skipped)} skipped`;
  context.print(
    `${formatCount(stored)} resources stored at ${firm}${passed}, ${formatCount(refused)} refused (${pace})`,
  );
  if (referring !== undefined) context.print(`${formatCount(referring)} resources refer to what is not there`);
}

/** Makes the file, or takes the empty one that an interrupted import has left. @throws UsageError where it cannot be written, or has something in it */
function requireWritable(path: string): void {
  try {
    const isThere = statSync(path, { throwIfNoEntry: false });
    if (isThere !== undefined && (isThere.isDirectory() || isThere.size > 0))
      throw new UsageError(`${path} cannot be written: it is there already`);
    closeSync(openSync(path, isThere === undefined ? 'wx' : 'r+', outcomesMode));
  } catch (cause) {
    if (cause instanceof UsageError) throw cause;
    throw new UsageError(`${path} cannot be written: ${readCode(cause)}`, { cause });
  }
}

/** Only for who runs the command: outcomes quote records. */
const outcomesMode = 0o600;

/** Writes them to the disk, all or none. @throws Error which says what to do: the import has not ended */
function writeOutcomes(path: string, outcomes: readonly unknown[]): void {
  let file: number | undefined;
  try {
    file = openSync(path, 'w', outcomesMode);
    writeFileSync(file, outcomes.map((outcome) => `${JSON.stringify(outcome)}\n`).join(''));
    if (statSync(path).isFile()) fsyncSync(file);
  } catch (cause) {
    if (file !== undefined) empty(file);
    const reason = `${path} cannot be written: ${readCode(cause)}`;
    const advice = 'All is stored. Make room or name another file, and run it again: the report is written then';
    throw Object.assign(new Error(`${reason}. ${advice}`, { cause }), { code: readCode(cause), syscall: 'write' });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/** So that the same command takes the file again. */
function empty(file: number): void {
  try {
    ftruncateSync(file);
  } catch {
    // A device has no length.
  }
}

function readCode(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}

function readThreads(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const threads = Number(text);
  if (Number.isInteger(threads) && threads >= 0 && threads <= threadsMax) return threads;
  throw new UsageError(`--threads must be a number from 0 to ${threadsMax}`);
}
