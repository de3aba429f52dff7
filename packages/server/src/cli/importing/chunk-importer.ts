/**
 * Imports chunks: parses, validates and indexes one, and stores it when its turn has come, in transactions of bounded size. Each notes
 * what of the file it has stored, so that a program which is killed has stored a chunk, or a part of it that it knows of.
 */
import type { Platform } from '../../app.ts';
import type { Firm } from '../../tenancy/firms.ts';
import { checkReferences, type MissingReferences } from './check-references.ts';
import type { Chunk } from './chunks.ts';
import type { ImportFile } from './files.ts';
import { makeImportedId } from './imported-ids.ts';
import { type ImportRules, type Loader, openLoader } from './loader.ts';
import type { DoneFileStretch, FilePlace } from './places.ts';
import { findProblem, getResourceName, type ImportItem, type ImportPlan, planBatch } from './plan-batch.ts';
import type { ImportProblem } from './problem.ts';
import { type MakeId, type ReadEntry, readChunk } from './read-chunk.ts';
import { type HeldRun, noteRange } from './runs.ts';
import { storeBatch } from './store-batch.ts';

/** All that an importer needs to know of the import; it can be sent to another thread. */
export interface ImportTask {
  readonly firm: Firm;
  readonly rules: ImportRules;
  readonly run: HeldRun;
  readonly files: readonly ImportFile[];
}

/** What became of a chunk. */
export interface ChunkOutcome {
  readonly stored: number;
  readonly skipped: number;
  readonly refused: number;
  /** Not all where they are many. */
  readonly problems: readonly ImportProblem[];
  /** How long its longest transaction took in the database, in ms, and for how many resources. */
  readonly slowest: { readonly ms: number; readonly resources: number };
}

export interface ChunkImporter {
  /** Makes the chunk ready to be stored; the resources that it is about, once each or more often: `Patient/1`. */
  prepare(chunk: Chunk): Promise<readonly string[]>;
  /**
   * Stores the chunk that was prepared first of those that are not stored yet.
   * @param keepMax how many problems are kept in the database
   * @throws PraxisError `unavailable` when the database is lost; UsageError when another process has continued the import
   */
  store(keepMax: number): Promise<ChunkOutcome>;
  /** What the resources of a chunk that is stored refer to and is not there. */
  check(chunk: Chunk): Promise<MissingReferences>;
  close(): Promise<void>;
}

/** Resources of one transaction, at most: a chunk has more of them where Bundles are unpacked. */
const portionMax = 1_000;
/** Bytes of their texts, about. */
const portionBytesMax = 4 * 1024 * 1024;

interface Portion extends DoneFileStretch {
  readonly file: number;
  readonly items: readonly ImportItem[];
  readonly problems: readonly ImportProblem[];
  /** Origins in the order of the file. */
  readonly origins: ReadonlyMap<string, number>;
}

interface Prepared {
  readonly portions: readonly Portion[];
  /** Of the first portion. */
  readonly plan: ImportPlan;
}

const nothing: ImportPlan = { given: [], items: [], problems: [], skipped: 0, notes: {} };

/** An importer that works in this thread. */
export async function openChunkImporter(platform: Platform, task: ImportTask): Promise<ChunkImporter> {
  const loader = await openLoader(platform, task.firm, task.rules);
  const waiting: Promise<Prepared>[] = [];
  return {
    async prepare(chunk) {
      const portions = cutPortions(loader, chunk, task);
      const [first] = portions;
      const plan = first === undefined ? Promise.resolve(nothing) : planBatch(loader, first.items);
      const prepared = plan.then((made) => ({ portions, plan: made }));
      prepared.catch(() => undefined); // `store` gets it
      waiting.push(prepared);
      await prepared;
      return portions.flatMap(({ items }) => items.map(getResourceName));
    },

    async store(keepMax) {
      const prepared = await waiting.shift();
      if (prepared === undefined) throw new TypeError('no chunk is prepared');
      return await storePortions(loader, task, prepared, keepMax);
    },

    check: (chunk) => checkReferences(loader, chunk, requireFile(task, chunk), makeIds(task, chunk)),

    close: async () => undefined,
  };
}

/** The portions of a chunk: at least one, so that its place is noted. */
function cutPortions(loader: Loader, chunk: Chunk, task: ImportTask): readonly Portion[] {
  const portions: Portion[] = [];
  let from = chunk.from;
  let items: ImportItem[] = [];
  let problems: ImportProblem[] = [];
  const origins = new Map<string, number>();
  let bytes = 0;
  const finish = (to: FilePlace, toLine: number): void => {
    portions.push({ file: chunk.file, from, to, toLine, items, problems, origins });
    from = to;
    items = [];
    problems = [];
    bytes = 0;
  };
  const isFull = ({ item }: ReadEntry): boolean =>
    items.length === portionMax || (items.length > 0 && bytes + (item?.size ?? 0) > portionBytesMax);
  for (const entry of readChunk(chunk, requireFile(task, chunk), makeIds(task, chunk))) {
    if (isFull(entry)) finish(entry.place, entry.line);
    for (const problem of entry.problems) {
      origins.set(problem.origin, origins.size);
      problems.push(problem);
    }
    if (entry.item === undefined) continue;
    origins.set(entry.item.origin, origins.size);
    const problem = findProblem(loader, entry.item);
    if (problem !== undefined) problems.push(problem);
    else items.push(entry.item);
    bytes += entry.item.size ?? 0;
  }
  finish(chunk.to, chunk.toLine);
  return portions;
}

function requireFile({ files }: ImportTask, { file }: Chunk): ImportFile {
  const found = files[file];
  if (found === undefined) throw new TypeError(`there is no file ${file}`);
  return found;
}

function makeIds({ run }: ImportTask, { file }: Chunk): MakeId {
  return (byte, n) => makeImportedId(run, `${file} ${byte} ${n}`);
}

async function storePortions(
  loader: Loader,
  { run }: ImportTask,
  { portions, plan: first }: Prepared,
  keepMax: number,
): Promise<ChunkOutcome> {
  const sum = { stored: 0, skipped: 0, refused: 0, problems: [] as ImportProblem[], slowest: { ms: 0, resources: 0 } };
  for (const [index, portion] of portions.entries()) {
    const plan = index === 0 ? first : await planBatch(loader, portion.items);
    const batch = await storeBatch(loader, plan, portion.problems, ({ scope }, stored) => {
      const kept = sortProblems(stored.problems, portion).slice(0, Math.max(0, keepMax - sum.problems.length));
      return noteRange(scope, run, portion, { ...stored, problems: kept, refused: stored.problems.length });
    });
    sum.stored += batch.stored;
    sum.skipped += batch.skipped;
    sum.refused += batch.problems.length;
    sum.problems.push(...sortProblems(batch.problems, portion).slice(0, Math.max(0, keepMax - sum.problems.length)));
    if (batch.noted > sum.slowest.ms) sum.slowest = { ms: batch.noted, resources: batch.stored };
  }
  return sum;
}

/** In the order of the file. */
function sortProblems(problems: readonly ImportProblem[], { origins }: Portion): readonly ImportProblem[] {
  const at = ({ origin }: ImportProblem): number => origins.get(origin) ?? 0;
  return problems.toSorted((left, right) => at(left) - at(right));
}
