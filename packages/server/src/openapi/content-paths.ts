/**
 * Content by URLs that need no header (docs/integrate/documents.md). Nobody makes such a URL up: it is answered, and used as it is.
 */
import { mediaTypes } from '../content/media-types.ts';
import { linkParameter } from '../practice/documents/content-links.ts';
import { buildHeaderRefs, buildRefusalRefs } from './error-answers.ts';
import { limitHeaders } from './headers.ts';
import {
  buildPathParameter,
  buildTextSchema,
  type ContentMap,
  type OperationObject,
  type ParameterObject,
  type Paths,
  type Servers,
} from './openapi.ts';
import { firmPathParameters } from './token-paths.ts';

export const contentTag = 'Content';

const bytes = { type: 'string', contentEncoding: 'binary' };

/** @param root the server of paths that do not begin with a FHIR base */
export function buildContentPaths(root: Servers): Paths {
  const parameters: readonly ParameterObject[] = [
    ...firmPathParameters,
    buildPathParameter('id', 'The content.', buildTextSchema('0f0e8f4a-5d5c-4f57-8d55-0c5bb0a6a5a1')),
    {
      name: linkParameter,
      in: 'query',
      description: 'The sealed permission of the URL. Valid for 300 seconds.',
      required: true,
      schema: { type: 'string' },
    },
  ];
  return {
    '/{environment}/firm/{firm}/{product}/content/{id}': { servers: root, parameters, get: download, put: upload },
  };
}

const anyContent: ContentMap = { '*/*': { schema: bytes } };
const contentHeaders = buildHeaderRefs(['ETag', ...limitHeaders]);

const download: OperationObject = {
  operationId: 'downloadContent',
  summary: 'Download content',
  description:
    'A resource contains the URL, for example attachment.url of a DocumentReference. The URL ends when the caller loses the rights it had. A request may ask for one range of bytes.',
  tags: [contentTag],
  security: [],
  responses: {
    '200': { description: 'The content.', headers: contentHeaders, content: anyContent },
    '206': { description: 'The bytes that Range asks for.', headers: contentHeaders, content: anyContent },
    '304': { description: 'The content has the ETag of If-None-Match.', headers: buildHeaderRefs(['ETag']) },
    ...buildRefusalRefs([404, 405, 410, 416, 429, 500, 503]),
  },
};

const upload: OperationObject = {
  operationId: 'uploadContent',
  summary: 'Upload content',
  description:
    'POST Binary returns the URL. It accepts one file and needs only Content-Length. After a refused file the URL is still valid. Content-Type is that of the file, text/plain or absent. Content-Digest (RFC 9530, sha-256) is checked. Refer to the content in a resource within a day.',
  tags: [contentTag],
  security: [],
  requestBody: { required: true, content: Object.fromEntries(mediaTypes.map((type) => [type, { schema: bytes }])) },
  responses: {
    '200': { description: 'The content is stored.', headers: contentHeaders },
    ...buildRefusalRefs([400, 404, 405, 410, 413, 415, 429, 500, 503]),
  },
};
