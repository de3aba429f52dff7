/**
 * Parameters that say how results are returned, not what is found: https://hl7.org/fhir/R4/search.html#return
 */
import { findElementByJsonName, findTypeDefinition, suggestName } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import type { FirmSearchParameters } from '../../tenancy/search-parameters.ts';
import { type Include, parseIncludes } from '../includes/include.ts';
import { getPageRowsMax } from '../resource-types.ts';
import type { QueryParameter } from './query-string.ts';
import { quoteName, refuseValue } from './search-values.ts';
import { parseSort, type SortKey } from './sorting.ts';

export const summaries = ['true', 'text', 'data', 'count', 'false'] as const;
export type Summary = (typeof summaries)[number];

/** How exactly `Bundle.total` has to be known: https://hl7.org/fhir/R4/search.html#total */
export const totals = ['none', 'estimate', 'accurate'] as const;
export type Total = (typeof totals)[number];

export interface ResultParameters {
  readonly sort: readonly SortKey[];
  /** Rows of a page. */
  readonly count: number;
  /** `_summary=count` or `_count=0`: only the number of matches is wanted. */
  readonly countOnly: boolean;
  /** The page asked for by number, from 1. */
  readonly page: number | undefined;
  /** Rows before the page: 0 where a cursor says where it begins. */
  readonly offset: number;
  readonly total: Total | undefined;
  readonly summary: Summary | undefined;
  /** Names of top-level elements. */
  readonly elements: readonly string[] | undefined;
  /** `_include` and `_revinclude`. */
  readonly includes: readonly Include[];
  /** The sealed cursor of a page link, unopened. */
  readonly cursor: string | undefined;
}

/** `_format` and `_pretty` concern the whole answer and are read elsewhere. */
export const resultParameterNames: ReadonlySet<string> = new Set([
  '_sort',
  '_count',
  'page',
  '_total',
  '_summary',
  '_elements',
  '_cursor',
  '_format',
  '_pretty',
]);

/** Largest number that `_count` and `page` may be written as. */
const integerMax = 2_000_000_000;

export interface ResultContext {
  readonly limits: { readonly pageRowsMax: number };
  /** Those of the firm's own. */
  readonly searchParameters: FirmSearchParameters;
}

/**
 * The result parameters among all parameters of a search.
 * @throws PraxisError `search-invalid`, `page-too-deep`
 */
export function readResultParameters(
  type: string,
  parameters: readonly QueryParameter[],
  { limits, searchParameters }: ResultContext,
): ResultParameters {
  const given = singleValues(parameters);
  const sort = given.get('_sort');
  const asked = integerOf(given, '_count', 0);
  const count = Math.min(asked === undefined || asked === 0 ? getPageRowsMax(type) : asked, getPageRowsMax(type));
  const page = integerOf(given, 'page', 1);
  const cursor = given.get('_cursor');
  const summary = oneOf(given, '_summary', summaries);
  return {
    sort: sort === undefined ? [] : parseSort(type, sort, searchParameters),
    count,
    countOnly: asked === 0 || summary === 'count',
    page,
    offset: cursor === undefined ? offsetOf(page ?? 1, count, limits.pageRowsMax) : 0,
    total: oneOf(given, '_total', totals),
    summary,
    elements: elementsOf(type, given.get('_elements')),
    includes: includesBeside(summary, parameters, searchParameters),
    cursor,
  };
}

/** R4: _include and _revinclude cannot be mixed with _summary=text. */
function includesBeside(
  summary: Summary | undefined,
  parameters: readonly QueryParameter[],
  own: FirmSearchParameters,
): readonly Include[] {
  const includes = parseIncludes(parameters, own);
  if (summary === 'text' && includes.length > 0) {
    refuseValue('_summary', 'takes no text beside _include or _revinclude; true and data go with them');
  }
  return includes;
}

function singleValues(parameters: readonly QueryParameter[]): ReadonlyMap<string, string> {
  const given = new Map<string, string>();
  for (const [name, value] of parameters) {
    if (!resultParameterNames.has(name)) continue;
    if (given.has(name) && given.get(name) !== value) refuseValue(name, 'is given twice with different values');
    given.set(name, value);
  }
  return given;
}

function integerOf(given: ReadonlyMap<string, string>, name: string, least: number): number | undefined {
  const text = given.get(name);
  if (text === undefined) return undefined;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < least || value > integerMax) refuseValue(name, `takes an integer from ${least}`);
  return value;
}

function oneOf<T extends string>(given: ReadonlyMap<string, string>, name: string, words: readonly T[]): T | undefined {
  const text = given.get(name);
  const word = words.find((candidate) => candidate === text);
  if (text !== undefined && word === undefined) refuseValue(name, `takes ${words.join(', ')}`);
  return word;
}

function offsetOf(page: number, count: number, pageRowsMax: number): number {
  const offset = (page - 1) * count;
  if (offset >= pageRowsMax && offset > 0) {
    fail('page-too-deep', {
      diagnostics: `page=${page} begins beyond row ${pageRowsMax}: follow the next links instead, which reach any depth`,
      expression: ['page'],
    });
  }
  return offset;
}

/** R4: elements "defined at the root level in the resource"; the type may stand before them. */
function elementsOf(type: string, value: string | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const definition = findTypeDefinition(type);
  const names = value.split(',').map((word) => word.trim().replace(`${type}.`, ''));
  for (const name of names) {
    const known =
      name === 'resourceType' ||
      (definition && (definition.elements.has(name) || findElementByJsonName(definition, name)));
    if (known) continue;
    const hint = suggestName(name, definition?.elements.keys() ?? []);
    refuseValue(
      '_elements',
      `names ${quoteName(name)}${hint || ':'} it takes names of elements of ${type}, separated by commas, such as id or meta`,
    );
  }
  return names;
}
