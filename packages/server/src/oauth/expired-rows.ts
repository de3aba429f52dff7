/**
 * Rows that end by themselves: each statement that adds one takes a few expired ones away, so that tables stay as small as
 * what is live and no process has to remember to clean up.
 */
import { type Sql, sql } from '../database/sql.ts';

/** Rows that one statement deletes at most. */
const rowsMax = 20;
/** Nodes' clocks may differ, so rows outlive their end by this time. */
const marginMs = 600_000;

/**
 * A CTE's statement that deletes some expired rows of `table`, those that nobody else is deleting.
 * @param but condition on the row that the statement itself writes: one command cannot do both to it
 */
export function deleteExpired(
  table: 'client_assertion' | 'revoked_token' | 'token_scope',
  nowMs: number,
  but: Sql,
): Sql {
  const name = sql.identifier(table);
  return sql`
    DELETE FROM ${name} WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM ${name} WHERE expires_at < ${sql.timestamp(nowMs - marginMs)} AND NOT (${but}) ORDER BY expires_at LIMIT ${rowsMax} FOR UPDATE SKIP LOCKED))`;
}
