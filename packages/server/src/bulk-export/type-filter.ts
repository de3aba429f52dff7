/**
 * `_typeFilter`: of a type, what a search finds (https://hl7.org/fhir/uv/bulkdata/export.html#_typefilter-query-parameter). The
 * search asks what a search of the same application may ask, and nothing about other resources: those can change between the
 * moment of the export and its planning (docs/decisions/0313).
 */
import { fail } from '../base/errors.ts';
import type { InteractionContext } from '../engine/context.ts';
import { findUnmatchable } from '../engine/search/match-resources.ts';
import { planSearch, strictly } from '../engine/search/searching.ts';
import { isIncludeName } from '../search/includes/include.ts';
import { parseParameters } from '../search/query/query-string.ts';
import { resultParameterNames } from '../search/query/result-parameters.ts';
import type { SearchTarget } from '../search/sql/plan.ts';

/** Searches that one export takes, at most. */
const filtersMax = 50;

/** A search of a type. */
export interface TypeFilter {
  readonly type: string;
  /** What follows the question mark. */
  readonly query: string;
}

/** Where the next search begins: guides up to 2.0 let commas separate them. */
const separator = /,(?=[A-Z][A-Za-z]*\?)/;

/**
 * The searches of all values of the parameter. @throws PraxisError `operation-parameter-invalid`
 */
export function parseFilters(texts: readonly string[]): readonly TypeFilter[] {
  const filters = texts.flatMap((text) => text.split(separator)).map(parseFilter);
  if (filters.length > filtersMax) refuseFilter(`has ${filters.length} searches; at most ${filtersMax} are taken`);
  return filters;
}

function parseFilter(text: string): TypeFilter {
  const [, type, query] = /^([A-Z][A-Za-z]{0,63})\?(.+)$/s.exec(text) ?? [];
  if (type === undefined || query === undefined)
    return refuseFilter('takes searches of one type, for instance MedicationRequest?status=active');
  return { type, query };
}

/**
 * The search, with the caller's rights.
 * @param nowMs "now" in the search: it finds the same whenever it is asked
 * @throws PraxisError `operation-parameter-invalid`, and as a search: `search-invalid`, `access-denied`, `too-costly`
 */
export async function planFilter(
  context: InteractionContext,
  type: string,
  query: string,
  nowMs: number,
): Promise<SearchTarget> {
  const parameters = parseParameters(query);
  const result = parameters.find(
    ([name]) => isIncludeName(name) || resultParameterNames.has(nameWithoutModifier(name)),
  );
  if (result !== undefined)
    refuseFilter(`has ${nameWithoutModifier(result[0])}: it takes search parameters alone, none about the result`);
  const target = await planSearch({ ...context, clock: { now: () => nowMs } }, type, parameters, strictly);
  const problem = findUnmatchable(target.query.criteria);
  if (problem !== undefined)
    refuseFilter(`${problem}: it is asked of the versions of one moment, so it takes conditions on the resource alone`);
  return target;
}

function nameWithoutModifier(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? name : name.slice(0, colon);
}

function refuseFilter(problem: string): never {
  return fail('operation-parameter-invalid', { diagnostics: `_typeFilter ${problem}`, expression: ['_typeFilter'] });
}
