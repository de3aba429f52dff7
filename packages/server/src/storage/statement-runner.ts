/**
 * How a feature reaches what it keeps beside the resources: by functions of its own that send its statements through a
 * runner. A store is one, inside a transaction and outside.
 */
import type { QueryOptions } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { type EpochRow, requireFresh } from './rows.ts';
import { statements } from './statements.ts';

/** Sends a statement as the scope's firm. */
export type Send = <R>(scope: TenantScope, statement: Sql, options: QueryOptions) => Promise<R[]>;

/** Reads by a statement whose first row carries the access epoch; long, unless it is said. @throws PraxisError `stale-access` */
export type Ask = <R extends EpochRow>(
  scope: TenantScope,
  statement: Sql,
  options?: QueryOptions,
) => Promise<readonly R[]>;

/** Reads by what `send` sends. */
export function openReader(send: Send): Ask {
  return async <R extends EpochRow>(scope: TenantScope, statement: Sql, options: QueryOptions = { idempotent: true }) =>
    requireFresh(await send<R>(scope, statement, options), scope);
}

export interface Rememberable {
  /**
   * The answer stands until a Bundle's transaction ends, whose thousands of entries would ask the same; that of a read until
   * its resource is written there.
   */
  readonly remembered?: boolean;
}

export interface StatementOptions extends QueryOptions, Rememberable {
  /**
   * The statement reads nothing that the write of a resource changes, and changes nothing that it reads: the writes that a
   * Bundle has gathered (bundle/gathered-writes.ts) need not go before it.
   */
  readonly standsApart?: boolean;
  /** A function of the database looks at the rights itself, and its rows tell where they are old: they carry no epoch. */
  readonly tellsStale?: boolean;
}

/** What functions of features ask for; `ResourceStore` is one. */
export interface StatementRunner {
  /**
   * The rows that a statement of a feature reads, which runs as the scope's firm and, inside `transaction`, as a part of it. The
   * first row carries the access epoch (`access_epoch.epoch`), also where nothing else was found.
   * @throws PraxisError `stale-access`
   */
  run<Row extends object>(
    scope: TenantScope,
    statement: Sql,
    options?: StatementOptions,
  ): Promise<readonly (Row & EpochRow)[]>;

  /**
   * Changes what is kept beside the resources, all or nothing: as a part of the transaction inside `transaction`, otherwise as
   * one. The statements are sent in their order by one round trip. The access epoch is read behind them, when they wait for
   * nobody any more; old rights undo them. Writes of resources that wait (bundle/gathered-writes.ts) need not go before.
   * @returns the rows of all, one after another
   * @throws PraxisError `stale-access`
   */
  change<Row extends object>(scope: TenantScope, changes: readonly Sql[]): Promise<readonly Row[]>;
}

/** @param send sends a statement as the scope's firm; for `change` in a transaction, which its error undoes */
export function openStatementRunner(send: Send): StatementRunner {
  return {
    async run<Row extends object>(scope: TenantScope, statement: Sql, options: StatementOptions = {}) {
      const rows = await send<Row & EpochRow>(scope, statement, options);
      return options.tellsStale === true ? rows : requireFresh(rows, scope);
    },

    async change<Row extends object>(scope: TenantScope, changes: readonly Sql[]) {
      const sent = changes.map((statement) => send<Row>(scope, statement, {}));
      const [epochs, ...answers] = await Promise.all([send<EpochRow>(scope, statements.epoch(scope), {}), ...sent]);
      requireFresh(epochs, scope);
      return answers.flat();
    },
  };
}

/** Rows of one INSERT at most: a statement has 65,535 parameters. */
const insertedMax = 1_000;

/**
 * Statements that insert the rows, in their order.
 * @param into table and columns, the firm first
 * @param rows values in brackets
 * @param conflict ON CONFLICT …
 */
export function buildInserts(into: Sql, rows: readonly Sql[], conflict: Sql = sql.empty): readonly Sql[] {
  const portions = Array.from({ length: Math.ceil(rows.length / insertedMax) }, (_, at) =>
    rows.slice(at * insertedMax, (at + 1) * insertedMax),
  );
  return portions.map((portion) => sql`INSERT INTO ${into} VALUES ${sql.join(portion)} ${conflict}`);
}
