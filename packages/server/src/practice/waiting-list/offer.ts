/**
 * An offer to one who waits, made and taken back: the Appointment's own state, its places and the list change together,
 * as the service's own act.
 */
import type { Appointment } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { PraxisError } from '../../base/errors.ts';
import type { StoringContext } from '../../engine/hooks.ts';
import { type BuildWriteContext, buildWrite, requireResource } from '../../engine/write/build-write.ts';
import { type SaveOptions, saveVersion } from '../../engine/write/save-version.ts';
import type { Act } from '../../resources/states/state-table.ts';
import type { StoredResource, WriteOutcome } from '../../storage/store.ts';
import { claimSlot } from '../booking/holding.ts';
import { NotReserved } from '../booking/reserve.ts';
import { findSlotRules } from '../calendars/slots/offered-slot.ts';
import type { OfferedSlot } from '../calendars/slots/slots.ts';
import { dropWaiting, findStandingOffer, type Waiting, type WaitlistOffer } from './store.ts';
import { buildOfferedAppointment, buildWithdrawnAppointment, listMissingParticipants, offerMs } from './waitlist.ts';

declare module '../../resources/behaviour.ts' {
  interface ChangeExtras {
    /** The Appointment is offered to one who waits: what it takes is given up when the offer ends. */
    readonly offer?: WaitlistOffer;
  }
}

/** What the service acts in when it acts by itself. */
export type OfferingContext = StoringContext & BuildWriteContext;

const act: Act = { by: 'server', on: 'offer' };

/** How the ledger says that no caller asked for it. */
const flow = 'service';

/** Undoes what an offer has done so far. */
class NotOffered extends Error {}

/** Why an offer cannot be made to this one, and may be to another. */
const unfit: ReadonlySet<string> = new Set([
  'slot-taken',
  'slot-missing',
  'rule-broken',
  'resource-invalid',
  'invariant-broken',
]);

/** Inside a transaction only. False: it cannot be offered, and nothing has changed. */
export async function makeOffer(context: OfferingContext, { row }: Waiting, slot: OfferedSlot): Promise<boolean> {
  try {
    await context.store.transaction(context.scope, (store) => offerOnce({ ...context, store }, row, slot));
    return true;
  } catch (error) {
    if (error instanceof NotOffered || error instanceof NotReserved) return false;
    if (error instanceof PraxisError && unfit.has(error.code)) return false;
    throw error;
  }
}

/**
 * @throws NotOffered where the Appointment has changed meanwhile: then it waits no longer, or for something else; NotReserved
 */
async function offerOnce(
  context: OfferingContext,
  row: StoredResource<'Appointment'>,
  slot: OfferedSlot,
): Promise<void> {
  const { scope, store, clock, baseUrl, budget } = context;
  const entry = parseStored(row.content);
  const judged = await findSlotRules(store, scope, slot.id);
  if (judged === undefined) throw new NotOffered();
  const expiresMs = clock.now() + offerMs;
  const places = await claimSlot({ scope, store, nowMs: clock.now(), maySeeSlots: false, budget }, judged, {
    owner: `Appointment/${row.id}`,
    replaces: [],
    expiresMs,
  });
  const added = listMissingParticipants(entry, places.participants, baseUrl);
  const offer: WaitlistOffer = { slot: slot.id, expiresMs, added };
  const appointment = requireResource(buildOfferedAppointment(entry, slot, offer), 'Appointment', context.budget);
  const outcome = await stored(context, row, appointment, { extras: { offer, places } });
  if (outcome.outcome === 'conflict') throw new NotOffered();
}

/** Puts the Appointment back on the list, unless somebody has changed it meanwhile. */
export async function withdrawOffer(context: OfferingContext, appointment: string): Promise<void> {
  const { store, scope, clock } = context;
  // In this order: an offer that is made after the row was read makes the write below lose.
  const row = await store.read(scope, 'Appointment', appointment);
  const offer = await findStandingOffer(store, scope, appointment);
  if (offer === undefined || offer.expiresMs > clock.now()) return;
  const content = row === undefined || row.deleted ? undefined : parseStored(row.content);
  // An import may have changed it: then the offer is over without a trace.
  if (row === undefined || content?.status !== 'proposed') return await dropWaiting(store, scope, appointment);
  await stored(context, row, buildWithdrawnAppointment(content, offer), {});
}

async function stored(
  context: OfferingContext,
  row: StoredResource<'Appointment'>,
  appointment: Appointment,
  options: Pick<SaveOptions, 'extras'>,
): Promise<WriteOutcome> {
  const write = await buildWrite(context, 'patch', 'Appointment', row.id, appointment, row.versionId, row);
  const own = { ...write, audit: { ...write.audit, flow } };
  return await saveVersion(context, own, row, { ...options, act });
}
