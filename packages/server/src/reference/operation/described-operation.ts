/**
 * An operation of the OpenAPI document with all that it refers to, as its page shows it.
 */
import type { OpenApiDocument } from '../../openapi/document.ts';
import {
  type Answer,
  type ComponentKind,
  describedMethods,
  type MediaType,
  type OperationObject,
  type ParameterObject,
  type PathItem,
  type ReferenceObject,
  type RequestBody,
  type Schema,
} from '../../openapi/openapi.ts';
import type { Area } from '../addresses.ts';

export interface DescribedOperation {
  readonly tag: string;
  /** Upper case. */
  readonly method: string;
  /** Below that of the place. Of a webhook its name. */
  readonly path: string;
  readonly operation: OperationObject;
  readonly parameters: readonly ParameterObject[];
  readonly body: RequestBody | undefined;
  /** By status. */
  readonly answers: readonly (readonly [status: string, answer: Answer])[];
  readonly place: OperationPlace;
  readonly area: Area;
  readonly needsToken: boolean;
  readonly needsApiKey: boolean;
}

/** What the path of an operation is below. */
export const placePaths = {
  firm: '/{environment}/firm/{firm}/{product}/fhir/v2',
  root: '',
  administration: '/admin/api',
  webhook: '',
} as const;

export type OperationPlace = keyof typeof placePaths;

/** What references of a document lead to. */
export class References {
  readonly #components: OpenApiDocument['components'];

  constructor(components: OpenApiDocument['components']) {
    this.#components = components;
  }

  /** The value itself, or what it refers to. */
  resolve<Value>(value: Value | ReferenceObject): Value {
    if (typeof value !== 'object' || value === null || !('$ref' in value)) return value;
    const { $ref } = value as ReferenceObject;
    const [kind = '', name = ''] = $ref.slice('#/components/'.length).split('/');
    return this.#components[kind]?.[name] as Value;
  }

  /** Name of the schema that is referred to; undefined for one that is written out. */
  nameOf(schema: Schema): string | undefined {
    const reference = schema['$ref'];
    return typeof reference === 'string' ? reference.slice('#/components/schemas/'.length) : undefined;
  }

  find<Value>(kind: ComponentKind, name: string): Value | undefined {
    const those = this.#components[kind] ?? {};
    return Object.hasOwn(those, name) ? (those[name] as Value) : undefined;
  }

  /** The values of the examples of a media type. */
  examplesOf({ examples = {} }: MediaType): readonly { readonly name: string; readonly value: unknown }[] {
    return Object.entries(examples).map(([name, example]) => {
      const { summary, value } = this.resolve<{ summary?: string; value: unknown }>(example);
      return { name: summary ?? name, value };
    });
  }
}

/** The operations of paths, or of webhooks, in their order. @param kind what the paths are those of */
export function listOperations(
  items: Readonly<Record<string, PathItem>>,
  references: References,
  kind: 'data' | 'webhook' | 'administration' = 'data',
): readonly DescribedOperation[] {
  return Object.entries(items).flatMap(([path, item]) =>
    describedMethods.flatMap((method) => {
      const operation = item[method];
      if (operation === undefined) return [];
      const place = kind === 'data' ? (item.servers === undefined ? 'firm' : 'root') : kind;
      return [describe({ path, item, operation, method: method.toUpperCase(), place }, references)];
    }),
  );
}

interface Found extends Pick<DescribedOperation, 'path' | 'operation' | 'method' | 'place'> {
  readonly item: PathItem;
}

function describe({ item, ...found }: Found, references: References): DescribedOperation {
  const { operation } = found;
  const parameters = [...(item.parameters ?? []), ...(operation.parameters ?? [])];
  const { place } = found;
  const usual = place === 'administration' ? [{ bearer: [] }] : [{ bearer: [], apiKey: [] }];
  const needed = Object.keys(Object.assign({}, ...(operation.security ?? usual)));
  return {
    ...found,
    area: place === 'administration' ? 'administration' : 'reference',
    tag: operation.tags[0] ?? '',
    parameters: parameters.map((parameter) => references.resolve<ParameterObject>(parameter)),
    body: operation.requestBody && references.resolve<RequestBody>(operation.requestBody),
    answers: Object.entries(operation.responses).map(([status, answer]) => [
      status,
      references.resolve<Answer>(answer),
    ]),
    needsToken: needed.includes('bearer'),
    needsApiKey: needed.includes('apiKey'),
  };
}
