/**
 * Bodies of requests as components (https://hl7.org/fhir/R4/http.html#mime-type).
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { isWritable } from '../engine/write/read-only-types.ts';
import { buildResourceContent, formType, unspecifiedContent } from './content.ts';
import { listResourceExamples } from './examples.ts';
import { buildComponentRef, buildSchemaRef, type ReferenceObject, type RequestBody, type Schema } from './openapi.ts';

/** The two kinds of patches: https://hl7.org/fhir/R4/http.html#patch */
const patch: RequestBody = {
  required: true,
  content: {
    'application/json-patch+json': {
      schema: {
        description: 'JSON Patch (RFC 6902).',
        type: 'array',
        items: {
          type: 'object',
          required: ['op', 'path'],
          properties: {
            op: { enum: ['add', 'remove', 'replace', 'move', 'copy', 'test'] },
            path: { type: 'string' },
            from: { type: 'string' },
            value: {},
          },
        },
      },
      examples: { 'json-patch': buildComponentRef('examples', 'json-patch') },
    },
    ...buildResourceContent(
      { ...buildSchemaRef('Parameters'), description: 'FHIRPath Patch: https://hl7.org/fhir/R4/fhirpatch.html' },
      ['fhirpath-patch'],
    ),
  },
};

const bundle: RequestBody = {
  required: true,
  content: buildResourceContent({ ...buildSchemaRef('Bundle'), description: 'Of type batch or transaction.' }, [
    'transaction',
  ]),
};

/** A resource of each type that can be written, a patch, a batch or transaction. */
export function requestBodyComponents(): Readonly<Record<string, RequestBody>> {
  const resources = resourceTypesWithEndpoint.filter(isWritable).map((type) => [type, resourceBody(type)]);
  return { patch, bundle, ...Object.fromEntries(resources) };
}

function resourceBody(type: string): RequestBody {
  const content = buildResourceContent(buildSchemaRef(type), listResourceExamples(type, 'sent'));
  return { required: true, content: type === 'Binary' ? { ...content, ...unspecifiedContent } : content };
}

/** A reference to what an interaction takes. */
export function requestBodyRef(takes: 'resource' | 'patch' | 'bundle', type: string): ReferenceObject {
  return buildComponentRef('requestBodies', takes === 'resource' ? type : takes);
}

/** A form of search parameters. */
export function buildFormBody(schema: Schema): RequestBody {
  return { description: 'Parameters of the search, beside those of the query.', content: { [formType]: { schema } } };
}
