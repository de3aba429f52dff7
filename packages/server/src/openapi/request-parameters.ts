/**
 * Parameters of paths and headers (https://hl7.org/fhir/R4/http.html#general), and those of a history (#history).
 */
import { contentFlagMeanings, contentFlags } from '../engine/context.ts';
import { keyKeptMs } from '../storage/idempotency.ts';
import {
  buildParameter,
  buildParameterRefs,
  buildPathParameter,
  buildSchemaRef,
  buildTextSchema,
  type ParameterObject,
  type ReferenceObject,
} from './openapi.ts';

/** Parts of paths, by the name in the template. */
const pathParameters: Readonly<Record<string, ParameterObject>> = {
  id: buildPathParameter('id', 'The id of the resource.', buildSchemaRef('id')),
  versionId: buildPathParameter('versionId', 'The id of the version: its meta.versionId.', buildSchemaRef('id')),
};

const dayMs = 24 * 60 * 60 * 1000;

/** No example: tools send it with each request, and the second is refused. */
const idempotencyKeySchema = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^(?:[!#-+\\-\\.0-:<-\\[\\]-~]+|"[ !#-\\[\\]-~]+")$',
};

const contentFlagTexts = Object.entries(contentFlagMeanings).map(([name, meaning]) => `${name}: ${meaning}`);

const headerParameters = {
  ifMatch: buildParameter(
    'header',
    'If-Match',
    'The ETag of the version to change. If another version is current, the change is refused.',
    buildTextSchema('W/"3"'),
  ),
  ifNoneMatch: buildParameter(
    'header',
    'If-None-Match',
    'For a read: 304 if this version is current. For a change: refused if this version is current, or with *, if the resource exists.',
    buildTextSchema('W/"3"'),
  ),
  ifModifiedSince: buildParameter(
    'header',
    'If-Modified-Since',
    '304 if the resource has not changed since.',
    buildTextSchema('Sat, 21 Nov 2026 09:30:00 GMT'),
  ),
  ifNoneExist: buildParameter(
    'header',
    'If-None-Exist',
    'Search parameters. The resource is created only if no resource matches.',
    buildTextSchema('identifier=http://hl7.org/fhir/sid/us-ssn|444555666'),
  ),
  idempotencyKey: buildParameter(
    'header',
    'Idempotency-Key',
    `Make a new key for each request, such as a random UUID. Its double quotes may be left out. A request that is repeated with its key has one effect, and gets the first answer. Kept for ${keyKeptMs / dayMs} days.`,
    idempotencyKeySchema,
  ),
  preferReturn: buildParameter('header', 'Prefer', 'The content of the response to a change.', {
    type: 'string',
    enum: ['return=minimal', 'return=representation', 'return=OperationOutcome'],
  }),
  preferHandling: buildParameter('header', 'Prefer', 'Whether unknown parameters are refused or ignored.', {
    type: 'string',
    enum: ['handling=strict', 'handling=lenient'],
  }),
  contentFlag: buildParameter('header', 'Content-flag', `Values, separated by commas. ${contentFlagTexts.join(' ')}`, {
    type: 'string',
    examples: contentFlags,
  }),
};

const dateTime = buildSchemaRef('dateTime');

const historyParameters = {
  _since: buildParameter('query', '_since', 'Only versions from this time on.', dateTime),
  _at: buildParameter('query', '_at', 'Only versions that were current at some time in this period.', dateTime),
  _before: buildParameter('query', '_before', 'Only versions before this one. The links of a response contain it.', {
    type: 'integer',
    minimum: 1,
  }),
};

export type HeaderName = keyof typeof headerParameters;
export type HistoryParameterName = keyof typeof historyParameters;

/** The parameters above as components; those of headers by names that no parameter of a query has. */
export function requestParameterComponents(): Readonly<Record<string, ParameterObject>> {
  const headers = Object.entries(headerParameters).map(([name, parameter]) => [`header.${name}`, parameter]);
  return { ...pathParameters, ...Object.fromEntries(headers), ...historyParameters };
}

export function buildHeaderParameterRefs(names: readonly HeaderName[]): readonly ReferenceObject[] {
  return buildParameterRefs(names.map((name) => `header.${name}`));
}

/** References to the parameters that a template names: `/Patient/{id}` → id. */
export function buildPathParameterRefs(template: string): readonly ReferenceObject[] {
  return buildParameterRefs([...template.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name));
}
