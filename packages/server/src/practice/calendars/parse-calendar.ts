/**
 * From a calendar's document to what it says (calendar.ts shows one). What is wrong is told by the path of its element, with
 * what would be right.
 */
import type { CalendarContent } from './calendar.ts';
import { readRules } from './calendar-rules.ts';
import { readTypes } from './calendar-types.ts';
import { requireNoContradictions } from './contradictions.ts';
import {
  checkObject,
  type DocumentPlace,
  getMemberPlace,
  readDocument,
  readFlagAt,
  readGiven,
  readMatchAt,
} from './document.ts';

const names = ['practitioner', 'location', 'schedule', 'active', 'appointmentTypes', 'weekly', 'exceptions'];

/**
 * The calendar that a parsed JSON document describes.
 * @throws PraxisError `input-invalid` for an element of another form, `rule-broken` for rules that contradict each other; each
 *   with one issue for each problem, by the path of its element
 */
export function parseCalendar(document: unknown): CalendarContent {
  const content = readDocument(document, readCalendar);
  requireNoContradictions(content);
  return content;
}

function readCalendar(place: DocumentPlace): CalendarContent {
  checkObject(place, names);
  const appointmentTypes = readTypes(getMemberPlace(place, 'appointmentTypes'));
  const schedule = readGiven(place, 'schedule', (at) => readId(at, 'Schedule'));
  return {
    practitioner: readId(getMemberPlace(place, 'practitioner'), 'Practitioner') ?? '',
    location: readId(getMemberPlace(place, 'location'), 'Location') ?? '',
    ...(schedule === undefined ? {} : { schedule }),
    active: readGiven(place, 'active', readFlagAt) ?? true,
    appointmentTypes,
    ...readRules(place),
  };
}

/** The id of a resource (https://hl7.org/fhir/R4/datatypes.html#id). */
function readId(place: DocumentPlace, type: string): string | undefined {
  return readMatchAt(place, /^[A-Za-z0-9.-]{1,64}$/, `the id of a ${type}, without the type`);
}
