/**
 * Calendars and holidays as they are stored: documents by their text, every version kept, with the time zones of the
 * locations that they are about (docs/decisions/0180). What the documents mean is the business of scheduling.
 */
import { parseJson } from '@praxis/fhir';
import { boundedRead } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { findText, listObjects } from '../../search/json-values.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { encodeTextArray } from '../../storage/index-arrays.ts';
import { buildInserts, type StatementOptions, type StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { noteOccupancyChange } from '../booking/backfill-statements.ts';
import type { BookableActor } from '../booking/occupancy.ts';

/** The extension of a Location that names its IANA zone (http://hl7.org/fhir/R4/extension-timezone.html). */
export const timeZoneExtension = 'http://hl7.org/fhir/StructureDefinition/timezone';

/** The current version of a list of holidays. */
export interface StoredDocument {
  /** Id of the Location; empty: all of the firm. */
  readonly location: string;
  readonly version: number;
  /** JSON text. */
  readonly content: string;
}

export interface StoredCalendar extends StoredDocument {
  /** Unique in the firm. */
  readonly number: number;
  readonly active: boolean;
  /** Id of the Practitioner. */
  readonly practitioner: string;
}

/** All that slots of a firm are derived from, of one moment. */
export interface StoredCalendars {
  /** In the order of their numbers, also those that are not active. */
  readonly calendars: readonly StoredCalendar[];
  readonly holidays: readonly StoredDocument[];
  /** Id of a calendar's Location → what its extension says; without those that have none. */
  readonly timeZones: ReadonlyMap<string, string>;
  /** The highest number that a calendar of the firm has; 0: there is none. */
  readonly lastNumber: number;
  /** How the practitioners and places of the calendars and those of `withActors` are booked; none unless that was asked. */
  readonly bookable: ReadonlyMap<string, BookableActor>;
}

/** Which calendars are wanted; neither: all. */
export interface CalendarChoice {
  /** Ids of the practitioners. */
  readonly practitioners?: readonly string[];
  readonly number?: number;
  /** Tells how actors are booked, too: practitioners and places of the calendars, and these, as Type/id. */
  readonly withActors?: readonly string[];
}

/** A version of a calendar or of holidays. */
export interface DocumentVersion {
  readonly version: number;
  /** Of a calendar; holidays are always in force. */
  readonly active: boolean;
  readonly changedAtMs: number;
  readonly changedBy: string;
  /** JSON text. */
  readonly content: string;
}

/** Who changes a document, and when. */
type DocumentChange = Pick<DocumentVersion, 'changedAtMs' | 'changedBy'>;

interface DocumentRow extends Omit<StoredCalendar, 'content'> {
  readonly last_number: number;
  /** null: there is none. */
  readonly kind: 'actor' | 'calendar' | 'holidays' | 'location' | null;
  readonly content: string | null;
}

interface DocumentVersionRow extends Pick<DocumentVersion, 'active' | 'content'> {
  readonly version: number | null;
  readonly changed_at: number;
  readonly changed_by: string;
}

const reading: StatementOptions = boundedRead;

/** Calendars and what they need, of one moment. */
export async function readCalendars(
  store: StatementRunner,
  scope: TenantScope,
  choice: CalendarChoice = {},
): Promise<StoredCalendars> {
  const rows = await store.run<DocumentRow>(scope, allStatement(scope, choice), reading);
  const {
    actor = [],
    calendar = [],
    holidays = [],
    location = [],
  } = Object.groupBy(rows, ({ kind }) => kind ?? 'none');
  return {
    calendars: calendar.map((row) => {
      const { number, active, practitioner } = row;
      return { ...documentOf(row), number, active, practitioner };
    }),
    holidays: holidays.map(documentOf),
    timeZones: new Map(location.flatMap(zoneOf)),
    lastNumber: rows[0]?.last_number ?? 0,
    // The location of the row names the actor, its number is the capacity.
    bookable: new Map(actor.map((row) => [row.location, { version: row.version, capacity: row.number }])),
  };
}

/** Newest first; [] where there is no such calendar. */
export async function findCalendarVersions(
  store: StatementRunner,
  scope: TenantScope,
  number: number,
): Promise<readonly DocumentVersion[]> {
  const versions = sql`
      SELECT version, active, changed_at, changed_by, content FROM calendar_version
      WHERE firm = ${scope.firm} AND number = ${number}`;
  return await findVersions(store, scope, versions);
}

/** Of a location, or with an empty one of the firm, newest first. */
export async function findHolidayVersions(
  store: StatementRunner,
  scope: TenantScope,
  location: string,
): Promise<readonly DocumentVersion[]> {
  const versions = sql`
      SELECT version, true AS active, changed_at, changed_by, content FROM holiday_list_version
      WHERE firm = ${scope.firm} AND location = ${location}`;
  return await findVersions(store, scope, versions);
}

async function findVersions(
  store: StatementRunner,
  scope: TenantScope,
  versions: Sql,
): Promise<readonly DocumentVersion[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, v.version, v.active, v.changed_at, v.changed_by, v.content
    FROM access_epoch e LEFT JOIN LATERAL (${versions} OFFSET 0) v ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY v.version DESC`;
  const rows = await store.run<DocumentVersionRow>(scope, statement, reading);
  return rows.flatMap(({ version, active, changed_at, changed_by, content }) =>
    version === null ? [] : [{ version, active, changedAtMs: changed_at, changedBy: changed_by, content }],
  );
}

/** All lists of holidays, in the order of their locations. */
export async function readHolidays(store: StatementRunner, scope: TenantScope): Promise<readonly StoredDocument[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, d.kind, d.location, d.version, d.content
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT 'holidays' AS kind, location, version, content FROM holiday_list WHERE firm = ${firm} OFFSET 0) d ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY d.location`;
  const rows = await store.run<DocumentRow>(scope, statement, reading);
  return rows.filter(({ kind }) => kind === 'holidays').map(documentOf);
}

/**
 * Makes the next version of a calendar, or the first, and raises the version of each actor: who books by the rules of
 * before is told so. Inside `exclusively` only, in which its number and version were read.
 * @param actors as Type/id: all that an appointment takes by these rules or those of before
 */
export async function putCalendar(
  store: StatementRunner,
  scope: TenantScope,
  calendar: StoredCalendar & DocumentChange,
  actors: readonly string[],
): Promise<void> {
  const { firm } = scope;
  const { number, version, active, practitioner, location, content, changedAtMs, changedBy } = calendar;
  const kept = sql`
    INSERT INTO calendar_version (firm, number, version, active, changed_at, changed_by, content)
    VALUES (${firm}, ${number}, ${version}, ${active}, ${changedAtMs}, ${changedBy}, ${content})`;
  const nowValid = sql`
    INSERT INTO calendar (firm, number, version, active, practitioner, location, content)
    VALUES (${firm}, ${number}, ${version}, ${active}, ${practitioner}, ${location}, ${content})
    ON CONFLICT (firm, number) DO UPDATE SET version = EXCLUDED.version, active = EXCLUDED.active, content = EXCLUDED.content`;
  await store.change(scope, [...changeRules(scope, actors), kept, nowValid]);
}

/** As `putCalendar`, for holidays. @param actors as Type/id: those whose calendars they concern */
export async function putHolidays(
  store: StatementRunner,
  scope: TenantScope,
  holidays: StoredDocument & DocumentChange,
  actors: readonly string[],
): Promise<void> {
  const { firm } = scope;
  const { version, location, content, changedAtMs, changedBy } = holidays;
  const kept = sql`
    INSERT INTO holiday_list_version (firm, location, version, changed_at, changed_by, content)
    VALUES (${firm}, ${location}, ${version}, ${changedAtMs}, ${changedBy}, ${content})`;
  const nowValid = sql`
    INSERT INTO holiday_list (firm, version, location, content) VALUES (${firm}, ${version}, ${location}, ${content})
    ON CONFLICT (firm, location) DO UPDATE SET version = EXCLUDED.version, content = EXCLUDED.content`;
  await store.change(scope, [...changeRules(scope, actors), kept, nowValid]);
}

/**
 * What a change of the rules by which actors are booked does beside them. Who writes appointments under the rights of before
 * does not know of a new actor: the rights become old, and the firm's appointments are looked at again
 * (practice/booking/backfill-occupancy.ts). Rows are locked in the order of that job, and actors in one order for all who lock
 * several, as bookings do.
 */
function changeRules({ firm, application }: TenantScope, actors: readonly string[]): readonly Sql[] {
  const raised = [...new Set(actors)].sort().map((actor) => sql`(${firm}, 1, 1, ${actor})`);
  return [
    sql`UPDATE access_epoch SET epoch = epoch + 1 WHERE firm = ${firm} AND application <> ${application}`,
    noteOccupancyChange(firm),
    ...buildInserts(
      sql`bookable_actor (firm, version, capacity, actor)`,
      raised,
      sql`ON CONFLICT (firm, actor) DO UPDATE SET version = bookable_actor.version + 1`,
    ),
  ];
}

function documentOf({ location, version, content }: DocumentRow): StoredDocument {
  return { location, version, content: content ?? '' };
}

function zoneOf({ location, content }: DocumentRow): readonly (readonly [string, string])[] {
  if (content === null) return [];
  const extension = listObjects(parseJson(content), 'extension').find(({ url }) => url === timeZoneExtension);
  const zone = extension && (findText(extension, 'valueCode') ?? findText(extension, 'valueString'));
  return zone === undefined ? [] : [[location, zone]];
}

/** One statement, so that calendars, holidays and zones are those of one moment. */
function allStatement({ firm, application }: TenantScope, choice: CalendarChoice): Sql {
  const { practitioners, number, withActors } = choice;
  const wanted = practitioners === undefined ? null : encodeTextArray(practitioners);
  const actors =
    withActors === undefined
      ? sql.empty
      : sql`UNION ALL SELECT 'actor', capacity::int, version, NULL, NULL, actor, NULL FROM bookable_actor
        WHERE firm = ${firm} AND actor = ANY (ARRAY(SELECT 'Practitioner/' || practitioner FROM own UNION ALL SELECT 'Location/' || location FROM own)
          || ${encodeTextArray(withActors)}::text[])
      `;
  return sql`
    WITH own AS MATERIALIZED (
      SELECT number, version, active, practitioner, location, content FROM calendar
      WHERE firm = ${firm} AND ${number === undefined ? sql`(${wanted}::text[] IS NULL OR practitioner = ANY (${wanted}::text[]))` : sql`number = ${number}`})
    SELECT e.epoch, d.kind, d.number, d.version, d.active, d.practitioner, d.location, d.content,
      COALESCE((SELECT number FROM calendar WHERE firm = ${firm} ORDER BY number DESC LIMIT 1), 0) AS last_number
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT 'calendar' AS kind, number, version, active, practitioner, location, content FROM own
      UNION ALL SELECT 'holidays', NULL, version, NULL, NULL, location, content FROM holiday_list
        WHERE firm = ${firm} AND (location = '' OR location IN (SELECT location FROM own))
      UNION ALL SELECT 'location', NULL, NULL, NULL, NULL, id, content FROM resource
        WHERE firm = ${firm} AND rtype = ${getTypeNumber('Location')} AND id IN (SELECT location FROM own WHERE active)
      ${actors}OFFSET 0) d ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY d.kind, d.number, d.location`;
}
