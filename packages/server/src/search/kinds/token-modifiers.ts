/**
 * Modifiers of token parameters that look beyond the code itself: its text, the type of an identifier, the value sets and
 * hierarchies a code is in. https://hl7.org/fhir/R4/search.html#token
 */
import type { JsonValue } from '@praxis/fhir';
import { type ErrorCode, PraxisError } from '../../base/errors.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { boundKey } from '../index/bounded-key.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { findObject, findText, listObjects } from '../json-values.ts';
import { computeSystemNumber, noSystem } from '../numbers.ts';
import { buildCodesKey, type CodeOfSystem } from '../query/codes.ts';
import { refuseValue, splitUnescaped, unescapeValue } from '../query/search-values.ts';
import {
  type Parameter,
  type ParameterFacts,
  type Reading,
  type RowParts,
  selectivities,
  type Test,
  type ValueContext,
} from './kind.ts';
import { indexText, parseBeginning } from './string.ts';
import { foldCase } from './text-folding.ts';
import { codeForms, normalizeCoding } from './token-forms.ts';

/** Codes up to which each is read from the index by itself, in the order of resources. */
const branchesMax = 8;

/** Stands between the code of an identifier's type and its value; no code and no identifier holds it. */
const typeEnd = '\u001f';

const byText: readonly string[] = ['CodeableConcept', 'Coding', 'Identifier', '*'];
const byCode: readonly string[] = ['CodeableConcept', 'Coding', 'code', '*'];

/** The modifiers that values of the parameter's datatypes take. */
export function listTokenModifiers({ facts }: Parameter): readonly string[] {
  return [
    ...(holds(facts, byText) ? ['text'] : []),
    ...(holds(facts, ['Identifier', '*']) ? ['of-type'] : []),
    ...(holds(facts, byCode) ? ['above', 'below', 'in', 'not-in'] : []),
  ];
}

function holds({ dataTypes }: ParameterFacts, types: readonly string[]): boolean {
  return types.some((type) => dataTypes.has(type));
}

/** How values after one of `listTokenModifiers` are read; undefined for any other. */
export function buildModifiedReading(parameter: Parameter, modifier: string): Reading | undefined {
  if (!listTokenModifiers(parameter).includes(modifier)) return undefined;
  const { number, numberIn } = parameter;
  switch (modifier) {
    case 'text':
      return { table: 'string', number: numberIn('text'), parse: parseBeginning };
    case 'of-type':
      return { table: 'token', number: numberIn('of-type'), parse: parseTyped };
    case 'below':
      return { table: 'token', number, parse: parseBelow };
    case 'not-in':
      return { table: 'token', number, parse: (text, context) => parseCodes('not-in', text, context), negated: true };
    default:
      return { table: 'token', number, parse: (text, context) => parseCodes(modifier, text, context) };
  }
}

/** `system|code|value`, the first two of the identifier's type. */
function parseTyped(text: string, { name }: ValueContext): Test {
  const [system = '', code = '', value = '', ...more] = splitUnescaped(text, '|').map((part) =>
    unescapeValue(part, name),
  );
  if (system === '' || code === '' || value === '' || more.length > 0) {
    refuseValue(
      name,
      'takes system|code|value, all three: the type of the identifier and its value, for instance http://terminology.hl7.org/CodeSystem/v2-0203|MR|446053',
    );
  }
  const where = sql`code = ${typedForm(system, code, value)} AND system = ${computeSystemNumber(system)}::bigint`;
  return { where, order: 'rid', selectivity: selectivities.one };
}

function typedForm(system: string, code: string, value: string): string {
  return boundKey(`${normalizeCoding(code, system)}${typeEnd}${foldCase(value)}`);
}

const mediaType = /^[\w.+-]+\/[\w.+-]+$/;

/**
 * Beside hierarchies of codes: `text/xml` also finds `text/xml; charset=UTF-8`,
 * https://hl7.org/fhir/R4/search.html#mimetype
 */
function parseBelow(text: string, context: ValueContext): Test {
  const { facts } = context.parameter;
  const open = facts.dataTypes.has('code') && facts.codeSystems.size === 0;
  if (!open || !mediaType.test(text)) return parseCodes('below', text, context);
  const base = foldCase(text);
  // The character after ';' ends the range of what begins with it.
  const where = sql`(code = ${base} OR (code >= ${`${base};`} AND code < ${`${base}<`}))`;
  return { where, order: 'gathered', selectivity: selectivities.many };
}

/** Codes that the terminology was asked for. */
function parseCodes(modifier: string, text: string, { codes, name, parameter }: ValueContext): Test {
  const found = codes?.get(buildCodesKey(modifier, text));
  if (found instanceof PraxisError) refuseCodes(found, name);
  if (found === undefined) refuseValue(name, 'is not taken here: it needs the terminology, which only a search has');
  return codesTest(found, parameter.facts);
}

const problems: Partial<Record<ErrorCode, string>> = {
  'value-set-unknown': 'names a value set that is not known here, or not to this caller',
  'code-system-unknown': 'names a code system whose codes are not known here, or not to this caller',
  'code-unknown': 'names a code that its code system does not have',
  'value-set-invalid': 'names a value set whose definition cannot be evaluated',
  'expansion-too-costly': 'names a value set with too many codes to search by',
};

function refuseCodes(found: PraxisError, name: string): never {
  const problem = problems[found.code];
  if (problem === undefined) throw found;
  return refuseValue(name, problem);
}

function codesTest(found: readonly CodeOfSystem[], facts: ParameterFacts): Test {
  const bySystem = [...Map.groupBy(found, ({ system }) => system)].map(([system, codings]) => ({
    systems: systemsOf(system, facts),
    forms: [...new Set(codings.flatMap(({ code }) => codeForms(code, system, facts)))],
  }));
  const [first, ...others] = bySystem;
  if (first === undefined) return { where: sql`false`, order: 'rid', selectivity: selectivities.one };
  const wheres = bySystem.map(({ systems, forms }) => sql`(code = ANY (${forms}::text[]) AND ${isOneOf(systems)})`);
  const test = { where: sql`(${sql.join(wheres, sql` OR `)})`, selectivity: selectivities.many };
  // Two systems with the same code would read one stretch of the index twice.
  if (others.length > 0 || first.forms.length > branchesMax) return { ...test, order: 'gathered' };
  const branches = first.forms.map((form) => sql`code = ${form} AND ${isOneOf(first.systems)}`);
  return { ...test, branches, order: 'rid' };
}

function isOneOf(systems: readonly string[]): Sql {
  return systems.length === 1
    ? sql`system = ${systems[0] ?? noSystem}::bigint`
    : sql`system = ANY (${systems}::bigint[])`;
}

/** Elements of type `code` have no system of their own; where their value set is open, neither have their rows. */
function systemsOf(system: string, facts: ParameterFacts): readonly string[] {
  const implied = facts.dataTypes.has('code') && facts.codeSystems.size === 0;
  return implied ? [computeSystemNumber(system), noSystem] : [computeSystemNumber(system)];
}

/** Adds the rows of a value that `:text` and `:of-type` find, one text after another. */
export function* indexModified(type: string, value: JsonValue, parameter: Parameter, rows: IndexRowBuilder): RowParts {
  if (type === 'CodeableConcept') {
    yield* indexTexts(findText(value, 'text'), parameter, rows);
    for (const coding of listObjects(value, 'coding')) yield* indexTexts(findText(coding, 'display'), parameter, rows);
  }
  if (type === 'Coding') yield* indexTexts(findText(value, 'display'), parameter, rows);
  if (type === 'Identifier') yield* indexTyped(value, parameter, rows);
}

function* indexTexts(text: string | undefined, parameter: Parameter, rows: IndexRowBuilder): RowParts {
  if (text === undefined) return;
  indexText(text, parameter.numberIn('text'), rows);
  yield text.length;
}

function* indexTyped(identifier: JsonValue, parameter: Parameter, rows: IndexRowBuilder): RowParts {
  const type = findObject(identifier, 'type');
  if (type === undefined) return;
  yield* indexTexts(findText(type, 'text'), parameter, rows);
  const value = findText(identifier, 'value');
  for (const coding of listObjects(type, 'coding')) {
    const system = findText(coding, 'system');
    const code = findText(coding, 'code');
    if (system === undefined || code === undefined || value === undefined) continue;
    rows.token(parameter.numberIn('of-type'), computeSystemNumber(system), typedForm(system, code, value));
  }
}
