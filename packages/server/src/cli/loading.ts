/**
 * Storing many resources that a program has in memory: synthetic practices. They go through the engine that imports files
 * (importing/); a resource is stored whole or not at all, and one that fails does not stop the others.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Platform } from '../app.ts';
import { sql } from '../database/sql.ts';
import type { Firm } from '../tenancy/firms.ts';
import { type ImportRules, type Loader, openLoader } from './importing/loader.ts';
import { findProblem, type ImportItem, planBatch } from './importing/plan-batch.ts';
import type { ImportProblem } from './importing/problem.ts';
import { storeBatch } from './importing/store-batch.ts';

/** Resources written by one transaction, at most. */
const batchSize = 200;
/** Bytes of their texts, about; a resource larger than this is a batch of its own. */
const batchBytesMax = 8 * 1024 * 1024;

interface LoadOptions extends Pick<ImportRules, 'validate'> {
  /** After each batch: resources stored so far. */
  readonly onProgress?: (stored: number) => void;
  /** Once for each resource that is not stored. */
  readonly onProblem: (problem: ImportProblem) => void;
}

/**
 * Stores `items` at `firm` as new versions under their own ids. Returns how many were stored. Items with the same type and
 * id are stored in their order. While one batch is being written the next is read, validated and indexed; three are in
 * memory at most.
 * @throws PraxisError `unavailable` when the database is lost; what `onProgress` has told is stored
 */
export async function loadResources(
  platform: Platform,
  firm: Firm,
  items: AsyncIterable<ImportItem> | Iterable<ImportItem>,
  options: LoadOptions,
): Promise<number> {
  const rules: ImportRules = { mode: 'upsert', validate: options.validate, lenientInvariants: !options.validate };
  const loader = await openLoader(platform, firm, rules);
  let stored = 0;
  let writing = Promise.resolve(0);
  const written = async (): Promise<void> => {
    stored += await writing;
    writing = Promise.resolve(0);
    options.onProgress?.(stored);
  };
  try {
    for await (const batch of cutBatches(loader, items, options)) {
      const plan = await planBatch(loader, batch);
      await written();
      writing = storeBatch(loader, plan, [], () => sql`0`).then(({ stored: count, problems }) => {
        for (const problem of problems) options.onProblem(problem);
        return count;
      });
      writing.catch(() => undefined); // `written` gets it
      await turn(); // the statement leaves for the database before the next batch keeps this thread busy
    }
    await written();
  } finally {
    await writing.catch(() => undefined);
  }
  return stored;
}

async function* cutBatches(
  loader: Loader,
  items: AsyncIterable<ImportItem> | Iterable<ImportItem>,
  options: LoadOptions,
): AsyncGenerator<ImportItem[]> {
  let batch: ImportItem[] = [];
  let bytes = 0;
  for await (const item of items) {
    const problem = findProblem(loader, item);
    if (problem !== undefined) {
      options.onProblem(problem);
      continue;
    }
    const { size = 0 } = item;
    if (batch.length === batchSize || (batch.length > 0 && bytes + size > batchBytesMax)) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(item);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
