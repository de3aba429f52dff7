/**
 * Large JSON texts, read in parts so that others can go on between them: what `json.ts` reads, with the same rules.
 */
import {
  closeBrace,
  closeBracket,
  descend,
  isEnd,
  type JsonLimits,
  type JsonObject,
  type JsonValue,
  jsonLimitsDefault,
  leave,
  openBrace,
  openBracket,
  openReader,
  type Reader,
  readEnd,
  readEntry,
  readMemberName,
  readValue,
  skipSpace,
} from './json.ts';

/** Characters of a part, at least: less than a millisecond's work. */
const partLength = 65_536;

/**
 * Returns what `parseJson` does, in parts: one ends between two entries of an array that is a member of the outermost object.
 * An entry is never divided. @throws JsonError, as `parseJson`
 */
export function* parseJsonInParts(text: string, limits: JsonLimits = jsonLimitsDefault): Generator<void, JsonValue> {
  const reader = openReader(text, limits);
  const reading = readOutermost(reader);
  let partEnd = partLength;
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return readEnd(reader, value);
    if (reader.at < partEnd) continue;
    partEnd = reader.at + partLength;
    yield;
  }
}

/** Reads the outermost value as `readValue` does. Stops after each entry of an array that is a member of it. */
function* readOutermost(reader: Reader): Generator<void, JsonValue> {
  const { text } = reader;
  if (text.charCodeAt(reader.at) !== openBrace) return readValue(reader);
  const object: JsonObject = {};
  descend(reader);
  if (skipSpace(reader) === closeBrace) return leave(reader, object);
  for (let members = 0; ; members++) {
    const key = readMemberName(reader, object, everyBit, members);
    object[key] = text.charCodeAt(reader.at) === openBracket ? yield* readArrayInParts(reader) : readValue(reader);
    if (isEnd(reader, closeBrace)) return leave(reader, object);
  }
}

const everyBit = -1;

function* readArrayInParts(reader: Reader): Generator<void, JsonValue[]> {
  const array: JsonValue[] = [];
  descend(reader);
  if (skipSpace(reader) === closeBracket) return leave(reader, array);
  for (;;) {
    readEntry(reader, array);
    yield;
    if (isEnd(reader, closeBracket)) return leave(reader, array);
  }
}

/** Entries of an array that are written at once: less than a millisecond's work where they are of the usual size. */
const entriesOfPart = 64;

/** Whether an object has an array that is worth writing in parts. */
export function isWrittenInParts(object: JsonObject): boolean {
  return Object.values(object).some(isLong);
}

function isLong(value: JsonValue): value is JsonValue[] {
  return Array.isArray(value) && value.length > entriesOfPart;
}

/** Returns what `JSON.stringify` does, in parts: one ends after some entries of an array that is a member of the object. */
export function* writeJsonInParts(object: JsonObject): Generator<void, string> {
  const texts: string[] = [];
  for (const [name, value] of Object.entries(object)) {
    texts.push(texts.length === 0 ? '{' : ',', JSON.stringify(name), ':');
    if (!isLong(value)) texts.push(JSON.stringify(value));
    else {
      for (let from = 0; from < value.length; from += entriesOfPart) {
        const part = JSON.stringify(value.slice(from, from + entriesOfPart));
        texts.push(from === 0 ? '[' : ',', part.slice(1, -1));
        yield;
      }
      texts.push(']');
    }
  }
  return texts.length === 0 ? '{}' : `${texts.join('')}}`;
}
