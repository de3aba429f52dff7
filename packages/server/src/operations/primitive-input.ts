/**
 * Primitive values of in-parameters: as text of a query, or as a value of Parameters whose type is a near relation of the
 * declared one (https://hl7.org/fhir/R4/datatypes.html#primitive).
 */
import { findPrimitivePattern, isPrimitiveType, type JsonValue } from '@praxis/fhir';
import { refuseParameter } from './parameter-problem.ts';

/** Longest text that is matched against the pattern of a type. */
const patternTextMax = 100_000;

/** Types whose values are written alike: one may be sent for another when its text is right for that. */
const families: readonly ReadonlySet<string>[] = [
  new Set(['string', 'code', 'id', 'markdown']),
  new Set(['uri', 'url', 'canonical', 'uuid', 'oid', 'string']),
  new Set(['integer', 'positiveInt', 'unsignedInt']),
  new Set(['date', 'dateTime', 'instant']),
];

const integers: ReadonlySet<string> = new Set(['integer', 'positiveInt', 'unsignedInt']);
const integerMax = 2 ** 31 - 1;

/**
 * The value that a text of the query stands for.
 * @throws PraxisError `operation-parameter-invalid`
 */
export function parsePrimitive(name: string, type: string, text: string): JsonValue {
  const wanted = type === 'boolean' ? 'true or false' : `a value of type ${type}`;
  return valueOfText(type, text) ?? refuseParameter(name, `takes ${wanted}${describeExample(type)}`);
}

/** A right value, as the end of a sentence; '' for types of which anything is. */
export function describeExample(type: string): string {
  const example = examples[type];
  return example === undefined ? '' : `, such as ${example}`;
}

const examples: Readonly<Record<string, string>> = {
  base64Binary: 'UHJheGlz',
  canonical: 'http://hl7.org/fhir/ValueSet/administrative-gender',
  code: 'final',
  date: '2026-11-21',
  dateTime: '2026-11-21T09:30:00Z',
  decimal: '1.5',
  id: 'example-1',
  instant: '2026-11-21T09:30:00.000Z',
  integer: '10',
  oid: 'urn:oid:2.16.840.1.113883.6.1',
  positiveInt: '10',
  time: '09:30:00',
  unsignedInt: '10',
  uri: 'http://loinc.org',
  url: 'https://example.com/fhir/Patient/1',
  uuid: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520',
};

/** A value of type `sent` as one of `type`; undefined when it cannot be. The value is valid as `sent`. */
export function convertPrimitive(type: string, sent: string, value: JsonValue): JsonValue | undefined {
  if (type === sent) return value;
  if (!isPrimitiveType(sent) || !families.some((family) => family.has(type) && family.has(sent))) return undefined;
  return valueOfText(type, String(value));
}

function valueOfText(type: string, text: string): JsonValue | undefined {
  if (type === 'boolean') return text === 'true' || text === 'false' ? text === 'true' : undefined;
  if (!fits(type, text)) return undefined;
  if (integers.has(type)) return Math.abs(Number(text)) <= integerMax ? Number(text) : undefined;
  if (type !== 'decimal') return text;
  return String(Number(text)) === text ? Number(text) : JSON.rawJSON(text);
}

/** R4's pattern of base64Binary and markdown is slow on long values, and theirs say nothing about short ones. */
function fits(type: string, text: string): boolean {
  if (text === '' || text.length > patternTextMax) return false;
  if (type === 'string' || type === 'markdown') return text.trim() !== '';
  if (type === 'base64Binary') return /^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(text);
  return new RegExp(`^(?:${findPrimitivePattern(type)})$`).test(text);
}
