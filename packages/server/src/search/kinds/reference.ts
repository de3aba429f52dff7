/**
 * reference: links to other resources, by type and id, by URL, or by the identifier that stands beside them.
 * https://hl7.org/fhir/R4/search.html#reference
 */

import type { JsonValue } from '@praxis/fhir';
import { PraxisError } from '../../base/errors.ts';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { boundKey, keptBytes } from '../index/bounded-key.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { findObject, findText } from '../json-values.ts';
import { getTypeNumber, isResourceType } from '../numbers.ts';
import {
  buildHierarchyKey,
  type HierarchyModifier,
  listHierarchies,
  parseHierarchyRoot,
} from '../query/hierarchies.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import { findResourceType } from '../resource-types.ts';
import {
  type IndexContext,
  type Parameter,
  type Reading,
  type SearchKind,
  type Selectivity,
  selectivities,
  type Test,
  type ValueContext,
} from './kind.ts';
import { addIdentifier, buildTokenReading } from './token.ts';

/** Type number of targets that are no resource of this server. */
const elsewhere = 0;

/** Target of the row that says "there is a value, but none that a reference can name": an identifier or text alone. */
const presence = '';

/** Whether very many resources refer to one of the type. */
export function isBroadTarget(type: string): boolean {
  return findResourceType(type).isBroadTarget === true;
}

/** Types of targets up to which each is looked up by itself, in the order of the index. */
const branchesMax = 6;

/** Facts of identifiers, for reading `:identifier`. */
const identifierFacts = { dataTypes: new Set(['Identifier']), repeats: true, codeSystems: new Map<string, string>() };

export const reference: SearchKind = {
  worstCase: {
    because: 'a chain of chains with many values',
    request: () =>
      buildManyValuesSearch(
        'Encounter',
        'subject:Patient.general-practitioner:Practitioner.name:contains',
        (n) => `a${n}`,
      ),
  },
  table: 'reference',
  modifiers: (parameter) => [
    ...(hasIdentifiers(parameter) ? ['identifier'] : []),
    ...(parameter.facts.dataTypes.has('canonical') ? ['below'] : []),
    ...(listHierarchies(parameter).length > 0 ? ['above', 'below'] : []),
    ...parameter.definition.targets,
  ],
  reading: readingOf,
  index({ type, value }, parameter, context, rows) {
    if (typeof value === 'string') addCanonical(value, parameter, context, rows);
    else if (type === 'Reference') addReference(value, parameter, context, rows);
    else addNested(value, parameter, rows);
  },
};

/** R4: `:identifier` is not supported on canonical elements, which have none. */
function hasIdentifiers({ facts }: Parameter): boolean {
  return facts.dataTypes.has('Reference');
}

function readingOf(parameter: Parameter, modifier: string): Reading | undefined {
  const { number, definition, facts } = parameter;
  if (modifier === 'below' && facts.dataTypes.has('canonical'))
    return { table: 'reference', number, parse: parseBelow };
  if ((modifier === 'above' || modifier === 'below') && listHierarchies(parameter).length > 0)
    return { table: 'reference', number, parse: (text, context) => parseHierarchy(text, modifier, context) };
  if (modifier === '') return { table: 'reference', number, parse: (text, context) => parseReference(text, context) };
  if (modifier === 'identifier' && hasIdentifiers(parameter)) {
    const reading = buildTokenReading(parameter.numberIn('identifier'), '');
    const asked = { ...parameter, facts: identifierFacts };
    return reading && { ...reading, parse: (text, context) => reading.parse(text, { ...context, parameter: asked }) };
  }
  if (!definition.targets.includes(modifier)) return undefined;
  return { table: 'reference', number, parse: (text, context) => parseReference(text, context, modifier) };
}

/** `Type/id`, with a version or without: the type, the id with its version, and the id alone. */
const relative = /^([A-Z][A-Za-z]+)\/(([A-Za-z0-9\-.]{1,64})(?:\/_history\/[A-Za-z0-9\-.]{1,64})?)$/;
const bareId = /^[A-Za-z0-9\-.]{1,64}$/;
const absolute = /^[a-z][a-z0-9+.-]*:|^#/i;

/**
 * `id`, `Type/id`, `Type/id/_history/version` or a URL.
 * @param onlyType the type that the modifier `:[type]` names
 * @throws PraxisError `search-invalid`
 */
function parseReference(text: string, context: ValueContext, onlyType?: string): Test {
  const { name, parameter } = context;
  const literal = unescapeValue(text, name);
  const local = withoutBase(literal, context);
  if (bareId.test(local)) return testOfId(parameter, onlyType, local);
  const [, type, id] = relative.exec(local) ?? [];
  if (type !== undefined && id !== undefined && isResourceType(type)) {
    if (onlyType !== undefined && type !== onlyType) refuseValue(name, `takes an id of ${onlyType}, not of ${type}`);
    return testOfTarget(getTypeNumber(type), id, selectivityOf([type]));
  }
  if (onlyType !== undefined)
    refuseValue(name, `takes an id of ${onlyType}; a reference to another server is searched without :${onlyType}`);
  if (!absolute.test(local)) {
    refuseValue(
      name,
      'takes an id (23), a type and id (Patient/23) or an absolute URL; ids are 1 to 64 letters, digits, hyphens and dots',
    );
  }
  return testOfTarget(elsewhere, boundKey(local), selectivities.one);
}

/**
 * A canonical in any business version or, after `|`, in those that begin with one: `|1` finds `|1.0` and `|1.1`.
 * https://hl7.org/fhir/R4/search.html#versions
 */
function parseBelow(text: string, context: ValueContext): Test {
  const literal = unescapeValue(text, context.name);
  const bar = literal.indexOf('|');
  if (bar < 0) return parseReference(text, context);
  const canonical = withoutBase(literal, context);
  if (bar === 0 || bar === literal.length - 1)
    refuseValue(context.name, 'takes a canonical URL, alone or with | and the beginning of a version');
  if (Buffer.byteLength(canonical) >= keptBytes)
    refuseValue(context.name, `takes a canonical of fewer than ${keptBytes} bytes`);
  const there = (id: Sql): Sql => sql`target_rtype = ${elsewhere} AND ${id}`;
  const itself = there(sql`target_id = ${canonical}`);
  // The character after '.' ends the range of what begins with it.
  const inside = there(sql`target_id >= ${`${canonical}.`} AND target_id < ${`${canonical}/`}`);
  const where = sql`(${itself} OR ${inside})`;
  return { where, branches: [itself, inside], order: 'value', selectivity: selectivities.few };
}

/**
 * A resource and those below or above it: https://hl7.org/fhir/R4/search.html#recursive. Which these are was asked before.
 * @throws PraxisError also what the walk over the hierarchy was refused with
 */
function parseHierarchy(text: string, modifier: HierarchyModifier, context: ValueContext): Test {
  const { name, parameter, codes, baseUrl } = context;
  const hierarchies = listHierarchies(parameter);
  const types = hierarchies.map(({ type }) => type);
  const root = parseHierarchyRoot(unescapeValue(text, name), baseUrl);
  if (root === undefined || (root.type !== undefined && !types.includes(root.type))) {
    return refuseValue(
      name,
      `takes an id (23) or a type and id (${types[0]}/23) of ${types.join(' or ')}, which have hierarchies`,
    );
  }
  const targets = hierarchies
    .filter(({ type }) => root.type === undefined || type === root.type)
    .map((hierarchy) => {
      const found = codes?.get(buildHierarchyKey(hierarchy, modifier, root.id)) ?? [];
      if (found instanceof PraxisError) throw found;
      return { type: getTypeNumber(hierarchy.type), ids: found.map(({ code }) => code) };
    });
  const [only] = targets;
  if (only !== undefined && targets.length === 1 && only.ids.length === 1)
    return testOfTarget(only.type, root.id, selectivityOf(types));
  const tests = targets.map(({ type, ids }) => sql`(target_rtype = ${type} AND target_id = ANY (${ids}::text[]))`);
  return { where: sql`(${sql.join(tests, sql` OR `)})`, order: 'gathered', selectivity: selectivityOf(types) };
}

/** R4: "a relative reference resolving to the same value as a specified absolute URL, or vice versa, qualifies". */
function withoutBase(literal: string, { baseUrl }: IndexContext): string {
  if (baseUrl === undefined || !literal.startsWith(`${baseUrl}/`)) return literal;
  return literal.slice(baseUrl.length + 1);
}

/**
 * An id without its type: of any type that the parameter can refer to. Where it selects canonicals, which need not be
 * absolute, the id can also be a whole one.
 */
function testOfId({ definition, facts }: Parameter, onlyType: string | undefined, id: string): Test {
  const types = onlyType === undefined ? definition.targets : [onlyType];
  const numbers = types.map(getTypeNumber);
  if (onlyType === undefined && (facts.dataTypes.has('canonical') || facts.dataTypes.has('uri')))
    numbers.push(elsewhere);
  const [only = elsewhere, ...more] = numbers;
  const selectivity = selectivityOf(types);
  if (more.length === 0) return testOfTarget(only, id, selectivity);
  const where = sql`target_rtype = ANY (${numbers}::smallint[]) AND target_id = ${id}`;
  if (numbers.length > branchesMax) return { where, order: 'gathered', selectivity };
  const branches = numbers.map((target) => sql`target_rtype = ${target} AND target_id = ${id}`);
  return { where, branches, order: 'rid', selectivity };
}

function testOfTarget(type: number, id: string, selectivity: Selectivity): Test {
  const where = sql`target_rtype = ${type} AND target_id = ${id}`;
  return { where, order: 'rid', selectivity, target: { type, id } };
}

function selectivityOf(types: readonly string[]): Selectivity {
  return types.every(isBroadTarget) ? selectivities.part : selectivities.few;
}

function addReference(value: JsonValue, parameter: Parameter, context: IndexContext, rows: IndexRowBuilder): void {
  const literal = findText(value, 'reference');
  const identifier = findObject(value, 'identifier');
  if (literal === undefined) rows.reference(parameter.number, elsewhere, presence);
  else addTarget(withoutBase(literal, context), parameter, rows);
  if (identifier !== undefined) addIdentifier(identifier, parameter.numberIn('identifier'), rows);
}

/** A versioned reference is found with its version and without. */
function addTarget(local: string, { number }: Parameter, rows: IndexRowBuilder): void {
  const [, type, versioned, id] = relative.exec(local) ?? [];
  if (type === undefined || versioned === undefined || id === undefined || !isResourceType(type))
    return rows.reference(number, elsewhere, local);
  rows.reference(number, getTypeNumber(type), id);
  if (versioned !== id) rows.reference(number, getTypeNumber(type), versioned);
}

/** A canonical is found with its business version and without: https://hl7.org/fhir/R4/references.html#canonical */
function addCanonical(canonical: string, parameter: Parameter, context: IndexContext, rows: IndexRowBuilder): void {
  addTarget(withoutBase(canonical, context), parameter, rows);
  const bar = canonical.indexOf('|');
  if (bar > 0) addTarget(withoutBase(canonical.slice(0, bar), context), parameter, rows);
}

/** A resource inside the element itself (Bundle.entry.resource) is its own target. */
function addNested(value: JsonValue, { number }: Parameter, rows: IndexRowBuilder): void {
  const type = findText(value, 'resourceType');
  const id = findText(value, 'id');
  if (type === undefined || id === undefined || !isResourceType(type)) rows.reference(number, elsewhere, presence);
  else rows.reference(number, getTypeNumber(type), id);
}
