/**
 * The best statements, written by hand, for the searches of the rows: the index that leads, as many of its rows as the page
 * has, their resources. No access epoch, no row-level security, no keys for the next page.
 */
import { type Sql, sql } from '../../../packages/server/src/database/sql.ts';
import { parseDate, toDateRange } from '../../../packages/server/src/search/kinds/date-range.ts';
import { foldCase, foldText } from '../../../packages/server/src/search/kinds/text-folding.ts';
import { computeParameterNumber, getTypeNumber } from '../../../packages/server/src/search/numbers.ts';
import { timeZone } from '../prepare.ts';
import type { Stretch } from '../rows/samples.ts';

type Statement = (firm: number) => Sql;

const microsPerMs = 1000;
/** No folded text sorts after its own beginning followed by this. */
const lastCharacter = '\u{10ffff}';
const patient = getTypeNumber('Patient');
/** Resources of a page of most types, and of some. */
const [pageMax, shortPageMax] = [100, 50];

/** Patients by an identifier of any system. */
export function findByIdentifier(value: string): Statement {
  return (firm) => sql`
    SELECT r.content FROM (
      SELECT rid FROM index_token
      WHERE firm = ${firm} AND param = ${computeParameterNumber('Patient', 'identifier')} AND code = ${foldCase(value)}
      ORDER BY rid LIMIT ${shortPageMax}) d
    CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rid = d.rid) r
    ORDER BY d.rid`;
}

/** Patients by the beginning of the family name, in the order of names. */
export function findByFamily(beginning: string, limit: number): Statement {
  return (firm) => sql`
    SELECT r.content FROM (
      SELECT value, rid FROM index_string WHERE ${isFamily(firm, beginning)} ORDER BY value, rid LIMIT ${limit}) d
    CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rid = d.rid) r
    ORDER BY d.value, d.rid`;
}

function isFamily(firm: number, beginning: string): Sql {
  const from = foldText(beginning);
  return sql`firm = ${firm} AND param = ${computeParameterNumber('Patient', 'family')} AND value >= ${from} AND value < ${from + lastCharacter}`;
}

/** What refers to a patient by the parameter `patient`. */
export function findOfPatient(type: string, id: string): Statement {
  return (firm) => sql`
    SELECT r.content FROM (SELECT rid FROM index_reference WHERE ${isOfPatient(firm, type, id)} ORDER BY rid LIMIT ${pageMax}) d
    CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rid = d.rid) r
    ORDER BY d.rid`;
}

/** How many refer to a patient by the parameter `patient`. */
export function countOfPatient(type: string, id: string): Statement {
  return (firm) => sql`SELECT count(*) FROM index_reference WHERE ${isOfPatient(firm, type, id)}`;
}

function isOfPatient(firm: number, type: string, id: string): Sql {
  return sql`firm = ${firm} AND param = ${computeParameterNumber(type, 'patient')} AND target_rtype = ${patient} AND target_id = ${id}`;
}

/** Appointments of a practitioner on those days, in the order of their times. */
export function findOfStretch(asked: Stretch): Statement {
  return (firm) => sql`
    SELECT r.content FROM (${selectStretch(firm, asked)}) d
    CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rid = d.rid) r
    ORDER BY d.lo, d.rid`;
}

/** The same with their patients, each once. */
export function findDayWithPatients(asked: Stretch): Statement {
  const parameter = computeParameterNumber('Appointment', 'patient');
  return (firm) => sql`
    WITH d AS MATERIALIZED (${selectStretch(firm, asked)})
    SELECT r.content FROM d CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rid = d.rid) r
    UNION ALL
    SELECT r.content FROM (
      SELECT DISTINCT i.target_id FROM d CROSS JOIN LATERAL (
        SELECT target_id FROM index_reference WHERE firm = ${firm} AND rid = d.rid AND param = ${parameter} AND target_rtype = ${patient}) i) p
    CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rtype = ${patient} AND id = p.target_id) r`;
}

/** Few appointments lie in the time, and many are of the practitioner: time leads. */
function selectStretch(firm: number, { practitioner, from, until }: Stretch): Sql {
  return sql`
    SELECT d.lo, d.rid FROM index_date d
    WHERE d.firm = ${firm} AND d.param = ${computeParameterNumber('Appointment', 'date')} AND d.lo >= ${beginningOf(from)} AND d.lo < ${beginningOf(until)}
      AND (SELECT 1 FROM index_reference i WHERE i.firm = ${firm} AND i.param = ${computeParameterNumber('Appointment', 'practitioner')}
        AND i.target_rtype = ${getTypeNumber('Practitioner')} AND i.target_id = ${practitioner} AND i.rid = d.rid LIMIT 1) IS NOT NULL
    ORDER BY d.lo, d.rid LIMIT ${shortPageMax}`;
}

/** Of a day in the practice's time, in microseconds. */
function beginningOf(day: string): number | string {
  const parts = parseDate(day);
  if (parts === undefined) throw new TypeError(`${day} is no day`);
  return toDateRange(parts, timeZone).lo;
}

/** Finished encounters that have changed since a day, the oldest change first. */
export function findSince(
  day: string,
  { limit, offset }: { readonly limit: number; readonly offset: number },
): Statement {
  const type = getTypeNumber('Encounter');
  const sinceMs = Number(beginningOf(day)) / microsPerMs;
  return (firm) => sql`
    SELECT d.content FROM resource d
    WHERE d.firm = ${firm} AND d.rtype = ${type} AND d.lu >= ${sinceMs} AND d.content IS NOT NULL
      AND (SELECT 1 FROM index_token t WHERE t.firm = ${firm} AND t.rid = d.rid AND t.param = ${computeParameterNumber('Encounter', 'status')}
        AND t.code = 'finished' LIMIT 1) IS NOT NULL
    ORDER BY d.lu, d.rid LIMIT ${limit} OFFSET ${offset}`;
}

/** Encounters of patients with the family name. */
export function findByChain(family: string, limit: number): Statement {
  return (firm) => sql`
    SELECT r.content FROM (
      SELECT DISTINCT i.rid FROM (SELECT rid FROM index_string WHERE ${isFamily(firm, family)}) s
      CROSS JOIN LATERAL (SELECT id FROM resource WHERE firm = ${firm} AND rid = s.rid AND content IS NOT NULL) p
      CROSS JOIN LATERAL (
        SELECT rid FROM index_reference
        WHERE firm = ${firm} AND param = ${computeParameterNumber('Encounter', 'patient')} AND target_rtype = ${patient} AND target_id = p.id) i
      ORDER BY i.rid LIMIT ${limit}) d
    CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rid = d.rid) r
    ORDER BY d.rid`;
}

/** A patient, and the encounters that refer to it. */
export function findWithVisits(id: string): Statement {
  return (firm) => sql`
    SELECT content FROM resource WHERE firm = ${firm} AND rtype = ${patient} AND id = ${id} AND content IS NOT NULL
    UNION ALL
    SELECT r.content FROM (SELECT rid FROM index_reference WHERE ${isOfPatient(firm, 'Encounter', id)}) d
    CROSS JOIN LATERAL (SELECT content FROM resource WHERE firm = ${firm} AND rid = d.rid) r`;
}

/** Encounters that have changed after a moment, the oldest change first. */
export function findChangedAfter(momentMs: number, limit: number): Statement {
  return (firm) => sql`
    SELECT content FROM resource
    WHERE firm = ${firm} AND rtype = ${getTypeNumber('Encounter')} AND lu > ${momentMs} AND content IS NOT NULL
    ORDER BY lu, rid LIMIT ${limit}`;
}

/** The resources of a type after an id, in the order of ids. */
export function findAfter(type: string, id: string, limit: number): Statement {
  return (firm) => sql`
    SELECT content FROM resource
    WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND id > ${id} AND content IS NOT NULL
    ORDER BY id LIMIT ${limit}`;
}
