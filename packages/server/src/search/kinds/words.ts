/**
 * `_text` and `_content`: words in the narrative, or anywhere in a resource. https://hl7.org/fhir/R4/search.html#text
 *
 * The words of a resource lie in few rows of `index_string`, many to a row, under the number of `_content`; `original` tells
 * whether they are of the narrative. A search reads all of them unless another parameter leads (docs/decisions/0122).
 */

import { isJsonObject, type TypedValue } from '@praxis/fhir';
import { buildSearchRequest, makeMany } from '../../base/worst-case.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { keptBytes } from '../index/bounded-key.ts';
import type { IndexRowBuilder } from '../index/index-row-builder.ts';
import { collectWords } from '../index/text-words.ts';
import { computeParameterNumber } from '../numbers.ts';
import { refuseValue, unescapeValue } from '../query/search-values.ts';
import { parseWords, type WordQuery } from '../query/word-query.ts';
import {
  makeAll,
  type Parameter,
  type RowParts,
  type SearchKind,
  selectivities,
  type Test,
  type ValueContext,
} from './kind.ts';

/** Marks rows of words of the narrative. */
const ofNarrative = 'text';

export const content: SearchKind = {
  worstCase: {
    because: 'words that are everywhere, joined in many ways',
    request: () =>
      buildSearchRequest(
        'Observation',
        `_content=${encodeURIComponent(makeMany(10, (n) => `a${n} OR b`).join(' OR '))}`,
      ),
  },
  ...readWords(sql.empty),
  index: (value, parameter, context, rows) => makeAll(indexWords(value, parameter, context, rows)),
  indexInParts: indexWords,
};

export const narrative: SearchKind = {
  worstCase: {
    because: 'words that are everywhere, joined in many ways',
    request: () =>
      buildSearchRequest('Patient', `_text=${encodeURIComponent(makeMany(10, (n) => `a${n} AND b`).join(' OR '))}`),
  },
  ...readWords(sql` AND original = ${ofNarrative}`),
  index: () => undefined,
};

/** How words are read that lie in rows of a resource for which `place` holds. */
function readWords(place: Sql): Pick<SearchKind, 'table' | 'whole' | 'modifiers' | 'reading'> {
  return {
    table: 'string',
    whole: true,
    modifiers: () => [],
    reading({ type }, modifier) {
      if (modifier !== '') return undefined;
      const number = computeParameterNumber(type, '_content');
      return { table: 'string', number, parse: (text, context) => parse(text, context, { number, place }) };
    },
  };
}

function parse(text: string, { name }: ValueContext, space: Space): Test {
  const where = rowCondition(parseWords(unescapeValue(text, name), name), space);
  if (where === undefined) refuseValue(name, 'needs a word that has to be there, beside those after NOT');
  return { where: sql`(${where})${space.place}`, order: 'gathered', selectivity: selectivities.most };
}

interface Space {
  readonly number: number;
  readonly place: Sql;
}

/**
 * The condition on one row of a resource that fits; undefined when no row can show it. Other words are looked for among all
 * rows of the same resource.
 */
function rowCondition(query: WordQuery, space: Space): Sql | undefined {
  switch (query.kind) {
    case 'word':
      return holdsWord(query, sql`value`);
    case 'not':
      return undefined;
    case 'any': {
      const parts = query.parts.map((part) => rowCondition(part, space));
      const shown = parts.filter((part) => part !== undefined);
      return shown.length === parts.length ? grouped(shown, sql` OR `) : undefined;
    }
    case 'all': {
      const [lead, first] = query.parts
        .map((part) => [part, rowCondition(part, space)] as const)
        .find(([, condition]) => condition !== undefined) ?? [undefined, undefined];
      if (first === undefined) return undefined;
      const others = query.parts.filter((part) => part !== lead).map((part) => resourceCondition(part, space));
      return grouped([first, ...others], sql` AND `);
    }
  }
}

/** The condition on all rows of the resource that the row belongs to. */
function resourceCondition(query: WordQuery, space: Space): Sql {
  switch (query.kind) {
    case 'word':
      // Renamed columns of the inner rows leave the plain names to the row outside.
      return sql`EXISTS (SELECT 1 FROM (
        SELECT firm AS word_firm, param AS word_param, rid AS word_rid, value AS words, original FROM index_string) w
        WHERE word_firm = firm AND word_param = ${space.number} AND word_rid = rid AND ${holdsWord(query, sql`words`)}${space.place})`;
    case 'not':
      return sql`NOT ${resourceCondition(query.part, space)}`;
    default:
      return grouped(
        query.parts.map((part) => resourceCondition(part, space)),
        query.kind === 'all' ? sql` AND ` : sql` OR `,
      );
  }
}

function grouped(parts: readonly Sql[], between: Sql): Sql {
  return sql`(${sql.join(parts, between)})`;
}

function holdsWord({ word, open }: Extract<WordQuery, { kind: 'word' }>, column: Sql): Sql {
  return sql`position(${open ? ` ${word}` : ` ${word} `} in ${column}) > 0`;
}

/** Adds the words of a resource, as many to a row as fit. */
function* indexWords({ value }: TypedValue, { number }: Parameter, _context: unknown, rows: IndexRowBuilder): RowParts {
  if (!isJsonObject(value)) return;
  const words = yield* collectWords(value);
  for (const line of linesOf(words.narrative)) rows.string(number, line, ofNarrative);
  for (const line of linesOf(words.others)) rows.string(number, line, '');
}

/** The words with a space before and after each, in lines of at most `keptBytes`. */
function linesOf(words: ReadonlySet<string>): readonly string[] {
  const lines: string[] = [];
  let line = ' ';
  let bytes = 1;
  for (const word of words) {
    const more = Buffer.byteLength(word) + 1;
    if (bytes + more > keptBytes) {
      lines.push(line);
      line = ' ';
      bytes = 1;
    }
    line += `${word} `;
    bytes += more;
  }
  return line === ' ' ? lines : [...lines, line];
}
