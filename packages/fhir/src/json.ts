/**
 * Lossless JSON: parses RFC 8259 text so that every decimal keeps its digits (`1.00` stays `1.00`), and refuses what
 * JSON.parse lets through and a FHIR server must not: duplicate keys, `__proto__`, unbounded depth and length.
 *
 * https://hl7.org/fhir/R4/json.html#decimal · https://www.rfc-editor.org/rfc/rfc8259
 *
 * Serialise with JSON.stringify: raw decimals are written as they were read.
 */
import { findPath, JsonError, type JsonRule } from './json-error.ts';
import { findLoneSurrogate, formatCodePoint, shortenName } from './text-error.ts';

export { JsonError, type JsonRule } from './json-error.ts';

/** A number whose source text JavaScript would not write back, made by JSON.rawJSON. Immutable, without prototype. */
export interface RawDecimal {
  readonly rawJSON: string;
}
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject | RawDecimal;
export interface JsonObject {
  [key: string]: JsonValue;
}

/** Bounds on what the parser accepts. The size of the whole text is for the caller to bound, before decoding it. */
export interface JsonLimits {
  /** Objects and arrays inside each other, at most. */
  readonly depthMax: number;
  /** Entries of one array, at most. */
  readonly arrayLengthMax: number;
  /** UTF-16 code units between the quotes of one string or key, at most. */
  readonly stringLengthMax: number;
}

/** Deeper than any official R4 example (22), far below what recursion can bear. */
export const depthMaxDefault = 64;
/** Three times the longest array among the official R4 examples (28,517 entries in an ImplementationGuide). */
export const arrayLengthMaxDefault = 100_000;
/** 16 Mi: a base64 attachment of 12 MiB. Strings of type `string` are held to 1 Mi by the validator. */
export const stringLengthMaxDefault = 16 * 1024 * 1024;

/** Several times the members of R4's largest type with all its choices and siblings. More are never FHIR, and costly to refuse one by one. */
export const membersMax = 1_000;

export const jsonLimitsDefault: JsonLimits = {
  depthMax: depthMaxDefault,
  arrayLengthMax: arrayLengthMaxDefault,
  stringLengthMax: stringLengthMaxDefault,
};

declare global {
  // ES2026 (https://tc39.es/proposal-json-parse-with-source/); Node 24 has both, TypeScript's library does not yet.
  interface JSON {
    rawJSON(text: string): RawDecimal;
    isRawJSON(value: unknown): value is RawDecimal;
  }
}

/**
 * The value of a JSON text. Objects are plain, with own properties only; key order is that of the text.
 * A number is a `number` when JavaScript would write it back exactly so, a RawDecimal otherwise.
 * Throws JsonError, with rule, path, line and column of the first fault.
 */
export function parseJson(text: string, limits: JsonLimits = jsonLimitsDefault): JsonValue {
  const reader = openReader(text, limits);
  return readEnd(reader, readValue(reader));
}

/** The object of a JSON text that holds one. @throws JsonError, TypeError for any other value */
export function parseJsonObject(text: string): JsonObject {
  const value = parseJson(text);
  if (!isJsonObject(value)) throw new TypeError('the JSON text is no object');
  return value;
}

/** A reader at the beginning of the value. */
export function openReader(text: string, limits: JsonLimits): Reader {
  const reader: Reader = { text, limits, at: 0, depth: 0 };
  if (text.charCodeAt(0) === byteOrderMark) fail(reader, 'syntax', 0, 'byte order mark before the JSON text');
  if (!text.isWellFormed()) {
    const problem = 'half of a surrogate pair stands alone: the text is not valid Unicode';
    fail(reader, 'syntax', findLoneSurrogate(text), problem);
  }
  skipSpace(reader);
  return reader;
}

/** The value, when nothing follows it. */
export function readEnd<T>(reader: Reader, value: T): T {
  if (skipSpace(reader) !== endOfText) fail(reader, 'syntax', reader.at, `text after the JSON value: ${found(reader)}`);
  return value;
}

/** Whether a value is a number kept as its source text. A plain object `{"rawJSON": …}` is not. */
export function isRawDecimal(value: unknown): value is RawDecimal {
  return JSON.isRawJSON(value);
}

/** Whether a value is an object: no array, no number with its source text. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawDecimal(value);
}

/** The digits of a number as it was read, for instance `1.00`. */
export function formatDecimal(value: number | RawDecimal): string {
  return typeof value === 'number' ? String(value) : value.rawJSON;
}

export interface Reader {
  readonly text: string;
  readonly limits: JsonLimits;
  /** Offset of the next character to read. */
  at: number;
  depth: number;
}

const endOfText = -1;
const byteOrderMark = 0xfeff;
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const minus = 0x2d;
const dot = 0x2e;
const zero = 0x30;
const nine = 0x39;
export const openBrace = 0x7b;
export const closeBrace = 0x7d;
export const openBracket = 0x5b;
export const closeBracket = 0x5d;

/** Moves to the next character that is not white space and returns its code, or endOfText. */
export function skipSpace(reader: Reader): number {
  const { text } = reader;
  let at = reader.at;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) {
      reader.at = at;
      return code;
    }
    at++;
  }
  reader.at = at;
  return endOfText;
}

/** Reads the value that begins at the current character, which is not white space. */
export function readValue(reader: Reader): JsonValue {
  const { text, at } = reader;
  const code = at < text.length ? text.charCodeAt(at) : endOfText;
  if (code === quote) return readString(reader);
  if (code === openBrace) return readObject(reader);
  if (code === openBracket) return readArray(reader);
  if (code === minus || (code >= zero && code <= nine)) return readNumber(reader);
  if (text.startsWith('true', at)) return readWord(reader, 4, true);
  if (text.startsWith('false', at)) return readWord(reader, 5, false);
  if (text.startsWith('null', at)) return readWord(reader, 4, null);
  return fail(reader, 'syntax', at, `a JSON value is expected, not ${found(reader)}`);
}

function readWord(reader: Reader, length: number, value: boolean | null): boolean | null {
  reader.at += length;
  return value;
}

function readObject(reader: Reader): JsonObject {
  const object: JsonObject = {};
  descend(reader);
  let members = 0;
  let seen = 0;
  if (skipSpace(reader) === closeBrace) return leave(reader, object);
  for (;;) {
    const key = readMemberName(reader, object, seen, members);
    members += 1;
    seen |= bitOf(key);
    object[key] = readValue(reader);
    if (isEnd(reader, closeBrace)) return leave(reader, object);
  }
}

/** One bit for a hash of a key: only keys that share a bit with another are looked up. */
function bitOf(key: string): number {
  return 1 << (key.length * 5 + key.charCodeAt(key.length - 1));
}

/** Reads a key and the colon, up to the value. `seen` has the bits of the keys before it, `members` their number. */
export function readMemberName(reader: Reader, object: JsonObject, seen: number, members: number): string {
  const start = reader.at;
  if (reader.text.charCodeAt(start) !== quote)
    fail(reader, 'syntax', start, `a key in double quotes is expected, not ${found(reader)}`);
  if (members === membersMax) fail(reader, 'too-long', start, `an object may have ${membersMax} members at most`);
  const key = readKey(reader);
  if ((seen & bitOf(key)) !== 0 && Object.hasOwn(object, key)) {
    fail(reader, 'duplicate-key', start, `the key ${JSON.stringify(shortenName(key))} occurs twice in one object`);
  }
  if (key === '__proto__') fail(reader, 'forbidden-key', start, 'the key "__proto__" is not accepted');
  if (skipSpace(reader) !== colon)
    fail(reader, 'syntax', reader.at, `":" is expected after a key, not ${found(reader)}`);
  reader.at++;
  skipSpace(reader);
  return key;
}

function readArray(reader: Reader): JsonValue[] {
  const array: JsonValue[] = [];
  descend(reader);
  if (skipSpace(reader) === closeBracket) return leave(reader, array);
  for (;;) {
    requireRoom(reader, array);
    array.push(readValue(reader));
    if (isEnd(reader, closeBracket)) return leave(reader, array);
  }
}

/** Before another entry is read. @throws JsonError `too-long` */
export function requireRoom(reader: Reader, array: readonly JsonValue[]): void {
  if (array.length === reader.limits.arrayLengthMax) {
    fail(reader, 'too-long', reader.at, `an array may have ${reader.limits.arrayLengthMax} entries at most`);
  }
}

/** Whether what follows a value is the end of the object or array; else it is a comma, and the next character is found. */
export function isEnd(reader: Reader, end: number): boolean {
  const code = skipSpace(reader);
  if (code === end) return true;
  if (code !== comma)
    fail(reader, 'syntax', reader.at, `"," or "${String.fromCharCode(end)}" is expected, not ${found(reader)}`);
  reader.at++;
  skipSpace(reader);
  return false;
}

/** Enters an object or array at its first character. */
export function descend(reader: Reader): void {
  if (++reader.depth > reader.limits.depthMax) {
    fail(reader, 'too-deep', reader.at, `objects and arrays may be nested ${reader.limits.depthMax} deep at most`);
  }
  reader.at++;
}

/** Leaves it at its last character. */
export function leave<T>(reader: Reader, value: T): T {
  reader.depth--;
  reader.at++;
  return value;
}

/** Reads a number: a JavaScript number if it is written back the same, a raw decimal otherwise. */
function readNumber(reader: Reader): number | RawDecimal {
  const { text } = reader;
  const start = reader.at;
  const first = text.charCodeAt(start) === minus ? start + 1 : start;
  let at = skipDigits(reader, first);
  if (text.charCodeAt(first) === zero && at > first + 1) {
    fail(reader, 'syntax', first, 'a number may not begin with a superfluous 0');
  }
  let plain = true;
  if (at < text.length && text.charCodeAt(at) === dot) {
    at = skipDigits(reader, at + 1);
    plain = false;
  }
  if (at < text.length && (text.charCodeAt(at) | 0x20) === 0x65 /* e */) {
    const sign = at + 1 < text.length ? text.charCodeAt(at + 1) : endOfText;
    at = skipDigits(reader, sign === 0x2b || sign === minus ? at + 2 : at + 1);
    plain = false;
  }
  reader.at = at;
  const source = text.slice(start, at);
  const value = Number(source);
  // Up to 15 digits are exact; only `-0` is not written back.
  if (plain && at - first <= 15 && (value !== 0 || first === start)) return value;
  return String(value) === source ? value : JSON.rawJSON(source);
}

/** The offset after one or more digits. */
function skipDigits(reader: Reader, from: number): number {
  const { text } = reader;
  let at = from;
  while (at < text.length) {
    const code = text.charCodeAt(at);
    if (code < zero || code > nine) break;
    at++;
  }
  if (at === from) {
    reader.at = at;
    fail(reader, 'syntax', at, `a digit is expected, not ${found(reader)}`);
  }
  return at;
}

/**
 * Keys seen lately, by hash: the same few hundred names come again and again, and a string that is a property name
 * already spares the engine a copy and a table look-up. Bounded; holds element names, never values.
 */
const recentKeys: string[] = new Array(2048).fill('');
const recentKeyLengthMax = 48;

function readKey(reader: Reader): string {
  const { text } = reader;
  const start = reader.at + 1;
  let hash = 0;
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) break;
    if (code === backslash || code < 0x20) return readString(reader);
    hash = (Math.imul(hash, 31) + code) | 0;
  }
  const length = at - start;
  if (at === text.length || length > recentKeyLengthMax || length > reader.limits.stringLengthMax)
    return readString(reader);
  reader.at = at + 1;
  const slot = (hash ^ (hash >>> 11)) & 2047;
  const recent = recentKeys[slot] ?? '';
  if (recent.length === length && text.startsWith(recent, start)) return recent;
  // A property name is a flat string of its own: a slice would keep the whole text alive.
  const key = Object.keys({ [text.slice(start, at)]: 0 })[0] ?? '';
  recentKeys[slot] = key;
  return key;
}

function readString(reader: Reader): string {
  const { text } = reader;
  const start = reader.at + 1;
  let at = start;
  let escaped = false;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === quote) break;
    if (code === backslash) {
      at = skipEscape(reader, at);
      escaped = true;
    } else if (code < 0x20) {
      fail(reader, 'syntax', at, `a control character (${formatCodePoint(code)}) must be escaped inside a string`);
    }
  }
  if (at >= text.length) fail(reader, 'syntax', text.length, 'a string is not closed: found the end of the text');
  if (at - start > reader.limits.stringLengthMax) {
    fail(reader, 'too-long', start - 1, `a string may have ${reader.limits.stringLengthMax} characters at most`);
  }
  reader.at = at + 1;
  if (!escaped) return text.slice(start, at);
  const value: string = JSON.parse(text.slice(start - 1, at + 1));
  if (!value.isWellFormed()) {
    fail(reader, 'syntax', start - 1, 'a string has half of a surrogate pair (\\uD800 to \\uDFFF) alone');
  }
  return value;
}

/** Checks the escape that begins at a backslash; returns the offset of its last character. */
function skipEscape(reader: Reader, at: number): number {
  const { text } = reader;
  const letter = text.charAt(at + 1);
  if (letter === 'u') {
    if (/^[0-9a-fA-F]{4}$/.test(text.slice(at + 2, at + 6))) return at + 5;
    return fail(reader, 'syntax', at, '"\\u" must be followed by four hexadecimal digits');
  }
  if (letter === '' || !'"\\/bfnrt'.includes(letter)) {
    return fail(reader, 'syntax', at, 'a backslash must be followed by one of "\\/bfnrtu');
  }
  return at + 1;
}

/** The character at the current place, in words. */
function found(reader: Reader): string {
  const point = reader.text.codePointAt(reader.at);
  if (point === undefined) return 'the end of the text';
  return point > 0x20 && point < 0x7f ? `"${String.fromCodePoint(point)}"` : formatCodePoint(point);
}

/** Throws the error for a fault at an offset; the path is that of the element which was being read. */
function fail(reader: Reader, rule: JsonRule, offset: number, problem: string): never {
  const path = findPath(reader.text, offset, rule === 'duplicate-key' || rule === 'forbidden-key');
  throw new JsonError(rule, path, reader.text.slice(0, offset), problem);
}
