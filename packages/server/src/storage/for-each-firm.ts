/** What jobs (jobs/jobs.ts) do with the rows of every firm: a bounded portion of each firm's, then the next firm's. */
import type { Database } from '../database/database.ts';
import { sql } from '../database/sql.ts';

/**
 * One portion for each firm.
 * @param isMoreLeft does the portion of a firm, and tells whether it was a full one
 * @returns `more`: the portion of some firm was a full one
 */
export async function forEachFirm(
  database: Database,
  isMoreLeft: (firm: number) => Promise<boolean>,
): Promise<'more' | 'done'> {
  const firms = await database.query<{ id: number }>(
    sql`SELECT id FROM firm WHERE state IN ('active', 'suspended') ORDER BY id`,
  );
  let isLeft = false;
  for (const { id } of firms) isLeft = (await isMoreLeft(id)) || isLeft;
  return isLeft ? 'more' : 'done';
}
