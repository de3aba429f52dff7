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
