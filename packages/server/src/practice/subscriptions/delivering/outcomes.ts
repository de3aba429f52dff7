/**
 * What comes of attending to a subscription: what was accepted, what failed and when it is tried again, and how a run ends. Whatever an
 * endpoint does is noted (docs/decisions/0309).
 */
import type { RecentRights } from '../acting.ts';
import type { Admitted } from '../admitting/keeping.ts';
import { reasonTexts, storeStatus } from '../lifecycle.ts';
import { closeCodes } from '../sockets/bindings.ts';
import { type EndReason, endRun } from '../store.ts';
import {
  computeAskedMs,
  computePauseMs,
  computeWindowMs,
  type Delivered,
  type DeliveryAttempt,
  describeOutcome,
  keepAttempt,
  noteAttempt,
  noteDelivered,
  noteFailed,
} from './attempts.ts';
import type { DueSubscription } from './due.ts';
import type { LaneRoom } from './lanes.ts';
import type { Sending, Tried } from './message.ts';
import type { Acceptances } from './noting.ts';

/** Attempts in a row that failed before the resource says so: a single one is nobody's concern. */
const toldAttempts = 2;

/** A subscription that is being attended to. */
export interface Attended extends Sending {
  readonly rights: RecentRights;
  readonly room: LaneRoom;
  /** Whether another process may have taken the subscription meanwhile: it is no longer for this one to give it back. */
  readonly isLost: () => boolean;
  readonly noting: Acceptances;
  /** What was just admitted, and is the next notification; absent: the database tells what there is. */
  readonly admitted: Admitted | undefined;
}

/** Whether there may be more to do for it at once; `given-back`: there is not, and it is for others to take. */
export type Next = 'more' | 'nothing' | 'given-back';

/** The firm of a subscription. */
export function getFirmPlace({ firm: id, environment, prefix }: DueSubscription) {
  return { id, environment, prefix };
}

/** Ends the run. @param last the attempt for which it ends */
export async function endSubscription(
  { services, due, state, binding }: Attended,
  status: 'error' | 'off',
  reason: EndReason,
  last?: DeliveryAttempt,
): Promise<Next> {
  const keepsEvents = reason === 'undeliverable';
  const nowMs = services.clock.now();
  const kept = last === undefined ? [] : keepAttempt(due.firm, state.id, last);
  const changes = [...kept, ...endRun(due.firm, state.id, { status, reason, keepsEvents }, nowMs)];
  await storeStatus(services, getFirmPlace(due), state, { status, error: reasonTexts[reason] }, changes);
  binding?.socket.close(closeCodes.subscriptionEnded, `Subscription/${state.id} ${reason}`);
  return 'nothing';
}

/** Notes what was accepted, and gives the subscription back where that is all. */
export async function noteAccepted(
  attended: Attended,
  delivered: Delivered,
  attempt: DeliveryAttempt | undefined,
): Promise<Next> {
  const { services, due, state } = attended;
  const isTold = state.attempts >= toldAttempts;
  // What is told of it afterwards is told by who holds it.
  const isHeld = (): boolean => !attended.isLost();
  const mayGiveBack = !isTold && isHeld() && state.definition.endpoint !== undefined;
  const noted =
    attended.admitted !== undefined && attempt !== undefined && mayGiveBack
      ? await attended.noting.note(due.firm, { ...delivered, id: state.id, replays: state.replays, attempt }, isHeld)
      : await noteDelivered(services.database, due.firm, state, { ...delivered, mayGiveBack }, attempt);
  await tellRecovered(attended);
  if (noted === undefined || noted.hasMore) return 'more';
  return noted.isGivenBack ? 'given-back' : 'nothing';
}

/** The resource says no longer that its endpoint fails. */
export async function tellRecovered({ services, due, state }: Attended): Promise<void> {
  if (state.attempts >= toldAttempts) await storeStatus(services, getFirmPlace(due), state, { status: 'active' }, []);
}

/** Notes the failure and when to try again; 410 and the end of the time for that end the run. */
export async function noteFailure(attended: Attended, { outcome, attempt }: Tried): Promise<Next> {
  const { services, due, state, binding } = attended;
  if (binding !== undefined) {
    // The events wait for the next client: one that reads too slowly, or not at all, holds nothing of this process.
    binding.socket.close(closeCodes.notTaken, `Subscription/${state.id}: a notification was not taken in time`);
    await noteAttempt(services.database, due.firm, state, attempt);
    return 'nothing';
  }
  const nowMs = services.clock.now();
  const { deliveryPauseMs: firstMs } = services;
  if (outcome.kind === 'answered' && outcome.status === 410)
    return await endSubscription(attended, 'off', 'gone', attempt);
  const failingMs = state.failingMs ?? nowMs;
  if (state.status === 'active' && nowMs - failingMs >= computeWindowMs(firstMs))
    return await endSubscription(attended, 'error', 'undeliverable', attempt);
  const pauseMs = Math.max(computePauseMs(firstMs, state.attempts + 1), computeAskedMs(outcome));
  const isTold = state.attempts + 1 === toldAttempts && state.status === 'active';
  if (isTold) {
    const error = `failing since ${new Date(failingMs).toISOString()}: the endpoint ${describeOutcome(outcome)}`;
    await storeStatus(services, getFirmPlace(due), state, { status: 'active', error }, []);
  }
  const next = { retryMs: nowMs + pauseMs, nowMs };
  await noteFailed(services.database, due.firm, state, next, attempt);
  return 'nothing';
}

/** Each attempt is kept; that which says most decides what is next. */
export async function noteFailures(attended: Attended, failed: readonly Tried[]): Promise<Next> {
  const { services, due, state } = attended;
  const weigh = ({ outcome }: Tried): number => {
    if (outcome.kind !== 'answered') return 0;
    return outcome.status === 410 ? Number.MAX_SAFE_INTEGER : (outcome.retryAfterSeconds ?? 0);
  };
  const [worst, ...others] = failed.toSorted((left, right) => weigh(right) - weigh(left));
  for (const { attempt } of others) await noteAttempt(services.database, due.firm, state, attempt);
  return worst === undefined ? 'nothing' : await noteFailure(attended, worst);
}
