/**
 * Sending writes. A write that brings the index rows of the version before sends only what differs; where the database has rows
 * that were made by other rules it says so, and all rows are sent.
 */
import type { TenantScope } from '../tenancy/scope.ts';
import type { ResourceWrite, WriteOutcome } from './resources.ts';
import { type OutcomeRow, readOutcome } from './rows.ts';
import type { Send } from './statement-runner.ts';
import { statements, type WriteOptions } from './statements.ts';

/**
 * The outcomes of the writes, in their order, which are all written or, after an error, none. To be called inside a
 * transaction, or with one write.
 */
export async function sendWrites(
  send: Send,
  scope: TenantScope,
  writes: readonly ResourceWrite[],
  options: WriteOptions,
): Promise<WriteOutcome[]> {
  const outcomes = await sendOnce(send, scope, writes, options);
  const unwritten = writes.filter((_, at) => outcomes[at] === undefined);
  const later = unwritten.length === 0 ? [] : [...(await sendOnce(send, scope, unwritten.map(withAllRows), options))];
  return outcomes.map((outcome) => outcome ?? requireOutcome(later.shift()));
}

/** The outcomes of one statement; undefined: nothing was written, and the write has to be sent with all its rows. */
export async function sendOnce(
  send: Send,
  scope: TenantScope,
  writes: readonly ResourceWrite[],
  options: WriteOptions,
): Promise<readonly (WriteOutcome | undefined)[]> {
  const statement = statements.write(scope, withAllRowsWhereRepeated(writes), options);
  return (await send<OutcomeRow>(scope, statement, {})).map(readOutcome);
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
