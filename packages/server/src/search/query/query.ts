/**
 * From the parameters of a request to a search: https://hl7.org/fhir/R4/search.html. Nothing is asked of the database
 * here; `plan.ts` makes statements of the result.
 */
import type { SearchParameter } from '@praxis/fhir';
import { isIncludeName } from '../includes/include.ts';
import { readCursorTime } from '../sql/cursor.ts';
import { buildCompartmentCondition, type CompartmentScope } from './compartment-scope.ts';
import type { SearchCondition } from './condition.ts';
import type { CriterionLimits } from './criteria.ts';
import { type ConditionContext, type ParsedCondition, parseCondition } from './parse-condition.ts';
import type { QueryParameter } from './query-string.ts';
import { type ResultParameters, readResultParameters, resultParameterNames } from './result-parameters.ts';
import { ReadValues, requireCheap } from './search-costs.ts';
import { refuseValue } from './search-values.ts';

export { isSearchable } from '../parameters.ts';

export interface SearchLimits extends CriterionLimits {
  /** Parameters of one search at most. */
  readonly searchParametersMax: number;
  /** Deepest row that a bare `page=N` reaches. */
  readonly pageRowsMax: number;
}

export interface SearchContext extends ConditionContext {
  readonly baseUrl: string;
  readonly limits: SearchLimits;
}

export type SearchParameters = readonly QueryParameter[];

export interface SearchQuery extends ResultParameters {
  readonly type: string;
  /** ANDed. */
  readonly criteria: readonly SearchCondition[];
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
 * @param compartment only resources inside it
 * @throws PraxisError `search-invalid` (names the parameter and what would be right), `access-denied` (a link leads to what
 *   the caller may not search), `page-too-deep`, `cursor-invalid`, `too-costly`
 */
export function parseSearch(
  type: string,
  parameters: SearchParameters,
  context: SearchContext,
  compartment?: CompartmentScope,
): SearchQuery {
  const { searchParametersMax } = context.limits;
  if (parameters.length > searchParametersMax)
    refuseValue('The search', `has ${parameters.length} parameters; at most ${searchParametersMax} are taken`);
  const result = readResultParameters(type, parameters, context);
  const nowMs = result.cursor === undefined ? context.nowMs : readCursorTime(result.cursor);
  const within = compartment && buildCompartmentCondition(type, compartment, { ...context, nowMs });
  const parsed: ParsedCondition[] = within === undefined ? [] : [within];
  const unknown: string[] = [];
  const applied: QueryParameter[] = [];
  const conditions: string[] = [];
  const values = new ReadValues(context.limits);
  for (const [name, value] of parameters) {
    if (isResultParameter(name)) {
      if (name !== '_cursor') applied.push([name, value]);
      continue;
    }
    const condition = parseCondition(type, name, value, { ...context, nowMs });
    if (condition === undefined) {
      unknown.push(name);
      continue;
    }
    values.add(condition.condition);
    parsed.push(condition);
    applied.push([name, value]);
    conditions.push(`${name}=${value}`);
  }
  const criteria = parsed.map(({ condition }) => condition);
  requireCheap(criteria, context.limits);
  const order = result.sort.map(({ parameter, descending }) => (descending ? `-${parameter.code}` : parameter.code));
  const sortedBy = result.sort.map(({ parameter }) => parameter.definition);
  const inside = compartment === undefined ? [] : [`${compartment.type}/${compartment.id}`];
  return {
    ...result,
    type,
    criteria,
    unknown,
    applied,
    usedParameters: [...new Set([...parsed.flatMap(({ used }) => used), ...sortedBy])],
    canonical: JSON.stringify([type, conditions.sort(), order, ...inside]),
    nowMs,
  };
}

/** @throws PraxisError `search-invalid` for one with a modifier */
function isResultParameter(name: string): boolean {
  if (isIncludeName(name)) return true;
  const colon = name.indexOf(':');
  const code = colon < 0 ? name : name.slice(0, colon);
  if (!resultParameterNames.has(code)) return false;
  if (colon >= 0) refuseValue(name, `has a modifier, which ${code} does not take`);
  return true;
}
