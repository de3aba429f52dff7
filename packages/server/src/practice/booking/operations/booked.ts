/** The Appointment that a slot becomes: what the slot says of it is filled in, and must not be contradicted. */
import type { Appointment, JsonObject, JsonValue } from '@praxis/fhir';
import { fail } from '../../../base/errors.ts';
import { findObject, findText, listObjects } from '../../../search/json-values.ts';
import { toTypeCoding } from '../../calendars/slots/slot-resource.ts';
import type { OfferedSlot } from '../../calendars/slots/slots.ts';
import { formatInstant } from '../../calendars/zone.ts';

/** Members that a slot decides. */
export const slotMembers = ['appointmentType', 'start', 'end', 'minutesDuration', 'slot', 'participant'] as const;

/**
 * @param given the appointment as the caller wants it, which nobody has checked: only what comes of it has to be valid
 * @param actors whose time it takes, as Type/id: those that are missing become participants
 * @throws PraxisError `rule-broken` where the appointment says something else than the slot
 */
export function buildBookedAppointment(given: JsonObject, slot: OfferedSlot, actors: readonly string[]): JsonObject {
  const { type, startMs, endMs, timeZone, id } = slot;
  requireStart(given);
  requireSame(given, 'start', startMs, formatInstant(timeZone, startMs));
  requireSame(given, 'end', endMs, formatInstant(timeZone, endMs));
  if (given['minutesDuration'] !== undefined && given['minutesDuration'] !== type.minutes)
    contradicted('minutesDuration', `${type.minutes}`);
  const codes = listObjects(given['appointmentType'], 'coding').map((coding) => findText(coding, 'code'));
  if (given['appointmentType'] !== undefined && !codes.includes(type.code)) contradicted('appointmentType', type.code);
  return {
    status: 'booked',
    ...given,
    resourceType: 'Appointment',
    appointmentType: given['appointmentType'] ?? { coding: [toTypeCoding(type)] },
    start: given['start'] ?? formatInstant(timeZone, startMs),
    end: given['end'] ?? formatInstant(timeZone, endMs),
    minutesDuration: type.minutes,
    slot: [{ reference: `Slot/${id}` }],
    participant: participants(given, actors),
  };
}

/** What is booked begins as booked or pending, for somebody. @throws PraxisError `rule-broken` */
function requireStart(given: JsonObject): void {
  const status = findText(given, 'status') ?? 'booked';
  if (!['booked', 'pending', 'proposed'].includes(status))
    fail('rule-broken', {
      diagnostics: 'status of a booking is booked or pending: later states have operations of their own',
      expression: ['Appointment.status'],
    });
  const isForSomebody = listObjects(given, 'participant').some((each) =>
    /(?:^|\/)Patient\//.test(findText(findObject(each, 'actor'), 'reference') ?? ''),
  );
  if (!isForSomebody)
    fail('rule-broken', {
      diagnostics:
        'participant names no patient: say who comes, as {"actor":{"reference":"Patient/…"},"status":"accepted"}',
      expression: ['Appointment.participant'],
    });
}

/**
 * The same appointment on another slot.
 * @param before whose time it took until now: those are participants no longer, unless they stay
 */
export function buildMovedAppointment(
  appointment: Appointment,
  slot: OfferedSlot,
  before: readonly string[],
  actors: readonly string[],
): JsonObject {
  const { start: _start, end: _end, minutesDuration: _minutes, participant, ...rest } = appointment;
  const gone = new Set(before.filter((actor) => !actors.includes(actor)));
  const stay = participant.filter(({ actor }) => !gone.has(actor?.reference ?? ''));
  return buildBookedAppointment({ ...rest, participant: stay }, slot, actors);
}

function participants(given: JsonObject, actors: readonly string[]): JsonValue[] {
  const named = listObjects(given, 'participant');
  const known = new Set(named.map((each) => findText(findObject(each, 'actor'), 'reference')));
  const missing = actors.filter((reference) => !known.has(reference));
  return [...named, ...missing.map((reference) => ({ actor: { reference }, status: 'accepted' }))];
}

function requireSame(given: JsonObject, member: 'start' | 'end', ms: number, right: string): void {
  const text = findText(given, member);
  if (text !== undefined && Date.parse(text) !== ms) contradicted(member, right);
}

function contradicted(member: string, right: string): never {
  return fail('rule-broken', {
    diagnostics: `${member} is ${right} on this slot: leave it out, or name another slot`,
    expression: [`Appointment.${member}`],
  });
}
