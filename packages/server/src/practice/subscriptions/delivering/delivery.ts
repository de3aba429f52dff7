/**
 * Delivery: what is due for one subscription is done, by the rights of its application at this moment. Nothing is sent under rights
 * that are no longer those of its run; whatever an endpoint does is noted, and tried again (docs/decisions/0309).
 */
import { PraxisError } from '../../../base/errors.ts';
import { sql } from '../../../database/sql.ts';
import { type Audit, openAudit } from '../../../engine/audit-recorder.ts';
import type { InteractionContext } from '../../../engine/context.ts';
import { jobLimits } from '../../../limits/budgets.ts';
import { getTypeName } from '../../../storage/rows.ts';
import type { FeatureServices } from '../../feature.ts';
import type { Admitted } from '../admitting/keeping.ts';
import { storeStatus } from '../lifecycle.ts';
import { type ShownEvent, showEvents } from '../notification.ts';
import { noteUnbound } from '../sockets/binding-store.ts';
import type { Binding, Bindings } from '../sockets/bindings.ts';
import {
  activate,
  endRun,
  listOwnEvents,
  requireRights,
  type SubscriptionEvent,
  type SubscriptionState,
  stateColumns,
  unsearchable,
} from '../store.ts';
import { computeWindowMs, handshakesMax, keepAttempt, noteBatch, noteLane } from './attempts.ts';
import { type DueSubscription, eventsKeptMs, releaseDue } from './due.ts';
import { type Batch, computeShape, runLanes, type Told, windowMax, withLanes } from './lanes.ts';
import { isAccepted, send, type Tried } from './message.ts';
import {
  type Attended,
  endSubscription,
  getFirmPlace,
  type Next,
  noteAccepted,
  noteFailure,
  noteFailures,
  tellRecovered,
} from './outcomes.ts';

/** Notifications that one subscription gets before others have their turn. */
const turnsMax = 10;

/** How notifications are sent, and under which rights. */
export interface Sender extends Pick<Attended, 'rights' | 'signal' | 'connections' | 'room' | 'isLost' | 'noting'> {
  readonly bindings: Bindings | undefined;
}

/**
 * Does what is due, and notes when something is next. When the signal tells that the process stops, the rest is left to others.
 * @param admitted what is told first, as it was admitted
 * @returns whether all was done, and nothing is due for it before its time
 */
export async function attend(
  services: FeatureServices,
  due: DueSubscription,
  { bindings, ...sender }: Sender,
  admitted?: Admitted,
): Promise<boolean> {
  let next: Next = 'more';
  for (let turn = 1; next === 'more' && turn <= turnsMax && !sender.signal.aborted; turn += 1) {
    const first = turn === 1 ? admitted : undefined;
    const state = first?.state ?? (await readState(services, due));
    if (state === undefined) break;
    const binding = state.definition.endpoint === undefined ? bindings?.find(due.firm, due.id) : undefined;
    const attended = { ...sender, services, due, state, tries: { last: state.tries }, binding, admitted: first };
    next = await attendWithRights(attended);
  }
  if (next !== 'given-back' && !sender.isLost())
    await releaseDue(services.database, due.firm, due.id, services.clock.now());
  return next === 'given-back';
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
  const { services, state, rights, binding } = attended;
  const { status, definition, policy, retryMs } = state;
  const nowMs = services.clock.now();
  if (status === 'off') return 'nothing';
  if (state.suspended) return await endSubscription(attended, 'off', 'suspended');
  if (definition.endMs !== undefined && definition.endMs <= nowMs) return await endSubscription(attended, 'off', 'end');
  if (status === 'error') return await forgetWaiting(attended);
  if (retryMs !== null && retryMs > nowMs) return 'nothing';
  const recent = await rights.open(subscriberOf(attended));
  const isOfRun = status === 'active' && recent?.policy.fingerprint === policy;
  const context = isOfRun ? recent : await rights.openNow(subscriberOf(attended));
  if (context === undefined) return await endSubscription(attended, 'error', 'rights-changed');
  if (status !== 'requested') {
    if (policy === unsearchable) return await endSubscription(attended, 'error', 'unsearchable');
    if (context.policy.fingerprint !== policy) return await endSubscription(attended, 'error', 'rights-changed');
  }
  if (definition.endpoint === undefined && binding === undefined) return await leaveWaiting(attended);
  if (status === 'requested') return await shakeHands(attended, context);
  if (binding?.isGreeted === false) return await greet(attended, context, binding);
  if (state.events > state.delivered) return await deliver(attended, context);
  return await beat(attended, context);
}

/** No client is bound: what there is to send waits for one, as long as an endpoint may fail. */
async function leaveWaiting(attended: Attended): Promise<Next> {
  const { services, due, state } = attended;
  const { status, events, delivered, failingMs } = state;
  if (status === 'active' && events === delivered) return 'nothing';
  const nowMs = services.clock.now();
  const untilMs = (failingMs ?? nowMs) + computeWindowMs(services.deliveryPauseMs);
  if (untilMs <= nowMs)
    return await endSubscription(attended, 'error', status === 'requested' ? 'handshake-failed' : 'undeliverable');
  await services.database.transaction(due.firm, (tx) => noteUnbound(tx, due.firm, state.id, { nowMs, untilMs }));
  return 'nothing';
}

/** Each client that binds is sent a handshake before anything else. */
async function greet(attended: Attended, context: InteractionContext, binding: Binding): Promise<Next> {
  const { services, state, signal } = attended;
  const nowMs = services.clock.now();
  const tried = await send(attended, context, { type: 'handshake', id: '', nowMs }, []);
  if (signal.aborted) return 'nothing';
  if (!isAccepted(tried)) return await noteFailure(attended, tried);
  binding.isGreeted = true;
  return await noteAccepted(attended, { from: state.delivered, until: state.delivered, nowMs }, tried.attempt);
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
  const tried = await send(attended, context, { type: 'handshake', id, nowMs }, []);
  if (signal.aborted) return 'nothing';
  if (isAccepted(tried)) {
    if (attended.binding !== undefined) attended.binding.isGreeted = true;
    const kept = keepAttempt(due.firm, state.id, tried.attempt);
    const changes = [...kept, ...activate(due.firm, state.id, context.policy.fingerprint, nowMs)];
    return (await storeStatus(services, getFirmPlace(due), state, { status: 'active' }, changes)) ? 'more' : 'nothing';
  }
  if (attended.binding === undefined && state.attempts + 1 >= handshakesMax)
    return await endSubscription(attended, 'error', 'handshake-failed', tried.attempt);
  return await noteFailure(attended, tried);
}

async function beat(attended: Attended, context: InteractionContext): Promise<Next> {
  const { services, state, signal } = attended;
  const { heartbeatSeconds } = state.definition;
  const nowMs = services.clock.now();
  if (heartbeatSeconds === undefined || state.sentMs + heartbeatSeconds * 1000 > nowMs) return 'nothing';
  const tried = await send(attended, context, { type: 'heartbeat', id: `hb_${state.id}_${nowMs}`, nowMs }, []);
  if (signal.aborted) return 'nothing';
  if (!isAccepted(tried)) return await noteFailure(attended, tried);
  return await noteAccepted(attended, { from: state.delivered, until: state.delivered, nowMs }, tried.attempt);
}

/**
 * The moment of the notification is taken after its batch was noted, and before its events and contents are read: these statements see
 * whether the rights are still those of the context. So whatever was changed before that moment is kept to.
 */
async function deliver(attended: Attended, context: InteractionContext): Promise<Next> {
  const { services, due, state, signal } = attended;
  const { delivered: from, batchEnd } = state;
  const query = services.database.forFirm(due.firm);
  const { max, lanes } = computeShape(state.definition);
  const isNoted = batchEnd !== null;
  const until = batchEnd ?? Math.min(from + (lanes > 1 ? windowMax(lanes, max) : max), state.events);
  const begun = lanes > 1 ? Array.from({ length: lanes }, () => from) : null;
  const places = isNoted ? state.lanePlaces : begun;
  if (!isNoted && !(await noteBatch(query, due.firm, state, until, places))) return 'nothing';
  const { events, nowMs } = await readEvents(attended, context, from + 1, until);
  if (places !== null) return await deliverInLanes(attended, context, { from, until, nowMs, events, places, max });
  const message = await showMessage(attended, context, events);
  const { shown } = message;
  const last = shown.length < events.length ? (shown.at(-1)?.event.number ?? until) : until;
  // They are too long for one notification: the next turn has those that fit.
  if (last < until)
    return (await noteBatch(query, due.firm, { ...state, batchEnd: until }, last, null)) ? 'more' : 'nothing';
  const tried = await tell(attended, message, `${from + 1}-${last}`, nowMs);
  if (signal.aborted) return 'nothing';
  if (tried !== undefined && !isAccepted(tried)) return await noteFailure(attended, tried);
  return await noteAccepted(attended, { from, until: last, nowMs: services.clock.now() }, tried?.attempt);
}

/** What may pass between the moment of the rights that an admission saw and the first byte that is sent by them, in ms. */
const admittedMaxMs = 100;

/**
 * The events, and the moment of the rights that they are told by. Those that were just admitted are known: it is asked again whether the
 * rights are the same, where the admission took long, or saw other ones.
 */
async function readEvents(
  { services: { store, clock }, state: { id }, admitted }: Attended,
  { scope }: InteractionContext,
  from: number,
  until: number,
): Promise<{ readonly events: readonly SubscriptionEvent[]; readonly nowMs: number }> {
  const nowMs = clock.now();
  if (admitted === undefined) {
    const events = await listOwnEvents(store, scope, id, { from, until, limit: until - from + 1 });
    return { events, nowMs };
  }
  const { events, rights } = admitted;
  if (rights.epoch === scope.epoch && nowMs - rights.nowMs <= admittedMaxMs && nowMs >= rights.nowMs)
    return { events, nowMs: rights.nowMs };
  await requireRights(store, scope);
  return { events, nowMs };
}

/** What a notification is about to say, and under which rights. */
interface ShownMessage {
  readonly context: InteractionContext;
  readonly audit: Audit;
  /** Those whose contents fit into it. */
  readonly shown: readonly ShownEvent[];
}

async function showMessage(
  { state: { id, definition }, admitted }: Attended,
  context: InteractionContext,
  events: readonly SubscriptionEvent[],
): Promise<ShownMessage> {
  const audit = openAudit(context, { interaction: '$events', type: 'Subscription', id, versionId: '' });
  const shown = await showEvents(audit.inside, events, definition.content, admitted?.versions);
  if (admitted !== undefined) admitted.versions = undefined;
  return { context, audit, shown };
}

/**
 * Sends what the ledger has first. Undefined: what was to be told is no longer kept.
 * @param range names the events in the id of the message: the same have the same, and others when they are told again
 */
async function tell(
  attended: Attended,
  { context, audit, shown }: ShownMessage,
  range: string,
  nowMs: number,
): Promise<Tried | undefined> {
  const { services, due, state } = attended;
  for (const { event } of shown) if (getTypeName(event.rtype) === 'Patient') audit.inside.note.patients.add(event.id);
  audit.answered({ status: 200 });
  await services.ledger.keep(due.firm, context.trail);
  if (shown.length === 0) return undefined;
  const again = state.replays === 0 ? '' : `_r${state.replays}`;
  const id = `ev_${state.id}_${range}${again}`;
  return await send(attended, context, { type: 'event-notification', id, nowMs }, shown);
}

/** The events that are told in lanes, how far each lane is, and as of when. */
interface LaneWindow {
  readonly from: number;
  readonly until: number;
  readonly nowMs: number;
  readonly events: readonly SubscriptionEvent[];
  readonly places: readonly number[];
  /** Events of a notification. */
  readonly max: number;
}

/** Events of one resource are told one after another, those of others at the same time (docs/decisions/0323). */
async function deliverInLanes(
  attended: Attended,
  context: InteractionContext,
  { from, until, nowMs, events, places, max }: LaneWindow,
): Promise<Next> {
  const { services, due, state, signal, room } = attended;
  const lanes = places.length;
  const tellBatch = async (batch: Batch, lane: number): Promise<Told<Tried>> => {
    // Each has rows of its own in the ledger, and a budget of its own.
    const own = { ...context, trail: [], budget: services.openBudget(context.scope, jobLimits) };
    const message = await showMessage(attended, own, batch);
    const last = message.shown.at(-1)?.event.number ?? until;
    const tried = await tell(attended, message, `${batch[0].number}-${last}_of${lanes}`, nowMs);
    if (tried === undefined || signal.aborted) return undefined;
    if (!isAccepted(tried)) return { failed: tried };
    const note = { from, until, nowMs: services.clock.now(), lane, last };
    return (await noteLane(services.database, due.firm, state, note, tried.attempt)) ? { last } : undefined;
  };
  const { failed, hasMoved, isDone } = await withLanes(room, lanes, (atOnce) =>
    runLanes({ events, places, max, atOnce }, tellBatch),
  );
  if (signal.aborted) return 'nothing';
  if (hasMoved) await tellRecovered(attended);
  const now = hasMoved ? { ...attended, state: { ...state, attempts: 0, failingMs: null } } : attended;
  if (failed.length > 0) return await noteFailures(now, failed);
  if (!isDone) return hasMoved ? 'more' : 'nothing';
  return await noteAccepted(now, { from, until, nowMs: services.clock.now() }, undefined);
}
