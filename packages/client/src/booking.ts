/** Find, hold, book, move and cancel. docs/integrate/scheduling.md */
import { type Caller, findResource, readSaved, requireResource } from './caller.ts';
import type {
  Appointment,
  AppointmentParticipant,
  CodeableConcept,
  ParametersParameter,
} from './generated/resources.ts';
import { findParameter, makeParameters } from './parameters.ts';
import { type Parameter, toSearchParams } from './query.ts';
import { instancePath, type OneOrMore, type Saved, toList, toReference } from './resource.ts';
import { makePages, type Pages } from './search.ts';
import type { CallOptions, WriteOptions } from './settings.ts';

/** What free slots are looked for. */
export interface FindQuery {
  /** Codes of appointment types of the practice; several: any of them. */
  readonly type: OneOrMore<string>;
  /** A date or an instant: now if absent. */
  readonly start?: string;
  /** At most, and if absent, 90 days after `start`. */
  readonly end?: string;
  /** Ids; several: any of them. All if absent. */
  readonly practitioner?: OneOrMore<string>;
  /** Ids; several: any of them. All if absent. */
  readonly location?: OneOrMore<string>;
  /** Practitioners, rooms and equipment that have to be free as well, such as `Location/3`. */
  readonly with?: OneOrMore<string>;
  /** Preferred days. */
  readonly day?: OneOrMore<'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun'>;
  /** Preferred times of day, such as `08:00-12:00`. */
  readonly time?: OneOrMore<string>;
  /** Adds the slots at other times, after the preferred ones. */
  readonly others?: boolean;
  /** Only the first slot of each practitioner and location. */
  readonly firstAvailable?: boolean;
  /** Slots of a page: 20 if absent, 100 at most. */
  readonly count?: number;
}

/** A slot: the resource, `Slot/…`, or its id. */
export type SlotPlace = Saved<'Slot'> | string;

/** A slot that is kept for this application until the hold expires. */
export interface Hold {
  readonly id: string;
  /** `Slot/…` */
  readonly slot: string;
  readonly start: string;
  readonly end: string;
  /** When it expires, unless it is renewed or booked. */
  readonly expires: string;
  readonly renewalsLeft: number;
}

/** An appointment that is to be booked: the slot gives type, time, practitioner and place. */
export type NewAppointment = Omit<Appointment, 'resourceType' | 'participant'> & {
  /** `Patient/…` or an id. */
  readonly patient: string;
  /** Who takes part beside the patient and whom the slot brings. */
  readonly participant?: AppointmentParticipant[];
};

/** Appointments by the calendars of the practice. */
export interface Booking {
  /** Free slots, the earliest first; preferred ones before others. */
  find(query: FindQuery, options?: CallOptions): Pages<'Slot'>;
  /** Keeps a slot for five minutes. @throws SlotTakenError, NotFoundError where no calendar offers it any more */
  hold(slot: SlotPlace, options?: WriteOptions): Promise<Hold>;
  /** Begins the five minutes again. @throws InvalidError where the hold has ended */
  renew(hold: Hold, options?: WriteOptions): Promise<Hold>;
  /** Gives the slot up. */
  release(hold: Hold, options?: WriteOptions): Promise<void>;
  /** Books a slot or what is held. @throws SlotTakenError whose `alternatives` are free */
  book(place: SlotPlace | Hold, appointment: NewAppointment, options?: WriteOptions): Promise<Saved<'Appointment'>>;
  /**
   * Gives up the old time and takes the new one in one step.
   * @returns the appointment; undefined where the answer does not show it, as that of a repeated request may
   * @throws SlotTakenError: the appointment stays as it is
   */
  reschedule(id: string, place: SlotPlace | Hold, options?: WriteOptions): Promise<Saved<'Appointment'> | undefined>;
  /** Frees the time. @returns as `reschedule` */
  cancel(
    id: string,
    reason: string | CodeableConcept,
    options?: WriteOptions & { readonly comment?: string },
  ): Promise<Saved<'Appointment'> | undefined>;
}

/** The booking of a practice. */
export function openBooking(caller: Caller): Booking {
  const post = (path: string, parameters: readonly (ParametersParameter | undefined)[], options: WriteOptions) =>
    caller.write('POST', path, makeParameters(...parameters), options);
  return {
    find: (query, options = {}) => findSlots(caller, query, options),
    async hold(slot, options = {}) {
      const path = `${readSlot(slot)}/$hold`;
      return readHold(
        requireResource(await caller.write('POST', path, undefined, options), 'Parameters', toRequest(path)),
      );
    },
    async renew({ id }, options = {}) {
      const path = 'Slot/$renew';
      return readHold(
        requireResource(await post(path, [{ name: 'hold', valueId: id }], options), 'Parameters', toRequest(path)),
      );
    },
    async release({ id }, options = {}) {
      await post('Slot/$release', [{ name: 'hold', valueId: id }], options);
    },
    async book(place, { patient, participant = [], ...rest }, options = {}) {
      const path = 'Appointment/$book';
      const actor = { reference: toReference('Patient', patient) };
      const appointment: Appointment = {
        resourceType: 'Appointment',
        ...rest,
        participant: [{ actor, status: 'accepted' }, ...participant],
      };
      const answer = await post(path, [{ name: 'appointment', resource: appointment }, describePlace(place)], options);
      return readSaved(answer, 'Appointment', appointment);
    },
    async reschedule(id, place, options = {}) {
      const path = `${instancePath('Appointment', id)}/$reschedule`;
      return findResource(await post(path, [describePlace(place)], options), 'Appointment');
    },
    async cancel(id, reason, { comment, ...options } = {}) {
      const valueCodeableConcept = typeof reason === 'string' ? { text: reason } : reason;
      const said = comment === undefined ? undefined : { name: 'comment', valueString: comment };
      const parameters = [{ name: 'reason', valueCodeableConcept }, said];
      const path = `${instancePath('Appointment', id)}/$cancel`;
      return findResource(await post(path, parameters, options), 'Appointment');
    },
  };
}

function toRequest(path: string): { readonly method: string; readonly path: string } {
  return { method: 'POST', path };
}

function findSlots(caller: Caller, query: FindQuery, options: CallOptions): Pages<'Slot'> {
  const path = `Slot/$find?${toSearchParams(encodeFind(query))}`;
  return makePages({
    first: () => caller.getPage(path, options),
    next: (link) => caller.getPage(caller.findPath(link), options),
  });
}

/** Names of the operation's parameters that differ from ours. */
const findNames: Readonly<Record<string, string>> = {
  type: 'appointment-type',
  firstAvailable: 'first-available',
  count: '_count',
};

function encodeFind(query: FindQuery): Parameter[] {
  return Object.entries(query).flatMap(([name, value]: [string, OneOrMore<string | number | boolean> | undefined]) =>
    toList(value).map((each) => [findNames[name] ?? name, String(each)] as const),
  );
}

function readSlot(slot: SlotPlace): string {
  return toReference('Slot', typeof slot === 'string' ? slot : slot.id);
}

function describePlace(place: SlotPlace | Hold): ParametersParameter {
  return typeof place === 'object' && 'renewalsLeft' in place
    ? { name: 'hold', valueId: place.id }
    : { name: 'slot', valueString: readSlot(place) };
}

function readHold(answer: Saved<'Parameters'>): Hold {
  return {
    id: findParameter(answer, 'hold')?.valueId ?? '',
    slot: findParameter(answer, 'slot')?.valueReference?.reference ?? '',
    start: findParameter(answer, 'start')?.valueInstant ?? '',
    end: findParameter(answer, 'end')?.valueInstant ?? '',
    expires: findParameter(answer, 'expires')?.valueInstant ?? '',
    renewalsLeft: findParameter(answer, 'renewalsLeft')?.valueInteger ?? 0,
  };
}
