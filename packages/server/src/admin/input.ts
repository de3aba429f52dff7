/**
 * From the body of a request to the checked input of an action: what is unknown, missing or of another form is refused with
 * the field and the rule.
 */
import { JsonError, parseJson, suggestName } from '@praxis/fhir';
import type { BodyOf, Field, Fields } from '../actions/schema.ts';
import { fail } from '../base/errors.ts';

/** A field of the body breaks a rule of the action. @throws PraxisError `rule-broken` always */
export function refuseField(field: string, diagnostics: string): never {
  return fail('rule-broken', { diagnostics, expression: [field] });
}

/** Bytes of a request body. */
export const bodyBytesMax = 262_144;

/** A Content-Type that says JSON in UTF-8 (https://www.rfc-editor.org/rfc/rfc8259#section-11). */
const mediaType = /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i;

/**
 * The values of `fields` in a body.
 * @param contentType all values of the header
 * @throws PraxisError `media-type-unsupported`, `json-malformed`, or `input-invalid` with one issue for each wrong field
 */
export function readBody(fields: Fields, contentType: readonly string[], body: string): BodyOf<Fields> {
  if (Object.keys(fields).length === 0) {
    if (body !== '') fail('input-invalid', { diagnostics: 'This action takes no body' });
    return {};
  }
  const given = body === '' ? {} : parse(contentType, body);
  const result = checkFields(fields, given);
  if ('values' in result) return result.values;
  const [first, ...more] = result.problems;
  return fail('input-invalid', { ...first, more });
}

/** The values of the fields, or what is wrong with them: each begins with the name of the field. */
export function checkFields(
  fields: Fields,
  given: Readonly<Record<string, unknown>>,
): { readonly values: BodyOf<Fields> } | { readonly problems: readonly [FieldProblem, ...FieldProblem[]] } {
  const [first, ...more] = problemsOf(fields, given);
  if (first !== undefined) return { problems: [first, ...more] };
  const values = Object.entries(fields)
    .filter(([name]) => given[name] !== undefined)
    .map(([name, { kind }]) => [name, kind === 'time' ? timeOf(String(given[name])) : given[name]] as const);
  return { values: Object.fromEntries(values) as BodyOf<Fields> }; // each value has passed the check of its field
}

function parse(contentType: readonly string[], body: string): Readonly<Record<string, unknown>> {
  if (contentType.length !== 1 || !mediaType.test(contentType[0]?.trim() ?? ''))
    fail('media-type-unsupported', { diagnostics: 'Content-Type must be application/json' });
  let value: unknown;
  try {
    value = parseJson(body, jsonLimits);
  } catch (cause) {
    if (!(cause instanceof JsonError)) throw cause;
    // Its message quotes the text, which may be a password.
    const { line, column } = cause;
    const diagnostics = `The body ${jsonFaults[cause.rule]} (line ${line}, column ${column})`;
    return fail('json-malformed', { diagnostics, cause });
  }
  return isObject(value) ? value : fail('input-invalid', { diagnostics: 'The body must be a JSON object' });
}

const jsonLimits = { depthMax: 16, arrayLengthMax: 1_000, stringLengthMax: bodyBytesMax };

const jsonFaults: Readonly<Record<JsonError['rule'], string>> = {
  syntax: 'is not JSON',
  'duplicate-key': 'names a member twice',
  'forbidden-key': 'has a member __proto__',
  'too-deep': `is nested deeper than ${jsonLimits.depthMax}`,
  'too-long': `has a list of more than ${jsonLimits.arrayLengthMax} items or a text that is too long`,
};

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface FieldProblem {
  readonly diagnostics: string;
  readonly expression: readonly string[];
}

const problemsMax = 10;

function problemsOf(fields: Fields, given: Readonly<Record<string, unknown>>): readonly FieldProblem[] {
  const known = Object.keys(fields);
  const unknown = Object.keys(given)
    .filter((name) => !Object.hasOwn(fields, name))
    .map((name) => ({
      diagnostics: `${printable(name)} is no field of this action${suggestName(name, known) || ';'} its fields are ${known.join(', ')}`,
      expression: [printable(name)],
    }));
  const wrong = Object.entries(fields).flatMap(([name, field]) => {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    const [isKept, rule] = value === undefined ? [field.required !== true, 'is missing'] : judge(field, value);
    return isKept ? [] : [{ diagnostics: `${name} ${rule}`, expression: [name] }];
  });
  return [...unknown, ...wrong].slice(0, problemsMax);
}

/** What is unknown may be anything, also a secret in the wrong place. */
function printable(name: string): string {
  return /^[A-Za-z]{1,40}$/.test(name) ? name : 'A member of the body';
}

/** Whether the value is one of the field's, and what those must be. */
function judge(field: Field, value: unknown): readonly [isKept: boolean, rule: string] {
  switch (field.kind) {
    case 'text':
      return [isText(value, field.lengthMax), textRule(field.lengthMax)];
    case 'choice':
      return [typeof value === 'string' && field.values.includes(value), `must be one of ${field.values.join(', ')}`];
    case 'time':
      return [
        typeof value === 'string' && !Number.isNaN(timeOf(value)),
        'must be an ISO 8601 time with its zone, such as 2027-01-31T00:00:00Z',
      ];
    case 'integer':
      return [
        Number.isSafeInteger(value) && Number(value) >= field.min && Number(value) <= field.max,
        `must be a whole number from ${field.min} to ${field.max}`,
      ];
    case 'flag':
      return [typeof value === 'boolean', 'must be true or false'];
    case 'texts':
      return [
        Array.isArray(value) && value.length <= field.itemsMax && value.every((each) => isText(each, field.lengthMax)),
        `must be a list of at most ${field.itemsMax} texts, each of which ${textRule(field.lengthMax)}`,
      ];
    case 'flags':
      return [
        isObject(value) &&
          Object.entries(value).every(([name, each]) => field.names.includes(name) && typeof each === 'boolean'),
        `must be an object whose members are true or false; they are ${field.names.join(', ')}`,
      ];
    case 'object':
      return [isObject(value), 'must be a JSON object'];
  }
}

function textRule(lengthMax: number): string {
  return `must be a text of 1 to ${lengthMax} characters without control characters`;
}

/** Without control characters and lone surrogates, which no database column holds. */
function isText(value: unknown, lengthMax: number): boolean {
  if (typeof value !== 'string' || value.length === 0 || [...value].length > lengthMax) return false;
  return !/[\p{Cc}\p{Cs}]/u.test(value);
}

const timePattern = /^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Ms since 1970; NaN for what is no time. Date.parse rolls days over that do not exist. */
function timeOf(text: string): number {
  const [, day = ''] = timePattern.exec(text) ?? [];
  const midnightMs = Date.parse(day);
  if (Number.isNaN(midnightMs) || !new Date(midnightMs).toISOString().startsWith(day)) return Number.NaN;
  return Date.parse(text);
}
