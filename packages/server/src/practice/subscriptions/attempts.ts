/** What becomes of an attempt to reach an endpoint: statements on the state of its subscription. */
import type { Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { SubscriptionState } from './store.ts';

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

/** Notes which events the notification has that is about to be tried: the same are sent until it is accepted. False: others came first. */
export async function noteBatch(
  query: Queryable,
  firm: number,
  id: string,
  from: number,
  until: number,
): Promise<boolean> {
  const rows = await query.query(sql`
    UPDATE subscription SET batch_end = ${until} WHERE firm = ${firm} AND id = ${id} AND delivered = ${from} AND status = 'active'
    RETURNING firm`);
  return rows.length > 0;
}

/** Notes that the endpoint accepted the events up to `until`. True: there are more, or something else has changed. */
export async function noteDelivered(
  query: Queryable,
  firm: number,
  id: string,
  { from, until, nowMs }: { readonly from: number; readonly until: number; readonly nowMs: number },
): Promise<boolean> {
  const [row] = await query.query<{ hasMore: boolean }>(sql`
    UPDATE subscription SET delivered = ${until}, batch_end = NULL, sent = ${nowMs}, failing = NULL, retry = NULL, attempts = 0
    WHERE firm = ${firm} AND id = ${id} AND delivered = ${from} AND status = 'active' RETURNING events > delivered AS "hasMore"`);
  return row?.hasMore ?? true;
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
