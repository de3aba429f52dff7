/**
 * Imports as those see and end them who answer for what comes into a practice. The command that imports is a process of its own
 * (cli/importing/runs.ts): it is told by its next statement that somebody has ended its import.
 */
import type { Database } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';

export interface ShownImport {
  readonly id: string;
  readonly state: 'unfinished' | 'finished' | 'cancelled';
  readonly begunMs: number;
  readonly finishedMs: number | null;
  readonly files: number;
  readonly bytes: number;
  /** Of `bytes`; what was done of an import that was cancelled is not known any more. */
  readonly bytesDone: number | null;
  readonly stored: number;
  readonly skipped: number;
  readonly refused: number;
}

/** What the stretches of an import have come to, one row. */
export function sumRanges(firm: number, run: string | Sql): Sql {
  return sql`
    SELECT COALESCE(sum(r.to_byte - r.from_byte), 0)::bigint AS bytes, COALESCE(sum(r.stored), 0)::bigint AS stored,
      COALESCE(sum(r.skipped), 0)::bigint AS skipped, COALESCE(sum(r.refused), 0)::bigint AS refused
    FROM import_range r WHERE r.firm = ${firm} AND r.run = ${run}`;
}

/** The imports of a firm, the newest first. @param id only this one */
export async function listShownImports(
  database: Database,
  firm: number,
  { limit, id }: { readonly limit: number; readonly id?: string },
): Promise<readonly ShownImport[]> {
  return await database.forFirm(firm).query<ShownImport>(sql`
    SELECT i.id::text AS id, i.begun AS "begunMs", i.finished AS "finishedMs", i.files, i.bytes,
      CASE WHEN i.cancelled THEN 'cancelled' WHEN i.finished IS NULL THEN 'unfinished' ELSE 'finished' END AS state,
      CASE WHEN i.cancelled THEN NULL WHEN i.finished IS NULL THEN d.bytes ELSE i.bytes END AS "bytesDone",
      i.stored + d.stored AS stored, i.skipped + d.skipped AS skipped, i.refused + d.refused AS refused
    FROM import_run i CROSS JOIN LATERAL (${sumRanges(firm, sql`i.id`)}) d
    WHERE i.firm = ${firm} ${id === undefined ? sql.empty : sql`AND i.id = ${id}::uuid`}
    ORDER BY i.begun DESC, i.id LIMIT ${limit}`);
}

/**
 * Ends an import that has not ended. What it has stored stays; the process that imports ends with its next transaction, of which
 * nothing is stored. The same files begin another import.
 * @returns false: there is none, or it has ended
 */
export async function cancelImport(database: Database, firm: number, id: string, nowMs: number): Promise<boolean> {
  return await database.transaction(firm, async (tx) => {
    // A transaction of the import holds the row until it ends: what it has stored is counted then.
    const [held] = await tx.query(sql`
      SELECT id FROM import_run WHERE firm = ${firm} AND id = ${id}::uuid AND finished IS NULL FOR UPDATE`);
    if (held === undefined) return false;
    await tx.query(sql`
      UPDATE import_run SET finished = ${nowMs}, cancelled = true, holder = gen_random_uuid(), stored = done.stored,
        skipped = done.skipped, refused = done.refused
      FROM (${sumRanges(firm, id)}) done WHERE firm = ${firm} AND id = ${id}::uuid`);
    await tx.query(sql`DELETE FROM import_range WHERE firm = ${firm} AND run = ${id}::uuid`);
    return true;
  });
}
