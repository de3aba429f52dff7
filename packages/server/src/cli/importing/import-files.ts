/**
 * The import of files at a firm: what is not stored yet of an import that was interrupted, or all. Work is done by threads where there
 * is much of it.
 */
import { createHash } from 'node:crypto';
import os from 'node:os';
import type { Platform } from '../../app.ts';
import type { Firm } from '../../tenancy/firms.ts';
import { type ChunkImporter, type ImportTask, openChunkImporter } from './chunk-importer.ts';
import { type Chunk, cutGap, type LinesMax } from './chunks.ts';
import { dispatchChunks } from './dispatch.ts';
import { type ImportFile, openUnchanged, readRange, requireUnchanged } from './files.ts';
import { openImportThreads } from './import-threads.ts';
import { type ImportRules, type Loader, openLoader, withRights } from './loader.ts';
import { openPacing } from './pacing.ts';
import { findGaps, type Gap } from './places.ts';
import { buildProblemOutcome, type ImportProblem } from './problem.ts';
import {
  type DoneRange,
  finishRun,
  type HeldRun,
  holdRun,
  listDoneRanges,
  type RangeCounts,
  readToldOfRun,
} from './runs.ts';

export interface ImportOptions extends ImportRules {
  /** Whether an import of the same files that was interrupted is forgotten, rather than continued. */
  readonly isAnew: boolean;
  /** Whether all references are looked up when all is stored. */
  readonly checksReferences: boolean;
  /** How many threads work; absent: as many as the machine has cores, or none for little. */
  readonly threads?: number;
  /** Called once, with what an interrupted import had done. */
  readonly onContinue: (done: RangeCounts) => void;
  readonly onProblem: (problem: ImportProblem) => void;
  /** @param bytes those of the files that are done */
  readonly onProgress: (counts: RangeCounts, bytes: number) => void;
  /** Called when all is stored, before the import ends: where it throws, the same call goes on, and calls it again. */
  readonly onReport?: (report: ImportReport) => void;
}

/** What an import has done, with what was done before it was continued. */
export interface ImportReport extends RangeCounts {
  /** OperationOutcomes of what was refused and of missing references, in the order of the files; of many not all. */
  readonly outcomes: readonly unknown[];
  /** What was stored nevertheless: words, with how often. */
  readonly notes: ReadonlyMap<string, number>;
  /** Resources that refer to what is not there; undefined: nobody has looked. */
  readonly referring: number | undefined;
}

/** OperationOutcomes that are kept of one import; the others are counted. */
export const outcomesMax = 10_000;
/** Files with fewer bytes are done before threads have started. */
const threadBytesMin = 8 * 1024 * 1024;
const threadsMax = 8;

/**
 * Imports the files. Each resource is stored whole or not at all, and exactly once, however often the import is interrupted.
 * @throws PraxisError `unavailable` when the database is lost, UsageError when a file cannot be read or was changed meanwhile, and
 *   what `onReport` throws: what is stored is known, and the same call continues
 */
export async function importFilesAt(
  platform: Platform,
  firm: Firm,
  files: readonly ImportFile[],
  options: ImportOptions,
): Promise<ImportReport> {
  const { mode, validate, lenientInvariants } = options;
  const rules: ImportRules = { mode, validate, lenientInvariants };
  const loader = await openLoader(platform, firm, rules);
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const fingerprint = await computeFingerprint(files, rules);
  const facts = { fingerprint, files: files.length, bytes };
  const run = await withRights(loader, ({ scope }) => holdRun(platform, scope, facts, options.isAnew));
  const done = await withRights(loader, ({ scope }) => listDoneRanges(platform, scope, run));
  const counts = { ...sumCounts(done), bytes: 0 };
  if (done.length > 0) options.onContinue(sumCounts(done));
  const gaps = listGaps(files, done);
  counts.bytes = bytes - countBytes(gaps);
  const task: ImportTask = { firm, rules, run, files };
  const importers = await openImporters(platform, task, options.threads ?? chooseThreads(countBytes(gaps)));
  try {
    await importGaps(importers, files, gaps, options, counts);
    const missing = await findMissing(importers, files, options, firm);
    const left = listGaps(files, await withRights(loader, ({ scope }) => listDoneRanges(platform, scope, run)));
    if (countBytes(left) > 0) throw new Error('a part of the files is not imported');
    return await report(loader, run, counts, missing, options);
  } finally {
    await Promise.all(importers.map((importer) => importer.close()));
  }
}

interface Counts extends RangeCounts {
  stored: number;
  skipped: number;
  refused: number;
  bytes: number;
}

/** What of each file is not done. An empty document is no resource, which is to be told. */
function listGaps(files: readonly ImportFile[], done: readonly DoneRange[]): readonly (readonly Gap[])[] {
  return files.map(({ form, bytes }, number) =>
    findGaps(
      done.filter(({ file }) => file === number),
      form === 'json' ? Math.max(1, bytes) : bytes,
    ),
  );
}

function sumCounts(done: readonly DoneRange[]): RangeCounts {
  return done.reduce<RangeCounts>(
    (sum, { stored, skipped, refused }) => ({
      stored: sum.stored + stored,
      skipped: sum.skipped + skipped,
      refused: sum.refused + refused,
    }),
    { stored: 0, skipped: 0, refused: 0 },
  );
}

function countBytes(gaps: readonly (readonly Gap[])[]): number {
  return gaps.flat().reduce((sum, { from, to }) => sum + to.byte - from.byte, 0);
}

/** Of what is imported and how: the names of files do not matter. */
async function computeFingerprint(files: readonly ImportFile[], rules: ImportRules): Promise<Buffer> {
  const all = createHash('sha256').update(JSON.stringify(rules));
  for (const file of files) all.update(`${file.form} ${file.bytes} ${await computeDigest(file)}\n`);
  return all.digest();
}

async function computeDigest(file: ImportFile): Promise<string> {
  const digest = createHash('sha256');
  const handle = await openUnchanged(file, 1);
  try {
    for await (const bytes of readRange(file, handle, 0, file.bytes)) digest.update(bytes);
    await requireUnchanged(file, handle, 1);
  } finally {
    await handle.close();
  }
  return digest.digest('hex');
}

function chooseThreads(bytes: number): number {
  return bytes < threadBytesMin ? 0 : Math.min(threadsMax, os.availableParallelism());
}

async function openImporters(platform: Platform, task: ImportTask, threads: number): Promise<readonly ChunkImporter[]> {
  return threads === 0 ? [await openChunkImporter(platform, task)] : await openImportThreads(platform, task, threads);
}

async function importGaps(
  importers: readonly ChunkImporter[],
  files: readonly ImportFile[],
  gaps: readonly (readonly Gap[])[],
  options: ImportOptions,
  counts: Counts,
): Promise<void> {
  const pacing = openPacing();
  await dispatchChunks(cutAll(files, gaps, pacing.linesMax), importers, {
    pacing,
    keepMax: () => Math.max(0, outcomesMax - counts.refused),
    onOutcome(chunk, outcome) {
      counts.stored += outcome.stored;
      counts.skipped += outcome.skipped;
      counts.refused += outcome.refused;
      counts.bytes += chunk.to.byte - chunk.from.byte;
      for (const problem of outcome.problems) options.onProblem(problem);
      options.onProgress(counts, counts.bytes);
    },
  });
}

async function* cutAll(
  files: readonly ImportFile[],
  gaps: readonly (readonly Gap[])[],
  linesMax: LinesMax,
): AsyncGenerator<Chunk> {
  for (const [number, file] of files.entries())
    for (const gap of gaps[number] ?? []) yield* cutGap(file, number, gap, linesMax);
}

interface Missing {
  readonly problems: readonly ImportProblem[];
  readonly referring: number | undefined;
}

/** Lines of a chunk whose references are looked up together. */
const checkedLines = 200;

/** A firm that refuses writes which refer to what is not there is told of all that an import has brought. */
async function findMissing(
  importers: readonly ChunkImporter[],
  files: readonly ImportFile[],
  { checksReferences, onProblem }: ImportOptions,
  firm: Firm,
): Promise<Missing> {
  if (!checksReferences && !firm.requiresReferences) return { problems: [], referring: undefined };
  const chunks = cutAll(files, listGaps(files, []), () => checkedLines);
  const found: { readonly chunk: Chunk; readonly problems: readonly ImportProblem[] }[] = [];
  let referring = 0;
  const work = async (importer: ChunkImporter): Promise<void> => {
    for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
      const { problems } = await importer.check(next.value);
      for (const problem of problems) onProblem(problem);
      if (problems.length > 0 && referring < outcomesMax) found.push({ chunk: next.value, problems });
      referring += problems.length;
    }
  };
  await Promise.all(importers.map(work));
  const inOrder = found.toSorted(
    (left, right) => left.chunk.file - right.chunk.file || left.chunk.from.byte - right.chunk.from.byte,
  );
  return { problems: inOrder.flatMap(({ problems }) => problems).slice(0, outcomesMax), referring };
}

/** The import ends when its report has arrived: until then the database keeps what it is made of. */
async function report(
  loader: Loader,
  run: HeldRun,
  { stored, skipped, refused }: RangeCounts,
  { problems, referring }: Missing,
  { onReport }: ImportOptions,
): Promise<ImportReport> {
  const { platform } = loader;
  const { outcomes, notes } = await withRights(loader, ({ scope }) => readToldOfRun(platform, scope, run));
  const all = [...outcomes, ...problems.map(buildProblemOutcome)];
  const made: ImportReport = { stored, skipped, refused, outcomes: all, notes, referring };
  onReport?.(made);
  await withRights(loader, ({ scope }) => finishRun(platform, scope, run));
  return made;
}
