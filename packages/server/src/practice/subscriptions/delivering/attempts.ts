/** What becomes of an attempt to reach an endpoint: statements on the state of its subscription, and the attempts that are kept. */
import type { Database, Queryable } from '../../../database/database.ts';
import { type Sql, sql } from '../../../database/sql.ts';
import type { MessageOutcome } from '../../../outbound/webhook.ts';
import { encodeIntegerArray, encodeTextArray } from '../../../storage/index-arrays.ts';
import type { NotificationType } from '../notification.ts';
import type { SubscriptionState } from '../store.ts';
import { never } from './due.ts';

/** Pauses between attempts, by the first of them: each is twice as long, up to a limit; after that window nothing is tried. */
const pauseLimitOfFirst = 720;
const windowOfFirst = 51_840;

/** Attempts at a handshake before the subscription is in error. */
export const handshakesMax = 5;

/** Attempts of a subscription that are kept: the last ones. */
const attemptsMax = 50;

/** An attempt to reach the endpoint, and what came of it. */
export interface DeliveryAttempt {
  /** One more than that of the attempt before. */
  readonly number: number;
  readonly kind: Extract<NotificationType, 'handshake' | 'heartbeat' | 'event-notification'>;
  readonly atMs: number;
  readonly tookMs: number;
  /** Numbers of the first and the last event; null: it told of none. */
  readonly firstEvent: number | null;
  readonly lastEvent: number | null;
  /** Of the answer; null: there was none. */
  readonly status: number | null;
  /** Why there was none, in words of ours. */
  readonly reason: string | null;
}

/** How long to wait after so many failed attempts in a row, in ms. */
export function computePauseMs(firstMs: number, attempts: number): number {
  return firstMs * Math.min(2 ** Math.max(0, attempts - 1), pauseLimitOfFirst);
}

/** For how long an endpoint may fail, in ms. */
export function computeWindowMs(firstMs: number): number {
  return firstMs * windowOfFirst;
}

/** An endpoint may ask for a day. */
const retryAfterMaxMs = 24 * 60 * 60 * 1000;

/** How long the endpoint asks to wait, in ms: https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3 */
export function computeAskedMs(outcome: MessageOutcome): number {
  if (outcome.kind !== 'answered' || (outcome.status !== 429 && outcome.status !== 503)) return 0;
  return Math.min((outcome.retryAfterSeconds ?? 0) * 1000, retryAfterMaxMs);
}

/** What follows "the endpoint". */
export function describeOutcome(outcome: MessageOutcome): string {
  return outcome.kind === 'answered' ? `answered ${outcome.status}` : outcome.reason;
}

/**
 * Notes which events are about to be tried: the same are sent until they are accepted. False: others came first, or they are to be told
 * again.
 * @param places how far each lane is, where they are told in lanes
 */
export async function noteBatch(
  query: Queryable,
  firm: number,
  { id, delivered, batchEnd, replays }: Pick<SubscriptionState, 'id' | 'delivered' | 'batchEnd' | 'replays'>,
  until: number,
  places: readonly number[] | null,
): Promise<boolean> {
  const rows = await query.query(sql`
    UPDATE subscription SET batch_end = ${until}, lane_places = ${places === null ? null : encodeIntegerArray(places)}::bigint[]
    WHERE firm = ${firm} AND id = ${id} AND delivered = ${delivered} AND batch_end IS NOT DISTINCT FROM ${batchEnd}::bigint
      AND replays = ${replays} AND status = 'active' RETURNING firm`);
  return rows.length > 0;
}

/** Statements that keep an attempt in the place of the oldest, for a transaction that holds the state. */
export function keepAttempt(firm: number, id: string, attempt: DeliveryAttempt): readonly Sql[] {
  return [
    sql`UPDATE subscription SET tries = GREATEST(tries, ${attempt.number}) WHERE firm = ${firm} AND id = ${id}`,
    keepRow(firm, id, attempt, null),
  ];
}

function keepRow(firm: number, id: string, attempt: DeliveryAttempt, retryMs: number | null): Sql {
  const { number, kind, atMs, tookMs, firstEvent, lastEvent, status, reason } = attempt;
  return sql`
    INSERT INTO subscription_attempt (firm, subscription, place, number, kind, at, took, first_event, last_event, status, reason, retry)
    VALUES (${firm}, ${id}, ${number % attemptsMax}, ${number}, ${kind}, ${atMs}, ${tookMs}, ${firstEvent}, ${lastEvent}, ${status}, ${reason},
      ${retryMs})
    ON CONFLICT (firm, subscription, place) DO UPDATE SET number = excluded.number, kind = excluded.kind, at = excluded.at,
      took = excluded.took, first_event = excluded.first_event, last_event = excluded.last_event, status = excluded.status,
      reason = excluded.reason, retry = excluded.retry`;
}

/**
 * What changes with an attempt, and the attempt: all or nothing. Where the change changes nothing the attempt is not kept, since another
 * process has come further.
 * @param change what becomes of the state of its subscription, with `tries`
 * @returns what the change returns
 */
async function keepWith<Row extends object>(
  database: Database,
  firm: number,
  id: string,
  { attempt, retryMs = null }: { readonly attempt: DeliveryAttempt; readonly retryMs?: number | null },
  change: Sql,
): Promise<readonly Row[]> {
  return await database.transaction(firm, async (tx) => {
    const rows = await tx.query<Row>(change);
    if (rows.length > 0) await tx.query(keepRow(firm, id, attempt, retryMs));
    return rows;
  });
}

/** Which events were delivered. */
export interface Delivered {
  readonly from: number;
  readonly until: number;
  readonly nowMs: number;
}

/** What there is to do after a delivery. */
export interface Noted {
  /** More events, or something else. */
  readonly hasMore: boolean;
  /** Others may take it. */
  readonly isGivenBack: boolean;
}

/**
 * Notes that the endpoint accepted the events up to `until`, keeps the attempt, and gives the subscription back where nothing is left
 * and the process may: all or nothing. Where events are to be told again since the state was read, nothing is noted.
 * @param attempt absent: no message was sent for it
 * @returns undefined: something has changed
 */
export async function noteDelivered(
  database: Database,
  firm: number,
  { id, replays }: Pick<SubscriptionState, 'id' | 'replays'>,
  { from, until, nowMs, mayGiveBack }: Delivered & { readonly mayGiveBack: boolean },
  attempt: DeliveryAttempt | undefined,
): Promise<Noted | undefined> {
  const [noted] = await database.forFirm(firm).query<Noted>(sql`
    SELECT has_more AS "hasMore", is_released AS "isGivenBack" FROM praxis_note_delivered(
      in_firm => ${firm}, in_id => ${id}, in_replays => ${replays}, in_from => ${from}, in_until => ${until}, in_now => ${nowMs},
      in_release => ${mayGiveBack ? 't' : 'f'}, in_never => ${never}, in_may_be_lost => 't', in_place => ${attempt === undefined ? null : attempt.number % attemptsMax},
      in_number => ${attempt?.number ?? null}, in_kind => ${attempt?.kind ?? null}, in_at => ${attempt?.atMs ?? null},
      in_took => ${attempt?.tookMs ?? null}, in_first => ${attempt?.firstEvent ?? null}, in_last => ${attempt?.lastEvent ?? null},
      in_status => ${attempt?.status ?? null}, in_reason => ${attempt?.reason ?? null})`);
  return noted;
}

/** A notification that was accepted, of a subscription that the process holds and has nothing else to do for. */
export interface Accepted extends Delivered, Pick<SubscriptionState, 'id' | 'replays'> {
  readonly attempt: DeliveryAttempt;
}

/** What was accepted, as `praxis_admit_events` takes it. */
export function encodeAccepted(accepted: readonly Accepted[]): Sql {
  const list = (read: (each: Accepted) => number): string => encodeIntegerArray(accepted.map(read));
  return sql`
      in_never => ${never}, in_done => ${encodeTextArray(accepted.map(({ id }) => id))}::text[],
      in_done_replays => ${list(({ replays }) => replays)}::int[], in_done_from => ${list(({ from }) => from)}::bigint[],
      in_done_until => ${list(({ until }) => until)}::bigint[], in_done_now => ${list(({ nowMs }) => nowMs)}::bigint[],
      in_done_place => ${list(({ attempt }) => attempt.number % attemptsMax)}::smallint[],
      in_done_number => ${list(({ attempt }) => attempt.number)}::bigint[], in_done_at => ${list(({ attempt }) => attempt.atMs)}::bigint[],
      in_done_took => ${list(({ attempt }) => attempt.tookMs)}::int[],
      in_done_first => ${list(({ from, attempt }) => attempt.firstEvent ?? from)}::bigint[],
      in_done_last => ${list(({ until, attempt }) => attempt.lastEvent ?? until)}::bigint[],
      in_done_status => ${list(({ attempt }) => attempt.status ?? 0)}::smallint[]`;
}

/**
 * Notes that the endpoint accepted the events of a lane up to `last`, and keeps the attempt. False: they are told again, since something
 * else was asked for, or another process has come further.
 */
export async function noteLane(
  database: Database,
  firm: number,
  { id, replays }: Pick<SubscriptionState, 'id' | 'replays'>,
  { from, until, nowMs, lane, last }: Delivered & { readonly lane: number; readonly last: number },
  attempt: DeliveryAttempt,
): Promise<boolean> {
  const change = sql`
    UPDATE subscription SET lane_places[${lane + 1}::int] = ${last}, sent = ${nowMs}, failing = NULL, retry = NULL, attempts = 0,
      tries = GREATEST(tries, ${attempt.number})
    WHERE firm = ${firm} AND id = ${id} AND delivered = ${from} AND batch_end = ${until} AND replays = ${replays} AND status = 'active'
      AND lane_places[${lane + 1}::int] < ${last} RETURNING firm`;
  return (await keepWith(database, firm, id, { attempt }, change)).length > 0;
}

/** How the subscription stood when an attempt began: where it stands otherwise, another process has come further. */
type Stood = Pick<SubscriptionState, 'id' | 'status' | 'delivered'>;

function standsStill(firm: number, { id, status, delivered }: Stood): Sql {
  return sql`firm = ${firm} AND id = ${id} AND status = ${status} AND delivered = ${delivered}`;
}

/** Keeps an attempt that decides nothing, unless another process has come further meanwhile. */
export async function noteAttempt(
  database: Database,
  firm: number,
  stood: Stood,
  attempt: DeliveryAttempt,
): Promise<void> {
  const change = sql`
    UPDATE subscription SET tries = GREATEST(tries, ${attempt.number}) WHERE ${standsStill(firm, stood)} RETURNING firm`;
  await keepWith(database, firm, stood.id, { attempt }, change);
}

/** Notes that the endpoint did not accept a notification, with the attempt, unless another process has come further meanwhile. */
export async function noteFailed(
  database: Database,
  firm: number,
  stood: Stood,
  { retryMs, nowMs }: { readonly retryMs: number; readonly nowMs: number },
  attempt: DeliveryAttempt,
): Promise<void> {
  const change = sql`
    UPDATE subscription SET attempts = attempts + 1, failing = COALESCE(failing, ${nowMs}), retry = ${retryMs},
      tries = GREATEST(tries, ${attempt.number})
    WHERE ${standsStill(firm, stood)} RETURNING firm`;
  await keepWith(database, firm, stood.id, { attempt, retryMs }, change);
}
