/**
 * Bodies of requests and answers by media type (https://hl7.org/fhir/R4/http.html#mime-type).
 */
import { buildComponentRef, type ContentMap, type Schema } from './openapi.ts';

export const formType = 'application/x-www-form-urlencoded';

/** A resource in both formats; `examples` are names of components. */
export function buildResourceContent(schema: Schema, examples: readonly string[] = []): ContentMap {
  const named = Object.fromEntries(examples.map((name) => [name, buildComponentRef('examples', name)]));
  return {
    'application/fhir+json': { schema, ...(examples.length > 0 ? { examples: named } : {}) },
    'application/fhir+xml': { schema },
  };
}

/** Content of a Binary as it is: https://hl7.org/fhir/R4/binary.html#rest */
export const unspecifiedContent: ContentMap = {
  '*/*': { schema: { description: 'The content itself, of any media type.' } },
};

/** Lists as lines: docs/decisions/0139. */
export const linesContent: ContentMap = {
  'application/fhir+ndjson': { schema: { type: 'string', description: 'Resources, one a line.' } },
};
