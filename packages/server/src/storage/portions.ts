/**
 * What a firm stores, portion by portion in the order of type and id, for looks at all of it that end with each request and
 * go on with the next.
 */
import { type Sql, sql } from '../database/sql.ts';
import { getTypeNumber } from '../search/numbers.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import type { ResourceKey, StoredResource } from './resources.ts';
import { isFound, type ResourceRow, toStoredResource } from './rows.ts';
import type { Ask } from './statement-runner.ts';

export interface PortionOf {
  /** Only resources of this type; undefined: of all. */
  readonly type: string | undefined;
  /** Where the portion before ended; undefined: begin. With `type` it is of that type. */
  readonly after: ResourceKey | undefined;
  /** Resources at most, deleted ones included. */
  readonly limit: number;
  /** Bytes of their contents together, about; a single one may have more. */
  readonly bytesMax: number;
}

/** The highest number of a smallint. */
const typeNumberMax = 32_767;

/** As `ResourceStore.portion`. */
export async function readPortion(ask: Ask, scope: TenantScope, of: PortionOf): Promise<StoredResource[]> {
  return (await ask<ResourceRow>(scope, buildPortionStatement(scope, of))).filter(isFound).map(toStoredResource);
}

/** The statement of a portion. The length of a content is known without reading it. */
export function buildPortionStatement(
  { firm, application }: TenantScope,
  { type, after, limit, bytesMax }: PortionOf,
): Sql {
  const only = type === undefined ? undefined : getTypeNumber(type);
  const first = after === undefined ? (only ?? 0) : getTypeNumber(after.type);
  return sql`
    SELECT e.epoch, r.rid, r.rtype, r.id, r.vid, r.lu, r.content
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT rid, rtype, id, vid, lu, content FROM (
        SELECT rid, rtype, id, vid, lu, content,
          coalesce(sum(octet_length(content)) OVER (
            ORDER BY rtype, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS bytes_before
        FROM (
          SELECT rid, rtype, id, vid, lu, content FROM resource
          WHERE firm = ${firm} AND (rtype, id) > (${first}, ${after?.id ?? ''}) AND rtype <= ${only ?? typeNumberMax}
          ORDER BY rtype, id LIMIT ${limit}) next) measured
      WHERE bytes_before < ${bytesMax}) r ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY r.rtype, r.id`;
}
