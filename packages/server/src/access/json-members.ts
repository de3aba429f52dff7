/**
 * Copies members of a JSON object as they stand in its text, without building values: decimals keep their digits
 * (https://hl7.org/fhir/R4/json.html#decimal), and masking costs a fraction of parsing. For valid JSON only, as storage
 * holds it; text that turns out broken is an error, never a guess.
 */
import { fail } from '../base/errors.ts';
import type { ElementAllowList } from './allowed-elements.ts';

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

interface Reader {
  readonly text: string;
  /** Offset of the next character. */
  at: number;
}

/** Offsets of a member: its key's quote, its value, the end of its value. */
interface Member {
  readonly key: string;
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

/** The JSON object with the members that `kept` names, in their order; `{}` when none is there. */
export function keepMembers(text: string, kept: ElementAllowList): string {
  const reader = { text, at: 0 };
  skipSpace(reader);
  return keepOfObject(reader, kept) || '{}';
}

/** The text of the value of a top-level member; undefined when the object has no such member. */
export function findMemberText(text: string, key: string): string | undefined {
  const member = findMember(text, key);
  return member && text.slice(member.valueStart, member.end);
}

/** The object with the value of a top-level member replaced; added as the last one where it is missing. */
export function withMember(text: string, key: string, value: string): string {
  const member = findMember(text, key);
  if (member) return text.slice(0, member.valueStart) + value + text.slice(member.end);
  const close = text.lastIndexOf('}');
  const separator = /^\s*\{\s*\}\s*$/.test(text) ? '' : ',';
  return `${text.slice(0, close)}${separator}${JSON.stringify(key)}:${value}${text.slice(close)}`;
}

/** The object without a top-level member. */
export function withoutMember(text: string, key: string): string {
  const member = findMember(text, key);
  if (member === undefined) return text;
  const [before, after] = [text.slice(0, member.start), text.slice(member.end)];
  return /^\s*,/.test(after) ? before + after.replace(/^\s*,/, '') : before.replace(/,\s*$/, '') + after;
}

function findMember(text: string, key: string): Member | undefined {
  const reader = { text, at: 0 };
  skipSpace(reader);
  let found: Member | undefined;
  eachMember(reader, (name, start, valueStart) => {
    skipValue(reader);
    if (name === key) found = { key, start, valueStart, end: reader.at };
  });
  return found;
}

/** Reads the object at the reader; `visit` gets each key and must move the reader behind its value. */
function eachMember(reader: Reader, visit: (key: string, start: number, valueStart: number) => void): void {
  expect(reader, openBrace);
  if (skipSpace(reader) === closeBrace) {
    reader.at += 1;
    return;
  }
  for (;;) {
    const start = reader.at;
    if (skipSpace(reader) !== quote) broken(reader);
    skipString(reader);
    const key = keyOf(reader.text, start, reader.at);
    skipSpace(reader);
    expect(reader, colon);
    skipSpace(reader);
    visit(key, start, reader.at);
    const next = skipSpace(reader);
    reader.at += 1;
    if (next === closeBrace) return;
    if (next !== comma) broken(reader);
    skipSpace(reader);
  }
}

/** The object at the reader without the members that are not kept; empty text when none is kept. */
function keepOfObject(reader: Reader, kept: ElementAllowList): string {
  let out = '';
  eachMember(reader, (key, start, valueStart) => {
    const rule = kept.get(key);
    if (rule === undefined) {
      skipValue(reader);
      return;
    }
    const value = rule === true ? wholeValue(reader) : keepOfValue(reader, rule);
    if (value !== '') out += (out === '' ? '{' : ',') + reader.text.slice(start, valueStart) + value;
  });
  return out === '' ? '' : `${out}}`;
}

function wholeValue(reader: Reader): string {
  const start = reader.at;
  skipValue(reader);
  return reader.text.slice(start, reader.at);
}

/** An object, or an array of objects, with the kept members; empty text when nothing is left or it is neither. */
function keepOfValue(reader: Reader, kept: ElementAllowList): string {
  const code = reader.text.charCodeAt(reader.at);
  if (code === openBrace) return keepOfObject(reader, kept);
  if (code !== openBracket) {
    skipValue(reader);
    return '';
  }
  const entries: string[] = [];
  reader.at += 1;
  while (skipSpace(reader) !== closeBracket) {
    const entry = keepOfValue(reader, kept);
    if (entry !== '') entries.push(entry);
    if (skipSpace(reader) === comma) reader.at += 1;
    else if (reader.text.charCodeAt(reader.at) !== closeBracket) broken(reader);
  }
  reader.at += 1;
  return entries.length === 0 ? '' : `[${entries.join(',')}]`;
}

/** The key between the quotes at `start` and before `end`. */
function keyOf(text: string, start: number, end: number): string {
  const key = text.slice(start + 1, end - 1);
  return key.includes('\\') ? String(JSON.parse(text.slice(start, end))) : key;
}

/** Moves behind the value at the reader. */
function skipValue(reader: Reader): void {
  const first = reader.text.charCodeAt(reader.at);
  if (first === quote) skipString(reader);
  else if (first === openBrace || first === openBracket) skipNested(reader);
  else skipScalar(reader);
}

/** Moves behind the object or array at the reader. */
function skipNested(reader: Reader): void {
  const { text } = reader;
  let depth = 0;
  for (let at = reader.at; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) {
      reader.at = at;
      skipString(reader);
      at = reader.at - 1;
    } else if (code === openBrace || code === openBracket) {
      depth += 1;
    } else if (code === closeBrace || code === closeBracket) {
      depth -= 1;
      if (depth === 0) {
        reader.at = at + 1;
        return;
      }
    }
  }
  broken(reader);
}

/** Moves behind the string whose quote is at the reader. */
function skipString(reader: Reader): void {
  const { text } = reader;
  let end = reader.at;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end < 0) broken(reader);
    let slashes = end;
    while (text.charCodeAt(slashes - 1) === backslash) slashes -= 1;
    if (((end - slashes) & 1) === 0) break;
  }
  reader.at = end + 1;
}

/** Moves behind a number, true, false or null. */
function skipScalar(reader: Reader): void {
  const { text } = reader;
  const start = reader.at;
  while (reader.at < text.length && isScalarCode(text.charCodeAt(reader.at))) reader.at += 1;
  if (reader.at === start) broken(reader);
}

/** Letters, digits, `+`, `-`, `.`. */
function isScalarCode(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x2b ||
    code === 0x2d ||
    code === 0x2e ||
    code === 0x45
  );
}

/** Moves to the next character that is no white space; its code, NaN at the end. */
function skipSpace(reader: Reader): number {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
    reader.at += 1;
  }
}

function expect(reader: Reader, code: number): void {
  if (reader.text.charCodeAt(reader.at) !== code) broken(reader);
  reader.at += 1;
}

function broken(reader: Reader): never {
  return fail('internal', {
    diagnostics: 'A stored resource cannot be read',
    log: { offset: reader.at, characters: reader.text.length },
  });
}
