/**
 * Values to begin with: of a parameter, and of a body where the document has no example. They have the least that the schema
 * asks for.
 */
import type { ParameterObject, RequestBody, Schema } from '../../openapi/openapi.ts';
import type { References } from './described-operation.ts';
import { layOutValue } from './samples.ts';

/** How deep values go; what is required of R4's types ends before. */
const depthMax = 8;

export interface ExampleBody {
  readonly mediaType: string;
  readonly text: string;
}

/** The body that a request begins with; undefined for contents that nobody writes by hand. */
export function makeExampleBody(body: RequestBody | undefined, references: References): ExampleBody | undefined {
  const [mediaType = '', media] = Object.entries(body?.content ?? {})[0] ?? [];
  if (media === undefined) return undefined;
  if (mediaType === 'application/x-www-form-urlencoded') return { mediaType, text: makeForm(media.schema, references) };
  if (!mediaType.includes('json')) return undefined;
  const [example] = references.examplesOf(media);
  const value = example === undefined ? makeValue(media.schema, references) : example.value;
  return { mediaType, text: layOutJson(value) };
}

/** JSON as the samples write it. */
export function layOutJson(value: unknown): string {
  return layOutValue(value, ['null', 'true', 'false'], '  ');
}

/** A value that shows how a parameter is written; '' where there is none. */
export function makeExampleParameter({ example, schema }: ParameterObject, references: References): string {
  if (Array.isArray(example)) return String(example[0]);
  const { examples, enum: values } = references.resolve(schema) as { examples?: unknown[]; enum?: unknown[] };
  return String(examples?.[0] ?? values?.[0] ?? '');
}

/** Values that a parameter takes, if they are few; else none. */
export function listValues({ schema }: ParameterObject, references: References): readonly string[] {
  const { enum: values, type } = references.resolve(schema) as { enum?: readonly unknown[]; type?: unknown };
  if (type === 'boolean') return ['true', 'false'];
  return (values ?? []).map(String);
}

function makeForm(schema: Schema, references: References): string {
  const [form = {}] = (schema['oneOf'] as Schema[] | undefined) ?? [references.resolve<Schema>(schema)];
  const { properties = {}, required = [] } = form as { properties?: Record<string, Schema>; required?: string[] };
  const names = ['client_id', 'client_secret'].filter((name) => Object.hasOwn(properties, name));
  return [...new Set([...required, ...names])].map((name) => `${name}=${properties[name]?.['const'] ?? ''}`).join('&');
}

/** The least value of a schema. */
export function makeValue(schema: Schema, references: References, depth = 0): unknown {
  const name = references.nameOf(schema);
  if (name !== undefined && Object.hasOwn(primitives, name)) return primitives[name];
  const members = references.resolve<Schema>(schema) as Members;
  const { allOf = [], anyOf = [], type } = members;
  if (members.const !== undefined) return members.const;
  if (members.enum !== undefined) return members.enum[0];
  if (members.examples !== undefined) return members.examples[0];
  const [alternative] = anyOf;
  if (alternative !== undefined) return makeValue(alternative, references, depth);
  if (type === 'array') return depth < depthMax ? makeItems(members, references, depth) : [];
  if (type !== undefined && type !== 'object') return type === 'boolean' ? true : type === 'string' ? 'text' : 1;
  const own = depth < depthMax ? makeMembers(members, references, depth) : {};
  return Object.assign({}, ...allOf.map((base) => makeValue(base, references, depth)), own);
}

interface Members {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** The required members; of a parameter of an operation all. */
function makeMembers({ properties = {}, required = [] }: Members, references: References, depth: number): object {
  const isParameter = properties['name']?.['const'] !== undefined;
  const made = (isParameter ? Object.keys(properties) : required).flatMap((name) => {
    const schema = properties[name];
    return schema === undefined ? [] : [[name, makeValue(schema, references, depth + 1)] as const];
  });
  return Object.fromEntries(made);
}

/** As many items as there have to be; of the parameters of an operation those that it needs. */
function makeItems(members: Members, references: References, depth: number): readonly unknown[] {
  const { allOf = [], items = {}, minItems = 0 } = members;
  const kinds = (items['anyOf'] as readonly Schema[] | undefined) ?? [items];
  const needed = new Set(allOf.map((each) => nameOfParameter(each['contains'] as Schema | undefined)));
  const wanted = needed.size > 0 ? kinds.filter((kind) => needed.has(nameOfParameter(kind))) : kinds.slice(0, minItems);
  return wanted.map((kind) => makeValue(kind, references, depth + 1));
}

function nameOfParameter(schema: Schema | undefined): unknown {
  return (schema?.['properties'] as Readonly<Record<string, Schema>> | undefined)?.['name']?.['const'];
}

/** Values of R4's primitive types and of those whose required members say little. */
const primitives: Readonly<Record<string, unknown>> = {
  base64Binary: 'aGVsbG8=',
  boolean: true,
  canonical: 'http://example.com/fhir/example',
  code: 'code',
  date: '2026-12-01',
  dateTime: '2026-12-01T14:00:00Z',
  decimal: 1.5,
  id: '1',
  instant: '2026-12-01T14:00:00Z',
  integer: 1,
  markdown: 'text',
  oid: 'urn:oid:1.2.3',
  positiveInt: 1,
  string: 'text',
  time: '14:00:00',
  unsignedInt: 0,
  uri: 'http://example.com/fhir',
  url: 'http://example.com/fhir',
  uuid: 'urn:uuid:05efabf0-4be2-4561-91ce-51548425acb9',
  xhtml: '<div xmlns="http://www.w3.org/1999/xhtml">text</div>',
  Reference: { reference: 'Patient/1' },
  CodeableConcept: { text: 'text' },
  Coding: { system: 'http://loinc.org', code: '8480-6' },
  Identifier: { system: 'http://example.com/ids', value: '1' },
  Period: { start: '2026-12-01' },
  HumanName: { family: 'Quill' },
};
