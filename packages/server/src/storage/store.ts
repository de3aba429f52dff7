/**
 * The store of resources: the only way to read and write them. Every function takes the scope of one firm and application,
 * and fails with `stale-access` when their rights have changed since the scope was read; the caller then authenticates
 * again and repeats. A deleted resource is a version like any other, marked `deleted`.
 *
 * Interactions: https://hl7.org/fhir/R4/http.html#read, #vread, #history, #create, #update, #delete. Versions:
 * https://hl7.org/fhir/R4/resource.html#Meta
 */

import { type KeyUse, openDimensions } from '../audit/dimensions.ts';
import type { Prover } from '../audit/proof.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { boundedRead, type Database, pointRead, type Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { FailedParameter } from '../search/index/costly-parameters.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { type ChangeFeed, changeFeedOver } from './changes.ts';
import { openGroupCommit } from './group-commit.ts';
import { claimKey, type IdempotencyStore, keepAnswer, readKeptAnswer } from './idempotency.ts';
import {
  failParameters,
  markSearchParameters,
  type ParameterStanding,
  selectParameterStandings,
} from './index-statements.ts';
import { findLedgerEvents, isIn, toLedgerResource } from './ledger-rows.ts';
import { type PortionOf, readPortion } from './portions.ts';
import type {
  CurrentVersion,
  Estimate,
  HistoryVersions,
  HistoryWalk,
  PageRow,
  ResourceKey,
  ResourceWrite,
  StoredResource,
  VersionsPage,
  WriteOutcome,
} from './resources.ts';
import {
  type EpochRow,
  getTypeName,
  isFound,
  type ResourceRow,
  requireUnended,
  takeWithin,
  toPageRow,
  toStoredVersion,
  type VersionRow,
} from './rows.ts';
import {
  openReader,
  openStatementRunner,
  type Rememberable,
  type Send,
  type StatementRunner,
} from './statement-runner.ts';
import { type HistoryPage, statements, versionIdMax } from './statements.ts';
import { streamResources, walkHistory } from './walks.ts';
import { type Noting, noteInside, requireOutcome, sendCreates, sendOnce, sendWrites, withAllRows } from './writing.ts';

export type { Change, ChangePlace, Changes, ChangesPage } from './changes.ts';
export { firstPlace } from './changes.ts';
export type { AnswerToKeep, KeptAnswer, KeyClaim } from './idempotency.ts';
export type { ParameterStanding } from './index-statements.ts';
export type {
  CurrentVersion,
  Estimate,
  HistoryPeriod,
  HistoryPosition,
  HistoryVersions,
  HistoryWalk,
  PageRow,
  ResourceKey,
  ResourceWrite,
  StoredResource,
  VersionsPage,
  WriteOutcome,
} from './resources.ts';
export { countBytes, requireType } from './resources.ts';
export type { HistoryPage } from './statements.ts';

/** Resources that one `writeMany` or `currentVersions` takes. */
export const batchMax = 1000;

export interface ResourceStore extends ChangeFeed, IdempotencyStore<ResourceStore>, StatementRunner {
  /** The current version, also of a deleted resource; undefined when there never was one. */
  read<T extends string>(
    scope: TenantScope,
    type: T,
    id: string,
    options?: Rememberable,
  ): Promise<StoredResource<T> | undefined>;

  /** Whether a live resource exists; content is not read. */
  exists(scope: TenantScope, type: string, id: string): Promise<boolean>;

  /** The version `versionId`, with its method; undefined when there is none. */
  readVersion<T extends string>(
    scope: TenantScope,
    type: T,
    id: string,
    versionId: number,
  ): Promise<StoredResource<T> | undefined>;

  /**
   * Versions newest first, deletions included, with their methods; none when there are none (below `beforeVersion`). A page
   * ends before its `limit` where its contents reach the limit of bytes; the newest version always comes.
   */
  history(scope: TenantScope, type: string, id: string, page: HistoryPage): Promise<VersionsPage>;

  /**
   * The versions of all resources of a type, newest first, deletions included, with their methods. All pages of a walk show
   * the history of one moment, that of its first page, so none is lost or repeated while others write.
   */
  typeHistory(scope: TenantScope, type: string, walk: HistoryWalk): Promise<HistoryVersions>;

  /** The same of all resources of the firm. */
  systemHistory(scope: TenantScope, walk: HistoryWalk): Promise<HistoryVersions>;

  /** The current versions of those of `keys` (at most `batchMax`) that exist, deleted ones too, in no order. */
  currentVersions(scope: TenantScope, keys: readonly ResourceKey[]): Promise<CurrentVersion[]>;

  /**
   * Writes one version with its index rows and audit row, all or nothing. Of several writers that expect the same version
   * exactly one succeeds. When it resolves the change is durable and every later read sees it.
   */
  write(scope: TenantScope, write: ResourceWrite): Promise<WriteOutcome>;

  /**
   * Writes at most `batchMax` versions in one transaction. Outcomes are in the order of `writes`: those in conflict change
   * nothing, the others are written; after an error none is. To make a conflict undo the others too, call it inside
   * `transaction` and throw. A resource may occur twice, its later write expecting the version of the earlier.
   */
  writeMany(scope: TenantScope, writes: readonly ResourceWrite[]): Promise<WriteOutcome[]>;

  /**
   * Writes at most `batchMax` first versions of different resources, all or none, in half of the time of `writeMany`: by one
   * statement, which evaluates `also` behind them. Its value, an int; 0 without.
   * @throws StatementError of the constraint `resource_pkey` where one is there already, deleted or not
   */
  createMany(scope: TenantScope, writes: readonly ResourceWrite[], also?: Sql): Promise<number>;

  /**
   * Runs `work` with a store whose calls are one transaction; throwing undoes all. `work` may run more than once (after a
   * deadlock for instance), so it must have no other effects. Calls on the store wait for each other: no `stream` inside.
   * Inside another transaction, throwing undoes what `work` has done.
   */
  transaction<T>(scope: TenantScope, work: (store: ResourceStore) => Promise<T>): Promise<T>;

  /**
   * Runs `work` as `transaction` does, alone among those of the firm that hold the lock `name`: each sees what the one
   * before it wrote. For what is conditional on a search, which no row lock can guard.
   */
  exclusively<T>(scope: TenantScope, name: string, work: (store: ResourceStore) => Promise<T>): Promise<T>;

  /** The firm's own search parameters, in the order of their definition: also those that cannot be searched by yet. */
  parameterStandings(scope: TenantScope): Promise<ParameterStanding[]>;

  /** Nothing is indexed or searched any longer by what cost too much; every scope of the firm is old then. Those that are new. */
  failParameters(scope: TenantScope, failed: readonly FailedParameter[]): Promise<FailedParameter[]>;

  /**
   * The rows of a planned search page (search/sql/plan.ts), in its order.
   * @param readsFew the statement reads few rows, as far as is known: default false
   */
  selectPage(scope: TenantScope, statement: Sql, readsFew?: boolean): Promise<PageRow[]>;

  /** The events of the audit ledger of a page (storage/ledger-search.ts), in its order. */
  selectLedger(scope: TenantScope, statement: Sql): Promise<PageRow[]>;

  /** The number that a planned count finds (search/sql/plan.ts). */
  selectCount(scope: TenantScope, statement: Sql): Promise<number>;

  /** What a planned estimate finds (search/sql/plan.ts). */
  selectEstimate(scope: TenantScope, statement: Sql): Promise<Estimate>;

  /**
   * All live resources of the firm, or those of `types`, in the order of their creation; memory stays bounded whatever their
   * number. Each resource that lives throughout comes exactly once, in a version that was current during the walk.
   */
  stream(scope: TenantScope, options?: { readonly types?: readonly string[] }): AsyncIterable<StoredResource>;

  /**
   * The current versions that come next, deleted ones too, by the number of their type, then by id; none: all were seen. What
   * is created before `after` meanwhile is not found any more.
   */
  portion(scope: TenantScope, of: PortionOf): Promise<StoredResource[]>;
}

/**
 * The store in `database`, which runs as the role that row-level security binds.
 * @param prove makes the proofs of audit rows; without it they have none
 * @param clock by which a scope has ended
 */
export function openStore(database: Database, prove?: Prover, clock: Clock = systemClock): ResourceStore {
  const send: Send = async (scope, statement, options) => {
    requireUnended(scope, clock.now());
    return await database.forFirm(scope.firm, scope).query(statement, options);
  };
  const noting: Noting = { prove, ...openDimensions() };
  const store = storeOver(send, noting);
  const groups = openGroupCommit({
    sendAlone: (scope, write) => store.write(scope, write),
    sendTogether: (scope, writes, lockWaitMs) => sendOnce(send, scope, writes, noting, lockWaitMs),
    requireUnended: (scope) => requireUnended(scope, clock.now()),
  });
  const transaction: ResourceStore['transaction'] = async (scope, work) => {
    let keys = noting.begin(scope.firm);
    // Every statement of it is looked at, since one may have waited for another transaction.
    const inside = (tx: Queryable) => {
      keys = noting.begin(scope.firm);
      const query = async <R>(statement: Sql): Promise<R[]> => {
        requireUnended(scope, clock.now());
        return await tx.query<R>(statement);
      };
      return work(storeInside(scope, query, noting, keys));
    };
    const result = await database.transaction(scope.firm, inside, { caller: scope });
    keys.commit();
    return result;
  };
  return {
    ...store,
    write: (scope, write) =>
      defineParameters([write])
        ? transaction(scope, (inside) => inside.write(scope, write))
        : groups.write(scope, write),
    writeMany: (scope, writes) =>
      defineParameters(writes)
        ? transaction(scope, (inside) => inside.writeMany(scope, writes))
        : store.writeMany(scope, writes.map(withAllRows)), // one statement, so one transaction
    transaction,
    change: (scope, changes) => transaction(scope, (inside) => inside.change(scope, changes)),
    failParameters: (scope, failed) => transaction(scope, (inside) => inside.failParameters(scope, failed)),
    once: (scope, claim, work) => transaction(scope, (inside) => inside.once(scope, claim, work)),
    exclusively: (scope, name, work) => transaction(scope, (inside) => inside.exclusively(scope, name, work)),
  };
}

/** The store of one transaction: bound to the firm it was begun for. */
function storeInside(begun: TenantScope, query: Queryable['query'], noting: Noting, keys: KeyUse): ResourceStore {
  const plain = storeOver(
    (scope, statement) => {
      if (scope.firm !== begun.firm) throw new TypeError('a transaction stays in the firm it was begun for');
      return query(statement);
    },
    noteInside(noting, keys),
  );
  const marked = async <T>(scope: TenantScope, writes: readonly ResourceWrite[], outcome: T): Promise<T> => {
    if (defineParameters(writes)) await query(markSearchParameters(scope.firm));
    return outcome;
  };
  const store: ResourceStore = {
    ...plain,
    async failParameters(scope, failed) {
      await plain.currentVersions(scope, []); // whose rights are old reads the parameters again, too
      return await failParameters({ query }, scope.firm, failed);
    },
    write: async (scope, write) => marked(scope, [write], await plain.write(scope, write)),
    writeMany: async (scope, writes) => marked(scope, writes, await plain.writeMany(scope, writes)),
    async transaction(_scope, work) {
      await query(sql`SAVEPOINT inner_work`);
      try {
        const result = await work(store);
        await query(sql`RELEASE SAVEPOINT inner_work`);
        return result;
      } catch (error) {
        await query(sql`ROLLBACK TO SAVEPOINT inner_work`);
        keys.forget();
        // It is still there, and would be taken for that of a transaction around this one.
        await query(sql`RELEASE SAVEPOINT inner_work`);
        throw error;
      }
    },
    async once(scope, claim, work) {
      const kept = await claimKey(query, scope, claim);
      if (kept !== undefined) return { kept };
      const { answer, keep } = await work(store);
      await keepAnswer(plain, scope, claim, keep);
      return { answer };
    },
    async exclusively(scope, name, work) {
      await plain.change(scope, [statements.lock(scope, name)]);
      const result = await work(store);
      await query(statements.unlock(scope, name));
      return result;
    },
  };
  return store;
}

/** Whether the writes may change what the firm's resources can be searched by: noted in the same transaction. */
function defineParameters(writes: readonly ResourceWrite[]): boolean {
  return writes.some(({ type }) => type === 'SearchParameter');
}

function storeOver(
  send: Send,
  noting: Noting,
): Omit<ResourceStore, 'transaction' | 'exclusively' | 'once' | 'failParameters'> {
  const ask = openReader(send);
  const selectPage: ResourceStore['selectPage'] = async (scope, statement, readsFew = false) =>
    (await ask<ResourceRow>(scope, statement, readsFew ? boundedRead : undefined)).filter(isFound).map(toPageRow);
  return {
    ...changeFeedOver(ask),
    ...openStatementRunner(send),
    keptAnswer: (scope, key, nowMs) => readKeptAnswer(ask, scope, key, nowMs),
    async read(scope, type, id) {
      const events = findLedgerEvents(ask, scope, type, id);
      if (events !== undefined) return (await events)[0];
      const [row] = await ask<VersionRow>(scope, statements.read(scope, type, id), pointRead);
      return toStoredVersion(type, id, row);
    },

    async exists(scope, type, id) {
      const events = findLedgerEvents(ask, scope, type, id);
      if (events !== undefined) return (await events).length > 0;
      const [row] = await ask<VersionRow>(scope, statements.exists(scope, type, id), pointRead);
      return row?.vid !== null;
    },

    async readVersion(scope, type, id, versionId) {
      const events = findLedgerEvents(ask, scope, type, id);
      if (events !== undefined) return (await events).find((event) => event.versionId === versionId);
      if (!Number.isInteger(versionId) || versionId < 1 || versionId > versionIdMax) return undefined;
      const [row] = await ask<VersionRow>(scope, statements.readVersion(scope, type, id, versionId), pointRead);
      return toStoredVersion(type, id, row);
    },

    async history(scope, type, id, page) {
      const events = findLedgerEvents(ask, scope, type, id);
      if (events !== undefined)
        return { versions: (await events).filter((event) => isIn(page, event)), hasMore: false };
      const statement = statements.history(scope, type, id, { ...page, limit: page.limit + 1 });
      const rows = await ask<VersionRow>(scope, statement);
      const shown = takeWithin(rows.slice(0, page.limit));
      return {
        versions: shown.flatMap((row) => toStoredVersion(type, id, row) ?? []),
        hasMore: rows.length > shown.length,
      };
    },

    typeHistory: (scope, type, walk) =>
      walkHistory(ask, scope, walk, (page) => statements.typeHistory(scope, type, page)),

    systemHistory: (scope, walk) => walkHistory(ask, scope, walk, (page) => statements.systemHistory(scope, page)),

    async currentVersions(scope, keys) {
      requireBatch(keys);
      const statement = statements.currentVersions(scope, keys);
      const rows = await ask<ResourceRow & { readonly deleted: boolean }>(scope, statement, boundedRead);
      return rows.flatMap(({ rtype, id, vid, deleted }) =>
        vid === null ? [] : [{ type: getTypeName(rtype), id, versionId: vid, deleted }],
      );
    },

    async write(scope, write) {
      return requireOutcome((await sendWrites(send, scope, [write], noting))[0]);
    },

    async writeMany(scope, writes) {
      requireBatch(writes);
      return writes.length === 0 ? [] : await sendWrites(send, scope, writes, noting);
    },

    async createMany(scope, writes, also = sql`0`) {
      requireBatch(writes);
      return await sendCreates(send, scope, writes, also, noting);
    },

    async parameterStandings(scope) {
      const rows = await ask<EpochRow & ParameterStanding>(scope, selectParameterStandings(scope));
      return rows.flatMap(({ epoch, ...standing }) => (standing.url === null ? [] : [standing]));
    },

    selectPage,

    selectLedger: async (scope, statement) => (await selectPage(scope, statement)).map(toLedgerResource),

    async selectCount(scope, statement) {
      const [row] = await ask<EpochRow & { readonly total: number }>(scope, statement);
      return row?.total ?? 0;
    },

    async selectEstimate(scope, statement) {
      const [row] = await ask<EpochRow & Estimate>(scope, statement);
      return { total: row?.total ?? 0, sampled: row?.sampled ?? false, bounded: row?.bounded ?? false };
    },

    stream: (scope, options = {}) => streamResources(ask, scope, options.types),

    portion: (scope, of) => readPortion(ask, scope, of),
  };
}

function requireBatch(items: readonly unknown[]): void {
  if (items.length > batchMax)
    throw new RangeError(`${items.length} resources are more than a batch takes (${batchMax})`);
}
