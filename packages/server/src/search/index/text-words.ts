/**
 * The words of a resource, folded, for `_text` and `_content`: those of its narrative, and those of everything else in it
 * that people read. https://hl7.org/fhir/R4/search.html#text
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import { findObject, findText } from '../json-values.ts';
import { foldText } from '../kinds/text-folding.ts';

export interface ResourceWords {
  readonly narrative: ReadonlySet<string>;
  /** Without those of the narrative. */
  readonly others: ReadonlySet<string>;
}

/** Characters that are read of a narrative, and of the rest of a resource: longer ones are books, or collections. */
export const charactersMax = 200_000;

/** Distinct words that are kept of each. */
export const wordsMax = 3_000;

/** Characters beyond which a word is an encoding of something and not a word. */
export const wordLengthMax = 60;

/** Properties that hold names of things for machines: links, systems, digests, data, the record's own management. */
const unread: ReadonlySet<string> = new Set([
  'resourceType',
  'id',
  'meta',
  'implicitRules',
  'div',
  'reference',
  'system',
  'url',
  'uri',
  'fullUrl',
  'contentType',
  'data',
  'hash',
  'status',
]);

const datesAndLinks = /^(?:\d{4}-\d\d(?:-\d\d(?:T.*)?)?|[a-z][a-z0-9+.-]*:\S*)$/i;

/** The distinct words of a resource, gathered in parts. Yields how many characters a part has read, or what takes as long. */
export function* collectWords(resource: JsonObject): Generator<number, ResourceWords> {
  const div = findText(findObject(resource, 'text'), 'div') ?? '';
  const narrative = wordsOf(withoutTags(div.slice(0, charactersMax)).split('\n'), new Set());
  yield div.length;
  const texts = yield* listTexts(resource);
  return { narrative, others: wordsOf(texts, narrative) };
}

/** Elements of one part, and the characters that are read in the time that one takes. */
const elementsPerPart = 1_024;
const charactersPerElement = 16;

/** What people read of a resource, without its narrative, in the order of its elements. */
function* listTexts(resource: JsonObject): Generator<number, readonly string[]> {
  const texts: string[] = [];
  let length = 0;
  let visited = 0;
  const left: JsonValue[] = [resource];
  for (let value = left.pop(); value !== undefined && length < charactersMax; value = left.pop()) {
    visited += 1;
    if (visited % elementsPerPart === 0) yield elementsPerPart * charactersPerElement;
    if (typeof value !== 'string') addItems(left, value);
    else if (!datesAndLinks.test(value)) {
      texts.push(value.slice(0, charactersMax - length));
      length += value.length;
    }
  }
  yield length;
  return texts;
}

/** Adds what is inside of a value and may be read, the last first. */
function addItems(left: JsonValue[], value: JsonValue): void {
  if (Array.isArray(value)) for (const item of value.toReversed()) left.push(item);
  else if (isJsonObject(value)) {
    for (const name of Object.keys(value).reverse()) {
      const item = value[name];
      if (item !== undefined && !unread.has(name) && !name.startsWith('_')) left.push(item);
    }
  }
}

/** Texts are folded one by one: those in ASCII, which most are, several times faster. */
function wordsOf(texts: readonly string[], known: ReadonlySet<string>): ReadonlySet<string> {
  const words = new Set<string>();
  for (const text of new Set(texts)) {
    for (const word of foldText(text).split(' ')) {
      if (words.size === wordsMax) return words;
      if (word !== '' && word.length <= wordLengthMax && !known.has(word)) words.add(word);
    }
  }
  return words;
}

const entities: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Text of XHTML: tags stand between words. https://hl7.org/fhir/R4/narrative.html */
function withoutTags(xhtml: string): string {
  return xhtml
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(#x?[0-9a-f]+|[a-z]+);/gi, (_whole, name: string) => entities.get(name) ?? character(name));
}

function character(name: string): string {
  if (!name.startsWith('#')) return ' ';
  const code = name[1] === 'x' || name[1] === 'X' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  return Number.isInteger(code) && code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
}
