/**
 * Bulk exports as those see and end them who answer for what leaves a practice: the practice, the operator of the service, and the
 * vendor of the application. What was asked for is not shown: a request may name patients.
 */
import type { Database } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { exportKeptMs } from './bulk-export.ts';

/** Whose exports are meant: those of one application, or of all. */
export interface SeenExports {
  /** Number of the firm. */
  readonly firm: number;
  /** Number of the application; absent: all of them. */
  readonly application?: number;
}

export interface ShownExport {
  readonly id: string;
  /** Name of the application. */
  readonly application: string;
  readonly level: 'system' | 'patient' | 'group';
  /** Planned as far as the application has asked how far it is. */
  readonly state: 'planning' | 'complete';
  readonly createdMs: number;
  readonly transactionTimeMs: number;
  readonly sinceMs: number | null;
  readonly expiresMs: number;
  /** Resource types that are exported, and how many of them are planned. */
  readonly types: number;
  readonly typesDone: number;
  readonly files: number;
}

/** The exports of a firm whose time is not over, the newest first. @param id only this one */
export async function listShownExports(
  database: Database,
  seen: SeenExports,
  { nowMs, limit, id }: { readonly nowMs: number; readonly limit: number; readonly id?: string },
): Promise<readonly ShownExport[]> {
  return await database.forFirm(seen.firm).query<ShownExport>(sql`
    SELECT b.id::text AS id, a.name AS application, b.asked->>'level' AS level, b.created AS "createdMs",
      b.transaction_time AS "transactionTimeMs", (b.asked->>'sinceMs')::bigint AS "sinceMs",
      b.created + ${exportKeptMs}::bigint AS "expiresMs", p.parts AS types, LEAST(b.place_type, p.parts)::int AS "typesDone", b.files,
      CASE WHEN b.place_type >= p.parts THEN 'complete' ELSE 'planning' END AS state
    FROM bulk_export b JOIN application a ON a.id = b.application
    CROSS JOIN LATERAL (
      SELECT jsonb_array_length(b.asked->'types') + (CASE WHEN b.asked->'hasBinaryDocuments' = 'true' THEN 1 ELSE 0 END) AS parts) p
    WHERE ${isSeen(seen)} AND b.created > ${nowMs - exportKeptMs} ${id === undefined ? sql.empty : sql`AND b.id = ${id}::uuid`}
    ORDER BY b.created DESC, b.id LIMIT ${limit}`);
}

function isSeen({ firm, application }: SeenExports): Sql {
  return application === undefined ? sql`b.firm = ${firm}` : sql`b.firm = ${firm} AND b.application = ${application}`;
}

/** Removes an export with its files: they cannot be fetched from the next request on. False: there is none. */
export async function cancelExport(database: Database, seen: SeenExports, id: string): Promise<boolean> {
  const rows = await database
    .forFirm(seen.firm)
    .query(sql`DELETE FROM bulk_export b WHERE ${isSeen(seen)} AND b.id = ${id}::uuid RETURNING b.id`);
  return rows.length > 0;
}
