/**
 * Sending writes. A write that brings the index rows of the version before sends only what differs; where the database has rows
 * that were made by other rules it says so, and all rows are sent.
 */
import type { Dimensions, KeyUse } from '../audit/dimensions.ts';
import type { Prover } from '../audit/proof.ts';
import type { Sql } from '../database/sql.ts';
import { isUnknownKey } from '../database/sqlstate.ts';
import { lockWaitMaxMs } from '../database/transaction.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { ResourceWrite, WriteOutcome } from './resources.ts';
import { type OutcomeRow, readOutcome, refuseStale } from './rows.ts';
import type { Send } from './statement-runner.ts';
import { statements } from './statements.ts';

/** How writes are noted in the ledger. */
export interface Noting extends Dimensions {
  /** Makes the proofs of rows; absent: they have none. */
  readonly prove: Prover | undefined;
}

/** That of one transaction, in which keys are those of all its statements and are committed with it. */
export function noteInside(noting: Noting, keys: KeyUse): Noting {
  const ofStatement = { ...keys, commit: () => undefined };
  return { ...noting, begin: () => ofStatement };
}

/**
 * The outcomes of the writes, in their order, which are all written or, after an error, none. To be called inside a
 * transaction, or with one write.
 */
export async function sendWrites(
  send: Send,
  scope: TenantScope,
  writes: readonly ResourceWrite[],
  noting: Noting,
): Promise<WriteOutcome[]> {
  const outcomes = await sendOnce(send, scope, writes, noting);
  const unwritten = writes.filter((_, at) => outcomes[at] === undefined);
  const later = unwritten.length === 0 ? [] : [...(await sendOnce(send, scope, unwritten.map(withAllRows), noting))];
  return outcomes.map((outcome) => outcome ?? requireOutcome(later.shift()));
}

/**
 * The outcomes of one statement; undefined: nothing was written, and the write has to be sent with all its rows.
 * @param lockWaitMs how long it waits for the locks of others; absent: as others do
 */
export async function sendOnce(
  send: Send,
  scope: TenantScope,
  writes: readonly ResourceWrite[],
  { prove, begin, forget }: Noting,
  lockWaitMs?: number,
): Promise<readonly (WriteOutcome | undefined)[]> {
  const keys = begin(scope.firm);
  const statement = statements.write(scope, withAllRowsWhereRepeated(writes), { prove, keys, lockWaitMs });
  try {
    const outcomes = (await send<OutcomeRow>(scope, statement, {})).map(readOutcome);
    // With the first row that is written its function adds callers and actions, and none without.
    if (outcomes.some((each) => each?.outcome === 'written')) keys.commit();
    else keys.forget();
    return outcomes;
  } catch (error) {
    if (isUnknownKey(error)) forget();
    throw error;
  }
}

/**
 * Writes first versions of resources, which are all written or, after an error, none.
 * @param also an expression of the same statement, evaluated when they are written
 * @returns its value
 * @throws TypeError for definitions of search parameters, which change what is indexed; PraxisError `stale-access`
 */
export async function sendCreates(
  send: Send,
  scope: TenantScope,
  writes: readonly ResourceWrite[],
  also: Sql,
  { prove, begin, forget }: Noting,
): Promise<number> {
  if (writes.some(({ type, expectedVersion }) => type === 'SearchParameter' || expectedVersion !== 0))
    throw new TypeError('search parameters and later versions are written one by one');
  const keys = begin(scope.firm);
  try {
    const statement = statements.create(scope, writes, also, { prove, keys, lockWaitMs: lockWaitMaxMs });
    const [row] = await send<{ readonly told: number | null }>(scope, statement, {});
    if (row === undefined || row.told === null) return refuseStale();
    keys.commit();
    return row.told;
  } catch (error) {
    keys.forget();
    if (isUnknownKey(error)) forget();
    throw error;
  }
}

/** The write with all its index rows. */
export function withAllRows(write: ResourceWrite): ResourceWrite {
  const { indexBefore: _, ...others } = write;
  return others;
}

/** What one write of a call leaves, the next one cannot tell from what the database had before. */
function withAllRowsWhereRepeated(writes: readonly ResourceWrite[]): readonly ResourceWrite[] {
  if (writes.length === 1) return writes;
  const keys = writes.map(({ type, id }) => `${type}/${id}`);
  const seen = new Set<string>();
  const repeated = new Set(keys.filter((key) => seen.size === seen.add(key).size));
  if (repeated.size === 0) return writes;
  return writes.map((write, at) => (repeated.has(keys[at] ?? '') ? withAllRows(write) : write));
}

/** @throws TypeError when there is none */
export function requireOutcome(outcome: WriteOutcome | undefined): WriteOutcome {
  if (outcome === undefined) throw new TypeError('the database told no outcome of a write');
  return outcome;
}
