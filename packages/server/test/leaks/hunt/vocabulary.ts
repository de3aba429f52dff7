/**
 * The words that the requests of the leak hunt are made of: what the planted records hold under each search parameter, their
 * elements as JSON pointers, and noise. Taken from the records by the server's own index rows, so that a new parameter or a
 * new record is asked for without a line here.
 */
import { type JsonObject, parseJson } from '@praxis/fhir';
import { openOperatorBudget } from '../../../src/limits/budgets.ts';
import { listReferenceParameters } from '../../../src/search/includes/include.ts';
import { indexElements } from '../../../src/search/index/index-rows.ts';
import type { Parameter } from '../../../src/search/kinds/kind.ts';
import { getStandardParameters } from '../../../src/search/parameters.ts';
import { allRecords, type Group, mrn, nameOf, type Planted, systemUrl } from './planted.ts';

export interface Vocabulary {
  readonly records: readonly Planted[];
  /** The type that most secrets are about. */
  readonly about: string;
  /** The types of the records. */
  readonly types: readonly string[];
  /** `Type/id` of the records, and of some that are in no world. */
  readonly names: readonly string[];
  /** By type: the codes under which some record of it has a value, those of the firms' own parameters among them. */
  readonly codes: ReadonlyMap<string, readonly string[]>;
  /** By `Type.code`: those values, as a search writes them. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  /** By type: its references to types of the records. */
  readonly links: ReadonlyMap<string, readonly Link[]>;
  /** By type: the references of other types that lead to it. */
  readonly reverse: ReadonlyMap<string, readonly Link[]>;
  /** By type: JSON pointers into the records, and what stands there. */
  readonly leaves: ReadonlyMap<string, readonly Leaf[]>;
  readonly words: readonly string[];
}

export interface Link {
  readonly source: string;
  readonly code: string;
  readonly target: string;
}

export interface Leaf {
  readonly pointer: string;
  readonly value: unknown;
}

/** The two values of every secret, what stands between them, and what is in all records. */
const secretWords = [
  'alpha',
  'bravo',
  'amber',
  'basil',
  'alp',
  'b',
  'seen',
  'Azure',
  'Stone',
  'PATHOLOGY',
  'RADIOLOGY',
];
const own: Readonly<Record<string, readonly string[]>> = {
  Patient: ['own-code'],
  Observation: ['only-there'],
  ServiceRequest: ['only-there'],
};
const aboutOf: Readonly<Record<Group, string>> = {
  fields: 'Patient',
  orders: 'ServiceRequest',
  tasks: 'Task',
  elsewhere: 'Patient',
  calendar: 'Appointment',
  slots: 'Appointment',
  documents: 'DocumentReference',
  proposals: 'Coverage',
};
const context = { timeZone: 'America/New_York', baseUrl: 'http://service' };
const microsPerMs = 1000;

/** The vocabulary of the plots of a group. */
export function vocabularyOf(group: Group): Vocabulary {
  const records = allRecords(group);
  const types = [...new Set(records.map(({ resourceType }) => resourceType))];
  const codes = new Map<string, string[]>();
  const values = new Map<string, string[]>();
  for (const record of records) {
    for (const [code, value] of indexedValues(record)) {
      add(codes, record.resourceType, code);
      add(values, `${record.resourceType}.${code}`, value);
    }
  }
  for (const type of types) for (const code of [...(own[type] ?? []), '_id', '_lastUpdated']) add(codes, type, code);
  const links = linksBetween(types);
  return {
    records,
    about: aboutOf[group],
    types,
    names: [...new Set(records.map(nameOf)), 'Observation/none', 'ServiceRequest/none', 'Patient/none'],
    codes,
    values,
    links: grouped(links, ({ source }) => source),
    reverse: grouped(links, ({ target }) => target),
    leaves: leavesOf(records),
    words: secretWords,
  };
}

function add(map: Map<string, string[]>, key: string, value: string): void {
  const known = map.get(key) ?? [];
  if (!known.includes(value)) known.push(value);
  map.set(key, known);
}

function grouped(links: readonly Link[], by: (link: Link) => string): ReadonlyMap<string, readonly Link[]> {
  return Map.groupBy(links, by);
}

/** Every reference parameter by which one of the types can refer to one of them. */
function linksBetween(types: readonly string[]): readonly Link[] {
  return types.flatMap((source) =>
    listReferenceParameters(source, []).flatMap(({ code, definition }) =>
      definition.targets.filter((target) => types.includes(target)).map((target) => ({ source, code, target })),
    ),
  );
}

/** Code and value, of each index row of the record. */
function indexedValues(record: Planted): readonly (readonly [code: string, value: string])[] {
  const type = record.resourceType;
  const parameters = new Map<number, Parameter>();
  for (const parameter of getStandardParameters(type).values()) parameters.set(parameter.number, parameter);
  const rows = indexElements(type, objectOf(record), context, openOperatorBudget());
  const named = (numbers: readonly number[], valueAt: (at: number) => readonly string[]) =>
    numbers.flatMap((number, at) => {
      const code = parameters.get(number)?.code;
      return code === undefined ? [] : valueAt(at).map((value) => [code, value] as const);
    });
  return [
    ...named(rows.tokenParam, (at) => tokensOf(rows.tokenCode[at] ?? '')),
    ...named(rows.referenceParam, (at) => referencesOf(record, rows.referenceTargetId[at] ?? '')),
    ...named(rows.dateParam, (at) => datesOf(Number(rows.dateLo[at]))),
    ...named(rows.stringParam, (at) => [rows.stringOriginal[at] ?? '', rows.stringValue[at] ?? '']),
    ...named(rows.numberParam, (at) => numbersOf(rows.numberLo[at] ?? '')),
  ].filter(([, value]) => value !== '');
}

function tokensOf(code: string): readonly string[] {
  return [code, `${systemUrl}|${code}`, `${mrn}|${code}`, `${systemUrl}|`];
}

function referencesOf(record: Planted, id: string): readonly string[] {
  const named = new RegExp(`"([A-Z][A-Za-z]+/${id})"`).exec(JSON.stringify(record))?.[1];
  return [id, ...(named === undefined ? [] : [named])];
}

function datesOf(micros: number): readonly string[] {
  if (!Number.isFinite(micros)) return [];
  const day = new Date(micros / microsPerMs).toISOString().slice(0, 10);
  return [day, `gt${day}`, `lt${day}`, `ge${day}`, `sa${day}`, `ap${day}`, `ne${day}`];
}

function numbersOf(text: string): readonly string[] {
  const value = Math.round(Number(text));
  return Number.isFinite(value) ? [`${value}`, `gt${value - 1}`, `lt${value}`, `le${value + 1}`] : [];
}

function objectOf(record: Planted): JsonObject {
  const value = parseJson(JSON.stringify(record));
  if (typeof value !== 'object' || value === null || Array.isArray(value) || JSON.isRawJSON(value))
    throw new TypeError('a planted record is an object');
  return value;
}

function leavesOf(records: readonly Planted[]): ReadonlyMap<string, readonly Leaf[]> {
  const leaves = new Map<string, Leaf[]>();
  for (const record of records) {
    const known = leaves.get(record.resourceType) ?? [];
    const seen = new Set(known.map((leaf) => JSON.stringify(leaf)));
    known.push(...pointersIn(record, '').filter((leaf) => !seen.has(JSON.stringify(leaf))));
    leaves.set(record.resourceType, known);
  }
  return leaves;
}

/** What stands at each pointer below `value`, whole elements and single values. */
function pointersIn(value: unknown, pointer: string): Leaf[] {
  if (typeof value !== 'object' || value === null) return [{ pointer, value }];
  const below = Object.entries(value).flatMap(([name, inner]) => pointersIn(inner, `${pointer}/${name}`));
  return pointer === '' ? below : [{ pointer, value }, ...below];
}
