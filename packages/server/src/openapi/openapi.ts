/**
 * The parts of an OpenAPI document that are used here (https://spec.openapis.org/oas/v3.1.1.html#schema-0).
 */

export interface ReferenceObject {
  readonly $ref: string;
}

/** JSON Schema 2020-12. */
export type Schema = Readonly<Record<string, unknown>>;

export interface ParameterObject {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly description: string;
  readonly required?: true;
  readonly style?: 'form';
  readonly explode?: true;
  readonly schema: Schema;
  /** A value that the service takes. */
  readonly example?: unknown;
}

export interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, ReferenceObject>>;
}

export type ContentMap = Readonly<Record<string, MediaType>>;

export interface RequestBody {
  readonly description?: string;
  readonly required?: boolean;
  readonly content: ContentMap;
}

export interface Answer {
  readonly description: string;
  readonly headers?: Readonly<Record<string, ReferenceObject>>;
  readonly content?: ContentMap;
}

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly deprecated?: true;
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
  readonly requestBody?: RequestBody | ReferenceObject;
  /** By status. */
  readonly responses: Readonly<Record<string, Answer | ReferenceObject>>;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
}

export type Servers = readonly { readonly url: string }[];

/** Operations by method, lower case; `servers` and `parameters` of all of them. */
export interface PathItem {
  readonly servers?: Servers;
  readonly parameters?: readonly (ParameterObject | ReferenceObject)[];
  readonly get?: OperationObject;
  readonly post?: OperationObject;
  readonly put?: OperationObject;
  readonly patch?: OperationObject;
  readonly delete?: OperationObject;
}

/** Paths by template. */
export type Paths = Readonly<Record<string, PathItem>>;

/** Methods that are described; HEAD is answered wherever GET is. */
export const describedMethods = ['get', 'post', 'put', 'patch', 'delete'] as const;
export type DescribedMethod = (typeof describedMethods)[number];

export type ComponentKind = 'schemas' | 'parameters' | 'headers' | 'responses' | 'requestBodies' | 'examples';

/** A reference to a component of the document. */
export function buildComponentRef(kind: ComponentKind, name: string): ReferenceObject {
  return { $ref: `#/components/${kind}/${name}` };
}

export function buildSchemaRef(name: string): ReferenceObject & Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** References to parameters that are components. */
export function buildParameterRefs(names: readonly string[]): readonly ReferenceObject[] {
  return names.map((name) => buildComponentRef('parameters', name));
}

/** A parameter that may be left out. */
export function buildParameter(
  place: 'query' | 'header',
  name: string,
  description: string,
  schema: Schema,
): ParameterObject {
  return { name, in: place, description, schema };
}

/** A part of a path. */
export function buildPathParameter(name: string, description: string, schema: Schema): ParameterObject {
  return { name, in: 'path', description, required: true, schema };
}

/** Text such as the example. */
export function buildTextSchema(example: string): Schema {
  return { type: 'string', examples: [example] };
}

/** `search-type` → `searchType`. */
export function toCamelCase(name: string): string {
  return name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** The name of a tag in URLs. `Every type` → `every-type`; names of types stay as they are. */
export function slugTag(tag: string): string {
  return tag.includes(' ') ? tag.toLowerCase().replaceAll(' ', '-') : tag;
}
