/**
 * What `_text` and `_content` take: words, all of which have to be there, with AND, OR, NOT and parentheses; a word that
 * ends in `*` stands for those that begin with it. https://hl7.org/fhir/R4/search.html#text
 */

import { foldText } from '../kinds/text-folding.ts';
import { refuseValue } from './search-values.ts';

export type WordQuery =
  | { readonly kind: 'word'; readonly word: string; readonly open: boolean }
  | { readonly kind: 'all' | 'any'; readonly parts: readonly WordQuery[] }
  | { readonly kind: 'not'; readonly part: WordQuery };

/** Words and parentheses of one value at most. */
export const wordTokensMax = 40;

interface Reader {
  readonly tokens: readonly string[];
  readonly name: string;
  at: number;
}

/**
 * The query that the text asks.
 * @param name of the parameter, for messages
 * @throws PraxisError `search-invalid`
 */
export function parseWords(text: string, name: string): WordQuery {
  // Quotes hold words together; where they stand in the resource is not kept, so all of them have to be there.
  const tokens = text.match(/"[^"]*"|[()]|[^\s()"]+/g) ?? [];
  if (tokens.length > wordTokensMax) {
    refuseValue(name, `has ${tokens.length} words and parentheses; at most ${wordTokensMax} are taken`);
  }
  const reader = { tokens, name, at: 0 };
  const query = readAny(reader);
  if (reader.at < tokens.length) refuseValue(name, 'closes a parenthesis that it has not opened');
  return query;
}

function readAny(reader: Reader): WordQuery {
  const parts = [readAll(reader)];
  while (takes(reader, 'OR')) parts.push(readAll(reader));
  return combined('any', parts);
}

function readAll(reader: Reader): WordQuery {
  const parts = [readOne(reader)];
  while (reader.at < reader.tokens.length && !isNext(reader, 'OR') && !isNext(reader, ')')) {
    takes(reader, 'AND');
    parts.push(readOne(reader));
  }
  return combined('all', parts);
}

function readOne(reader: Reader): WordQuery {
  if (takes(reader, 'NOT')) return { kind: 'not', part: readOne(reader) };
  if (takes(reader, '(')) {
    const inner = readAny(reader);
    if (!takes(reader, ')')) refuseValue(reader.name, 'opens a parenthesis that it does not close');
    return inner;
  }
  const token = reader.tokens[reader.at];
  if (token === undefined || [')', 'AND', 'OR'].some((word) => isNext(reader, word))) {
    refuseValue(reader.name, 'lacks a word: it takes words, with AND, OR, NOT and parentheses between them');
  }
  reader.at += 1;
  return wordsOf(token, reader.name);
}

function wordsOf(token: string, name: string): WordQuery {
  const words = foldText(token.replaceAll('*', ' '))
    .split(' ')
    .filter((word) => word !== '');
  if (words.length === 0) refuseValue(name, 'needs words of letters or digits: punctuation is not searched');
  const open = token.endsWith('*');
  return combined(
    'all',
    words.map((word, place) => ({ kind: 'word', word, open: open && place === words.length - 1 })),
  );
}

function combined(kind: 'all' | 'any', parts: readonly WordQuery[]): WordQuery {
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : { kind, parts };
}

function isNext({ tokens, at }: Reader, word: string): boolean {
  return tokens[at]?.toUpperCase() === word;
}

function takes(reader: Reader, word: string): boolean {
  if (!isNext(reader, word)) return false;
  reader.at += 1;
  return true;
}
