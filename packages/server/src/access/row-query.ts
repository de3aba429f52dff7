/**
 * Row criteria as the query part of a SMART scope writes them: `category=laboratory,exam&status=final`
 * (http://hl7.org/fhir/smart-app-launch/STU2/scopes-and-launch-context.html#finer-grained-resource-constraints-using-search-parameters).
 * Commas part alternatives, `&` parts what must hold together, percent-encoding as in any query.
 */
import type { Criterion } from './entries/definition.ts';

/** Criteria of one query. */
export const rowCriteriaMax = 10;
/** Values of one criterion. */
export const rowValuesMax = 50;

export interface RowQueryProblem {
  /** For whoever wrote the query. */
  readonly problem: string;
}

/** The criteria in the order of the query; whether a type has such parameters and values is not asked here. */
export function parseRowQuery(query: string): readonly Criterion[] | RowQueryProblem {
  const parts = query.split('&');
  if (parts.length > rowCriteriaMax) return { problem: `a query has ${rowCriteriaMax} parameters at most` };
  const criteria: Criterion[] = [];
  for (const part of parts) {
    const criterion = parseCriterion(part);
    if ('problem' in criterion) return criterion;
    criteria.push(criterion);
  }
  return criteria;
}

/** The query that `parseRowQuery` reads as these criteria. */
export function formatRowQuery(criteria: readonly Criterion[]): string {
  return criteria.map(({ parameter, values }) => `${parameter}=${values.map(encodeValue).join(',')}`).join('&');
}

function parseCriterion(part: string): Criterion | RowQueryProblem {
  const at = part.indexOf('=');
  if (at < 1) return { problem: 'a query consists of name=value, parted by &' };
  const parameter = part.slice(0, at);
  if (/[:.]/.test(parameter))
    return { problem: `${parameter} has a modifier or a chain, which limits on rows do not take` };
  if (!/^[A-Za-z0-9_-]+$/.test(parameter))
    return { problem: 'the name of a search parameter is letters, digits, - and _' };
  const values = part
    .slice(at + 1)
    .split(',')
    .map(decodeValue);
  if (values.length > rowValuesMax) return { problem: `${parameter} has ${rowValuesMax} values at most` };
  const decoded = values.filter((value) => value !== undefined);
  if (decoded.length < values.length) return { problem: `${parameter} has a broken percent-encoding` };
  return { parameter, values: decoded };
}

function decodeValue(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

/** Only what an OAuth scope may hold (RFC 6749 §3.3) and what parts a query; system URLs stay readable. */
function encodeValue(value: string): string {
  return value.replace(/[^\w\-.~:/|*@!'()]/gu, encodeURIComponent);
}
