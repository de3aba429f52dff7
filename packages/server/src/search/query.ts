/**
 * From the parameters of a request to a search: https://hl7.org/fhir/R4/search.html. Nothing is asked of the database
 * here; `plan.ts` makes statements of the result.
 */
import type { SearchParameter } from '@praxis/fhir';
import { type Criterion, type CriterionLimits, parseCriterion } from './criteria.ts';
import { cursorTime } from './cursor.ts';
import { parametersOf } from './parameters.ts';
import { type ResultParameters, readResultParameters, resultParameterNames } from './result-parameters.ts';
import { refuseValue } from './search-values.ts';

export { isSearchable } from './parameters.ts';

export interface SearchLimits extends CriterionLimits {
  /** Parameters of one search at most. */
  readonly searchParametersMax: number;
  /** Deepest row that a bare `page=N` reaches. */
  readonly pageRowsMax: number;
}

export interface SearchContext {
  /** IANA time zone of the firm. */
  readonly timeZone: string;
  /** FHIR base URL of the firm, without a slash at the end. */
  readonly baseUrl: string;
  /** Milliseconds since 1970. */
  readonly nowMs: number;
  readonly limits: SearchLimits;
}

export type SearchParameters = readonly (readonly [name: string, value: string])[];

export interface SearchQuery extends ResultParameters {
  readonly type: string;
  /** ANDed. */
  readonly criteria: readonly Criterion[];
  /** Names, as given, of parameters that the type does not have or the server does not serve. */
  readonly unknown: readonly string[];
  /** The parameters that were understood, in the order given: what a self link has to show. Without `_cursor`. */
  readonly applied: SearchParameters;
  /** Definitions of all parameters that decide on what is found and in which order, for access control. */
  readonly usedParameters: readonly SearchParameter[];
  /** Equal for searches that find the same resources in the same order, whatever the size of their pages. */
  readonly canonical: string;
  /** The moment "now" means in the search: that of its first page. */
  readonly nowMs: number;
}

/**
 * The search that the parameters ask of a type. Repeated parameters are ANDed, comma-separated values ORed.
 * @param parameters decoded names and values, in order
 * @throws PraxisError `search-invalid` (names the parameter and what would be right), `page-too-deep`, `cursor-invalid`
 */
export function parseSearch(type: string, parameters: SearchParameters, context: SearchContext): SearchQuery {
  requireFew(parameters, context.limits);
  const result = readResultParameters(type, parameters, context.limits);
  const nowMs = result.cursor === undefined ? context.nowMs : cursorTime(result.cursor);
  const known = parametersOf(type);
  const criteria: Criterion[] = [];
  const unknown: string[] = [];
  const applied: (readonly [string, string])[] = [];
  const conditions: string[] = [];
  for (const [name, value] of parameters) {
    const colon = name.indexOf(':');
    const code = colon < 0 ? name : name.slice(0, colon);
    const modifier = colon < 0 ? '' : name.slice(colon + 1);
    if (resultParameterNames.has(code)) {
      if (colon >= 0) refuseValue(name, `has a modifier, which ${code} does not take`);
      if (code !== '_cursor') applied.push([name, value]);
      continue;
    }
    const parameter = known.get(code);
    if (parameter === undefined) {
      unknown.push(name);
      continue;
    }
    if (colon >= 0 && modifier === '') refuseValue(name, 'ends in a colon: a modifier has to follow, or nothing');
    criteria.push(parseCriterion(modifier, value, { ...context, parameter, name, nowMs }, context.limits));
    applied.push([name, value]);
    conditions.push(`${name}=${value}`);
  }
  const used = [...criteria.map(({ parameter }) => parameter), ...result.sort.map(({ parameter }) => parameter)];
  const order = result.sort.map(({ parameter, descending }) => (descending ? `-${parameter.code}` : parameter.code));
  return {
    ...result,
    type,
    criteria,
    unknown,
    applied,
    usedParameters: [...new Set(used)].map(({ definition }) => definition),
    canonical: JSON.stringify([type, conditions.sort(), order]),
    nowMs,
  };
}

function requireFew(parameters: SearchParameters, { searchParametersMax }: SearchLimits): void {
  if (parameters.length > searchParametersMax) {
    refuseValue('The search', `has ${parameters.length} parameters; at most ${searchParametersMax} are taken`);
  }
}
