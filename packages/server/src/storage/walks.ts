/** Walks over many resources or versions, page by page. */
import type { QueryOptions } from '../database/database.ts';
import type { Sql } from '../database/sql.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { HistoryVersions, HistoryWalk, StoredResource } from './resources.ts';
import {
  getTypeName,
  type HistoryRow,
  isFound,
  type ResourceRow,
  requireFresh,
  takeWithin,
  toHistoryPosition,
  toStoredResource,
  toStoredVersion,
} from './rows.ts';
import { statements } from './statements.ts';

/** Sends a statement as the scope's firm. */
export type Send = <R>(scope: TenantScope, statement: Sql, options: QueryOptions) => Promise<R[]>;

/** Rows that `streamResources` holds in memory at once, at most. */
const streamRows = 200;

const longRead: QueryOptions = { idempotent: true };

/** One row more than wanted tells whether there are more. */
export async function walkHistory(
  send: Send,
  scope: TenantScope,
  walk: HistoryWalk,
  statement: (page: HistoryWalk) => Sql,
): Promise<HistoryVersions> {
  const rows = requireFresh(
    await send<HistoryRow>(scope, statement({ ...walk, limit: walk.limit + 1 }), longRead),
    scope,
  );
  const shown = takeWithin(rows.slice(0, walk.limit));
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  return {
    versions: shown.flatMap((row) =>
      row.vid === null ? [] : (toStoredVersion(getTypeName(row.rtype), row.id, row) ?? []),
    ),
    next: last && toHistoryPosition(last, walk.after),
  };
}

/** Pages by rid, since a rid never changes: paging by lastUpdated would miss what a slow writer commits behind it. */
export async function* streamResources(
  send: Send,
  scope: TenantScope,
  types: readonly string[] | undefined,
): AsyncGenerator<StoredResource> {
  for (let afterRid = 0; ; ) {
    const rows = await send<ResourceRow>(
      scope,
      statements.stream(scope, { afterRid, types, limit: streamRows }),
      longRead,
    );
    const found = requireFresh(rows, scope).filter(isFound);
    const read = takeWithin(found);
    for (const row of read) {
      // Without content: deleted, or of a type that was not asked for.
      if (row.content !== null) yield toStoredResource(row);
    }
    const last = read.at(-1);
    if (last === undefined || (found.length < streamRows && read.length === found.length)) return;
    afterRid = last.rid;
  }
}
