/**
 * Subscriptions as those see and end them who answer for what leaves a practice: the practice, the operator of the service, and the
 * vendor of the application. No resource, no patient and no secret is in it.
 */
import type { Database } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { getEnvironment } from '../../tenancy/environments.ts';
import type { DeliveryAttempt } from './delivering/attempts.ts';
import { tellHolders, tellHoldersAbout } from './sockets/binding-store.ts';
import { type EndReason, putDue, type SubscriptionStatus } from './store.ts';

/** Whose subscriptions are meant: those of one application, or of all. */
export interface Seen {
  /** Number of the firm. */
  readonly firm: number;
  /** Number of the application; absent: all of them. */
  readonly application?: number;
}

/**
 * Firms of an environment where an application has ever subscribed, by prefix.
 * @param application only firms that have authorised this one, at any time
 * @throws PraxisError `resource-not-found`
 */
export async function listFirmsWithSubscriptions(
  database: Database,
  environment: string,
  application?: number,
): Promise<readonly { readonly id: number; readonly prefix: string }[]> {
  const { name } = await getEnvironment(database, environment);
  const authorised =
    application === undefined
      ? sql.empty
      : sql`AND EXISTS (SELECT FROM authorisation z WHERE z.firm = f.id AND z.application = ${application})`;
  return await database.query<{ readonly id: number; readonly prefix: string }>(sql`
    SELECT f.id, f.prefix FROM firm f JOIN environment e ON e.id = f.environment JOIN subscription_feed d ON d.firm = f.id
    WHERE e.name = ${name} ${authorised} ORDER BY f.prefix`);
}

export interface ShownSubscription {
  readonly id: string;
  /** Name of the application. */
  readonly application: string;
  readonly status: SubscriptionStatus;
  readonly reason: EndReason | null;
  readonly about: string;
  readonly endpoint: string;
  readonly content: string;
  readonly events: number;
  readonly waiting: number;
  /** Number of the first event that is kept. */
  readonly keptFrom: number | null;
  readonly failingSinceMs: number | null;
  readonly nextAttemptMs: number | null;
  readonly suspended: boolean;
  readonly suspendedByVendor: boolean;
}

/** The subscriptions of a firm, by id. @param ids only these; all when empty */
export async function listShownSubscriptions(
  database: Database,
  seen: Seen,
  { limit, ids = [] }: { readonly limit: number; readonly ids?: readonly string[] },
): Promise<readonly ShownSubscription[]> {
  return await database.forFirm(seen.firm).query<ShownSubscription>(sql`
    SELECT s.id, a.name AS application, s.status, s.reason, COALESCE(s.definition->>'topic', s.definition->>'type') AS about,
      COALESCE(s.definition->>'endpoint', 'websocket') AS endpoint, s.definition->>'content' AS content, s.events, s.events - s.delivered AS waiting,
      (SELECT min(v.number) FROM subscription_event v WHERE v.firm = s.firm AND v.subscription = s.id) AS "keptFrom",
      s.failing AS "failingSinceMs", CASE WHEN s.status IN ('requested', 'active') THEN s.retry END AS "nextAttemptMs",
      s.suspended, s.vendor_suspended AS "suspendedByVendor"
    FROM subscription s JOIN application a ON a.id = s.application
    WHERE ${isSeen(seen)} ${ids.length === 0 ? sql.empty : sql`AND s.id = ANY (${ids}::text[])`} ORDER BY s.id LIMIT ${limit}`);
}

function isSeen({ firm, application }: Seen): Sql {
  return application === undefined ? sql`s.firm = ${firm}` : sql`s.firm = ${firm} AND s.application = ${application}`;
}

export interface ShownAttempt extends Omit<DeliveryAttempt, 'tookMs'> {
  /** In milliseconds. */
  readonly took: number;
  /** When it is tried again; null: it is not, or need not be. */
  readonly nextAttemptMs: number | null;
}

/** The attempts that are kept of a subscription, the last one first; undefined: there is no such subscription. */
export async function listShownAttempts(
  database: Database,
  seen: Seen,
  id: string,
): Promise<readonly ShownAttempt[] | undefined> {
  type Row = Omit<ShownAttempt, 'number'> & { readonly number: number | null };
  const rows = await database.forFirm(seen.firm).query<Row>(sql`
    SELECT t.number, t.kind, t.at AS "atMs", t.took, t.first_event AS "firstEvent", t.last_event AS "lastEvent",
      t.status, t.reason, t.retry AS "nextAttemptMs"
    FROM subscription s LEFT JOIN subscription_attempt t ON t.firm = s.firm AND t.subscription = s.id
    WHERE ${isSeen(seen)} AND s.id = ${id} ORDER BY t.number DESC`);
  if (rows.length === 0) return undefined;
  return rows.flatMap(({ number, ...attempt }) => (number === null ? [] : [{ ...attempt, number }]));
}

/** What an application asked for, and who looks after it, may keep it from being told anything. */
export type Suspender = 'practice' | 'vendor';

/**
 * Ends a subscription at once, or lets it be asked for again. Practice and vendor each take back their own suspension alone.
 * @returns false: there is none
 */
export async function setSuspended(
  database: Database,
  seen: Seen,
  id: string,
  suspender: Suspender,
  isSuspended: boolean,
  nowMs: number,
): Promise<boolean> {
  const change = suspender === 'vendor' ? sql`vendor_suspended = ${isSuspended}` : sql`suspended = ${isSuspended}`;
  return await database.transaction(seen.firm, async (tx) => {
    const rows = await tx.query(
      sql`UPDATE subscription s SET ${change} WHERE ${isSeen(seen)} AND s.id = ${id} RETURNING s.id`,
    );
    if (rows.length === 0) return false;
    if (isSuspended) {
      await tx.query(
        sql`UPDATE subscription_due SET due = LEAST(due, ${nowMs}) WHERE firm = ${seen.firm} AND id = ${id}`,
      );
      await tx.query(tellHolders);
    }
    return true;
  });
}

/** Why events cannot be told again. */
export type ReplayProblem =
  | { readonly kind: 'unknown' }
  /** Its run has ended, or has not begun. */
  | { readonly kind: 'not-running'; readonly status: SubscriptionStatus; readonly reason: EndReason | null }
  /** Null: none is kept. */
  | { readonly kind: 'not-kept'; readonly keptFrom: number | null; readonly events: number };

/**
 * Has the events from a number on told again, by messages of new ids, to whom they were told already, too. All or nothing.
 * @returns what keeps that from being done; undefined: it is done
 */
export async function replayFrom(
  database: Database,
  seen: Seen,
  id: string,
  from: number,
  nowMs: number,
): Promise<ReplayProblem | undefined> {
  return await database.transaction(seen.firm, async (tx) => {
    const [state] = await tx.query<{
      readonly application: number;
      readonly status: SubscriptionStatus;
      readonly reason: EndReason | null;
      readonly admits: boolean;
      readonly events: number;
      readonly kept: boolean;
      readonly keptFrom: number | null;
    }>(sql`
      SELECT s.application, s.status, s.reason, s.admits, s.events,
        EXISTS (SELECT FROM subscription_event v WHERE v.firm = s.firm AND v.subscription = s.id AND v.number = ${from}) AS kept,
        (SELECT min(v.number) FROM subscription_event v WHERE v.firm = s.firm AND v.subscription = s.id) AS "keptFrom"
      FROM subscription s WHERE ${isSeen(seen)} AND s.id = ${id} FOR UPDATE OF s`);
    if (state === undefined) return { kind: 'unknown' };
    const { application, status, reason, admits, events, kept, keptFrom } = state;
    if (!admits || (status !== 'active' && status !== 'error')) return { kind: 'not-running', status, reason };
    if (!kept) return { kind: 'not-kept', keptFrom, events };
    await tx.query(sql`
      UPDATE subscription SET delivered = LEAST(delivered, ${from - 1}::bigint), batch_end = NULL, lane_places = NULL, replays = replays + 1
      WHERE firm = ${seen.firm} AND id = ${id}`);
    if (status === 'active') {
      await tx.query(putDue(seen.firm, application, id, nowMs));
      await tx.query(tellHoldersAbout(seen.firm, [id], nowMs));
    }
    return undefined;
  });
}
