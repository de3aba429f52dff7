/** Walks over many resources or versions, page by page. */
import type { Sql } from '../database/sql.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { HistoryVersions, HistoryWalk, StoredResource } from './resources.ts';
import {
  getTypeName,
  type HistoryRow,
  isFound,
  type ResourceRow,
  takeWithin,
  toHistoryPosition,
  toStoredResource,
  toStoredVersion,
} from './rows.ts';
import type { Ask } from './statement-runner.ts';
import { statements } from './statements.ts';

/** Rows that `streamResources` holds in memory at once, at most. */
const streamRows = 200;

/** One row more than wanted tells whether there are more. */
export async function walkHistory(
  ask: Ask,
  scope: TenantScope,
  walk: HistoryWalk,
  statement: (page: HistoryWalk) => Sql,
): Promise<HistoryVersions> {
  const rows = await ask<HistoryRow>(scope, statement({ ...walk, limit: walk.limit + 1 }));
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
  ask: Ask,
  scope: TenantScope,
  types: readonly string[] | undefined,
): AsyncGenerator<StoredResource> {
  for (let afterRid = 0; ; ) {
    const rows = await ask<ResourceRow>(scope, statements.stream(scope, { afterRid, types, limit: streamRows }));
    const found = rows.filter(isFound);
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
