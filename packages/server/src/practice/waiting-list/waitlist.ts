/**
 * Who waits for a time: an Appointment with the status waitlist says for what (https://hl7.org/fhir/R4/appointment.html:
 * appointmentType, requestedPeriod, participants, priority). A slot is offered by making it proposed, for a short time
 * (docs/decisions/0202, 0203).
 */
import type { Appointment, Extension, Period } from '@praxis/fhir';
import { parseDate, toDateRange } from '../../search/kinds/date-range.ts';
import { listTypeCodes } from '../booking/booking.ts';
import type { OfferedSlot } from '../calendars/slots/slots.ts';
import { formatInstant, minuteMs } from '../calendars/zone.ts';
import { lowestPriority, type WaitlistOffer } from './store.ts';

/** How long an offer stands, in milliseconds; a slot that begins earlier is offered to nobody. */
export const offerMs = 15 * minuteMs;

/** Extension of an Appointment that is offered: when the offer ends. */
export const offerExpiresUrl = 'https://praxis.health/fhir/StructureDefinition/appointment-offer-expires';

/** What one waits for. */
export interface Wish {
  /** Codes of appointmentType: any of them. */
  readonly types: readonly string[];
  /** Within any of these; none: at any time. */
  readonly periods: readonly Period[];
  /** As Type/id, without patients: all of them have to be there. */
  readonly actors: readonly string[];
  readonly minutes: number | undefined;
}

/** undefined: it waits for nothing. */
export function toWish(appointment: Appointment, baseUrl: string): Wish | undefined {
  const { status, minutesDuration, requestedPeriod = [] } = appointment;
  if (status !== 'waitlist') return undefined;
  return {
    types: listTypeCodes(appointment),
    periods: requestedPeriod,
    actors: referencesOf(appointment, baseUrl).filter((reference) => /^(?:Practitioner|Location)\//.test(reference)),
    minutes: minutesDuration,
  };
}

/** 1 is the highest, as in iCalendar; 0 says nothing, as none does. */
export function computePriority({ priority = 0 }: Appointment): number {
  return priority > 0 ? Math.min(priority, lowestPriority) : lowestPriority;
}

/**
 * Whether the slot is what is waited for.
 * @param rooms whether a Location is a room that is booked, rather than the place of a calendar
 */
export function fitsWish(slot: OfferedSlot, wish: Wish, rooms: (location: string) => boolean): boolean {
  const { calendar, type } = slot;
  if (!wish.types.includes(type.code) || (wish.minutes !== undefined && wish.minutes !== type.minutes)) return false;
  const practitioners = wish.actors.filter((actor) => actor.startsWith('Practitioner/'));
  const places = wish.actors.filter((actor) => actor.startsWith('Location/') && !rooms(actor));
  const fits = (named: readonly string[], own: string): boolean => named.length === 0 || named.includes(own);
  if (!fits(practitioners, `Practitioner/${calendar.practitioner}`)) return false;
  if (!fits(places, `Location/${calendar.location}`)) return false;
  return wish.periods.length === 0 || wish.periods.some((period) => isWithin(slot, period));
}

/** @param added participants that come with it, as Type/id */
export function buildOfferedAppointment(
  entry: Appointment,
  { id, startMs, endMs, timeZone }: OfferedSlot,
  { added, expiresMs }: Pick<WaitlistOffer, 'added' | 'expiresMs'>,
): Appointment {
  const expires = { url: offerExpiresUrl, valueInstant: formatInstant(timeZone, expiresMs) };
  return {
    ...entry,
    extension: [...otherExtensions(entry), expires],
    status: 'proposed',
    start: formatInstant(timeZone, startMs),
    end: formatInstant(timeZone, endMs),
    slot: [{ reference: `Slot/${id}` }],
    participant: [
      ...entry.participant,
      ...added.map((reference) => ({ actor: { reference }, status: 'accepted' as const })),
    ],
  };
}

/** It waits again, without what the offer had brought. */
export function buildWithdrawnAppointment(offered: Appointment, { added }: Pick<WaitlistOffer, 'added'>): Appointment {
  const { start: _start, end: _end, slot: _slot, participant, ...rest } = buildSettledAppointment(offered);
  const gone = new Set(added);
  const stay = participant.filter(({ actor }) => !gone.has(actor?.reference ?? ''));
  return { ...rest, status: 'waitlist', participant: stay };
}

/** It is an offer no longer. */
export function buildSettledAppointment(offered: Appointment): Appointment {
  const { extension: _extension, ...rest } = offered;
  const others = otherExtensions(offered);
  return others.length === 0 ? rest : { ...rest, extension: others };
}

/** Those of `actors` that are not participants yet. */
export function listMissingParticipants(
  entry: Appointment,
  actors: readonly string[],
  baseUrl: string,
): readonly string[] {
  const known = new Set(referencesOf(entry, baseUrl));
  return actors.filter((actor) => !known.has(actor));
}

function otherExtensions({ extension = [] }: Appointment): Extension[] {
  return extension.filter(({ url }) => url !== offerExpiresUrl);
}

function referencesOf({ participant }: Appointment, baseUrl: string): readonly string[] {
  return participant
    .flatMap(({ actor }) => actor?.reference ?? [])
    .map((reference) => (reference.startsWith(`${baseUrl}/`) ? reference.slice(baseUrl.length + 1) : reference));
}

/** Days and times without an offset are those of the location. */
function isWithin({ startMs, endMs, timeZone }: OfferedSlot, period: Period): boolean {
  const edge = (member: 'start' | 'end'): number | undefined => {
    const parts = parseDate(period[member] ?? '');
    return parts && Number(toDateRange(parts, timeZone)[member === 'start' ? 'lo' : 'hi']) / 1000;
  };
  const from = edge('start') ?? Number.NEGATIVE_INFINITY;
  const until = edge('end') ?? Number.POSITIVE_INFINITY;
  return startMs >= from && endMs <= until;
}
