/**
 * Delivery: what is due for one subscription is done, by the rights of its application at this moment. Nothing is sent under rights
 * that are no longer those of its run; whatever an endpoint does is noted, and tried again (docs/decisions/0309).
 */
import { unwrapDisclosed } from '../../access/disclosure.ts';
import { PraxisError } from '../../base/errors.ts';
import { sql } from '../../database/sql.ts';
import { openAudit } from '../../engine/audit-recorder.ts';
import type { InteractionContext } from '../../engine/context.ts';
import type { KeptConnections } from '../../outbound/kept-connections.ts';
import { type MessageOutcome, postSigned } from '../../outbound/webhook.ts';
import { getTypeName } from '../../storage/rows.ts';
import type { FeatureServices } from '../feature.ts';
import type { RecentRights } from './acting.ts';
import { computePauseMs, computeWindowMs, handshakesMax, noteBatch, noteDelivered, noteFailed } from './attempts.ts';
import { openHeaders } from './channel-headers.ts';
import { type DueSubscription, releaseDue } from './due.ts';
import { reasonTexts, storeStatus } from './lifecycle.ts';
import { buildNotification, type NotificationType, type ShownEvent, showEvents } from './notification.ts';
import { eventsKeptMs } from './retention.ts';
import { computeSecret } from './secret.ts';
import {
  activate,
  type EndReason,
  endRun,
  listOwnEvents,
  type SubscriptionState,
  stateColumns,
  unsearchable,
} from './store.ts';

/** Notifications that one subscription gets before others have their turn. */
const turnsMax = 10;

/** Attempts in a row that failed before the resource says so: a single one is nobody's concern. */
const toldAttempts = 2;

/** A subscription that is being attended to. */
interface Attended {
  readonly services: FeatureServices;
  readonly due: DueSubscription;
  readonly state: SubscriptionState;
  readonly rights: RecentRights;
  readonly signal: AbortSignal;
  readonly connections: KeptConnections;
}

/** Whether there may be more to do for it at once. */
type Next = 'more' | 'nothing';

/** How notifications are sent, and under which rights. */
export interface Sender extends Pick<Attended, 'rights' | 'signal' | 'connections'> {
  /** Whether another process may have taken the subscription meanwhile: it is no longer for this one to give it back. */
  readonly isLost: () => boolean;
}

/** Does what is due, and notes when something is next. When the signal tells that the process stops, the rest is left to others. */
export async function attend(services: FeatureServices, due: DueSubscription, sender: Sender): Promise<void> {
  const { signal, isLost } = sender;
  const { database, clock } = services;
  let next: Next = 'more';
  for (let turn = 1; next === 'more' && turn <= turnsMax && !signal.aborted; turn += 1) {
    const state = await readState(services, due);
    next = state === undefined ? 'nothing' : await attendWithRights({ services, due, state, ...sender });
  }
  if (!isLost()) await releaseDue(database, due.firm, due.id, clock.now());
}

async function readState(
  { database }: FeatureServices,
  { firm, id }: DueSubscription,
): Promise<SubscriptionState | undefined> {
  const [state] = await database.forFirm(firm).query<SubscriptionState>(sql`
    SELECT ${stateColumns} FROM subscription WHERE firm = ${firm} AND id = ${id}`);
  return state;
}

/** Rights that changed while something was read are looked at again. */
async function attendWithRights(attended: Attended): Promise<Next> {
  try {
    return await attendOnce(attended);
  } catch (error) {
    if (!(error instanceof PraxisError) || error.code !== 'stale-access') throw error;
    await attended.rights.openNow(subscriberOf(attended));
    return 'more';
  }
}

function subscriberOf({ due: { firm }, state: { application, entries } }: Attended) {
  return { firm, application, entries };
}

async function attendOnce(attended: Attended): Promise<Next> {
  const { services, state, rights } = attended;
  const { status, definition, policy, retryMs } = state;
  const nowMs = services.clock.now();
  if (status === 'off') return 'nothing';
  if (state.suspended) return await end(attended, 'off', 'suspended');
  if (definition.endMs !== undefined && definition.endMs <= nowMs) return await end(attended, 'off', 'end');
  if (status === 'error') return await forgetWaiting(attended);
  if (retryMs !== null && retryMs > nowMs) return 'nothing';
  const recent = await rights.open(subscriberOf(attended));
  const isOfRun = status === 'active' && recent?.policy.fingerprint === policy;
  const context = isOfRun ? recent : await rights.openNow(subscriberOf(attended));
  if (context === undefined) return await end(attended, 'error', 'rights-changed');
  if (status === 'requested') return await shakeHands(attended, context);
  if (policy === unsearchable) return await end(attended, 'error', 'unsearchable');
  if (context.policy.fingerprint !== policy) return await end(attended, 'error', 'rights-changed');
  if (state.events > state.delivered) return await deliver(attended, context);
  return await beat(attended, context);
}

async function end({ services, due, state }: Attended, status: 'error' | 'off', reason: EndReason): Promise<Next> {
  const keepsEvents = reason === 'undeliverable';
  const nowMs = services.clock.now();
  const changes = endRun(due.firm, state.id, { status, reason, keepsEvents }, nowMs);
  const place = { id: due.firm, environment: due.environment, prefix: due.prefix };
  await storeStatus(services, place, state, { status, error: reasonTexts[reason] }, changes);
  return 'nothing';
}

/** What was kept for a subscriber who did not come back. */
async function forgetWaiting({ services, due, state }: Attended): Promise<Next> {
  const nowMs = services.clock.now();
  if (state.endedMs === null || state.endedMs + eventsKeptMs > nowMs || !state.admits) return 'nothing';
  const statements = endRun(
    due.firm,
    state.id,
    { status: 'error', reason: 'undeliverable', keepsEvents: false },
    nowMs,
  );
  await services.database.transaction(due.firm, async (tx) => {
    for (const statement of statements) await tx.query(statement);
  });
  return 'nothing';
}

async function shakeHands(attended: Attended, context: InteractionContext): Promise<Next> {
  const { services, due, state, signal } = attended;
  const nowMs = services.clock.now();
  const id = `hs_${state.id}_${state.attempts}_${nowMs}`;
  const outcome = await send(attended, context, { type: 'handshake', id, nowMs }, []);
  if (signal.aborted) return 'nothing';
  if (isAccepted(outcome)) {
    const changes = activate(due.firm, state.id, context.policy.fingerprint, nowMs);
    return (await storeStatus(services, placeOf(due), state, { status: 'active' }, changes)) ? 'more' : 'nothing';
  }
  if (state.attempts + 1 >= handshakesMax) return await end(attended, 'error', 'handshake-failed');
  return await fail(attended, outcome);
}

function placeOf({ firm: id, environment, prefix }: DueSubscription) {
  return { id, environment, prefix };
}

async function beat(attended: Attended, context: InteractionContext): Promise<Next> {
  const { services, state, signal } = attended;
  const { heartbeatSeconds } = state.definition;
  const nowMs = services.clock.now();
  if (heartbeatSeconds === undefined || state.sentMs + heartbeatSeconds * 1000 > nowMs) return 'nothing';
  const outcome = await send(attended, context, { type: 'heartbeat', id: `hb_${state.id}_${nowMs}`, nowMs }, []);
  if (signal.aborted) return 'nothing';
  if (!isAccepted(outcome)) return await fail(attended, outcome);
  return await succeed(attended, { from: state.delivered, until: state.delivered, nowMs });
}

/**
 * The moment of the notification is taken after its batch was noted, and before its events and contents are read: these statements see
 * whether the rights are still those of the context. So whatever was changed before that moment is kept to.
 */
async function deliver(attended: Attended, context: InteractionContext): Promise<Next> {
  const { services, due, state, signal } = attended;
  const { definition, delivered: from } = state;
  const query = services.database.forFirm(due.firm);
  const isTopic = definition.topic !== undefined;
  // R4's own criteria send one resource a request, or say that something has changed, however much.
  const max = isTopic || definition.content === 'empty' ? definition.maxCount : 1;
  const until = state.batchEnd ?? Math.min(from + max, state.events);
  if (state.batchEnd !== until && !(await noteBatch(query, due.firm, state.id, from, until))) return 'nothing';
  const nowMs = services.clock.now();
  const wanted = { from: from + 1, until, limit: until - from };
  const events = await listOwnEvents(services.store, context.scope, state.id, wanted);
  const audit = openAudit(context, { interaction: '$events', type: 'Subscription', id: state.id, versionId: '' });
  const shown = await showEvents(audit.inside, events, definition.content);
  const last = shown.length < events.length ? (shown.at(-1)?.event.number ?? until) : until;
  // They are too long for one notification: the next turn has those that fit.
  if (last < until) return (await noteBatch(query, due.firm, state.id, from, last)) ? 'more' : 'nothing';
  for (const { event } of shown) if (getTypeName(event.rtype) === 'Patient') audit.inside.note.patients.add(event.id);
  audit.answered({ status: 200 });
  await services.ledger.keep(due.firm, context.trail);
  const outcome =
    shown.length === 0
      ? ({ kind: 'answered', status: 204 } as const) // what was to be told is no longer kept
      : await send(
          attended,
          context,
          { type: 'event-notification', id: `ev_${state.id}_${from + 1}-${last}`, nowMs },
          shown,
        );
  if (signal.aborted) return 'nothing';
  if (!isAccepted(outcome)) return await fail(attended, outcome);
  return await succeed(attended, { from, until: last, nowMs: services.clock.now() });
}

function isAccepted(outcome: MessageOutcome): boolean {
  return outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300;
}

async function succeed(
  { services, due, state }: Attended,
  delivered: Parameters<typeof noteDelivered>[3],
): Promise<Next> {
  const hasMore = await noteDelivered(services.database.forFirm(due.firm), due.firm, state.id, delivered);
  if (state.attempts >= toldAttempts) await storeStatus(services, placeOf(due), state, { status: 'active' }, []);
  return hasMore ? 'more' : 'nothing';
}

/** Notes the failure and when to try again; 410 and the end of the time for that end the run. */
async function fail(attended: Attended, outcome: MessageOutcome): Promise<Next> {
  const { services, due, state } = attended;
  const nowMs = services.clock.now();
  const { deliveryPauseMs: firstMs } = services;
  if (outcome.kind === 'answered' && outcome.status === 410) return await end(attended, 'off', 'gone');
  const failingMs = state.failingMs ?? nowMs;
  if (state.status === 'active' && nowMs - failingMs >= computeWindowMs(firstMs))
    return await end(attended, 'error', 'undeliverable');
  const asked = outcome.kind === 'answered' && isBusy(outcome.status) ? (outcome.retryAfterSeconds ?? 0) * 1000 : 0;
  const pauseMs = Math.max(computePauseMs(firstMs, state.attempts + 1), Math.min(asked, retryAfterMaxMs));
  const tell = state.attempts + 1 === toldAttempts && state.status === 'active';
  if (tell) {
    const error = `failing since ${new Date(failingMs).toISOString()}: the endpoint ${describe(outcome)}`;
    await storeStatus(services, placeOf(due), state, { status: 'active', error }, []);
  }
  await noteFailed(services.database.forFirm(due.firm), due.firm, state, { retryMs: nowMs + pauseMs, nowMs });
  return 'nothing';
}

/** An endpoint may ask for a day. */
const retryAfterMaxMs = 24 * 60 * 60 * 1000;

function isBusy(status: number): boolean {
  return status === 429 || status === 503;
}

function describe(outcome: MessageOutcome): string {
  return outcome.kind === 'answered' ? `answered ${outcome.status}` : outcome.reason;
}

/** What is sent: which kind, under which `webhook-id`, and as of when. */
interface Message {
  readonly type: NotificationType;
  readonly id: string;
  readonly nowMs: number;
}

async function send(
  { services, due, state, signal, connections }: Attended,
  context: InteractionContext,
  { type, id, nowMs }: Message,
  shown: readonly ShownEvent[],
): Promise<MessageOutcome> {
  const { definition, secret, previousSecretEndsMs } = state;
  const { scope, secrets } = context;
  const numbers = previousSecretEndsMs !== null && previousSecretEndsMs > nowMs ? [secret, secret - 1] : [secret];
  const { url, method, body } = formMessage(context, state, type, shown);
  const loopback = services.limits.outboundLoopback?.includes(due.environment) === true;
  return await postSigned(
    {
      url,
      method,
      body,
      headers: {
        ...openHeaders({ scope, secrets, id: state.id }, definition.headers),
        ...(body.length === 0 ? {} : { 'content-type': 'application/fhir+json' }),
      },
      secrets: numbers.map((number) => computeSecret(secrets, scope, state.id, number)),
      id,
      timestamp: Math.floor(nowMs / 1000),
      timeoutMs: definition.timeoutSeconds * 1000,
    },
    { loopback, signal, connections },
  );
}

/** Where it goes and what is in it: https://hl7.org/fhir/R4/subscription.html#2.46.7.1 */
function formMessage(
  context: InteractionContext,
  state: SubscriptionState,
  type: NotificationType,
  shown: readonly ShownEvent[],
): { readonly url: string; readonly method: 'POST' | 'PUT'; readonly body: Buffer } {
  const { topic, endpoint } = state.definition;
  if (topic !== undefined) {
    const bundle = buildNotification(
      context,
      { ...state, status: type === 'handshake' ? 'requested' : 'active' },
      type,
      shown,
    );
    return { url: endpoint, method: 'POST', body: Buffer.from(unwrapDisclosed(bundle)) };
  }
  const [first] = shown;
  if (first?.resource === undefined) return { url: endpoint, method: 'POST', body: Buffer.alloc(0) };
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/${getTypeName(first.event.rtype)}/${first.event.id}`;
  return { url: url.href, method: 'PUT', body: Buffer.from(unwrapDisclosed(first.resource)) };
}
