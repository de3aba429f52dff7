/**
 * Search parameters of firms as storage sees them: the mark of a change, and index rows apart from writes of resources, of
 * a parameter that came later or that has gone. All statements run as the firm, in a transaction that the caller has begun.
 */
import type { Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { FailedParameter } from '../search/index/costly-parameters.ts';
import type { IndexRows } from '../search/index/index-rows.ts';
import { getTypeNumber } from '../search/numbers.ts';
import { raiseEpochs } from '../tenancy/epochs.ts';
import type { TenantScope } from '../tenancy/scope.ts';
import { type IndexKind, indexArrays } from './index-arrays.ts';

const [int, smallint, bigint, float8, text] = [sql`int[]`, sql`smallint[]`, sql`bigint[]`, sql`float8[]`, sql`text[]`];

/** Column lists of the tables, in the order of `indexArrays`, with their types. */
const tables: Readonly<Record<IndexKind, { table: Sql; columns: Sql; types: readonly Sql[] }>> = {
  token: { table: sql`index_token`, columns: sql`param, system, code`, types: [int, bigint, text] },
  reference: {
    table: sql`index_reference`,
    columns: sql`param, target_rtype, target_id`,
    types: [int, smallint, text],
  },
  date: { table: sql`index_date`, columns: sql`param, lo, hi`, types: [int, bigint, bigint] },
  string: { table: sql`index_string`, columns: sql`param, value, original`, types: [int, text, text] },
  number: {
    table: sql`index_number`,
    columns: sql`param, lo, hi, system, code`,
    types: [int, float8, float8, bigint, text],
  },
};

const kinds: readonly IndexKind[] = ['token', 'reference', 'date', 'string', 'number'];

/** Says that the firm's own search parameters have to be compared with its SearchParameter resources again. */
export function markSearchParameters(firm: number): Sql {
  return sql`
    INSERT INTO firm_search_parameter_change (firm) VALUES (${firm})
    ON CONFLICT (firm) DO UPDATE SET changed_at = now()`;
}

/**
 * Marks search parameters as failed, until there is another version of their SearchParameter: whoever knows of them reads the
 * firm's parameters again, writes leave no more rows of them, and nothing is searched by them.
 * @returns those that had not failed before
 */
export async function failParameters(
  tx: Queryable,
  firm: number,
  failed: readonly FailedParameter[],
): Promise<FailedParameter[]> {
  const ids = failed.map(({ id }) => id);
  const reasons = failed.map(({ reason }) => reason);
  const marked = await tx.query<FailedParameter>(sql`
    UPDATE firm_search_parameter p
    SET state = 'failed', reason = f.reason, completed_at = NULL,
        failed_version = (
          SELECT vid FROM resource
          WHERE firm = ${firm} AND rtype = ${getTypeNumber('SearchParameter')} AND id = p.resource_id)
    FROM unnest(${ids}::int[], ${reasons}::text[]) AS f(id, reason)
    WHERE p.firm = ${firm} AND p.id = f.id AND p.state IN ('indexing', 'active')
    RETURNING p.id, p.reason`);
  if (marked.length > 0) await raiseEpochs(tx, { firm });
  return marked;
}

/** How a search parameter of a firm stands. */
export interface ParameterStanding {
  /** Id of its SearchParameter. */
  readonly resourceId: string;
  readonly url: string;
  readonly state: 'indexing' | 'active' | 'failed' | 'dropping' | 'refused';
  /** Why it is refused, has failed, or is not indexed any further. */
  readonly reason: string | null;
  /** Of what was stored before it, the share that is indexed: 0 to 100, whole numbers. */
  readonly percent: number;
}

/** The firm's own search parameters in the order of their definition, with the epoch of the caller's rights. */
export function selectParameterStandings({ firm, application }: TenantScope): Sql {
  return sql`
    SELECT e.epoch, p.resource_id AS "resourceId", p.url, p.state,
      CASE WHEN p.state = 'indexing' AND j.failures IS NOT NULL THEN 'Its indexing has stopped until an operator releases it: ' || j.reason
           ELSE p.reason END AS reason,
      CASE WHEN p.state = 'indexing' THEN least(99, 100 * p.resources_done / greatest(1, coalesce(p.resources_total, 1)))
           WHEN p.state = 'active' THEN 100 ELSE 0 END AS percent
    FROM access_epoch e LEFT JOIN firm_search_parameter p ON p.firm = e.firm
      LEFT JOIN job_failure j ON j.firm = e.firm AND j.job = 'search-parameters' AND j.retry_at IS NULL
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY p.id`;
}

/** Adds the rows of resources; those that are there already stay. The caller holds the resources against writers. */
export async function insertIndexRows(
  tx: Queryable,
  firm: number,
  resources: readonly { readonly rid: number; readonly rows: IndexRows }[],
): Promise<void> {
  const arrays = indexArrays(resources.map(({ rows }) => ({ index: rows })));
  const rids = resources.map(({ rid }) => rid);
  for (const kind of kinds) {
    const [positions, ...values] = arrays[kind];
    if (positions === '{}') continue;
    const { table, columns, types } = tables[kind];
    const given = values.map((value, index) => sql`${value}::${types[index] ?? text}`);
    await tx.query(sql`
      INSERT INTO ${table} (firm, rid, ${columns})
      SELECT ${firm}::int, (${rids}::bigint[])[n.place], ${columns}
      FROM unnest(${positions}::int[], ${sql.join(given, sql`, `)}) AS n(place, ${columns})
      ON CONFLICT DO NOTHING`);
  }
}

/** Rows of an index table that one statement deletes, at most. */
const deletedMax = 2_000;

/** Deletes some of the rows of the parameters with these numbers; false when none is left. */
export async function deleteIndexRows(tx: Queryable, firm: number, numbers: readonly number[]): Promise<boolean> {
  for (const kind of kinds) {
    const { table } = tables[kind];
    const rows = await tx.query(sql`
      DELETE FROM ${table} WHERE firm = ${firm} AND ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE firm = ${firm} AND param = ANY (${numbers}::int[]) LIMIT ${deletedMax}))
      RETURNING 1 AS deleted`);
    if (rows.length > 0) return true;
  }
  return false;
}
