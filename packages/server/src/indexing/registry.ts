/**
 * The search parameters of firms as rows: https://hl7.org/fhir/R4/searchparameter.html, docs/decisions/0130. All statements
 * run as the firm, in a transaction that the caller has begun.
 */

import type { Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { getTypeNumber } from '../search/numbers.ts';
import { isKept } from '../tenancy/firms.ts';
import type { SearchParameterDefinition } from '../tenancy/search-parameters.ts';

export type ParameterState = 'indexing' | 'active' | 'failed' | 'dropping' | 'refused';

export interface RegisteredParameter {
  readonly id: number;
  /** Id of the SearchParameter resource. */
  readonly resourceId: string;
  readonly url: string;
  /** Of a refused one it is empty. */
  readonly definition: SearchParameterDefinition;
  readonly state: ParameterState;
  /** Why it is refused, or has failed. */
  readonly reason: string | null;
  /** Version of the SearchParameter that has failed. */
  readonly failedVersion: number | null;
  /** Where the walk is; 0 before it. */
  readonly ridDone: number;
  /** Where the walk ends; null before it is known. */
  readonly ridMax: number | null;
  readonly resourcesDone: number;
  readonly resourcesTotal: number | null;
}

const columns = sql`
  id, resource_id AS "resourceId", url, definition, state, reason, failed_version AS "failedVersion", rid_done AS "ridDone", rid_max AS "ridMax",
  resources_done AS "resourcesDone", resources_total AS "resourcesTotal"`;

/** All parameters of the firm, in the order of their definition. */
export function selectRegisteredParameters(firm: number): Sql {
  return sql`SELECT ${columns} FROM firm_search_parameter WHERE firm = ${firm} ORDER BY id`;
}

/**
 * Firms with work waiting: a resource has changed, or an index is not complete. Those after `last` come first, so that all have
 * their turn. @param paused firms that are left out
 */
export function selectFirmsWithWork(paused: Sql, last: number, limit: number): Sql {
  return sql`
    SELECT f.id, f.prefix, e.name AS environment, f.time_zone AS "timeZone"
    FROM firm f JOIN environment e ON e.id = f.environment
    WHERE f.id IN (
      SELECT firm FROM firm_search_parameter_change
      UNION SELECT firm FROM firm_search_parameter WHERE state IN ('indexing', 'dropping'))
      AND f.id NOT IN ${paused} AND ${isKept}
    ORDER BY f.id <= ${last}, f.id LIMIT ${limit}`;
}

/** Takes the mark of a change away, waiting for the writer that is about to set it; whether there was one. */
export async function takeChange(tx: Queryable, firm: number): Promise<boolean> {
  const rows = await tx.query(sql`DELETE FROM firm_search_parameter_change WHERE firm = ${firm} RETURNING firm`);
  return rows.length > 0;
}

/** Ids, versions and texts of the firm's SearchParameter resources that are active. */
export function selectActiveResources(firm: number): Sql {
  // Content is written by JSON.stringify, so the member is written in one way.
  return sql`
    SELECT id, vid AS version, content FROM resource
    WHERE firm = ${firm} AND rtype = ${getTypeNumber('SearchParameter')} AND content LIKE '%"status":"active"%'
    ORDER BY id`;
}

/** A new row; returns its id. */
export async function insert(
  tx: Queryable,
  firm: number,
  row: { resourceId: string; url: string; definition?: SearchParameterDefinition; reason?: string },
): Promise<number> {
  const state: ParameterState = row.definition === undefined ? 'refused' : 'indexing';
  const [inserted] = await tx.query<{ id: number }>(sql`
    INSERT INTO firm_search_parameter (firm, resource_id, url, definition, state, reason)
    VALUES (${firm}, ${row.resourceId}, ${row.url}, ${JSON.stringify(row.definition ?? {})}::jsonb, ${state}, ${row.reason ?? null})
    RETURNING id`);
  return inserted?.id ?? 0;
}

export function remove(firm: number, ids: readonly number[]): Sql {
  return sql`DELETE FROM firm_search_parameter WHERE firm = ${firm} AND id = ANY (${ids}::int[])`;
}

/** From now on nothing may use them; their index rows go once every writer knows (barrier.ts). */
export function drop(firm: number, ids: readonly number[]): Sql {
  return sql`
    UPDATE firm_search_parameter SET state = 'dropping', barrier = NULL, order_epoch = NULL
    WHERE firm = ${firm} AND id = ANY (${ids}::int[])`;
}

/** The walk is over: the parameter may be searched by. */
export function activate(firm: number, id: number): Sql {
  return sql`
    UPDATE firm_search_parameter SET state = 'active', completed_at = now(), resources_total = resources_done
    WHERE firm = ${firm} AND id = ${id}`;
}

/** The row, held until the transaction ends; undefined when another process holds it or it has another state by now. */
export async function lockParameter(
  tx: Queryable,
  firm: number,
  id: number,
  state: ParameterState,
): Promise<RegisteredParameter | undefined> {
  const [row] = await tx.query<RegisteredParameter>(sql`
    SELECT ${columns} FROM firm_search_parameter
    WHERE firm = ${firm} AND id = ${id} AND state = ${state} FOR UPDATE SKIP LOCKED`);
  return row;
}
