/**
 * Holds: slots that an application keeps for a moment. What they take stands in occupancy under hold/id; here stands whose
 * they are (docs/decisions/0189). An application sees its own holds alone.
 */
import { boundedRead } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { DeclaredJob } from '../../jobs/declared-job.ts';
import type { FirmWorkContext } from '../../jobs/firm-work.ts';
import { forEachFirm } from '../../storage/for-each-firm.ts';
import { encodeTextArray } from '../../storage/index-arrays.ts';
import type { StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';

export interface Hold {
  readonly id: string;
  /** Id of the Slot. */
  readonly slot: string;
  /** When it ends, in milliseconds since 1970. */
  readonly expiresMs: number;
  /** How often it was renewed. */
  readonly renewals: number;
}

/** The hold, where it is the application's own and has not ended. */
export async function findHold(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
  nowMs: number,
): Promise<Hold | undefined> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, h.slot, h.expires, h.renewals
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT slot, expires, renewals FROM slot_hold
      WHERE firm = ${firm} AND id = ${id} AND application = ${application} AND expires > ${nowMs}::bigint OFFSET 0) h ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  type Row = { readonly slot: string | null; readonly expires: number; readonly renewals: number };
  const [row] = await store.run<Row>(scope, statement, boundedRead);
  if (row === undefined || row.slot === null) return undefined;
  return { id, slot: row.slot, expiresMs: row.expires, renewals: row.renewals };
}

/** How many holds of the application have not ended. */
export async function countHolds(store: StatementRunner, scope: TenantScope, nowMs: number): Promise<number> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, (SELECT count(*)::int FROM slot_hold
      WHERE firm = ${firm} AND expires > ${nowMs}::bigint AND application = ${application}) AS holds
    FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<{ readonly holds: number }>(scope, statement, boundedRead);
  return row?.holds ?? 0;
}

/** Holds that one statement takes away at most. */
const expiredMax = 1_000;
const expiryPauseMs = 600_000;

/** Takes away what is left of holds that have ended. Nothing depends on when it runs. */
export const holdExpiryJob: DeclaredJob<Pick<FirmWorkContext, 'database' | 'clock'>> = {
  worstCase: { harmless: 'deletes rows by their index, a bounded number at a time' },
  open: ({ database, clock }) => ({
    name: 'expiry of slot holds',
    pauseMs: expiryPauseMs,
    run: () =>
      forEachFirm(database, (firm) =>
        database.transaction(firm, async (tx) => {
          const nowMs = clock.now();
          const ended = await tx.query<{ owner: string }>(sql`
            DELETE FROM slot_hold WHERE firm = ${firm} AND id IN (
              SELECT id FROM slot_hold WHERE firm = ${firm} AND expires <= ${nowMs}::bigint ORDER BY expires LIMIT ${expiredMax})
            RETURNING 'hold/' || id AS owner`);
          if (ended.length > 0)
            await tx.query(sql`
              DELETE FROM occupancy
              WHERE firm = ${firm} AND owner = ANY (${encodeTextArray(ended.map(({ owner }) => owner))}::text[]) AND expires <= ${nowMs}::bigint`);
          return ended.length === expiredMax;
        }),
      ),
  }),
};
