/** Errands that book, move and cancel appointments. */
import { findSlots, pickPatient } from './looking.ts';
import { steps } from './steps.ts';
import type { Visit } from './visit.ts';

const reason = { name: 'reason', valueCodeableConcept: { text: 'Has a cold' } };

/** Finds a slot, holds and books it. */
export async function book(visit: Visit): Promise<void> {
  const { practice, random } = visit;
  const slots = await findSlots(visit);
  if (slots.length === 0) return;
  const held: { readonly parameter?: readonly { readonly name: string; readonly valueId?: string }[] } = JSON.parse(
    (await visit.ask(steps.hold, { what: `Slot/${random.pick(slots)}/$hold`, body: buildParameters([]) })).body,
  );
  const valueId = held.parameter?.find(({ name }) => name === 'hold')?.valueId ?? '';
  const participant = [{ actor: { reference: `Patient/${pickPatient(visit).id}` }, status: 'accepted' }];
  const appointment = { name: 'appointment', resource: { resourceType: 'Appointment', participant } };
  const body = buildParameters([appointment, { name: 'hold', valueId }]);
  const booked: { readonly id: string } = JSON.parse(
    (await visit.ask(steps.book, { what: 'Appointment/$book', body })).body,
  );
  practice.booked.push(booked.id);
}

/** Moves an appointment that was booked to another slot; books one while there is none. */
export async function reschedule(visit: Visit): Promise<void> {
  const { practice, random } = visit;
  const id = practice.booked.shift();
  if (id === undefined) return await book(visit);
  try {
    const slots = await findSlots(visit);
    if (slots.length === 0) return;
    const body = buildParameters([{ name: 'slot', valueString: `Slot/${random.pick(slots)}` }]);
    await visit.ask(steps.reschedule, { what: `Appointment/${id}/$reschedule`, body });
  } finally {
    practice.booked.push(id);
  }
}

/** Cancels an appointment that was booked; books one while there is none. */
export async function cancel(visit: Visit): Promise<void> {
  const id = visit.practice.booked.shift();
  if (id === undefined) return await book(visit);
  await visit.ask(steps.cancel, { what: `Appointment/${id}/$cancel`, body: buildParameters([reason]) });
}

function buildParameters(parameter: readonly object[]): object {
  return { resourceType: 'Parameters', ...(parameter.length > 0 && { parameter }) };
}
