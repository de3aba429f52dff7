/**
 * Changing calendars and holidays: a new version each time, by whoever has seen the version before. All that is booked by
 * them is told in the same transaction, so nobody books by rules that have ended (docs/decisions/0180).
 */
import type { Budget } from '@praxis/fhir';
import type { Clock } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { isTimeZone } from '../../base/time-zone.ts';
import type { ResourceStore } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { type FirmSetCode, isAmong } from '../value-sets/codes.ts';
import { readKeptCodes } from '../value-sets/store.ts';
import { appointmentTypeSet } from '../value-sets/table.ts';
import type { AppointmentTypeRule, CalendarContent } from './calendar.ts';
import { parseHolidays } from './holidays.ts';
import { parseCalendar } from './parse-calendar.ts';
import { toScheduledCalendars } from './scheduled-calendars.ts';
import { listCalendarActors, toPractitionerReference } from './slots/free-slots.ts';
import { calendarNumberMax } from './slots/slot-id.ts';
import {
  findHolidayVersions,
  putCalendar,
  putHolidays,
  readCalendars,
  type StoredCalendar,
  type StoredCalendars,
  type StoredDocument,
  timeZoneExtension,
} from './store.ts';

export interface Editor {
  readonly store: ResourceStore;
  readonly scope: TenantScope;
  readonly clock: Clock;
  /** For the list of versions: who it is. */
  readonly changedBy: string;
  /** What the change may cost. */
  readonly budget: Budget;
}

/** Longest document, in characters. */
const contentLengthMax = 200_000;
/** Codes that a refusal names, at most. */
const namedMax = 8;
/** What one holds who changes calendars of the firm. */
const lock = 'calendars';

/**
 * Makes the calendar of a practitioner at a location, or its next version.
 * @param document parsed JSON: calendar.ts
 * @param seen the version that it was made from; undefined: there is none yet
 * @throws PraxisError `input-invalid`, `rule-broken` (also for a practitioner, location, room or equipment that is not
 *   there), `precondition-failed` when there is another version than was seen
 */
export async function setCalendar(
  editor: Editor,
  document: unknown,
  seen: number | undefined,
): Promise<StoredCalendar> {
  const content = parseCalendar(document);
  const { practitioner, location, active, appointmentTypes } = content;
  const text = textOf(document);
  const { scope } = editor;
  return await editor.store.exclusively(scope, lock, async (store) => {
    await requireThere(store, scope, content);
    const types = (await readKeptCodes(store, scope, [appointmentTypeSet])).get(appointmentTypeSet);
    if (types !== undefined && active)
      requireOffered(types.inUse, appointmentTypes, { element: 'appointmentTypes', offering: 'it offers' });
    const documents = await readCalendars(store, scope, { practitioners: [practitioner] });
    const before = documents.calendars.find((each) => each.practitioner === practitioner && each.location === location);
    requireSeen('calendar', before?.version, seen);
    const number = before?.number ?? documents.lastNumber + 1;
    if (number > calendarNumberMax)
      fail('rule-broken', { diagnostics: 'The firm has as many calendars as there may be' });
    const made = await put(editor, store, documents, { practitioner, location, number, active, content: text });
    await requireZone(store, scope, content);
    return made;
  });
}

/**
 * Ends a calendar: its next version derives no slots. Its number, and so the ids of its slots, are never given again.
 * @throws PraxisError `resource-not-found`
 */
export async function removeCalendar(editor: Editor, number: number): Promise<StoredCalendar> {
  return await editor.store.exclusively(editor.scope, lock, async (store) => {
    const documents = await readCalendars(store, editor.scope);
    const before = getCalendar(documents, number);
    return before.active ? await put(editor, store, documents, { ...before, active: false }) : before;
  });
}

/** @throws PraxisError `resource-not-found` */
export function getCalendar({ calendars }: StoredCalendars, number: number): StoredCalendar {
  const found = calendars.find((calendar) => calendar.number === number);
  if (found !== undefined) return found;
  return fail('resource-not-found', { diagnostics: `No calendar has the number ${number}`, expression: ['calendar'] });
}

/**
 * Makes the holidays of a location, or of the firm, or their next version.
 * @param location id of a Location; empty: all of the firm
 * @throws PraxisError `input-invalid`, `rule-broken` (a location that is not there), `precondition-failed` when there is
 *   another version than was seen
 */
export async function setHolidays(
  editor: Editor,
  location: string,
  document: unknown,
  seen: number | undefined,
): Promise<StoredDocument> {
  parseHolidays(document);
  const content = textOf(document);
  const { scope, clock, changedBy } = editor;
  return await editor.store.exclusively(scope, lock, async (store) => {
    if (location !== '') await requireResources(store, scope, [`Location/${location}`], 'location');
    const [last] = await findHolidayVersions(store, scope, location);
    requireSeen('list of holidays', last?.version, seen);
    const made = { location, content, version: (last?.version ?? 0) + 1 };
    const actors = toScheduledCalendars(scope, await readCalendars(store, scope))
      .filter(({ calendar }) => location === '' || calendar.location === location)
      .map(({ calendar }) => toPractitionerReference(calendar));
    await putHolidays(store, scope, { ...made, changedAtMs: clock.now(), changedBy }, actors);
    return made;
  });
}

async function put(
  { scope, clock, changedBy }: Editor,
  store: ResourceStore,
  documents: StoredCalendars,
  draft: Omit<StoredCalendar, 'version'>,
): Promise<StoredCalendar> {
  const before = documents.calendars.filter(({ number }) => number === draft.number);
  const made = { ...draft, version: (before[0]?.version ?? 0) + 1 };
  const actors = listCalendarActors(toScheduledCalendars(scope, { ...documents, calendars: [...before, made] }));
  await putCalendar(store, scope, { ...made, changedAtMs: clock.now(), changedBy }, actors);
  return made;
}

/**
 * What a calendar offers can be booked only with a code of the firm's value set.
 * @param codes those in use
 * @param offering what the refusal begins with, after `element`
 * @throws PraxisError `rule-broken`
 */
export function requireOffered(
  codes: readonly FirmSetCode[],
  types: readonly AppointmentTypeRule[],
  { element, offering }: { readonly element: string; readonly offering: string },
): void {
  const unknown = types.filter((type) => !isAmong(codes, type));
  if (unknown.length === 0) return;
  const unknownTexts = unknown.map(({ code }) => code).join(', ');
  const inUse = codes.slice(0, namedMax).map(({ code }) => code);
  const known = codes.length > namedMax ? [...inUse, '…'] : inUse;
  fail('rule-broken', {
    diagnostics: `${element}: ${offering} ${unknownTexts}, not in use in ValueSet/${appointmentTypeSet}: in use are ${known.join(', ')}`,
    expression: [element],
  });
}

/** @throws PraxisError `precondition-failed` */
export function requireSeen(what: string, current: number | undefined, seen: number | undefined): void {
  if (current === seen) return;
  const now =
    current === undefined
      ? 'there is none yet: leave version out'
      : `it is at version ${current}: read it and give that version`;
  fail('precondition-failed', {
    diagnostics:
      seen === undefined
        ? `version is missing: there is a ${what} already, and ${now}`
        : `version ${seen} of the ${what} is not the current one: ${now}`,
    expression: ['version'],
  });
}

/** Whoever is named must be there, and the location's zone be one. @throws PraxisError `rule-broken` */
async function requireThere(store: ResourceStore, scope: TenantScope, content: CalendarContent): Promise<void> {
  await requireResources(store, scope, [`Practitioner/${content.practitioner}`], 'practitioner');
  await requireResources(store, scope, [`Location/${content.location}`], 'location');
  if (content.schedule !== undefined)
    await requireResources(store, scope, [`Schedule/${content.schedule}`], 'schedule');
  const needed = content.appointmentTypes.flatMap(({ needs }) => needs.flatMap(({ anyOf }) => anyOf));
  await requireResources(store, scope, [...new Set(needed)], 'appointmentTypes.needs');
}

/** What its location names as its zone is one. @throws PraxisError `rule-broken` */
async function requireZone(store: ResourceStore, scope: TenantScope, content: CalendarContent): Promise<void> {
  const { timeZones } = await readCalendars(store, scope, { practitioners: [content.practitioner] });
  const named = timeZones.get(content.location);
  if (named === undefined || isTimeZone(named)) return;
  const diagnostics = `location names a time zone that is none: its extension ${timeZoneExtension} must be an IANA name such as America/New_York`;
  fail('rule-broken', { diagnostics, expression: ['location'] });
}

async function requireResources(
  store: ResourceStore,
  scope: TenantScope,
  references: readonly string[],
  element: string,
): Promise<void> {
  const keys = references.map((reference) => {
    const [type = '', id = ''] = reference.split('/');
    return { type, id };
  });
  const live = (await store.currentVersions(scope, keys)).filter(({ deleted }) => !deleted);
  const there = new Set(live.map(({ type, id }) => `${type}/${id}`));
  const missing = references.filter((reference) => !there.has(reference));
  if (missing.length === 0) return;
  fail('rule-broken', {
    diagnostics: `${element} names ${missing.join(', ')}, which is not stored at the firm: create it first`,
    expression: [element],
  });
}

function textOf(document: unknown): string {
  const text = JSON.stringify(document);
  if (text.length <= contentLengthMax) return text;
  return fail('input-invalid', { diagnostics: `The document is longer than ${contentLengthMax} characters` });
}
