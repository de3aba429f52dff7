/**
 * For which subscriptions something is to be done, asked over all firms. Who takes one holds it for some seconds and renews that,
 * so that what a process leaves when it dies is soon taken by another.
 */
import type { Database } from '../../../database/database.ts';
import { sql } from '../../../database/sql.ts';
import { encodeIntegerArray, encodeTextArray } from '../../../storage/index-arrays.ts';
import { isKept } from '../../../tenancy/firms.ts';
import { otherRights, unsearchable } from '../store.ts';

/** How long events are kept for a subscriber that comes back, or asks for them again: 30 days, in ms. */
export const eventsKeptMs = 30 * 24 * 60 * 60 * 1000;

/** A subscription that this process has taken. */
export interface DueSubscription {
  readonly firm: number;
  readonly environment: string;
  readonly prefix: string;
  /** Of the Subscription. */
  readonly id: string;
  readonly application: number;
}

/** How long a process holds what it has taken, unless it renews that. */
export const leaseMs = 5_000;

/** Later than everything: there is nothing to do until something happens. */
export const never: number = Number.MAX_SAFE_INTEGER;

export interface Claim {
  readonly nowMs: number;
  readonly limit: number;
  /** Firms that have their share already. */
  readonly busyFirms: readonly number[];
  /** The same of applications, over all firms. */
  readonly busyApplications: readonly number[];
  /** The process, where it takes what its sockets are bound to; absent: it takes what no process has a socket for. */
  readonly holder?: string | undefined;
}

/** Takes subscriptions that are due, the longest due first. */
export async function claimDue(
  database: Database,
  { nowMs, limit, busyFirms, busyApplications, holder }: Claim,
): Promise<readonly DueSubscription[]> {
  const rows =
    holder === undefined
      ? sql`
        SELECT q.firm, q.id FROM subscription_due q WHERE NOT EXISTS (
          SELECT FROM subscription_binding b WHERE b.firm = q.firm AND b.id = q.id AND b.held > ${nowMs})`
      : sql`
        SELECT q.firm, q.id FROM subscription_binding b JOIN subscription_due q ON q.firm = b.firm AND q.id = b.id
        WHERE b.holder = ${holder}`;
  return await database.query<DueSubscription>(sql`
    UPDATE subscription_due d SET leased = ${nowMs + leaseMs} FROM (
      ${rows} AND EXISTS (SELECT FROM firm f WHERE f.id = q.firm AND ${isKept}) AND q.due <= ${nowMs} AND q.leased <= ${nowMs} AND q.firm <> ALL (${encodeIntegerArray(busyFirms)}::int[])
        AND q.application <> ALL (${encodeIntegerArray(busyApplications)}::int[])
      ORDER BY q.due LIMIT ${limit} FOR UPDATE OF q SKIP LOCKED) c
    JOIN firm f ON f.id = c.firm JOIN environment e ON e.id = f.environment
    WHERE d.firm = c.firm AND d.id = c.id
    RETURNING d.firm, e.name AS environment, f.prefix, d.id, d.application`);
}

/** Holds for longer what was taken and not given back. @returns what is held; the rest is no longer, and others may have it */
export async function renewLeases(
  database: Database,
  held: readonly Pick<DueSubscription, 'firm' | 'id'>[],
  nowMs: number,
): Promise<readonly Pick<DueSubscription, 'firm' | 'id'>[]> {
  if (held.length === 0) return [];
  const firms = encodeIntegerArray(held.map(({ firm }) => firm));
  const ids = encodeTextArray(held.map(({ id }) => id));
  return await database.query<Pick<DueSubscription, 'firm' | 'id'>>(sql`
    UPDATE subscription_due d SET leased = ${nowMs + leaseMs} FROM unnest(${firms}::int[], ${ids}::text[]) AS h(firm, id)
    WHERE d.firm = h.firm AND d.id = h.id AND d.leased > ${nowMs} RETURNING d.firm, d.id`);
}

/** Gives one back, and notes when something is to be done for it next. */
export async function releaseDue(database: Database, firm: number, id: string, nowMs: number): Promise<void> {
  await database.transaction(firm, async (tx) => {
    // What is admitted meanwhile waits for this row, and then finds the due time of here.
    await tx.query(sql`SELECT FROM subscription WHERE firm = ${firm} AND id = ${id} FOR UPDATE`);
    await tx.query(sql`
      UPDATE subscription_due d SET leased = 0, due = COALESCE((
        SELECT LEAST(COALESCE(s.ends, ${never}), CASE WHEN (s.suspended OR s.vendor_suspended) AND s.status <> 'off' THEN ${nowMs}::bigint END,
          CASE WHEN s.status = 'active' AND s.policy IN (${otherRights}, ${unsearchable}) THEN COALESCE(s.retry, ${nowMs}) END, CASE s.status
          WHEN 'requested' THEN COALESCE(s.retry, ${nowMs})
          WHEN 'active' THEN CASE WHEN s.events > s.delivered THEN COALESCE(s.retry, ${nowMs})
            ELSE GREATEST(s.retry, s.sent + COALESCE(CASE WHEN s.definition->>'endpoint' IS NOT NULL OR EXISTS (
              SELECT FROM subscription_binding b WHERE b.firm = ${firm} AND b.id = ${id} AND b.held > ${nowMs})
              THEN (s.definition->>'heartbeatSeconds')::bigint * 1000 END, ${never} - s.sent)) END
          WHEN 'error' THEN s.ended + ${eventsKeptMs} ELSE ${never} END)
        FROM subscription s WHERE s.firm = ${firm} AND s.id = ${id}), ${never})
      WHERE d.firm = ${firm} AND d.id = ${id}`);
  });
}
