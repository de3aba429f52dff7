/**
 * uri: URIs that match as a whole, character by character; with `:below` and `:above` URLs by the segments of their paths.
 * https://hl7.org/fhir/R4/search.html#uri
 */

import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { sql } from '../../database/sql.ts';
import { boundKey, keptBytes } from '../index/bounded-key.ts';
import { noSystem } from '../numbers.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import { readBy, type SearchKind, selectivities, type Test, type ValueContext } from './kind.ts';

export const uri: SearchKind = {
  worstCase: {
    because: 'as many prefixes as one parameter takes',
    request: () => buildManyValuesSearch('ValueSet', 'url:below', (n) => `http://example.com/${n}/`, 50),
  },
  ...readBy('token', { '': parseUriTest, above: parseAbove, below: parseBelow }),
  index({ value }, { number }, _context, rows) {
    if (typeof value === 'string') rows.token(number, noSystem, value);
  },
};

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
  const where = sql`(${itself} OR ${inside})`;
  return { where, branches: [itself, inside], order: 'value', selectivity: selectivities.part };
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
