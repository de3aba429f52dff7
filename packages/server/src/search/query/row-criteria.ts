/**
 * Row restrictions of access entries as criteria of a search: an argument of their own, never mixed with what the caller
 * asks for.
 */

import { requireTokenParameter } from '../index/match.ts';
import { buildTokenTest, parseToken } from '../kinds/token.ts';
import { buildCriterion, type Criterion } from './criteria.ts';
import { splitUnescaped } from './search-values.ts';

/** Row criteria of access entries: token values (`system|code`, `code`), ORed. */
export interface RowCriterion {
  /** Code of a token search parameter of the type. */
  readonly parameter: string;
  readonly values: readonly string[];
}

/**
 * The rows that a caller may see, as criteria: those that meet every criterion of at least one group. Empty when a group
 * has no criteria, and so takes all rows.
 * @throws TypeError for no groups at all: who may see nothing must be refused before a search is planned
 */
export function buildMandatoryGroups(
  type: string,
  groups: readonly (readonly RowCriterion[])[],
): readonly (readonly Criterion[])[] {
  if (groups.length === 0)
    throw new TypeError('a search needs a group of mandatory criteria; one without criteria takes all rows');
  if (groups.some((group) => group.length === 0)) return [];
  return groups.map((group) => group.map((criterion) => tokenCriterion(type, criterion)));
}

function tokenCriterion(type: string, { parameter: code, values }: RowCriterion): Criterion {
  const parameter = requireTokenParameter(type, code);
  const tests = values
    .flatMap((value) => splitUnescaped(value, ','))
    .map((value) => buildTokenTest(parseToken(value, code, parameter.facts), parameter.facts));
  if (tests.length === 0) throw new TypeError(`the row criterion on ${type} ${code} has no values`);
  return buildCriterion(parameter, tests);
}
