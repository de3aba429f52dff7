/**
 * A derived slot as the resource that it is to callers (https://hl7.org/fhir/R4/slot.html): what it is for, where and with
 * whom stands in its identifiers, as existing clients ask for it.
 */
import type { Coding, Identifier, Reference, Slot } from '@praxis/fhir';
import type { AppointmentTypeRule, Calendar } from '../calendar.ts';
import { formatInstant } from '../zone.ts';
import type { OfferedSlot } from './slots.ts';

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

/** Start and end are told in the time of the calendar's location. */
export function toSlotResource(slot: OfferedSlot, status: SlotStatus): Slot {
  const { id, calendar, timeZone, type, startMs, endMs } = slot;
  return {
    resourceType: 'Slot',
    id,
    identifier: [
      { system: slotIdentifierSystems.appointmentType, value: type.code },
      identifier('FI', slotIdentifierSystems.location, calendar.location),
      identifier('PRN', slotIdentifierSystems.practitioner, calendar.practitioner),
    ],
    appointmentType: { coding: [toTypeCoding(type)], ...(type.display === undefined ? {} : { text: type.display }) },
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

/** The coding of an appointment type, in slots and appointments. */
export function toTypeCoding({ system, code, display }: AppointmentTypeRule): Coding {
  return { ...(system === undefined ? {} : { system }), code, ...(display === undefined ? {} : { display }) };
}
