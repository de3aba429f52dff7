/**
 * The token endpoints (contract 4.1 to 4.3; https://www.rfc-editor.org/rfc/rfc6749#section-5): forms of the grants that are
 * offered, their answers and refusals.
 */
import { assertionType } from '../oauth/client-auth/client-authentication.ts';
import { type OAuthErrorCode, oauthErrorTable } from '../oauth/errors.ts';
import { clientGrants, legacyGrants } from '../oauth/grants/list.ts';
import { buildRefusalReply } from '../oauth/token-endpoint.ts';
import { buildJsonContent, formType } from './content.ts';
import { buildHeaderRefs, buildRefusalRefs, refusalHeaders } from './error-answers.ts';
import { limitHeaders } from './headers.ts';
import {
  type Answer,
  buildPathParameter,
  buildTextSchema,
  type OperationObject,
  type ParameterObject,
  type Paths,
  type Schema,
  type Servers,
} from './openapi.ts';

export const tokenTag = 'Tokens';

/** The head of all paths of a realm. */
export const realmPathParameters = [
  buildPathParameter('realm', 'The realm of the environment.', buildTextSchema('sandbox')),
];

/** The head of all paths of a firm. */
export const firmPathParameters = [
  buildPathParameter('environment', 'The environment.', buildTextSchema('sandbox')),
  buildPathParameter('firm', 'The practice, or a sandbox firm.', buildTextSchema('your-firm')),
  buildPathParameter('product', 'The product.', buildTextSchema('pm')),
];

/** How a client says who it is in a form; in the Authorization header instead: `clientBasic`. */
export const clientForm: Schema = {
  client_id: { type: 'string', description: 'In the body, or in the Authorization header (client_secret_basic).' },
  client_secret: { type: 'string' },
  client_assertion_type: { const: assertionType, description: 'Instead of a secret: private_key_jwt.' },
  client_assertion: { type: 'string', description: 'A JWT that the client signs with its own key (RFC 7523).' },
};

/** Parameters of the forms beside `grant_type`, by grant. */
const grantForms: Readonly<Record<string, { readonly required: readonly string[]; readonly more: Schema }>> = {
  password: { required: ['username', 'password'], more: {} },
  refresh_token: { required: ['refresh_token'], more: {} },
  client_credentials: {
    required: [],
    more: {
      ...clientForm,
      scope: {
        type: 'string',
        description: 'Some of the entries of the application, separated by spaces. The default is all.',
      },
    },
  },
};

interface Endpoint {
  readonly path: string;
  readonly operation: Pick<OperationObject, 'operationId' | 'summary' | 'description' | 'security' | 'deprecated'>;
  readonly parameters: readonly ParameterObject[];
  readonly grants: readonly { readonly grantType: string }[];
  readonly answer: string;
  readonly refusals: Refusals;
}

/** What is said of a refusal, by code. */
export type Refusals = Readonly<Partial<Record<OAuthErrorCode, string>>>;

export const failures = {
  too_many_attempts: 'too many wrong attempts in this minute: wait 42 s, until 2026-11-21T09:31:00.000Z',
  rate_exceeded:
    'The 1250 requests a minute of this API key are used up (costly ones count more than once): wait 42 s, until 2026-11-21T09:31:00.000Z',
  temporarily_unavailable: 'The service cannot answer now: try again',
  server_error: 'An unexpected fault: the request id finds it in the log',
} as const;

const endpoints: Readonly<Record<'client' | 'legacy', Endpoint>> = {
  client: {
    path: '/auth/realms/{realm}/protocol/openid-connect/token',
    operation: {
      operationId: 'clientToken',
      summary: 'Get an access token with client credentials',
      description:
        'Send the x-api-key of the client-credentials flow. Without it the token looks valid, but every call with it is refused.',
      security: [{ apiKey: [] }, { apiKey: [], clientBasic: [] }],
    },
    parameters: realmPathParameters,
    grants: clientGrants,
    answer: 'ClientTokenAnswer',
    refusals: {
      invalid_request: 'grant_type is missing or empty',
      unsupported_grant_type: 'grant_type must be client_credentials at this endpoint',
      invalid_scope: 'acl/pat_u is not held by the application',
      invalid_client: 'client_id or client_secret is wrong for this realm',
      ...failures,
    },
  },
  legacy: {
    path: '/{environment}/firm/{firm}/{product}/ws/oauth2/grant',
    operation: {
      operationId: 'legacyToken',
      summary: 'Get access and refresh tokens with the legacy flow',
      description: 'The password grant is deprecated. New integrations use client credentials.',
      security: [{ apiKey: [] }],
      deprecated: true,
    },
    parameters: firmPathParameters,
    grants: legacyGrants,
    answer: 'LegacyTokenAnswer',
    refusals: {
      invalid_request: 'grant_type is missing or empty',
      unsupported_grant_type: 'grant_type must be password or refresh_token at this endpoint',
      invalid_grant: 'username or password is wrong for this firm',
      invalid_client: 'x-api-key is not a known API key',
      ...failures,
    },
  },
};

/** Both endpoints, below `servers`. */
export function buildTokenPaths(servers: Servers): Paths {
  return Object.fromEntries(
    Object.entries(endpoints)
      .filter(([, { grants }]) => grants.length > 0)
      .map(([name, endpoint]) => [
        endpoint.path,
        { servers, parameters: endpoint.parameters, post: operationOf(name, endpoint) },
      ]),
  );
}

function operationOf(name: string, { operation, grants, answer, refusals }: Endpoint): OperationObject {
  const forms = grants.map(({ grantType }) => formOf(grantType));
  const schema = forms.length === 1 && forms[0] !== undefined ? forms[0] : { oneOf: forms };
  return {
    ...operation,
    tags: [tokenTag],
    requestBody: { required: true, content: { [formType]: { schema } } },
    responses: {
      '200': {
        description: 'The tokens. Cache-Control is no-store.',
        headers: buildHeaderRefs(limitHeaders),
        content: buildJsonContent(answer, { token: answer }),
      },
      ...buildRefusalAnswers(name, refusals),
      ...buildRefusalRefs([404]),
    },
  };
}

function formOf(grantType: string): Schema {
  const form = grantForms[grantType];
  if (form === undefined) throw new TypeError(`grant ${grantType} has no row in the OpenAPI document`);
  const required = Object.fromEntries(form.required.map((name) => [name, { type: 'string' }]));
  return {
    title: grantType,
    type: 'object',
    required: ['grant_type', ...form.required],
    properties: { grant_type: { const: grantType }, ...required, ...form.more },
  };
}

/** The refusals of an endpoint, by status; `name` is that of its examples. */
export function buildRefusalAnswers(name: string, refusals: Refusals): Readonly<Record<string, Answer>> {
  const codes = Object.keys(refusals).filter(isErrorCode);
  const byStatus = Map.groupBy<number, OAuthErrorCode>(codes, (code) => oauthErrorTable[code].status).set(tooLarge, [
    'invalid_request',
  ]);
  return Object.fromEntries([...byStatus].map(([status, those]) => [status, refusalAnswer(name, status, those)]));
}

/** The status of a form that is larger than is read. */
const tooLarge = 413;

function refusalAnswer(name: string, status: number, codes: readonly OAuthErrorCode[]): Answer {
  return {
    description: codes.map((code) => `\`${code}\`: ${oauthErrorTable[code].meaning}`).join('\n\n'),
    headers: buildHeaderRefs(refusalHeaders[status] ?? []),
    content: buildJsonContent('TokenRefusal', Object.fromEntries(codes.map((code) => [code, `${name}.${code}`]))),
  };
}

function isErrorCode(code: string): code is OAuthErrorCode {
  return Object.hasOwn(oauthErrorTable, code);
}

const secret = 'eyJhbGciOi…';

/** Answers of both endpoints: tokens as contract 2 lists them, refusals as the endpoints make them. */
export function buildTokenExamples(): Readonly<Record<string, object>> {
  const refused = Object.entries(endpoints).map(([name, { refusals }]) => buildRefusalExamples(name, refusals));
  return {
    ClientTokenAnswer: {
      value: {
        access_token: secret,
        expires_in: 900,
        refresh_expires_in: 0,
        token_type: 'Bearer',
        'not-before-policy': 0,
        scope: 'acl/enc_s acl/pat_s_name_dob_gen',
      },
    },
    LegacyTokenAnswer: {
      value: { scope: 'your-firm', token_type: 'Bearer', access_token: secret, refresh_token: secret },
    },
    ...Object.assign({}, ...refused),
  };
}

/** An example of each refusal, as the endpoints make them. */
export function buildRefusalExamples(name: string, refusals: Refusals): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(refusals).flatMap(([code, description]) => {
      if (!isErrorCode(code)) return [];
      return [[`${name}.${code}`, { value: JSON.parse(buildRefusalReply(code, description).body) }]];
    }),
  );
}

/** The fields of contract 2. */
export const tokenSchemas: Readonly<Record<string, Schema>> = {
  ClientTokenAnswer: {
    type: 'object',
    required: ['access_token', 'expires_in', 'refresh_expires_in', 'token_type', 'not-before-policy', 'scope'],
    properties: {
      access_token: { type: 'string', description: 'A JWT, signed with RS256. Clients treat it as an opaque string.' },
      expires_in: { type: 'integer', description: 'Seconds of validity.' },
      refresh_expires_in: { const: 0 },
      token_type: { const: 'Bearer' },
      'not-before-policy': { const: 0 },
      scope: { type: 'string', description: 'Access entries, separated by spaces.' },
    },
  },
  LegacyTokenAnswer: {
    type: 'object',
    required: ['scope', 'token_type', 'access_token', 'refresh_token'],
    properties: {
      scope: { type: 'string', description: 'The practice, a single value.' },
      token_type: { const: 'Bearer' },
      access_token: { type: 'string' },
      refresh_token: { type: 'string', description: 'A refresh returns the same refresh token.' },
    },
  },
  TokenRefusal: {
    description: 'RFC 6749 §5.2.',
    type: 'object',
    required: ['error', 'error_description'],
    properties: {
      error: { enum: Object.keys(oauthErrorTable) },
      error_description: { type: 'string' },
    },
  },
};
