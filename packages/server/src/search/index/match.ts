/**
 * Token criteria on a resource in memory, by its index rows: the row restrictions of access entries when a resource is
 * read. The same functions decide as in a search, so a reader sees exactly the rows that a search would show.
 */

import type { ParameterFacts } from '../kinds/kind.ts';
import { parseToken, tokenMatches } from '../kinds/token.ts';
import { getStandardParameters } from '../parameters.ts';
import { splitUnescaped } from '../query/search-values.ts';
import type { IndexRows } from './index-row-builder.ts';

/**
 * Whether the resource that `rows` were made of has one of the token `values` (`code`, `system|code`, …).
 * @param parameter code of a token parameter of `type`
 * @throws TypeError when it is none: the criterion was not checked at start
 */
export function matchesToken(rows: IndexRows, type: string, parameter: string, values: readonly string[]): boolean {
  const { number, facts } = requireTokenParameter(type, parameter);
  const asked = values.flatMap((value) => splitUnescaped(value, ','));
  return hasToken(rows, number, facts, parameter, asked);
}

/**
 * Whether one of the rows under `number` is one of the tokens `values`.
 * @param name of the parameter, for messages
 * @throws PraxisError `search-invalid`
 */
export function hasToken(
  rows: IndexRows,
  number: number,
  facts: ParameterFacts,
  name: string,
  values: readonly string[],
): boolean {
  return values
    .map((value) => parseToken(value, name, facts))
    .some((asked) =>
      rows.tokenParam.some(
        (param, row) => param === number && tokenMatches(asked, rows.tokenSystem[row] ?? '', rows.tokenCode[row] ?? ''),
      ),
    );
}

/** @throws TypeError when `code` is no token parameter of the type */
export function requireTokenParameter(type: string, code: string) {
  const parameter = getStandardParameters(type).get(code);
  if (parameter === undefined || parameter.kind.table !== 'token') {
    throw new TypeError(`${code} is not a token search parameter of ${type}`);
  }
  return parameter;
}
