/**
 * uri: URIs that match as a whole, character by character; with `:below` and `:above` URLs by the segments of their paths.
 * https://hl7.org/fhir/R4/search.html#uri
 */

import type { TypedValue } from '@praxis/fhir';
import { buildSearchRequest, makeManyValues } from '../../base/worst-case.ts';
import { sql } from '../../database/sql.ts';
import { boundKey, keptBytes } from '../index/bounded-key.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { noSystem } from '../numbers.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import { type Parameter, type Reading, type SearchKind, selectivities, type Test, type ValueContext } from './kind.ts';

const readings: Readonly<Record<string, (text: string, context: ValueContext) => Test>> = {
  '': parseUriTest,
  above: parseAbove,
  below: parseBelow,
};

export const uri: SearchKind = {
  worstCase: {
    because: 'as many prefixes as one parameter takes',
    request: () =>
      buildSearchRequest(
        'ValueSet',
        makeManyValues('url:below', (n) => `http://example.com/${n}/`, 50),
      ),
  },
  table: 'token',
  modifiers: () => ['above', 'below'],
  reading: readingOf,
  index: indexUri,
};

function readingOf({ number }: Parameter, modifier: string): Reading | undefined {
  const parse = Object.hasOwn(readings, modifier) ? readings[modifier] : undefined;
  return parse && { table: 'token', number, parse };
}

function parseUriTest(text: string, { name }: ValueContext): Test {
  const literal = unescapeValue(text, name);
  if (literal === '') refuseValue(name, 'has no value: it takes a whole URI');
  return { where: sql`code = ${boundKey(literal)}`, order: 'rid', selectivity: selectivities.one };
}

/** R4: the URL itself and those that begin with it; what begins a segment in the middle is another URL. */
function parseBelow(text: string, { name }: ValueContext): Test {
  const url = requireUrl(text, name);
  const root = url.endsWith('/') ? url.slice(0, -1) : url;
  // The character after '/' ends the range of what begins with it.
  const inside = sql`code >= ${`${root}/`} AND code < ${`${root}0`}`;
  if (url !== root) return { where: inside, order: 'value', selectivity: selectivities.part };
  const itself = sql`code = ${root}`;
  return {
    where: sql`(${itself} OR ${inside})`,
    branches: [itself, sql`${inside}`],
    order: 'value',
    selectivity: selectivities.part,
  };
}

/** The URL itself and those that it begins with, down to the root of its host. */
function parseAbove(text: string, { name }: ValueContext): Test {
  const url = requireUrl(text, name);
  const root = url.indexOf('/', url.indexOf('://') + '://'.length);
  const found = new Set([url]);
  for (let end = url.length; end > root && root > 0; end = url.lastIndexOf('/', end - 1)) {
    found.add(url.slice(0, end)).add(url.slice(0, end + 1));
  }
  if (root > 0) found.add(url.slice(0, root)).add(url.slice(0, root + 1));
  return { where: sql`code = ANY (${[...found]}::text[])`, order: 'gathered', selectivity: selectivities.few };
}

const absoluteUrl = /^[a-z][a-z0-9+.-]*:\/\/[^/]/i;

function requireUrl(text: string, name: string): string {
  const url = unescapeValue(text, name);
  if (!absoluteUrl.test(url)) refuseValue(name, 'takes an absolute URL: only URLs have a hierarchy, URNs have none');
  if (Buffer.byteLength(url) >= keptBytes) refuseValue(name, `takes a URL of fewer than ${keptBytes} bytes`);
  return url;
}

/** Adds the row of one selected value. */
export function indexUri(value: TypedValue, parameter: Parameter, _context: unknown, rows: IndexRowBuilder): void {
  if (typeof value.value === 'string') rows.token(parameter.number, noSystem, value.value);
}
