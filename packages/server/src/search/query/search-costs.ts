/**
 * What a search may ask of the database. Where no index leads to what is asked, each resource that the rest of the search finds
 * is looked at, once for each comparison: 10,000 patients and 50 comparisons took a connection for more than the time limit
 * of a statement (docs/decisions/0222).
 */
import { fail } from '../../base/errors.ts';
import type { Linked, SearchCondition } from './condition.ts';
import type { CriterionLimits } from './criteria.ts';

/** Values that are compared without an index (`:contains`, `co`, `ew`) in one search, lists of values included. */
export const scannedMax = 10;

/** Comparisons of all `_filter`s of one search. */
export const filteredMax = 50;

/** Values of all parameters of one search, in numbers of parameters that have as many as one may (docs/decisions/0222). */
export const fullParametersMax = 4;

interface Costs {
  readonly compared: number;
  readonly scanned: number;
  readonly filtered: number;
}

/** @throws PraxisError `too-costly` */
export function requireCheap(criteria: readonly SearchCondition[], { searchValuesMax }: CriterionLimits): void {
  const { compared, scanned, filtered } = sum(criteria.map((condition) => costsOf(condition, false)));
  if (scanned > scannedMax) {
    fail('too-costly', {
      diagnostics: `The search compares ${scanned} values by :contains, co or ew, which no index serves: the limit of one search is ${scannedMax}. Nothing was changed. To make it cheaper: compare by the beginning (sw, or no modifier) or by the whole (eq, :exact), or ask in several searches`,
    });
  }
  requireFewValues(compared, searchValuesMax);
  if (filtered > filteredMax) {
    fail('too-costly', {
      diagnostics: `The search has ${filtered} comparisons in _filter: the limit of one search is ${filteredMax}. Nothing was changed. To make it cheaper: use search parameters with several values, or ask in several searches`,
      expression: ['_filter'],
    });
  }
}

/** Values that the parameters of a search have together, while they are read: what is too much is not read to its end. */
export class ReadValues {
  readonly #searchValuesMax: number;
  #compared = 0;

  constructor({ searchValuesMax }: CriterionLimits) {
    this.#searchValuesMax = searchValuesMax;
  }

  /** @throws PraxisError `too-costly` */
  add(condition: SearchCondition): void {
    this.#compared += costsOf(condition, false).compared;
    requireFewValues(this.#compared, this.#searchValuesMax);
  }
}

function requireFewValues(compared: number, searchValuesMax: number): void {
  const max = fullParametersMax * searchValuesMax;
  if (compared <= max) return;
  fail('too-costly', {
    diagnostics: `The parameters of the search have more than ${max} values together, the limit of one search. Nothing was changed. To make it cheaper: leave out the parameters with the most values, or ask in several searches`,
  });
}

function costsOf(condition: SearchCondition, isFiltered: boolean): Costs {
  switch (condition.kind) {
    case 'rows':
      return {
        compared: condition.tests.length,
        scanned: condition.tests.filter(({ scans }) => scans === true).length,
        filtered: isFiltered ? 1 : 0,
      };
    case 'chain':
      return most(condition.targets.map((target) => costsOfLinked(target, isFiltered)));
    case 'has':
      return costsOfLinked(condition.source, isFiltered);
    default:
      return sum(condition.conditions.map((each) => costsOf(each, true)));
  }
}

function costsOfLinked({ criteria }: Linked, isFiltered: boolean): Costs {
  return sum(criteria.map((condition) => costsOf(condition, isFiltered)));
}

function sum(costs: readonly Costs[]): Costs {
  return costs.reduce(
    (all, { compared, scanned, filtered }) => ({
      compared: all.compared + compared,
      scanned: all.scanned + scanned,
      filtered: all.filtered + filtered,
    }),
    { compared: 0, scanned: 0, filtered: 0 },
  );
}

/** A reference leads to a resource of one of the types. */
function most(costs: readonly Costs[]): Costs {
  return {
    compared: Math.max(0, ...costs.map(({ compared }) => compared)),
    scanned: Math.max(0, ...costs.map(({ scanned }) => scanned)),
    filtered: Math.max(0, ...costs.map(({ filtered }) => filtered)),
  };
}
