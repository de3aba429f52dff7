/**
 * Bodies of requests and answers by media type (https://hl7.org/fhir/R4/http.html#mime-type).
 */
import { buildComponentRef, buildSchemaRef, type ContentMap, type Schema } from './openapi.ts';

export const formType = 'application/x-www-form-urlencoded';

/** A resource in both formats; `examples` are names of components. */
export function buildResourceContent(schema: Schema, examples: readonly string[] = []): ContentMap {
  const named = Object.fromEntries(examples.map((name) => [name, buildComponentRef('examples', name)]));
  return {
    'application/fhir+json': { schema, ...(examples.length > 0 ? { examples: named } : {}) },
    'application/fhir+xml': { schema },
  };
}

/** JSON that is no resource; `examples` are names of components by the names that they have here. */
export function buildJsonContent(schema: string, examples: Readonly<Record<string, string>>): ContentMap {
  const named = Object.entries(examples).map(([name, component]) => [name, buildComponentRef('examples', component)]);
  return { 'application/json': { schema: buildSchemaRef(schema), examples: Object.fromEntries(named) } };
}

/** Content of a Binary as it is: https://hl7.org/fhir/R4/binary.html#rest */
export const unspecifiedContent: ContentMap = {
  '*/*': { schema: { description: 'The content itself, of any media type.' } },
};

/** A document that is no resource. */
export const plainJsonContent: ContentMap = { 'application/json': { schema: { type: 'object' } } };

/** Lists as lines: docs/decisions/0139. */
export const linesContent: ContentMap = {
  'application/fhir+ndjson': { schema: { type: 'string', description: 'One resource per line.' } },
};
