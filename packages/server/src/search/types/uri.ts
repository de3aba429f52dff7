/**
 * uri: URIs that match as a whole, character by character. https://hl7.org/fhir/R4/search.html#uri
 */
import type { TypedValue } from '@praxis/fhir';
import { sql } from '../../database/sql.ts';
import { boundedKey } from '../bounded-key.ts';
import type { IndexRowBuilder } from '../index-row-builder.ts';
import { type Parameter, type SearchKind, shares, type Test, type ValueContext } from '../kind.ts';
import { noSystem } from '../numbers.ts';
import { refuseValue, unescapeValue } from '../search-values.ts';

export const uri: SearchKind = {
  table: 'token',
  modifiers: () => [],
  reading: (parameter, modifier) =>
    modifier === '' ? { table: 'token', number: parameter.number, parse: parseUriTest } : undefined,
  index: indexUri,
};

function parseUriTest(text: string, { name }: ValueContext): Test {
  const literal = unescapeValue(text, name);
  if (literal === '') refuseValue(name, 'has no value: it takes a whole URI');
  return { where: sql`code = ${boundedKey(literal)}`, order: 'rid', share: shares.one };
}

/** Adds the row of one selected value. */
export function indexUri(value: TypedValue, parameter: Parameter, _context: unknown, rows: IndexRowBuilder): void {
  if (typeof value.value === 'string') rows.token(parameter.number, noSystem, value.value);
}
