/** Subscriptions as they stand: rows beside the resources, changed in the transactions that change these. */
import { type Sql, sql } from '../../database/sql.ts';
import { encodeTextArray } from '../../storage/index-arrays.ts';
import type { StatementOptions, StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import type { SubscriptionDefinition } from './definition.ts';
import { releaseBinding, tellHolders, tellHoldersAbout } from './sockets/binding-store.ts';
import type { EventKind } from './topics.ts';

export type SubscriptionStatus = 'requested' | 'active' | 'error' | 'off';

/** Why a subscription is in error or off; the text of Subscription.error says it in words. */
export type EndReason =
  | 'handshake-failed'
  | 'undeliverable'
  | 'rights-changed'
  | 'unsearchable'
  | 'gone'
  | 'end'
  | 'requested'
  | 'suspended';

/** In the place of the rights of a run that has ended since they are others now. */
export const otherRights = '';

/** In the place of the rights of a run that has ended since its criteria cannot be searched by. */
export const unsearchable = 'unsearchable';

export interface SubscriptionState {
  readonly id: string;
  readonly application: number;
  readonly status: SubscriptionStatus;
  readonly reason: EndReason | null;
  readonly definition: SubscriptionDefinition;
  readonly policy: string | null;
  readonly entries: readonly string[] | null;
  readonly events: number;
  readonly delivered: number;
  readonly batchEnd: number | null;
  readonly sentMs: number;
  readonly failingMs: number | null;
  readonly retryMs: number | null;
  readonly endedMs: number | null;
  readonly attempts: number;
  readonly secret: number;
  readonly previousSecretEndsMs: number | null;
  readonly admits: boolean;
  /** The practice, the operator or the vendor has ended it. */
  readonly suspended: boolean;
  /** Attempts to reach the endpoint so far. */
  readonly tries: number;
  /** How often events were told again since somebody asked for it. */
  readonly replays: number;
  /** Of events up to `batchEnd` that are told in lanes: the last of each lane that was delivered. */
  readonly lanePlaces: readonly number[] | null;
}

export interface SubscriptionEvent {
  readonly number: number;
  readonly atMs: number;
  readonly rtype: number;
  readonly id: string;
  readonly vid: number;
  readonly kind: EventKind;
}

export const stateColumns: Sql = sql`id, application, status, reason, definition, policy, entries, events, delivered, batch_end AS "batchEnd",
  sent AS "sentMs", failing AS "failingMs", retry AS "retryMs", ended AS "endedMs", attempts, secret,
  previous_secret_ends AS "previousSecretEndsMs", admits, suspended OR vendor_suspended AS suspended, tries, replays,
  to_jsonb(lane_places) AS "lanePlaces"`;

/** Writes of resources change nothing of it. */
const reading: StatementOptions = { standsApart: true, idempotent: true };

/** On which processes are told that a subscription was asked for: rarely, and never for a change that it is about. */
export const askedChannel = 'praxis_subscriptions';

export interface AskedSubscription {
  readonly id: string;
  readonly status: 'requested' | 'off';
  readonly definition: SubscriptionDefinition;
  readonly entries: readonly string[] | undefined;
  /** The definition asks for other events than the one before: those that wait are none of it. */
  readonly beginsAnew: boolean;
  readonly nowMs: number;
}

/** Notifications have as many events as before. */
const cutsAlike: Sql = sql`(subscription.definition->'maxCount', subscription.definition->'concurrency',
    subscription.definition->'topic', subscription.definition->'content', subscription.definition->'endpoint' IS NULL)
  IS NOT DISTINCT FROM (excluded.definition->'maxCount', excluded.definition->'concurrency',
    excluded.definition->'topic', excluded.definition->'content', excluded.definition->'endpoint' IS NULL)`;

/** Statements that keep what an application asks for. Its handshake is due at once. */
export function keepSubscription({ firm, application }: TenantScope, asked: AskedSubscription): readonly Sql[] {
  const { id, status, definition, entries, beginsAnew, nowMs } = asked;
  const held = entries === undefined ? sql`NULL::text[]` : sql`${encodeTextArray(entries)}::text[]`;
  const isOff = status === 'off';
  const stops = isOff || beginsAnew;
  return [
    lockFeed(firm),
    ...(stops ? [stopAdmitting(firm, id)] : []),
    sql`
      INSERT INTO subscription (firm, id, application, created, status, reason, entries, definition, ends, ended)
      VALUES (${firm}, ${id}, ${application}, ${nowMs}, ${status}, ${isOff ? 'requested' : null}, ${held},
        ${sql.json(definition)}, ${definition.endMs ?? null}, ${isOff ? nowMs : null})
      ON CONFLICT (firm, id) DO UPDATE SET status = excluded.status, reason = excluded.reason, entries = excluded.entries,
        definition = excluded.definition, ends = excluded.ends, ended = excluded.ended, attempts = 0, retry = NULL, failing = NULL,
        batch_end = CASE WHEN ${cutsAlike} THEN subscription.batch_end END,
        lane_places = CASE WHEN ${cutsAlike} THEN subscription.lane_places END`,
    ...(stops ? dropEvents(firm, id) : []),
    recount(firm),
    // Nobody holds a socket of what has an endpoint.
    definition.endpoint === undefined ? tellHolders : releaseBinding(firm, id),
    ...(isOff
      ? [removeDue(firm, id)]
      : [putDue(firm, application, id, nowMs), sql`SELECT pg_notify(${askedChannel}, '')`]),
  ];
}

/**
 * Holds the row of the firm until the transaction ends: who changes which events are admitted takes it before the state, as admission
 * does, so that they do not wait for each other.
 */
export async function holdFeed(store: StatementRunner, { firm, application, ...scope }: TenantScope): Promise<void> {
  const statement = sql`
    SELECT e.epoch, f.firm FROM access_epoch e LEFT JOIN LATERAL (
      SELECT firm FROM subscription_feed WHERE firm = ${firm} FOR UPDATE OFFSET 0) f ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  await store.run({ firm, application, ...scope }, statement);
}

/** Holds the state until the transaction ends, if it is as it was seen. */
export async function lockState(
  store: StatementRunner,
  { firm, application, ...scope }: TenantScope,
  { id, status, definition }: Pick<SubscriptionState, 'id' | 'status' | 'definition'>,
): Promise<boolean> {
  const statement = sql`
    SELECT e.epoch, s.id FROM access_epoch e LEFT JOIN LATERAL (
      SELECT id FROM subscription WHERE firm = ${firm} AND id = ${id} AND status = ${status} AND definition = ${JSON.stringify(definition)}::jsonb
      FOR UPDATE OFFSET 0) s ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<{ readonly id: string | null }>({ firm, application, ...scope }, statement);
  return row !== undefined && row.id !== null;
}

/** Statements that forget a subscription. */
export function removeSubscription({ firm }: TenantScope, id: string): readonly Sql[] {
  return [
    lockFeed(firm),
    tellHoldersAbout(firm, [id], 0),
    sql`DELETE FROM subscription WHERE firm = ${firm} AND id = ${id}`,
    sql`DELETE FROM subscription_event WHERE firm = ${firm} AND subscription = ${id}`,
    recount(firm),
    removeDue(firm, id),
  ];
}

/** The row of the firm, made where there is none; whoever changes which events are admitted holds it first. */
function lockFeed(firm: number): Sql {
  return sql`
    INSERT INTO subscription_feed (firm, epoch, xid, seq) VALUES (${firm}, 0, '0'::xid8, 0)
    ON CONFLICT (firm) DO UPDATE SET revision = subscription_feed.revision + 1`;
}

/** How many subscriptions admit events. */
function recount(firm: number): Sql {
  return sql`
    UPDATE subscription_feed SET admitting = (SELECT count(*)::int FROM subscription WHERE firm = ${firm} AND admits)
    WHERE firm = ${firm}`;
}

/** No change becomes an event of it any more. */
function stopAdmitting(firm: number, id: string): Sql {
  return sql`UPDATE subscription SET admits = false WHERE firm = ${firm} AND id = ${id}`;
}

/** The events of a run that has ended are told to nobody any more; their numbers are not given again. */
function dropEvents(firm: number, id: string): readonly Sql[] {
  return [
    sql`UPDATE subscription SET delivered = events, batch_end = NULL, lane_places = NULL WHERE firm = ${firm} AND id = ${id}`,
    sql`DELETE FROM subscription_event WHERE firm = ${firm} AND subscription = ${id}`,
  ];
}

/** Something is to be done for it then, or earlier. */
export function putDue(firm: number, application: number, id: string, dueMs: number): Sql {
  return sql`
    INSERT INTO subscription_due (firm, id, application, due) VALUES (${firm}, ${id}, ${application}, ${dueMs})
    ON CONFLICT (firm, id) DO UPDATE SET due = LEAST(subscription_due.due, excluded.due)`;
}

function removeDue(firm: number, id: string): Sql {
  return sql`DELETE FROM subscription_due WHERE firm = ${firm} AND id = ${id}`;
}

/** Statements that let changes from now on become events: the handshake was answered. */
export function activate(firm: number, id: string, policy: string, nowMs: number): readonly Sql[] {
  return [
    lockFeed(firm),
    // Where nothing was admitted, what was changed meanwhile is nobody's.
    sql`
      UPDATE subscription_feed f SET epoch = o.epoch, xid = pg_snapshot_xmin(pg_current_snapshot()), seq = 0, is_version = false
      FROM order_epoch o WHERE f.firm = ${firm} AND f.admitting = 0`,
    sql`
      DELETE FROM subscription_event WHERE firm = ${firm} AND subscription = ${id} AND EXISTS (
        SELECT FROM subscription s WHERE s.firm = ${firm} AND s.id = ${id} AND s.policy <> ${policy})`,
    sql`
      UPDATE subscription SET status = 'active', reason = NULL, policy = ${policy},
        delivered = CASE WHEN policy <> ${policy} THEN events ELSE delivered END,
        batch_end = CASE WHEN policy <> ${policy} THEN NULL ELSE batch_end END,
        lane_places = CASE WHEN policy <> ${policy} THEN NULL ELSE lane_places END, sent = ${nowMs}, failing = NULL, retry = NULL,
        ended = NULL, attempts = 0, admits = true
      WHERE firm = ${firm} AND id = ${id}`,
    recount(firm),
  ];
}

/**
 * Statements that end a run. Of one that could not be delivered events are counted and kept further on.
 * @param keepsEvents whether changes still become events, and those that wait stay
 */
export function endRun(
  firm: number,
  id: string,
  {
    status,
    reason,
    keepsEvents,
  }: { readonly status: 'error' | 'off'; readonly reason: EndReason; readonly keepsEvents: boolean },
  nowMs: number,
): readonly Sql[] {
  return [
    lockFeed(firm),
    ...(keepsEvents ? [] : [stopAdmitting(firm, id), ...dropEvents(firm, id)]),
    sql`
      UPDATE subscription SET status = ${status}, reason = ${reason}, ended = ${nowMs}, retry = NULL
      WHERE firm = ${firm} AND id = ${id}`,
    ...(keepsEvents ? [] : [recount(firm), removeDue(firm, id)]),
  ];
}

/** Whether the rights are still those of the scope, at a moment after this was asked. @throws PraxisError `stale-access` */
export async function requireRights(store: StatementRunner, scope: TenantScope): Promise<void> {
  const { firm, application } = scope;
  const statement = sql`SELECT e.epoch FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
  await store.run(scope, statement, { ...reading, short: true });
}

/** The state of a subscription of this application; undefined: there is none. */
export async function findOwnState(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
): Promise<SubscriptionState | undefined> {
  const [state] = await listOwnStates(store, scope, [id], 1);
  return state;
}

/** The states of subscriptions of this application, by id. @param ids only these; all when empty */
export async function listOwnStates(
  store: StatementRunner,
  scope: TenantScope,
  ids: readonly string[],
  limit: number,
): Promise<readonly SubscriptionState[]> {
  const { firm, application } = scope;
  const named = ids.length === 0 ? sql.empty : sql`AND id = ANY (${encodeTextArray(ids)}::text[])`;
  const statement = sql`
    SELECT e.epoch, s.* FROM access_epoch e LEFT JOIN LATERAL (
      SELECT ${stateColumns} FROM subscription
      WHERE firm = ${firm} AND application = ${application} ${named} ORDER BY id LIMIT ${limit} OFFSET 0) s ON true
    WHERE e.firm = ${firm} AND e.application = ${application} ORDER BY s.id`;
  type Row = Omit<SubscriptionState, 'id'> & { readonly id: string | null };
  const rows = await store.run<Row>(scope, statement, reading);
  return rows.flatMap(({ id, ...state }) => (id === null ? [] : [{ ...state, id }]));
}

/** How many subscriptions of this application are not off. */
export async function countOwnStates(store: StatementRunner, scope: TenantScope): Promise<number> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, (
      SELECT count(*)::int FROM subscription WHERE firm = ${firm} AND application = ${application} AND status <> 'off') AS count
    FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<{ readonly count: number }>(scope, statement, reading);
  return row?.count ?? 0;
}

/** Events of a subscription of this application from `from` to `until`, in order. */
export async function listOwnEvents(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
  { from, until, limit }: { readonly from: number; readonly until: number; readonly limit: number },
): Promise<readonly SubscriptionEvent[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, v.* FROM access_epoch e LEFT JOIN LATERAL (
      SELECT ${eventColumns} FROM subscription_event
      WHERE firm = ${firm} AND subscription = ${id} AND number >= ${from} AND number <= ${until}
      ORDER BY number LIMIT ${limit} OFFSET 0) v ON true
    WHERE e.firm = ${firm} AND e.application = ${application} ORDER BY v.number`;
  type Row = Omit<SubscriptionEvent, 'number'> & { readonly number: number | null };
  const rows = await store.run<Row>(scope, statement, reading);
  return rows.flatMap(({ number, ...event }) => (number === null ? [] : [{ ...event, number }]));
}

const eventColumns: Sql = sql`number, at AS "atMs", rtype, id, vid, kind`;

/** The next secret of a subscription of this application, valid at once; the one before stays so for a while. */
export async function rotateSecret(
  store: StatementRunner,
  scope: TenantScope,
  id: string,
  previousEndsMs: number,
): Promise<number | undefined> {
  const { firm, application } = scope;
  const [row] = await store.change<{ secret: number }>(scope, [
    sql`
      UPDATE subscription SET secret = secret + 1, previous_secret_ends = ${previousEndsMs}
      WHERE firm = ${firm} AND id = ${id} AND application = ${application} RETURNING secret`,
  ]);
  return row?.secret;
}
