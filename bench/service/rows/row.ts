/**
 * A row of the table: what is asked of the product, and what that is held against.
 */
import type { Sql } from '../../../packages/server/src/database/sql.ts';
import type { Caller } from '../caller.ts';
import type { Call } from '../line.ts';
import type { Workload } from '../load.ts';

export interface Row {
  readonly workload: Workload;
  readonly base: Base;
  /** The rate of the product ÷ that of the base is at least this; absent: nothing is promised. */
  readonly bar?: number;
}

/** What a row is held against: another request to the product, or a handler of the floor. */
export type Base =
  | { readonly kind: 'product'; readonly workload: Workload }
  /** A handler that knows by itself what to do (floor/floor.ts). */
  | { readonly kind: 'handler'; readonly status: number; readonly call: (index: number) => Call }
  /** A handler that runs the statements of `asked`, and sends what the product has answered. */
  | { readonly kind: 'statement'; readonly asked: readonly Asked[] }
  /** A handler that writes the rows which the call leaves, under other ids. */
  | { readonly kind: 'create' }
  /** A handler that writes the rows which an update of a resource leaves. */
  | { readonly kind: 'update'; readonly sample: UpdateSample };

/** A request below the FHIR base, and the best statement that finds the same. */
export interface Asked {
  readonly what: string;
  readonly statement: (firm: number) => Sql;
}

/** Bodies of a Patient: as it is created, and as it is updated. */
export interface UpdateSample {
  readonly created: string;
  /** Under its id. */
  readonly updated: (id: string) => string;
}

/** A row of GETs that are asked in turn, each with its statement. */
export function makeSearchRow(
  { get }: Caller,
  name: string,
  asked: readonly Asked[],
  more: Pick<Row, 'bar'> = {},
): Row {
  if (asked.length === 0) throw new Error(`${name}: the practice has nothing that could be asked for`);
  const calls = asked.map(({ what }) => get(what));
  const workload = { name, status: 200, call: (index: number) => takeInTurn(calls, index) };
  return { workload, base: { kind: 'statement', asked }, ...more };
}

/** The items one after another, and again from the first. */
export function takeInTurn<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new RangeError('there is nothing to take');
  return item;
}
