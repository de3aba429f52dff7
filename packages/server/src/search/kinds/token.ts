/**
 * token: codes, identifiers and other values that match as a whole. https://hl7.org/fhir/R4/search.html#token
 *
 * Indexing and reading pass through the same functions (`codeForms`, `computeSystemNumber`), so they cannot drift apart.
 */

import type { JsonObject, JsonValue, TypedValue } from '@praxis/fhir';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { findText, listObjects } from '../json-values.ts';
import { computeSystemNumber, noSystem } from '../numbers.ts';
import { refuseValue, splitUnescaped, unescapeValue } from '../query/search-values.ts';
import {
  type IndexingContext,
  makeAll,
  type Parameter,
  type ParameterFacts,
  type Reading,
  type RowParts,
  type SearchKind,
  type Selectivity,
  selectivities,
  type Test,
  type ValueContext,
} from './kind.ts';
import { foldCase } from './text-folding.ts';
import { codeForms, normalizeCode, normalizeCoding, normalizeContact } from './token-forms.ts';
import { buildModifiedReading, indexModified, listTokenModifiers } from './token-modifiers.ts';

/** What a token of a query asks for. */
export interface Token {
  /** Numbers of the systems that fit; undefined: any system, also none. */
  readonly systems: readonly string[] | undefined;
  /** Codes that fit, in the forms in which rows hold them; undefined: any code. */
  readonly codes: readonly string[] | undefined;
}

/** Code of the row that says "there is a value, but none that a token can name": a concept with text alone. */
const presence = '';

export const token: SearchKind = {
  worstCase: {
    because: 'as many codes as one parameter takes, none of which may be there',
    request: () => buildManyValuesSearch('Observation', 'code:not', (n) => `http://loinc.org|${n}-${n % 10}`),
  },
  table: 'token',
  modifiers: (parameter) => ['not', ...listTokenModifiers(parameter)],
  reading: (parameter, modifier) =>
    buildTokenReading(parameter.number, modifier) ?? buildModifiedReading(parameter, modifier),
  index: (value, parameter, context, rows) => makeAll(indexTokenInParts(value, parameter, context, rows)),
  indexInParts: indexTokenInParts,
};

/** How tokens are read that lie under `number`: a parameter's own, or the identifiers of a reference. */
export function buildTokenReading(number: number, modifier: string): Reading | undefined {
  const parse = (text: string, context: ValueContext): Test =>
    buildTokenTest(parseToken(text, context.name, context.parameter.facts), context.parameter.facts);
  if (modifier === '') return { table: 'token', number, parse };
  if (modifier === 'not') return { table: 'token', number, parse, negated: true };
  return undefined;
}

/**
 * `code`, `system|code`, `|code` (no system) or `system|` (any code of it).
 * @throws PraxisError `search-invalid`
 */
export function parseToken(text: string, name: string, facts: ParameterFacts): Token {
  const parts = splitUnescaped(text, '|').map((part) => unescapeValue(part, name));
  const [first = '', second] = parts;
  if (parts.length > 2) refuseValue(name, 'takes code, system|code, |code or system|: write \\| for a | inside a code');
  if (first === '' && (second ?? '') === '')
    refuseValue(name, 'has no value: it takes code, system|code, |code or system|');
  if (second === undefined) {
    refuseOddBoolean(first, name, facts);
    return { systems: undefined, codes: codeForms(first, undefined, facts) };
  }
  refuseSystem(name, facts);
  return {
    systems: first === '' ? systemsOfNone(facts) : [computeSystemNumber(first)],
    codes: second === '' ? undefined : codeForms(second, first, facts),
  };
}

/** Datatypes whose values have no system; R4: "the presence of the pipe symbol SHALL NOT be used". */
const withoutSystem: ReadonlySet<string> = new Set([
  'ContactPoint',
  'boolean',
  'uri',
  'url',
  'canonical',
  'oid',
  'uuid',
  'id',
  'string',
]);

function refuseSystem(name: string, facts: ParameterFacts): void {
  if ([...facts.dataTypes].every((type) => withoutSystem.has(type))) {
    refuseValue(
      name,
      'takes a plain value: its values have no system, so | is not used (write \\| for a | inside the value)',
    );
  }
}

function refuseOddBoolean(code: string, name: string, facts: ParameterFacts): void {
  const boolean = facts.dataTypes.size === 1 && facts.dataTypes.has('boolean');
  if (boolean && code !== 'true' && code !== 'false') refuseValue(name, 'takes true or false');
}

/** Elements of type `code` have no system property; the rows hold the one their value set implies. */
function systemsOfNone(facts: ParameterFacts): readonly string[] {
  return [noSystem, ...new Set(facts.codeSystems.values())];
}

/** The token as a condition on rows of `index_token`. */
export function buildTokenTest(asked: Token, facts: ParameterFacts): Test {
  const { codes, systems } = asked;
  const bySystem = systems && anyOf(sql`system`, systems, sql`::bigint`, sql`::bigint[]`);
  if (codes === undefined)
    return { where: bySystem ?? sql`code <> ${presence}`, order: 'value', selectivity: selectivities.most };
  const selectivity = selectivityOf(facts);
  const only = (forms: readonly string[]): Sql => {
    const byCode = anyOf(sql`code`, forms, sql.empty, sql`::text[]`);
    return bySystem === undefined ? byCode : sql`${byCode} AND ${bySystem}`;
  };
  if (codes.length === 1) return { where: only(codes), order: 'rid', selectivity };
  return { where: only(codes), branches: codes.map((form) => only([form])), order: 'rid', selectivity };
}

function anyOf(column: Sql, values: readonly string[], one: Sql, many: Sql): Sql {
  return values.length === 1 ? sql`${column} = ${values[0] ?? ''}${one}` : sql`${column} = ANY (${values}${many})`;
}

function selectivityOf(facts: ParameterFacts): Selectivity {
  if (facts.dataTypes.has('Identifier') || facts.dataTypes.has('ContactPoint')) return selectivities.one;
  if (facts.dataTypes.has('CodeableConcept') || facts.dataTypes.has('Coding')) return selectivities.many;
  return facts.dataTypes.has('code') || facts.dataTypes.has('boolean') ? selectivities.most : selectivities.few;
}

/** Whether one row answers the token: `buildTokenTest` in memory. */
export function tokenMatches(asked: Token, system: string, code: string): boolean {
  if (asked.systems !== undefined && !asked.systems.includes(system)) return false;
  return asked.codes === undefined ? asked.systems !== undefined || code !== presence : asked.codes.includes(code);
}

function* indexTokenInParts(
  { type, value }: TypedValue,
  parameter: Parameter,
  { isPart }: IndexingContext,
  rows: IndexRowBuilder,
): RowParts {
  addRows(type, value, parameter, rows);
  yield 0;
  if (isPart !== true) yield* indexModified(type, value, parameter, rows);
}

function addRows(type: string, value: JsonValue, parameter: Parameter, rows: IndexRowBuilder): void {
  const { number, facts } = parameter;
  switch (type) {
    case 'CodeableConcept':
      return addConcept(value, number, rows);
    case 'Coding':
      return addCoding(value, number, rows);
    case 'Identifier':
      return addIdentifier(value, number, rows);
    case 'ContactPoint':
      return rows.token(number, noSystem, normalizeContact(findText(value, 'value') ?? presence));
    case 'code':
      return rows.token(number, facts.codeSystems.get(String(value)) ?? noSystem, normalizeCode(String(value), facts));
    case 'string':
    case 'markdown':
      return rows.token(number, noSystem, foldCase(String(value)));
    default:
      return rows.token(number, noSystem, typeof value === 'object' ? presence : String(value));
  }
}

function addConcept(value: JsonValue, number: number, rows: IndexRowBuilder): void {
  const codings = listObjects(value, 'coding');
  for (const coding of codings) addCoding(coding, number, rows);
  if (codings.length === 0) rows.token(number, noSystem, presence);
}

function addCoding(value: JsonValue, number: number, rows: IndexRowBuilder): void {
  const system = findText(value, 'system') ?? '';
  rows.token(number, computeSystemNumber(system), normalizeCoding(findText(value, 'code') ?? presence, system));
}

/** Adds the row of an Identifier under `number`. */
export function addIdentifier(value: JsonValue | JsonObject, number: number, rows: IndexRowBuilder): void {
  const system = computeSystemNumber(findText(value, 'system') ?? '');
  rows.token(number, system, foldCase(findText(value, 'value') ?? presence));
}
