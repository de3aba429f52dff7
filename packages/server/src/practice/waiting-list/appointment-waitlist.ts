/**
 * What the waiting list keeps of an Appointment, and which time a change of it gives up (docs/decisions/0202). Who waits is
 * the status of the Appointment; the list says since when, and what was offered.
 */

import type { BehaviourContext, VersionChange } from '../../resources/behaviour.ts';
import type { ResourceStore } from '../../storage/store.ts';
import { type Booking, isSameBooking } from '../booking/booking.ts';
import {
  dropWaiting,
  endOffer,
  type FreedTime,
  findStandingOffer,
  keepOffer,
  keepWaiting,
  type WaitlistOffer,
} from './store.ts';
import { computePriority } from './waitlist.ts';

declare module '../../resources/behaviour.ts' {
  interface ChangeExtras {
    /** The offer that the change answers, read before the version that it changes: it stood as long as that did. */
    readonly answered?: WaitlistOffer;
  }
}

/** Changes the list, in the transaction of the version. */
export type WaitlistChange = (inside: ResourceStore) => Promise<void>;

/** The offer that the change ends, by taking it or leaving it; undefined: none stood, or it stands on. */
export async function findLeftOffer(
  { scope, store }: BehaviourContext,
  { before, after, write, extras: { answered } }: VersionChange<'Appointment'>,
  isSameTime: boolean,
): Promise<WaitlistOffer | undefined> {
  if (before?.status !== 'proposed') return undefined;
  if (after?.status === 'proposed' && isSameTime) return undefined;
  return answered ?? (await findStandingOffer(store, scope, write.id));
}

/**
 * What the change does to the list; undefined: nothing.
 * @param left the offer that the change ends
 */
export function planWaitlistChange(
  { scope, clock }: BehaviourContext,
  { before, after, write, extras: { offer } }: VersionChange<'Appointment'>,
  left: WaitlistOffer | undefined,
): WaitlistChange | undefined {
  const { id } = write;
  if (offer !== undefined) return (inside) => keepOffer(inside, scope, id, offer);
  if (after?.status === 'waitlist') {
    const entry = { appointment: id, priority: computePriority(after), sinceMs: clock.now() };
    return async (inside) => {
      if (left !== undefined) await endOffer(inside, scope, id);
      await keepWaiting(inside, scope, entry);
    };
  }
  const wasListed = before?.status === 'waitlist' || left !== undefined;
  return wasListed ? (inside) => dropWaiting(inside, scope, id) : undefined;
}

/** Coming time of practitioners that only the version before takes. @param kept those whose time is kept, as Type/id */
export function computeFreedTime(
  before: Booking | undefined,
  after: Booking | undefined,
  kept: readonly string[],
  nowMs: number,
): readonly FreedTime[] {
  if (before === undefined || before.endMs <= nowMs || isSameBooking(before, after)) return [];
  const stays = after?.startMs === before.startMs && after.endMs === before.endMs ? after.actors : [];
  const { startMs, endMs } = before;
  return before.actors
    .filter((actor) => actor.startsWith('Practitioner/') && kept.includes(actor) && !stays.includes(actor))
    .map((actor) => ({ actor, startMs, endMs }));
}
