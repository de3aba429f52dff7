/**
 * JSON Schemas of R4's types, from their definitions (https://hl7.org/fhir/R4/json.html): names, types, cardinalities and
 * required codes of all elements. What a schema cannot say as briefly (invariants, one alternative of a choice at a time,
 * the `_name` siblings of primitive elements) is left open; the service checks it.
 */
import {
  buildJsonName,
  type ElementDefinition,
  type ElementType,
  findPrimitivePattern,
  findTypeDefinition,
  findValueSetCodes,
  resourceTypes,
  type TypeDefinition,
} from '@praxis/fhir';
import { buildSchemaRef, type Schema } from './openapi.ts';

/** Value sets of more codes are not listed. */
const listedCodesMax = 60;

/** Types of JSON other than string: https://hl7.org/fhir/R4/json.html#primitive */
const jsonTypes: Readonly<Record<string, Schema>> = {
  boolean: { type: 'boolean' },
  decimal: { type: 'number' },
  integer: { type: 'integer' },
  positiveInt: { type: 'integer', minimum: 1 },
  unsignedInt: { type: 'integer', minimum: 0 },
};

/** Values of these are long, and their published patterns slow on them. */
const withoutPattern: ReadonlySet<string> = new Set(['base64Binary', 'markdown', 'string', 'xhtml']);

/** The schemas of all resource types and of every type that they are made of, by name. */
export function buildTypeSchemas(): Readonly<Record<string, Schema>> {
  const schemas = new Map<string, Schema>([['Resource', anyResource]]);
  const waiting: TypeDefinition[] = resourceTypes.flatMap(definitionsOf);
  for (let type = waiting.pop(); type !== undefined; type = waiting.pop()) {
    if (schemas.has(type.name)) continue;
    schemas.set(type.name, type.kind === 'primitive-type' ? primitiveSchema(type.name) : structure(type, schemas));
    for (const element of type.elements.values()) {
      if (element.children !== undefined) waiting.push(element.children);
      waiting.push(...element.types.flatMap(({ code }) => definitionsOf(code)));
    }
  }
  return Object.fromEntries([...schemas].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function definitionsOf(name: string): readonly TypeDefinition[] {
  const type = findTypeDefinition(name);
  return type === undefined ? [] : [type];
}

const anyResource: Schema = {
  description: 'A resource of any type.',
  type: 'object',
  properties: { resourceType: { enum: resourceTypes } },
  required: ['resourceType'],
};

function primitiveSchema(name: string): Schema {
  const json = jsonTypes[name];
  if (json !== undefined) return json;
  const pattern = withoutPattern.has(name) ? undefined : findPrimitivePattern(name);
  return pattern === undefined ? { type: 'string' } : { type: 'string', pattern: `^(?:${pattern})$` };
}

function structure(type: TypeDefinition, schemas: Map<string, Schema>): Schema {
  const isResource = type.kind === 'resource';
  const elements = [...type.elements.values()];
  const properties = Object.fromEntries(elements.flatMap((element) => propertiesOf(element, schemas)));
  const required = elements.filter(({ min, choice }) => min > 0 && !choice).map(({ name }) => name);
  return {
    ...(isResource ? { externalDocs: { url: `https://hl7.org/fhir/R4/${type.name.toLowerCase()}.html` } } : {}),
    type: 'object',
    properties: isResource ? { resourceType: { const: type.name }, ...properties } : properties,
    ...(required.length > 0 || isResource ? { required: [...(isResource ? ['resourceType'] : []), ...required] } : {}),
  };
}

/** One property, or one for each alternative of a choice. */
function propertiesOf(element: ElementDefinition, schemas: Map<string, Schema>): readonly [string, Schema][] {
  if (element.children !== undefined) return [[element.name, repeated(element, buildSchemaRef(element.children.name))]];
  return element.types.map((type) => [
    buildJsonName(element, type),
    repeated(element, codesOf(element, type, schemas) ?? valueSchema(type)),
  ]);
}

function repeated({ max }: ElementDefinition, schema: Schema): Schema {
  return max > 1 ? { type: 'array', minItems: 1, items: schema } : schema;
}

function valueSchema({ code, targets }: ElementType): Schema {
  const schema = buildSchemaRef(code);
  return targets === undefined || code !== 'Reference' ? schema : { ...schema, description: targets.join(' | ') };
}

/** A code that has to be of a short list; the list is a schema of its own, shared by those that take it. */
function codesOf({ binding }: ElementDefinition, { code }: ElementType, schemas: Map<string, Schema>) {
  const codes = code !== 'code' || binding === undefined ? undefined : findValueSetCodes(binding);
  if (binding === undefined || codes === undefined || codes.size > listedCodesMax) return undefined;
  const name = `codes.${binding.slice(binding.lastIndexOf('/') + 1)}`;
  if (!schemas.has(name)) schemas.set(name, { type: 'string', enum: [...codes], externalDocs: { url: binding } });
  return buildSchemaRef(name);
}
