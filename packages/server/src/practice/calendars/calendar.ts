/**
 * A calendar: when one practitioner is there for patients at one location, and for which appointments. A JSON document that a
 * practice can read, in wall-clock time of the location (docs/decisions/0180):
 *
 *     { "practitioner": "12", "location": "3",
 *       "appointmentTypes": [ { "code": "NEW", "minutes": 30, "bufferAfterMinutes": 5, "needs": [ { "anyOf": ["Location/31"] } ] } ],
 *       "weekly": [ { "days": ["mon", "tue"], "from": "08:00", "to": "12:00", "capacity": 2, "validTo": "2026-12-31" } ],
 *       "exceptions": [ { "date": "2026-12-24", "closed": true }, { "date": "2026-12-05", "from": "09:00", "to": "13:00" } ] }
 * The documents are read by parse-calendar.ts.
 */
import type { Day } from './zone.ts';

/** A part of a day by the wall clock: minutes after local midnight; `toMinutes` is the first that is not part of it. */
export interface LocalPeriod {
  readonly fromMinutes: number;
  readonly toMinutes: number;
}

export const wholeDay: LocalPeriod = { fromMinutes: 0, toMinutes: 24 * 60 };

/** What can be booked, and what it takes of this practitioner here. */
export interface AppointmentTypeRule {
  readonly code: string;
  readonly system?: string;
  readonly display?: string;
  readonly minutes: number;
  readonly bufferBeforeMinutes: number;
  readonly bufferAfterMinutes: number;
  /** Of each, one has to be free. */
  readonly needs: readonly Need[];
}

/** Rooms and equipment, any of which will do: `Location/31`, `Device/7`. */
export interface Need {
  readonly anyOf: readonly string[];
}

/** Openings on the same days of every week; 0 = Sunday … 6 = Saturday. */
export interface WeeklyRule extends Opening {
  readonly days: readonly number[];
  /** First and last day on which the rule holds; undefined: for ever. */
  readonly validFrom: Day | undefined;
  readonly validTo: Day | undefined;
}

export interface Opening extends LocalPeriod {
  /** Codes; undefined: all types of the calendar. */
  readonly appointmentTypes: readonly string[] | undefined;
  /** How many appointments may be under way at once. */
  readonly capacity: number;
  /** Undefined: as long as the appointment type takes. */
  readonly stepMinutes: number | undefined;
}

/** What is different on one day. */
export interface DayExceptions {
  readonly closures: readonly LocalPeriod[];
  readonly openings: readonly Opening[];
}

/** On one day, or on the same day of every year; of the whole day or of a part of it. */
export interface Holiday extends LocalPeriod {
  readonly on: { readonly day: Day } | { readonly month: number; readonly dayOfMonth: number };
  readonly name: string | undefined;
}

export interface CalendarContent {
  /** Id of the Practitioner. */
  readonly practitioner: string;
  /** Id of the Location. */
  readonly location: string;
  /** Id of the Schedule that the slots name; undefined: they name the calendar alone. */
  readonly schedule?: string;
  /** False: it derives no slots. */
  readonly active: boolean;
  readonly appointmentTypes: readonly AppointmentTypeRule[];
  readonly weekly: readonly WeeklyRule[];
  readonly exceptions: ReadonlyMap<Day, DayExceptions>;
}

/** A calendar as it is stored. */
export interface Calendar extends CalendarContent {
  /** Number of the firm, unique over all environments. */
  readonly firm: number;
  /** Number of the calendar, unique in its firm. */
  readonly number: number;
  readonly version: number;
}
