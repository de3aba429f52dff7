/**
 * string: text that is found by its beginning, without regard to case, accents and punctuation; `:contains` finds it by
 * any part, `:exact` as a whole and as written. https://hl7.org/fhir/R4/search.html#string
 */

import type { JsonValue, TypedValue } from '@praxis/fhir';
import { buildSearchRequest, makeManyValues } from '../../base/worst-case.ts';
import { sql } from '../../database/sql.ts';
import { boundKey, boundPrefix, keyBytesMax } from '../index/bounded-key.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { findText, listTexts } from '../json-values.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import {
  makeAll,
  type Parameter,
  type Reading,
  type RowParts,
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

const tests: Readonly<Record<string, (literal: string, name: string) => Test>> = {
  '': startsWith,
  contains,
  exact,
};

export const string: SearchKind = {
  worstCase: {
    because: 'parts of words, which no index serves',
    request: () =>
      buildSearchRequest(
        'Patient',
        makeManyValues('name:contains', (n) => `${'ae'[n % 2]}${n % 10}`),
      ),
  },
  table: 'string',
  modifiers: () => ['exact', 'contains'],
  reading: ({ number }, modifier) => buildStringReading(number, modifier),
  index: indexString,
  indexInParts: indexStringInParts,
};

/** How texts are read that lie under `number`: a parameter's own, or those that stand beside codes. */
export function buildStringReading(number: number, modifier: string): Reading | undefined {
  const test = Object.hasOwn(tests, modifier) ? tests[modifier] : undefined;
  if (test === undefined) return undefined;
  return {
    table: 'string',
    number,
    parse: (text: string, { name }: ValueContext) => test(unescapeValue(text, name), name),
  };
}

function startsWith(literal: string, name: string): Test {
  const prefix = boundPrefix(requireText(foldText(literal), name));
  return {
    where: sql`value >= ${prefix} AND value < ${prefix + lastCharacter}`,
    order: 'value',
    selectivity: prefix.length < selectiveLength ? selectivities.some : selectivities.few,
  };
}

function contains(literal: string, name: string): Test {
  const part = boundPrefix(requireText(foldText(literal), name));
  return { where: sql`position(${part} in value) > 0`, order: 'value', selectivity: selectivities.most, scans: true };
}

function exact(literal: string, name: string): Test {
  if (literal === '') refuseValue(name, 'has no value');
  const original = exactForm(literal);
  return {
    where: sql`value = ${boundKey(foldText(literal))} AND original = ${original}`,
    order: 'rid',
    selectivity: selectivities.one,
  };
}

function requireText(folded: string, name: string): string {
  if (folded === '') refuseValue(name, 'needs a value with at least one letter or digit: punctuation is not searched');
  return folded;
}

/** Canonically equivalent texts are the same text. */
function exactForm(text: string): string {
  return boundKey(text.normalize('NFC'));
}

/** String elements of the datatypes that a string parameter searches as a whole. */
const nameParts = ['text', 'family', 'given', 'prefix', 'suffix'];
const addressParts = ['text', 'line', 'city', 'district', 'state', 'postalCode', 'country'];

/** Adds the rows of one selected value. */
function indexString(value: TypedValue, parameter: Parameter, context: unknown, rows: IndexRowBuilder): void {
  makeAll(indexStringInParts(value, parameter, context, rows));
}

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
    for (const text of listTexts(value, part)) {
      yield* indexTextInParts(text, number, rows);
    }
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
  if (given.length === 0) return;
  const whole = [...given, family].join(' ');
  rows.string(number, yield* foldInParts(whole), '');
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
