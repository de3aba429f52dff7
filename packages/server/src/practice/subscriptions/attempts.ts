/** What becomes of an attempt to reach an endpoint: statements on the state of its subscription. */
import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { computeDue } from './due.ts';
import { type SubscriptionState, stateColumns } from './store.ts';

/** Pauses between attempts, by the first of them: each is twice as long, up to a limit; after that window nothing is tried. */
const pauseLimitOfFirst = 720;
const windowOfFirst = 51_840;

/** Attempts at a handshake before the subscription is in error. */
export const handshakesMax = 5;

/** How long to wait after so many failed attempts in a row, in ms. */
export function computePauseMs(firstMs: number, attempts: number): number {
  return firstMs * Math.min(2 ** Math.max(0, attempts - 1), pauseLimitOfFirst);
}

/** For how long an endpoint may fail, in ms. */
export function computeWindowMs(firstMs: number): number {
  return firstMs * windowOfFirst;
}

/**
 * The state of a subscription, undefined where there is none. Where events are to be told, the end of their notification is noted
 * with it: the same are sent until it is accepted. R4's own criteria send one resource a request, or say that something has changed.
 */
export async function takeState(
  query: Queryable,
  firm: number,
  id: string,
  nowMs: number,
): Promise<SubscriptionState | undefined> {
  const [state] = await query.query<SubscriptionState>(sql`
    WITH noted AS (
      UPDATE subscription SET batch_end = LEAST(events, delivered + CASE
        WHEN definition ? 'topic' OR definition->>'content' = 'empty' THEN (definition->>'maxCount')::int ELSE 1 END)
      WHERE firm = ${firm} AND id = ${id} AND status = 'active' AND batch_end IS NULL AND events > delivered
        AND COALESCE(retry, 0) <= ${nowMs} RETURNING ${stateColumns})
    SELECT * FROM noted
    UNION ALL SELECT ${stateColumns} FROM subscription WHERE firm = ${firm} AND id = ${id} AND NOT EXISTS (SELECT FROM noted)`);
  return state;
}

/** Notes that a notification ends earlier. False: another process has come further meanwhile. */
export async function shortenBatch(
  query: Queryable,
  firm: number,
  id: string,
  { from, until, last }: { readonly from: number; readonly until: number; readonly last: number },
): Promise<boolean> {
  const rows = await query.query(sql`
    UPDATE subscription SET batch_end = ${last}
    WHERE firm = ${firm} AND id = ${id} AND delivered = ${from} AND batch_end = ${until} AND status = 'active' RETURNING firm`);
  return rows.length > 0;
}

/**
 * Notes that the endpoint accepted the events up to `until`. Where there are no more, the subscription is given back with it: what
 * is admitted meanwhile waits for its row, and then finds the due time of here.
 */
export async function noteDelivered(
  query: Queryable,
  firm: number,
  id: string,
  { from, until, nowMs }: { readonly from: number; readonly until: number; readonly nowMs: number },
): Promise<'more' | 'given back' | 'nothing'> {
  const [row] = await query.query<{ hasMore: boolean }>(sql`
    WITH s AS (
      UPDATE subscription SET delivered = ${until}, batch_end = NULL, sent = ${nowMs}, failing = NULL, retry = NULL, attempts = 0
      WHERE firm = ${firm} AND id = ${id} AND delivered = ${from} AND status = 'active'
      RETURNING firm, id, status, events, delivered, sent, retry, ends, ended, definition),
    given AS (
      UPDATE subscription_due d SET leased = 0, due = ${computeDue(nowMs)} FROM s
      WHERE d.firm = s.firm AND d.id = s.id AND s.events = s.delivered)
    SELECT s.events > s.delivered AS "hasMore" FROM s`);
  if (row === undefined) return 'more'; // another process, or who subscribed, has changed it: what stands now is looked at
  return row.hasMore ? 'more' : 'given back';
}

/** Notes that the endpoint did not accept a notification, unless another process has come further meanwhile. */
export async function noteFailed(
  query: Queryable,
  firm: number,
  { id, status, delivered }: Pick<SubscriptionState, 'id' | 'status' | 'delivered'>,
  { retryMs, nowMs }: { readonly retryMs: number; readonly nowMs: number },
): Promise<void> {
  await query.query(sql`
    UPDATE subscription SET attempts = attempts + 1, failing = COALESCE(failing, ${nowMs}), retry = ${retryMs}
    WHERE firm = ${firm} AND id = ${id} AND status = ${status} AND delivered = ${delivered}`);
}
