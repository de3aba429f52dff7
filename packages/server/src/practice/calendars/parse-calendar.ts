/**
 * From a calendar's document to what it says (calendar.ts shows one). What is wrong is told by the path of its element, with
 * what would be right.
 */
import type { CalendarContent } from './calendar.ts';
import { readRules } from './calendar-rules.ts';
import { readTypes } from './calendar-types.ts';
import { findContradictions } from './contradictions.ts';
import {
  type DocumentPlace,
  type DocumentReading,
  getMemberPlace,
  readFlagAt,
  readMatchAt,
  readObject,
  requireNoProblems,
} from './document.ts';

const names = ['practitioner', 'location', 'schedule', 'active', 'appointmentTypes', 'weekly', 'exceptions'];

/**
 * The calendar that a parsed JSON document describes.
 * @throws PraxisError `input-invalid` for an element of another form, `rule-broken` for rules that contradict each other; each
 *   with one issue for each problem, by the path of its element
 */
export function parseCalendar(document: unknown): CalendarContent {
  const reading: DocumentReading = { problems: [] };
  const content = readCalendar({ reading, path: '', value: document });
  requireNoProblems(reading, 'input-invalid');
  const contradictions: DocumentReading = { problems: [] };
  findContradictions(contradictions, content);
  requireNoProblems(contradictions, 'rule-broken');
  return content;
}

function readCalendar(place: DocumentPlace): CalendarContent {
  const members = readObject(place, names) ?? {};
  const member = (name: string): DocumentPlace => getMemberPlace(place, members, name);
  const appointmentTypes = readTypes(member('appointmentTypes'));
  const schedule = members['schedule'] === undefined ? undefined : idOf(member('schedule'), 'Schedule');
  return {
    practitioner: idOf(member('practitioner'), 'Practitioner') ?? '',
    location: idOf(member('location'), 'Location') ?? '',
    ...(schedule === undefined ? {} : { schedule }),
    active: members['active'] === undefined || readFlagAt(member('active')) === true,
    appointmentTypes,
    ...readRules(member('weekly'), member('exceptions')),
  };
}

/** The id of a resource (https://hl7.org/fhir/R4/datatypes.html#id). */
function idOf(place: DocumentPlace, type: string): string | undefined {
  return readMatchAt(place, /^[A-Za-z0-9.-]{1,64}$/, `the id of a ${type}, without the type`);
}
