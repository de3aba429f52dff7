/**
 * How a feature reaches what it keeps beside the resources: by functions of its own that send its statements through a
 * runner. A store is one, inside a transaction and outside.
 */
import type { QueryOptions } from '../database/database.ts';
import type { Sql } from '../database/sql.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { type EpochRow, requireFresh } from './rows.ts';

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
   * The rows of a statement of a feature, which runs as the scope's firm and, inside `transaction`, as a part of it. The first
   * row carries the access epoch (`access_epoch.epoch`), also where nothing else was found.
   * @throws PraxisError `stale-access`
   */
  run<Row extends object>(
    scope: TenantScope,
    statement: Sql,
    options?: StatementOptions,
  ): Promise<readonly (Row & EpochRow)[]>;
}

/** @param send sends a statement as the scope's firm */
export function openStatementRunner(send: Send): StatementRunner {
  return {
    async run<Row extends object>(scope: TenantScope, statement: Sql, options: StatementOptions = {}) {
      const rows = await send<Row & EpochRow>(scope, statement, options);
      return options.tellsStale === true ? rows : requireFresh(rows, scope);
    },
  };
}
