/**
 * Values of attributes as the JSON values of their types, without losing digits.
 *
 * https://hl7.org/fhir/R4/datatypes.html#primitive
 */
import type { JsonValue } from '../json.ts';
import { quoteText } from '../validation/issue.ts';
import { fail, type Scanner } from './scanner.ts';

/**
 * `text` keeps white space at its ends, since R4's own examples have it; it is taken from everything else, as the
 * schema types do. https://hl7.org/fhir/R4/xml.html#whitepace
 */
export type ScalarKind = 'text' | 'token' | 'boolean' | 'integer' | 'decimal';

const decimal = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const outerSpace = /^[ \t\r\n]+|[ \t\r\n]+$/g;

/**
 * The JSON value of an attribute. Only what JSON could not hold as the type is an error here; the rest is for the
 * validator to judge.
 */
export function parseScalar(scanner: Scanner, text: string, kind: ScalarKind, type: string, offset: number): JsonValue {
  if (kind === 'text') return text;
  const token = /^[ \t\r\n]|[ \t\r\n]$/.test(text) ? text.replace(outerSpace, '') : text;
  if (kind === 'token') return token;
  if (kind === 'boolean' && (token === 'true' || token === 'false')) return token === 'true';
  if (kind === 'boolean') fail(scanner, 'value', offset, `${quoteText(token)} is no boolean: true or false`);
  const digits = kind === 'integer' && /^\+[1-9]/.test(token) ? token.slice(1) : token;
  if (!decimal.test(digits)) fail(scanner, 'value', offset, `${quoteText(token)} is no ${type}`);
  const value = Number(digits);
  return String(value) === digits ? value : JSON.rawJSON(digits);
}
