/**
 * The formats of R4's primitive types, one row each.
 *
 * https://hl7.org/fhir/R4/datatypes.html#primitive
 */
import { formatDecimal, isRawDecimal, type JsonValue } from '../json.ts';
import { findDateProblem, findDateTimeProblem, findInstantProblem, findTimeProblem } from './calendar.ts';
import type { ValidationRule } from './issue.ts';
import { findNarrativeProblem } from './narrative.ts';

/** What is wrong with a value, as a sentence part that begins with "must" or "may". */
export interface Problem {
  readonly rule: ValidationRule;
  readonly text: string;
}

/** Checks a value of a primitive type; undefined if it is one. */
export type PrimitiveCheck = (value: JsonValue) => Problem | undefined;

/** https://hl7.org/fhir/R4/datatypes.html#string: 1 MB, "which is 1024*1024 characters". */
export const stringLengthMax = 1024 * 1024;
/** https://hl7.org/fhir/R4/datatypes.html#integer: signed, 32 bits. */
const integerMax = 2_147_483_647;
const integerMin = -2_147_483_648;

const controlCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/;
// White space is that of XML, on which R4's own patterns rest: a no-break space is none.
const uriPattern = /^[^\u0000-\u0020]+$/;
const codePattern = /^[^\u0000-\u0020]+(?: [^\u0000-\u0020]+)*$/;
const idPattern = /^[A-Za-z0-9\-.]{1,64}$/;
const oidPattern = /^urn:oid:[0-2](?:\.(?:0|[1-9][0-9]*))+$/;
const uuidPattern = /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const base64Pattern = /^[A-Za-z0-9+/]*={0,2}$/;

const uri = text(pattern(uriPattern, 'must be a URI: white space is not allowed'));

const primitiveChecks: Readonly<Record<string, PrimitiveCheck>> = {
  base64Binary: text(base64Problem),
  boolean: (value) => (typeof value === 'boolean' ? undefined : wrongType('must be a JSON boolean: true or false')),
  canonical: uri,
  code: text(pattern(codePattern, 'must be a code: no white space but single spaces between characters')),
  date: text(findDateProblem),
  dateTime: text(findDateTimeProblem),
  decimal,
  id: text(pattern(idPattern, 'must be an id: 1 to 64 of A-Z, a-z, 0-9, "-" and "."'), 'id'),
  instant: text(findInstantProblem),
  integer: integer(integerMin),
  markdown: string,
  oid: text(pattern(oidPattern, 'must be an OID as urn:oid:1.2.3')),
  positiveInt: integer(1),
  string,
  time: text(findTimeProblem),
  unsignedInt: integer(0),
  uri,
  url: uri,
  uuid: text(pattern(uuidPattern, 'must be a UUID as urn:uuid: and 8-4-4-4-12 lower-case hexadecimal digits')),
  xhtml: text(findNarrativeProblem, 'narrative'),
};

/** The check of a primitive type. Throws for a name that is none: the definitions then disagree with this table. */
export function getPrimitiveCheck(type: string): PrimitiveCheck {
  const check = Object.hasOwn(primitiveChecks, type) ? primitiveChecks[type] : undefined;
  if (check === undefined) throw new Error(`No format is known for the primitive type ${type}`);
  return check;
}

/** Whether a text is a valid resource id. https://hl7.org/fhir/R4/datatypes.html#id */
export function isId(value: string): boolean {
  return idPattern.test(value);
}

/** Element.id: "any string value that does not contain spaces". https://hl7.org/fhir/R4/element.html#id */
export const elementIdCheck = text(pattern(uriPattern, 'must be an id of an element: no white space'), 'id');

function text(problem: (value: string) => string | undefined, rule: ValidationRule = 'format'): PrimitiveCheck {
  return (value) => {
    if (typeof value !== 'string') return wrongType('must be a JSON string');
    if (value === '') return emptyText;
    const found = problem(value);
    return found === undefined ? undefined : { rule, text: found };
  };
}

function pattern(expression: RegExp, problem: string): (value: string) => string | undefined {
  return (value) => (expression.test(value) ? undefined : problem);
}

function string(value: JsonValue): Problem | undefined {
  if (typeof value !== 'string') return wrongType('must be a JSON string');
  if (value === '') return emptyText;
  if (value.length > stringLengthMax)
    return { rule: 'too-long', text: `may have ${stringLengthMax} characters at most` };
  if (!controlCharacter.test(value)) return undefined;
  return { rule: 'format', text: 'may not contain control characters other than tab, line feed and carriage return' };
}

function decimal(value: JsonValue): Problem | undefined {
  if (typeof value === 'number') return undefined;
  if (!isRawDecimal(value)) return wrongType('must be a JSON number');
  if (Number.isFinite(Number(formatDecimal(value)))) return undefined;
  return { rule: 'format', text: 'must be a decimal within ±1.79e308' };
}

function integer(min: number): PrimitiveCheck {
  return (value) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= integerMax) return undefined;
    if (typeof value !== 'number' && !isRawDecimal(value)) return wrongType('must be a JSON number');
    const isPlain = /^(?:0|-?[1-9][0-9]*)$/.test(formatDecimal(value));
    const why = isPlain ? ` from ${min} to ${integerMax}` : ': no fraction, exponent or negative zero';
    return { rule: 'format', text: `must be an integer${why}` };
  };
}

function base64Problem(value: string): string | undefined {
  if (isBase64(value)) return undefined;
  return 'must be base64: groups of four of A-Z, a-z, 0-9, "+", "/", the last filled up with "="';
}

/** By code of a character, as far as there are any: 1 for a digit. */
const base64Digits = new Uint8Array(128);
for (const digit of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  base64Digits[digit.charCodeAt(0)] = 1;
const filler = 0x3d; /* = */

/** White space may stand between groups of four. No regular expression over groups: values may have millions of them. */
function isBase64(value: string): boolean {
  if (!/\s/.test(value)) return value !== '' && value.length % 4 === 0 && base64Pattern.test(value);
  let [digits, fillers] = [0, 0];
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (fillers === 0 && base64Digits[code] === 1) digits += 1;
    else if (code === filler) fillers += 1;
    else if ((digits + fillers) % 4 !== 0 || !isSpace(code)) return false;
  }
  return digits > 0 && fillers <= 2 && (digits + fillers) % 4 === 0;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x9 && code <= 0xd) || (code > 0x7f && /\s/.test(String.fromCharCode(code)));
}

const emptyText: Problem = { rule: 'empty', text: 'may not be empty: leave the element out' };

function wrongType(problem: string): Problem {
  return { rule: 'type', text: problem };
}
