/**
 * string: text that is found by its beginning, without regard to case, accents and punctuation; `:contains` finds it by
 * any part, `:exact` as a whole and as written. https://hl7.org/fhir/R4/search.html#string
 */

import type { JsonValue, TypedValue } from '@praxis/fhir';
import { buildManyValuesSearch } from '../../base/worst-case.ts';
import { sql } from '../../database/sql.ts';
import { boundKey, boundPrefix, keyBytesMax } from '../index/bounded-key.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { findText, listTexts } from '../json-values.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import {
  makeAll,
  type Parameter,
  type RowParts,
  readBy,
  type SearchKind,
  selectivities,
  type Test,
  type ValueContext,
} from './kind.ts';
import { foldInParts, foldText } from './text-folding.ts';

/** No folded text sorts after its own beginning followed by this, the last character of Unicode. */
const lastCharacter = '\u{10ffff}';

/** Folded characters from which a beginning is taken to be selective. */
const selectiveLength = 3;

export const string: SearchKind = {
  worstCase: {
    because: 'parts of words, which no index serves',
    request: () => buildManyValuesSearch('Patient', 'name:contains', (n) => `${'ae'[n % 2]}${n % 10}`),
  },
  ...readBy('string', { '': parseBeginning, exact: parseWhole, contains: parsePart }),
  index: (value, parameter, context, rows) => makeAll(indexStringInParts(value, parameter, context, rows)),
  indexInParts: indexStringInParts,
};

/** Texts that begin with the value. */
export function parseBeginning(text: string, context: ValueContext): Test {
  const prefix = requirePrefix(text, context);
  return {
    where: sql`value >= ${prefix} AND value < ${prefix + lastCharacter}`,
    order: 'value',
    selectivity: prefix.length < selectiveLength ? selectivities.some : selectivities.few,
  };
}

function parsePart(text: string, context: ValueContext): Test {
  const where = sql`position(${requirePrefix(text, context)} in value) > 0`;
  return { where, order: 'value', selectivity: selectivities.most, scans: true };
}

function parseWhole(text: string, { name }: ValueContext): Test {
  const literal = unescapeValue(text, name);
  if (literal === '') refuseValue(name, 'has no value');
  // Canonically equivalent texts are the same text.
  const original = boundKey(literal.normalize('NFC'));
  const where = sql`value = ${boundKey(foldText(literal))} AND original = ${original}`;
  return { where, order: 'rid', selectivity: selectivities.one };
}

function requirePrefix(text: string, { name }: ValueContext): string {
  const folded = foldText(unescapeValue(text, name));
  if (folded === '') refuseValue(name, 'needs a value with at least one letter or digit: punctuation is not searched');
  return boundPrefix(folded);
}

/** String elements of the datatypes that a string parameter searches as a whole. */
const nameParts = ['text', 'family', 'given', 'prefix', 'suffix'];
const addressParts = ['text', 'line', 'city', 'district', 'state', 'postalCode', 'country'];

function* indexStringInParts(
  { type, value, path }: TypedValue,
  { number }: Parameter,
  _context: unknown,
  rows: IndexRowBuilder,
): RowParts {
  if (type === 'HumanName') return yield* indexName(value, number, rows);
  if (type === 'Address') return yield* addParts(value, addressParts, number, rows);
  const text =
    typeof value === 'object' ? (findText(value, 'text') ?? findText(value, 'display') ?? '') : String(value);
  yield* indexTextInParts(text, number, rows);
  if (typeof value !== 'object' && path.endsWith('.family')) addWords(text, number, rows);
}

function* addParts(value: JsonValue, parts: readonly string[], number: number, rows: IndexRowBuilder): RowParts {
  for (const part of parts) {
    for (const text of listTexts(value, part)) yield* indexTextInParts(text, number, rows);
  }
}

/** Each part of the name, the words of its family name, and given and family names together as one text. */
function* indexName(name: JsonValue, number: number, rows: IndexRowBuilder): RowParts {
  yield* addParts(name, nameParts, number, rows);
  const family = findText(name, 'family');
  if (family === undefined) return;
  addWords(family, number, rows);
  yield family.length;
  const given = listTexts(name, 'given');
  if (given.length > 0) rows.string(number, yield* foldInParts([...given, family].join(' ')), '');
}

function* indexTextInParts(text: string, number: number, rows: IndexRowBuilder): RowParts {
  rows.string(number, yield* foldInParts(text), text.normalize('NFC'));
}

/** Adds the row of a text. */
export function indexText(text: string, number: number, rows: IndexRowBuilder): void {
  rows.string(number, foldText(text), text.normalize('NFC'));
}

/** R4: either "Carreno" or "Quinones" should match the family name "Carreno Quinones". `:exact` and sorting do not. */
function addWords(family: string, number: number, rows: IndexRowBuilder): void {
  const folded = foldText(family);
  let words = 1;
  for (let space = folded.indexOf(' '); space >= 0 && words < familyWordsMax; space = folded.indexOf(' ', space + 1)) {
    rows.string(number, folded.slice(space + 1, space + 1 + keyBytesMax), '');
    words += 1;
  }
}

/** Words of one family name that it is found by; more would let one long name cost more than all other work. */
const familyWordsMax = 20;
