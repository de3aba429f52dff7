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
  readMemberName,
  readValue,
  requireRoom,
  skipSpace,
} from './json.ts';

/** Characters of a part, at least: less than a millisecond's work. */
const partLength = 65_536;

/**
 * Returns what `parseJson` does, in parts: one ends after a member of an object or an entry of an array. A scalar is never
 * divided. @throws JsonError, as `parseJson`
 */
export function* parseJsonInParts(text: string, limits: JsonLimits = jsonLimitsDefault): Generator<void, JsonValue> {
  const reader = openReader(text, limits);
  return readEnd(reader, yield* readValueInParts({ reader, partEnd: partLength }));
}

interface Reading {
  readonly reader: Reader;
  /** Where the part ends, at least. */
  partEnd: number;
}

/** Reads a value as `readValue` does. */
function* readValueInParts(reading: Reading): Generator<void, JsonValue> {
  const { reader } = reading;
  const code = reader.text.charCodeAt(reader.at);
  if (code === openBrace) return yield* readObjectInParts(reading);
  if (code === openBracket) return yield* readArrayInParts(reading);
  return readValue(reader);
}

function* readObjectInParts(reading: Reading): Generator<void, JsonObject> {
  const { reader } = reading;
  const object: JsonObject = {};
  descend(reader);
  if (skipSpace(reader) === closeBrace) return leave(reader, object);
  for (let members = 0; ; members++) {
    const key = readMemberName(reader, object, everyBit, members);
    object[key] = isContainer(reader) ? yield* readValueInParts(reading) : readValue(reader);
    if (endsPart(reading)) yield;
    if (isEnd(reader, closeBrace)) return leave(reader, object);
  }
}

const everyBit = -1;

function* readArrayInParts(reading: Reading): Generator<void, JsonValue[]> {
  const { reader } = reading;
  const array: JsonValue[] = [];
  descend(reader);
  if (skipSpace(reader) === closeBracket) return leave(reader, array);
  for (;;) {
    requireRoom(reader, array);
    array.push(isContainer(reader) ? yield* readValueInParts(reading) : readValue(reader));
    if (endsPart(reading)) yield;
    if (isEnd(reader, closeBracket)) return leave(reader, array);
  }
}

function isContainer({ text, at }: Reader): boolean {
  const code = text.charCodeAt(at);
  return code === openBrace || code === openBracket;
}

function endsPart(reading: Reading): boolean {
  const { at } = reading.reader;
  if (at < reading.partEnd) return false;
  reading.partEnd = at + partLength;
  return true;
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
