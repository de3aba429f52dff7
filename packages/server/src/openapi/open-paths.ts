/**
 * Paths that are answered without credentials (docs/integrate/contract.md#order-of-checks).
 */
import { buildResourceContent } from './content.ts';
import { buildHeaderRefs, buildRefusalRefs } from './error-answers.ts';
import { systemTag } from './interaction-paths.ts';
import { buildParameterRefs, buildSchemaRef, type OperationObject, type Paths, type Servers } from './openapi.ts';

export const serviceTag = 'Service';

interface OpenText {
  readonly operationId: string;
  readonly summary: string;
  readonly tag: string;
  readonly media: string;
  /** For those who name them in Accept. */
  readonly otherMedia?: readonly string[];
  readonly headers?: readonly string[];
  /** The other status it may have. */
  readonly else?: { readonly status: number; readonly text: string };
}

/** Paths below the origin. */
const pages: Readonly<Record<string, OpenText>> = {
  '/': {
    operationId: 'frontPage',
    summary: 'Front page, in the media type that Accept names',
    tag: serviceTag,
    media: 'text/plain',
    otherMedia: ['text/html', 'application/json'],
  },
  '/docs': { operationId: 'reference', summary: 'API reference', tag: serviceTag, media: 'text/html' },
  '/openapi.json': {
    operationId: 'openApi',
    summary: 'OpenAPI document',
    tag: serviceTag,
    media: 'application/json',
    else: { status: 304, text: 'It is still that of If-None-Match.' },
  },
  '/health/live': {
    operationId: 'live',
    summary: 'Liveness: the process runs',
    tag: serviceTag,
    media: 'application/json',
    headers: ['X-Worker'],
  },
  '/health/ready': {
    operationId: 'ready',
    summary: 'Readiness: requests are served',
    tag: serviceTag,
    media: 'application/json',
    else: { status: 503, text: 'It would not.' },
  },
};

/**
 * The open paths; what programs find out there is in discovery-paths.ts.
 * @param root the server of paths that do not begin with a practice
 */
export function openPaths(root: Servers): Paths {
  const own = Object.entries(pages).map(([path, text]) => [path, { servers: root, get: operationOf(text) }] as const);
  return { ...Object.fromEntries(own), '/metadata': { get: capabilities } };
}

const capabilities: OperationObject = {
  operationId: 'capabilities',
  summary: 'Read the CapabilityStatement',
  description:
    'Needs no credentials. With a token and an API key it also lists the search parameters of the practice that the caller may use.',
  tags: [systemTag],
  parameters: buildParameterRefs(['_format', '_pretty']),
  security: [{}, { bearer: [], apiKey: [] }],
  responses: {
    '200': {
      description: 'The CapabilityStatement.',
      headers: buildHeaderRefs(['ETag']),
      content: buildResourceContent(buildSchemaRef('CapabilityStatement')),
    },
    ...buildRefusalRefs([404, 406]),
  },
};

function operationOf({ media, otherMedia = [], ...text }: OpenText): OperationObject {
  const { operationId, summary, tag, headers = [], else: other } = text;
  const content = Object.fromEntries(
    [media, ...otherMedia].map((each) => [each, { schema: { type: each.startsWith('text/') ? 'string' : 'object' } }]),
  );
  return {
    operationId,
    summary,
    tags: [tag],
    security: [],
    responses: {
      '200': { description: summary, headers: buildHeaderRefs(headers), content },
      ...(other === undefined ? {} : { [other.status]: { description: other.text, headers: buildHeaderRefs([]) } }),
    },
  };
}
