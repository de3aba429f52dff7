/**
 * The rows of reads, refusals and token requests on their way to the ledger: gathered in this process and written in
 * batches, each within `flushMs` of its first row while the database keeps up. When it does not, requests wait for room:
 * no row is dropped. A process that is killed loses what it had gathered, no more than `flushMs` of it (decision 0154).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { Log } from '../base/log.ts';
import type { Database } from '../database/database.ts';
import { isUnknownKey } from '../database/sqlstate.ts';
import type { AccessRow } from './audit-row.ts';
import { type Dimensions, openDimensions } from './dimensions.ts';
import { addRows, buildElementList, type ElementList, type PendingRow, proveRows } from './ledger-statements.ts';
import type { Prover } from './proof.ts';

export interface Ledger {
  /**
   * Adds rows to the ledger of a firm (`serviceLedger`: of none). Undefined, or a promise to wait for before anything is
   * answered: that there is room again.
   */
  keep(firm: number, rows: readonly AccessRow[]): Promise<void> | undefined;
  /** Notes that the firm's ledger has new rows, written elsewhere. */
  touch(firm: number): void;
  /** The firms whose ledgers have had new rows since the last call. */
  takeTouched(): number[];
  /** Rows that are not written yet. */
  countWaiting(): number;
  /** When it resolves, every row that was kept before is written. */
  flush(): Promise<void>;
  /** Writes what is left, for `closeMaxMs` at most. */
  close(): Promise<void>;
}

export interface LedgerOptions {
  readonly database: Database;
  readonly log: Log;
  readonly prove: Prover;
  /** Longest time from a row to the beginning of its statement. */
  readonly flushMs: number;
}

/** Rows that are gathered before requests have to wait. */
const rowsMax = 20_000;

/** Rows of one statement. */
const batchRowsMax = 1_000;

/** Statements under way at once. */
const statementsMax = 3;

/** Lists of elements that a process remembers to have written. */
const knownListsMax = 20_000;

const retryPauseMs = 200;
const closeMaxMs = 10_000;

interface Batch {
  readonly rows: PendingRow[];
  /** Lists that rows name and that may not be in the ledger yet. */
  readonly lists: Map<string, ElementList>;
  /** Rows that stand for equal ones, by what makes them equal. */
  readonly repeated: Map<string, PendingRow>;
}

/** A batch that takes no more rows. */
interface QueuedBatch {
  readonly firm: number;
  readonly batch: Batch;
  readonly written: PromiseWithResolvers<void>;
}

export function openLedger(options: LedgerOptions): Ledger {
  const batches = new Map<number, Batch>();
  const touched = new Set<number>();
  const known = new LRUCache<string, true>({ max: knownListsMax });
  const dimensions = openDimensions();
  const queue = new Set<QueuedBatch>();
  const unwritten = new Set<Promise<void>>(); // of the batches that are queued or being written
  const waiting: (() => void)[] = [];
  let pending = 0;
  let closing = false;
  let timer: NodeJS.Timeout | undefined;
  let workers = 0;
  /** When the first of the rows came that wait for the next turn. */
  let gatheredSinceMs = 0;

  const write = async (firm: number, rows: readonly PendingRow[], lists: readonly ElementList[]): Promise<void> => {
    await untilTaken({ ...options, dimensions }, firm, { rows, lists }, () => closing);
    touched.add(firm); // not when they are gathered: a look for rows to seal in between would find none, and forget the firm
    for (const { fingerprint } of lists) known.set(`${firm} ${fingerprint}`, true);
    pending -= rows.length;
    if (pending < rowsMax) for (const go of waiting.splice(0)) go();
  };

  const worker = async (): Promise<void> => {
    workers += 1;
    for (const next of queue) {
      queue.delete(next);
      const lists = [...next.batch.lists.values()];
      try {
        for (let from = 0; from < next.batch.rows.length; from += batchRowsMax)
          await write(next.firm, next.batch.rows.slice(from, from + batchRowsMax), from === 0 ? lists : []);
        next.written.resolve();
      } catch (error) {
        next.written.reject(error);
      }
      unwritten.delete(next.written.promise);
    }
    workers -= 1;
    if (batches.size > 0 && !closing) schedule();
  };

  /** Hands over what was gathered. Later rows are of the next turn: else no batch would fill while requests come. */
  const beginTurn = (): void => {
    clearTimeout(timer);
    timer = undefined;
    for (const [firm, batch] of batches) {
      const written = Promise.withResolvers<void>();
      written.promise.catch(() => undefined); // whoever waits is told
      unwritten.add(written.promise);
      queue.add({ firm, batch, written });
    }
    batches.clear();
    while (workers < statementsMax && queue.size > 0) void worker();
  };

  /** The next turn; when all workers are busy, the first that is done sees to it. */
  const schedule = (): void => {
    if (queue.size > 0 || workers === statementsMax) return;
    timer ??= setTimeout(beginTurn, Math.max(0, gatheredSinceMs + options.flushMs - performance.now()));
  };

  const flush = async (): Promise<void> => {
    beginTurn();
    await Promise.all(unwritten);
  };

  return {
    keep(firm, rows) {
      if (rows.length === 0) return undefined;
      if (batches.size === 0) gatheredSinceMs = performance.now();
      const batch = batches.get(firm) ?? { rows: [], lists: new Map(), repeated: new Map() };
      batches.set(firm, batch);
      for (const row of rows)
        if (add(batch, row, (list) => known.get(`${firm} ${list.fingerprint}`) === true)) pending += 1;
      schedule();
      return pending < rowsMax ? undefined : new Promise((resolve) => waiting.push(resolve));
    },
    countWaiting: () => pending,
    touch: (firm) => void touched.add(firm),
    takeTouched: () => takeAll(touched),
    flush,
    async close() {
      closing = true;
      const left = async (): Promise<void> => {
        while (batches.size > 0 || unwritten.size > 0) await flush();
      };
      await Promise.race([left().catch(() => undefined), delay(closeMaxMs, undefined, { ref: false })]);
      if (pending > 0)
        options.log.error({ rows: pending }, 'audit rows were lost: the database did not take them in time');
    },
  };
}

function takeAll(firms: Set<number>): number[] {
  const taken = [...firms];
  firms.clear();
  return taken;
}

/**
 * Repeats the statement until the database takes the rows; at the end of the process it is tried once. Each attempt sends the same
 * proofs, by which the database knows rows that it has taken though the answer was lost (docs/decisions/0238).
 */
async function untilTaken(
  { database, log, prove, dimensions }: LedgerOptions & { readonly dimensions: Dimensions },
  firm: number,
  { rows, lists }: { readonly rows: readonly PendingRow[]; readonly lists: readonly ElementList[] },
  isClosing: () => boolean,
): Promise<void> {
  const proven = proveRows(firm, rows, prove);
  const build = () => {
    const keys = dimensions.begin(firm);
    return { keys, statement: addRows(firm, proven, lists, keys) };
  };
  // The same statement each time: the keys of one that was taken are those that the rows have.
  for (let attempt = build(); ; ) {
    try {
      await database.forFirm(firm).query(attempt.statement);
      attempt.keys.commit();
      return;
    } catch (error) {
      if (isUnknownKey(error)) {
        dimensions.forget();
        attempt = build();
      }
      log.error({ err: error, rows: rows.length }, 'audit rows could not be written and are kept');
      if (isClosing()) throw error;
      await delay(retryPauseMs);
    }
  }
}

/** Whether the row is one more; else it was counted with one that it equals. */
function add(batch: Batch, row: AccessRow, isKnown: (list: ElementList) => boolean): boolean {
  const equal = row.repeats === undefined ? undefined : batch.repeated.get(row.repeats);
  if (equal !== undefined) {
    equal.times += 1;
    return false;
  }
  const { elements } = row;
  const list = elements === undefined || elements === 'all' ? undefined : buildElementList(elements);
  if (list !== undefined && !isKnown(list)) batch.lists.set(list.fingerprint, list);
  const kept: PendingRow = { row, times: 1, elements: list?.fingerprint ?? (elements === 'all' ? 'all' : null) };
  batch.rows.push(kept);
  if (row.repeats !== undefined) batch.repeated.set(row.repeats, kept);
  return true;
}
