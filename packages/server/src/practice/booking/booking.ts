/**
 * What an Appointment takes of whose time (https://hl7.org/fhir/R4/appointment.html): the slot it stands on in each
 * practitioner's calendar, rooms and equipment. Who has no calendar can be booked at any time, as R4 leaves it.
 */
import type { Appointment } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import { type ScheduledCalendar, toPractitionerReference } from '../calendars/slots/free-slots.ts';
import { readSlotId } from '../calendars/slots/slot-id.ts';
import { deriveSlot, type OfferedSlot } from '../calendars/slots/slots.ts';
import { formatInstant } from '../calendars/zone.ts';
import type { ActorClaim, BookableActor, Interval, OccupancyClaim } from './occupancy.ts';

/** Of an Appointment, what its place depends on. */
export interface Booking extends Interval {
  /** Codes of appointmentType. */
  readonly types: readonly string[];
  /** Participants of this server, as Type/id, without patients; in order. */
  readonly actors: readonly string[];
  /** Ids of derived slots that it says it stands on. */
  readonly slots?: readonly string[];
}

/** What an appointment takes, by the rules of the calendars. */
export interface BookingClaim {
  readonly choices: OccupancyClaim['choices'];
  /** The slots it stands on: one per practitioner who has a calendar. */
  readonly slots: readonly OfferedSlot[];
}

/** Statuses in which an appointment takes time (http://hl7.org/fhir/R4/valueset-appointmentstatus.html). */
const taking: ReadonlySet<Appointment['status']> = new Set([
  'proposed',
  'pending',
  'booked',
  'arrived',
  'checked-in',
  'fulfilled',
]);

const actorTypes = /^(?:Practitioner|PractitionerRole|Location|Device|HealthcareService)\//;
const localReference = /^([A-Z][A-Za-z]+\/[A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;
const absoluteReference = /^(https?:\/\/[^/]+)(\/.*)$/i;

/** What the appointment takes; undefined: nothing, by its status or since it has no time or is there no more. */
export function toBooking(appointment: Appointment | undefined, baseUrl: string): Booking | undefined {
  if (appointment === undefined || !takesTime(appointment)) return undefined;
  const startMs = Date.parse(appointment.start ?? '');
  const endMs = Date.parse(appointment.end ?? '');
  if (!(startMs < endMs)) return undefined;
  const types = listTypeCodes(appointment);
  const slots = (appointment.slot ?? [])
    .flatMap(({ reference = '' }) => toLocalReference(reference, baseUrl) ?? [])
    .flatMap((reference) => (reference.startsWith('Slot/') ? [reference.slice('Slot/'.length)] : []))
    .filter((id) => readSlotId(id) !== undefined);
  const taken = { startMs, endMs, types, actors: listAppointmentActors(appointment, baseUrl) };
  return slots.length === 0 ? taken : { ...taken, slots };
}

/** Codes of appointmentType, of whatever system. */
export function listTypeCodes({ appointmentType }: Appointment): readonly string[] {
  return (appointmentType?.coding ?? []).flatMap(({ code }) => code ?? []);
}

/** Whether an appointment of this status takes time. */
export function takesTime({ status }: Appointment): boolean {
  return taking.has(status);
}

/** The participants of this server, as Type/id, without patients; in order, each once, whichever version was meant. */
export function listAppointmentActors({ participant }: Appointment, baseUrl: string): readonly string[] {
  const actors = participant
    .flatMap(({ actor }) => toLocalReference(actor?.reference ?? '', baseUrl) ?? [])
    .filter((reference) => actorTypes.test(reference));
  return [...new Set(actors)].sort();
}

/**
 * A reference to a resource of this server as Type/id; undefined for others. Scheme and host are read in any case
 * (https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2.1).
 */
export function toLocalReference(reference: string, baseUrl: string): string | undefined {
  const text = lowerOrigin(reference);
  const base = `${lowerOrigin(baseUrl)}/`;
  return localReference.exec(text.startsWith(base) ? text.slice(base.length) : text)?.[1];
}

function lowerOrigin(url: string): string {
  const [, origin, rest] = absoluteReference.exec(url) ?? [];
  return origin === undefined || rest === undefined ? url : `${origin.toLowerCase()}${rest}`;
}

/** Whether both take the same: nothing has to be asked then. */
export function isSameBooking(one: Booking | undefined, other: Booking | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** The rules an appointment is judged by. */
export interface BookingRules {
  readonly calendars: readonly ScheduledCalendar[];
  readonly bookable: ReadonlyMap<string, BookableActor>;
}

/**
 * What the booking takes by the rules.
 * @param slots those that it stands on, where they are known to be
 * @throws PraxisError `slot-missing` where a practitioner who has a calendar has no slot for it
 */
export function buildClaim(
  booking: Booking,
  rules: BookingRules,
  slots: readonly OfferedSlot[] = slotsUnder(booking, rules),
): BookingClaim {
  const named = (booking.slots ?? []).find((id) => !slots.some((slot) => slot.id === id));
  if (named !== undefined)
    missing(
      `slot names Slot/${named}, on which the appointment does not stand: leave slot out, or take its type, start, end, practitioner and location`,
      'Appointment.slot',
    );
  const choices = [
    ...slots.map((slot) => [claimed(rules, toPractitionerReference(slot.calendar), slot.occupied, slot.capacity)]),
    ...needsOf(booking, slots, rules),
  ];
  const taken = new Set(choices.flat().map(({ actor }) => actor));
  const others = { ...booking, actors: booking.actors.filter((actor) => !taken.has(actor)) };
  return { slots, choices: [...choices, ...buildAgreedClaim(others, rules)] };
}

/** @throws PraxisError `slot-missing` */
function slotsUnder(booking: Booking, rules: BookingRules): readonly OfferedSlot[] {
  return booking.actors
    .filter((actor) => actor.startsWith('Practitioner/') && rules.bookable.has(actor))
    .map((actor) => requireSlot(booking, actor, rules));
}

/** What an appointment takes that was agreed before or elsewhere: its time of all of its participants who are kept. */
export function buildAgreedClaim(booking: Booking, kept: Kept): OccupancyClaim['choices'] {
  return booking.actors.filter((actor) => kept.bookable.has(actor)).map((actor) => [claimed(kept, actor, booking)]);
}

type Kept = Pick<BookingRules, 'bookable'>;

function claimed({ bookable }: Kept, actor: string, { startMs, endMs }: Interval, capacity?: number): ActorClaim {
  const { version = 0, capacity: own = 1 } = bookable.get(actor) ?? {};
  return { actor, version, capacity: capacity ?? own, startMs, endMs };
}

/** Of each need the actor that the appointment names, or else all that would do. An actor is part of one choice only. */
function needsOf({ actors }: Booking, slots: readonly OfferedSlot[], rules: BookingRules): OccupancyClaim['choices'] {
  const seen = new Set<string>();
  return slots.flatMap((slot) =>
    slot.type.needs.map(({ anyOf }) => {
      const able = anyOf.filter((actor) => rules.bookable.has(actor) && !seen.has(actor));
      const named = able.filter((actor) => actors.includes(actor));
      const choice = named.length > 0 ? named.slice(0, 1) : able;
      for (const actor of choice) seen.add(actor);
      if (choice.length === 0) missing(`None of what ${slot.type.code} needs can be booked: ${anyOf.join(', ')}`);
      return choice.map((actor) => claimed(rules, actor, slot.occupied));
    }),
  );
}

function requireSlot(booking: Booking, actor: string, { calendars, bookable }: BookingRules): OfferedSlot {
  const own = calendars.filter(({ calendar }) => calendar.active && toPractitionerReference(calendar) === actor);
  // Rooms are places, too, but not those that calendars are of.
  const places = booking.actors.filter((each) => each.startsWith('Location/') && !bookable.has(each));
  const here = own.filter(({ calendar }) => places.length === 0 || places.includes(`Location/${calendar.location}`));
  if (here.length === 0) {
    const known = own.map(({ calendar }) => `Location/${calendar.location}`).join(', ');
    return missing(`${actor} has no calendar at ${places.join(', ')}${known === '' ? '' : `, only at ${known}`}`);
  }
  if (booking.types.length === 0)
    return missing(
      `appointmentType is missing: ${actor} can be booked for ${codesOf(here)}`,
      'Appointment.appointmentType',
    );
  const slots = here.flatMap(({ calendar, timeZone, holidays }) =>
    typesOf(calendar, booking).flatMap(
      (type) => deriveSlot(calendar, timeZone, holidays, { type, startMs: booking.startMs }) ?? [],
    ),
  );
  const fitting = slots.find((slot) => slot.endMs === booking.endMs);
  if (fitting !== undefined) return fitting;
  const [other] = slots;
  if (other !== undefined)
    return missing(
      `An appointment of type ${other.type.code} with ${actor} takes ${other.type.minutes} minutes: end must be ${textAt(here, other.endMs)}`,
      'Appointment.end',
    );
  if (!here.some(({ calendar }) => typesOf(calendar, booking).length > 0))
    return missing(
      `${actor} cannot be booked for ${booking.types.join(', ')}, only for ${codesOf(here)}`,
      'Appointment.appointmentType',
    );
  return missing(
    `${actor} has no slot of type ${booking.types.join(', ')} that starts at ${textAt(here, booking.startMs)}: Slot?appointment-type=…&date=… lists those there are`,
    'Appointment.start',
  );
}

/** Those of the booking's types that the calendar has: an appointment may name any number. */
function typesOf({ appointmentTypes }: ScheduledCalendar['calendar'], { types }: Booking): readonly string[] {
  const known = new Set(appointmentTypes.map(({ code }) => code));
  return [...new Set(types)].filter((type) => known.has(type));
}

function codesOf(calendars: readonly ScheduledCalendar[]): string {
  const codes = calendars.flatMap(({ calendar }) => calendar.appointmentTypes.map(({ code }) => code));
  return [...new Set(codes)].sort().join(', ');
}

function textAt([first]: readonly ScheduledCalendar[], ms: number): string {
  return formatInstant(first?.timeZone ?? 'UTC', ms);
}

function missing(diagnostics: string, expression?: string): never {
  return fail('slot-missing', { diagnostics, ...(expression === undefined ? {} : { expression: [expression] }) });
}
