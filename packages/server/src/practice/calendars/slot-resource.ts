/**
 * A derived slot as the resource that it is to callers (https://hl7.org/fhir/R4/slot.html): what it is for, where and with
 * whom stands in its identifiers, as existing clients ask for it.
 */
import type { CodeableConcept, Identifier, Reference, Slot } from '@praxis/fhir';
import type { AppointmentTypeRule, Calendar } from './calendar.ts';
import type { CandidateSlot } from './slots.ts';
import { formatInstant } from './zone.ts';

/** Free: it can be booked now. Busy: what it takes is taken. Busy-unavailable: it has begun. */
export const slotStatuses = ['free', 'busy', 'busy-unavailable'] as const;
export type SlotStatus = (typeof slotStatuses)[number];

/** Identifier systems of a slot: appointment type, facility (FI), provider (PRN). */
export const slotIdentifierSystems = {
  appointmentType: 'https://praxis.health/fhir/sid/appointment-type',
  location: 'http://www.hl7.org/fhir/v2/0203/index.html#v2-0203-FI',
  practitioner: 'http://www.hl7.org/fhir/v2/0203/index.html#v2-0203-PRN',
} as const;

/**
 * The system as slots have it, for any spelling of it: with http or https, and, of hl7.org, with `www.` or without; undefined
 * for one that no slot has.
 */
export function findSlotIdentifierSystem(spelling: string): string | undefined {
  const wanted = withoutHost(spelling);
  return Object.values(slotIdentifierSystems).find((system) => withoutHost(system) === wanted);
}

function withoutHost(system: string): string {
  return system.replace(/^https?:\/\/(?:www\.(?=hl7\.org\/))?/, '');
}

/** Identifier system of the numbers of calendars: what a slot says of its schedule. */
export const calendarIdentifierSystem = 'https://praxis.health/fhir/sid/calendar';

const identifierTypes = 'http://terminology.hl7.org/CodeSystem/v2-0203';

/** @param timeZone IANA name, of the calendar's location: start and end are told in its time */
export function toSlotResource(slot: CandidateSlot, timeZone: string, status: SlotStatus): Slot {
  const { id, calendar, type, startMs, endMs } = slot;
  return {
    resourceType: 'Slot',
    id,
    identifier: [
      { system: slotIdentifierSystems.appointmentType, value: type.code },
      identifier('FI', slotIdentifierSystems.location, calendar.location),
      identifier('PRN', slotIdentifierSystems.practitioner, calendar.practitioner),
    ],
    appointmentType: appointmentType(type),
    schedule: scheduleOf(calendar),
    status,
    start: formatInstant(timeZone, startMs),
    end: formatInstant(timeZone, endMs),
  };
}

/** The Schedule that the practice has named; else the calendar, which is no resource of its own (docs/decisions/0182). */
function scheduleOf({ number, practitioner, location, schedule }: Calendar): Reference {
  return {
    ...(schedule === undefined ? {} : { reference: `Schedule/${schedule}` }),
    identifier: { system: calendarIdentifierSystem, value: String(number) },
    display: `Practitioner/${practitioner} at Location/${location}`,
  };
}

function identifier(code: string, system: string, value: string): Identifier {
  return { type: { coding: [{ system: identifierTypes, code }] }, system, value };
}

function appointmentType({ system, code, display }: AppointmentTypeRule): CodeableConcept {
  const coding = { ...(system === undefined ? {} : { system }), code, ...(display === undefined ? {} : { display }) };
  return { coding: [coding], ...(display === undefined ? {} : { text: display }) };
}
