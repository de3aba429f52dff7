/**
 * What a client asks about its own tokens: introspection (https://www.rfc-editor.org/rfc/rfc7662) and revocation
 * (https://www.rfc-editor.org/rfc/rfc7009).
 */
import { buildJsonContent, formType } from './content.ts';
import { buildHeaderRefs, buildRefusalRefs } from './error-answers.ts';
import { limitHeaders } from './headers.ts';
import type { Answer, OperationObject, Paths, Schema, Servers } from './openapi.ts';
import {
  buildRefusalAnswers,
  buildRefusalExamples,
  clientForm,
  failures,
  type Refusals,
  realmPathParameters,
  tokenTag,
} from './token-paths.ts';

interface Endpoint {
  readonly path: string;
  readonly operation: Pick<OperationObject, 'operationId' | 'summary' | 'description'>;
  readonly answer: Answer;
  readonly refusals: Refusals;
}

const refusals = {
  invalid_request: 'token is missing or empty',
  invalid_client: 'client_id or client_secret is wrong for this realm',
  ...failures,
} as const;

const endpoints: Readonly<Record<'introspect' | 'revoke', Endpoint>> = {
  introspect: {
    path: '/auth/realms/{realm}/protocol/openid-connect/token/introspect',
    operation: {
      operationId: 'introspectToken',
      summary: 'Introspect a token of the client',
      description:
        'For a token of another client, an expired token and a token that was issued without x-api-key, the response is only `{"active": false}`.',
    },
    answer: {
      description: 'The claims of the token, or that it is not active for this client. Cache-Control is no-store.',
      headers: buildHeaderRefs(limitHeaders),
      content: buildJsonContent('Introspection', {
        active: 'Introspection',
        legacy: 'Introspection.legacy',
        inactive: 'Introspection.inactive',
      }),
    },
    refusals,
  },
  revoke: {
    path: '/auth/realms/{realm}/protocol/openid-connect/revoke',
    operation: {
      operationId: 'revokeToken',
      summary: 'Revoke a token of the client',
      description:
        'Every node refuses the token at once. Revoking a refresh token also revokes its access tokens. The response is the same when the token is not active.',
    },
    answer: {
      description: 'The token is not active any more. The response has no body.',
      headers: buildHeaderRefs(limitHeaders),
    },
    refusals: { ...refusals, unauthorized_client: 'token was issued to another client: only that one ends it' },
  },
};

/** Both endpoints, below `servers`. */
export function buildOwnTokenPaths(servers: Servers): Paths {
  return Object.fromEntries(
    Object.entries(endpoints).map(([name, endpoint]) => [
      endpoint.path,
      { servers, parameters: realmPathParameters, post: operationOf(name, endpoint) },
    ]),
  );
}

function operationOf(name: string, { operation, answer, refusals: refused }: Endpoint): OperationObject {
  const schema: Schema = {
    type: 'object',
    required: ['token'],
    properties: {
      token: { type: 'string', description: 'An access or refresh token of the client or its application.' },
      token_type_hint: { type: 'string', description: 'Not needed.' },
      ...clientForm,
    },
  };
  return {
    ...operation,
    tags: [tokenTag],
    security: [{ apiKey: [] }, { apiKey: [], clientBasic: [] }],
    requestBody: { required: true, content: { [formType]: { schema } } },
    responses: { '200': answer, ...buildRefusalAnswers(name, refused), ...buildRefusalRefs([404]) },
  };
}

const token = {
  active: true,
  scope: 'acl/enc_s acl/pat_s_name_dob_gen',
  token_type: 'Bearer',
  client_id: 'your-client',
  iss: 'https://example.com/auth/realms/sandbox',
  sub: '019aa5c4-2f1e-7c3a-9b57-3a4f5d1c2b6e',
  aud: 'sandbox',
  jti: '019aa5c4-3a10-7d0e-8f1b-6d2c9e4b7a35',
  iat: 1_795_253_400,
  exp: 1_795_254_300,
};
const { client_id: _, iss: __, ...legacy } = token;

/** Answers and refusals of both endpoints. */
export function buildOwnTokenExamples(): Readonly<Record<string, object>> {
  return {
    Introspection: { value: token },
    'Introspection.legacy': { value: { ...legacy, scope: 'your-firm', username: 'user@your-firm' } },
    'Introspection.inactive': { value: { active: false } },
    ...buildRefusalExamples('introspect', endpoints.introspect.refusals),
    ...buildRefusalExamples('revoke', endpoints.revoke.refusals),
  };
}

/** RFC 7662 §2.2. */
export const ownTokenSchemas: Readonly<Record<string, Schema>> = {
  Introspection: {
    type: 'object',
    required: ['active'],
    properties: {
      active: { type: 'boolean', description: 'Whether the token is active. If not, there are no other members.' },
      scope: {
        type: 'string',
        description: 'The access entries, separated by spaces. For a legacy token, the practice.',
      },
      token_type: { const: 'Bearer', description: 'For access tokens.' },
      client_id: { type: 'string', description: 'For the client-credentials flow.' },
      username: { type: 'string', description: 'For the legacy flow: user@practice.' },
      iss: { type: 'string', description: 'For the client-credentials flow: the realm.' },
      sub: { type: 'string' },
      aud: { type: 'string', description: 'The environment.' },
      jti: { type: 'string', description: 'The id of the token, as in the audit ledger.' },
      iat: { type: 'integer', description: 'When it was issued, in seconds since 1970.' },
      exp: { type: 'integer', description: 'When it expires, in seconds since 1970.' },
    },
  },
};
