/**
 * Parameters of paths and headers (https://hl7.org/fhir/R4/http.html#general), and those of a history (#history).
 */
import { contentFlagMeanings, contentFlags } from '../engine/context.ts';
import { keyKeptMs } from '../storage/idempotency.ts';
import { buildComponentRef, buildSchemaRef, type ParameterObject, type ReferenceObject } from './openapi.ts';

/** Parts of paths, by the name in the template. */
const pathParameters: Readonly<Record<string, ParameterObject>> = {
  id: { name: 'id', in: 'path', description: 'Id of the resource.', required: true, schema: buildSchemaRef('id') },
  versionId: {
    name: 'versionId',
    in: 'path',
    description: 'Id of the version, as in its meta.versionId.',
    required: true,
    schema: buildSchemaRef('id'),
  },
};

const dayMs = 24 * 60 * 60 * 1000;

const entityTag = { type: 'string', examples: ['W/"3"'] } as const;

const headerParameters = {
  ifMatch: {
    name: 'If-Match',
    in: 'header',
    description:
      'ETag of the version that the change is meant for; the change is refused where another one is current.',
    schema: entityTag,
  },
  ifNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description:
      'A read: 304 where the version is still this one. A change: refused where it is, or, by *, where there is any.',
    schema: entityTag,
  },
  ifModifiedSince: {
    name: 'If-Modified-Since',
    in: 'header',
    description: '304 where nothing changed since.',
    schema: { type: 'string', examples: ['Sat, 21 Nov 2026 09:30:00 GMT'] },
  },
  ifNoneExist: {
    name: 'If-None-Exist',
    in: 'header',
    description: 'Search parameters: the resource is created only where none matches them.',
    schema: { type: 'string', examples: ['identifier=http://hl7.org/fhir/sid/us-ssn|444555666'] },
  },
  idempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: `A string, made anew for each request; its double quotes may be left out. Repeated with it, the request has one effect, and is answered as the first time. Kept for ${keyKeptMs / dayMs} days.`,
    schema: { type: 'string', examples: ['"8e03978e-40d5-43dd-bc93-6894a57f9324"'] },
  },
  preferReturn: {
    name: 'Prefer',
    in: 'header',
    description: 'What is returned after a change.',
    schema: {
      type: 'string',
      enum: ['return=minimal', 'return=representation', 'return=OperationOutcome'],
    },
  },
  preferHandling: {
    name: 'Prefer',
    in: 'header',
    description: 'Whether parameters that are not known are refused or ignored.',
    schema: { type: 'string', enum: ['handling=strict', 'handling=lenient'] },
  },
  contentFlag: {
    name: 'Content-flag',
    in: 'header',
    description: `Values, separated by commas. ${Object.entries(contentFlagMeanings)
      .map(([name, meaning]) => `${name}: ${meaning}`)
      .join(' ')}`,
    schema: { type: 'string', examples: contentFlags },
  },
} as const satisfies Readonly<Record<string, ParameterObject>>;

const historyParameters = {
  _since: {
    name: '_since',
    in: 'query',
    description: 'Versions from this time on.',
    schema: buildSchemaRef('dateTime'),
  },
  _at: {
    name: '_at',
    in: 'query',
    description: 'Versions that were current at some point of this time.',
    schema: buildSchemaRef('dateTime'),
  },
  _before: {
    name: '_before',
    in: 'query',
    description: 'Versions below this one; comes with the links of an answer.',
    schema: { type: 'integer', minimum: 1 },
  },
} as const satisfies Readonly<Record<string, ParameterObject>>;

export type HeaderName = keyof typeof headerParameters;
export type HistoryParameterName = keyof typeof historyParameters;

/** The parameters above as components; those of headers by names that no parameter of a query has. */
export function requestParameterComponents(): Readonly<Record<string, ParameterObject>> {
  const headers = Object.entries(headerParameters).map(([name, parameter]) => [`header.${name}`, parameter]);
  return { ...pathParameters, ...Object.fromEntries(headers), ...historyParameters };
}

export function buildHeaderParameterRefs(names: readonly HeaderName[]): readonly ReferenceObject[] {
  return names.map((name) => buildComponentRef('parameters', `header.${name}`));
}

export function buildHistoryRefs(names: readonly HistoryParameterName[]): readonly ReferenceObject[] {
  return names.map((name) => buildComponentRef('parameters', name));
}

/** References to the parameters that a template names: `/Patient/{id}` → id. */
export function buildPathParameterRefs(template: string): readonly ReferenceObject[] {
  return [...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => buildComponentRef('parameters', name));
}
