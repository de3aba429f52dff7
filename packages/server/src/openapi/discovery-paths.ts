/**
 * What programs find out by themselves, without credentials: the documents of a realm (RFC 8414, OpenID Connect Discovery,
 * RFC 7517) and of a FHIR base (SMART App Launch, RFC 9728). Schemas and examples are made of what is answered.
 */
import {
  buildAuthorizationServerMetadata,
  buildProtectedResourceMetadata,
  buildSmartConfiguration,
  openIdConfiguration,
} from '../oauth/discovery.ts';
import { buildJsonContent } from './content.ts';
import { buildHeaderRefs, buildRefusalRefs } from './error-answers.ts';
import type { OperationObject, ParameterObject, Paths, Schema, Servers } from './openapi.ts';
import { firmPathParameters, realmPathParameters, tokenTag } from './token-paths.ts';

interface Document {
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly ParameterObject[];
  /** Whose origin it is below: FHIR bases are below the servers of the document itself. */
  readonly below: 'realm' | 'root' | 'base';
  /** Name of schema and example. */
  readonly name: string;
  readonly example: object;
}

const origin = 'https://example.com';
const base = '/{environment}/firm/{firm}/{product}/fhir/v2';

const documents: readonly Document[] = [
  {
    path: '/auth/realms/{realm}/.well-known/openid-configuration',
    operationId: 'openIdConfiguration',
    summary: 'Authorization server metadata (OpenID Connect Discovery)',
    parameters: realmPathParameters,
    below: 'realm',
    name: 'OpenIdConfiguration',
    example: openIdConfiguration(origin, 'sandbox'),
  },
  {
    path: '/.well-known/oauth-authorization-server/auth/realms/{realm}',
    operationId: 'authorizationServerMetadata',
    summary: 'Authorization server metadata (RFC 8414)',
    parameters: realmPathParameters,
    below: 'realm',
    name: 'AuthorizationServerMetadata',
    example: buildAuthorizationServerMetadata(origin, 'sandbox'),
  },
  {
    path: '/auth/realms/{realm}/protocol/openid-connect/certs',
    operationId: 'jwkSet',
    summary: 'Keys that verify the tokens of the realm (JWK Set)',
    parameters: realmPathParameters,
    below: 'realm',
    name: 'JwkSet',
    example: { keys: [{ kty: 'RSA', kid: '3f1c7a52', use: 'sig', alg: 'RS256', n: '0vx7agoebG…', e: 'AQAB' }] },
  },
  {
    path: '/.well-known/smart-configuration',
    operationId: 'smartConfiguration',
    summary: 'Token endpoint of this FHIR base (SMART Backend Services)',
    parameters: [],
    below: 'base',
    name: 'SmartConfiguration',
    example: buildSmartConfiguration(origin, 'sandbox'),
  },
  {
    path: `/.well-known/oauth-protected-resource${base}`,
    operationId: 'protectedResourceMetadata',
    summary: 'Realm that issues the tokens for a FHIR base (RFC 9728)',
    parameters: firmPathParameters,
    below: 'root',
    name: 'ProtectedResourceMetadata',
    example: buildProtectedResourceMetadata(
      `${origin}/sandbox/firm/your-firm/pm/fhir/v2`,
      `${origin}/auth/realms/sandbox`,
    ),
  },
];

/**
 * The paths of all of them.
 * @param root the server of paths that do not begin with a practice
 * @param realms the servers of realms
 */
export function buildDiscoveryPaths(root: Servers, realms: Servers): Paths {
  const servers = { realm: { servers: realms }, root: { servers: root }, base: {} };
  return Object.fromEntries(
    documents.map((document) => {
      const { path, below, parameters } = document;
      const own = parameters.length > 0 ? { parameters } : {};
      return [path, { ...servers[below], ...own, get: operationOf(document) }];
    }),
  );
}

function operationOf({ operationId, summary, name }: Document): OperationObject {
  return {
    operationId,
    summary,
    tags: [tokenTag],
    security: [],
    responses: {
      '200': {
        description: summary,
        headers: buildHeaderRefs([]),
        content: buildJsonContent(name, { document: name }),
      },
      ...buildRefusalRefs([404]),
    },
  };
}

/** Scopes that an example lists of the many. */
const scopesShown = 3;

/** The documents as they are answered, but for most scopes. */
export function buildDiscoveryExamples(): Readonly<Record<string, object>> {
  return Object.fromEntries(
    documents.map(({ name, example }) => {
      const members = Object.entries(example).map(([member, value]) => [
        member,
        member === 'scopes_supported' ? [...value.slice(0, scopesShown), ...value.slice(-scopesShown)] : value,
      ]);
      return [name, { value: Object.fromEntries(members) }];
    }),
  );
}

/** A schema of each: every member that is answered is always there. */
export function buildDiscoverySchemas(): Readonly<Record<string, Schema>> {
  return Object.fromEntries(documents.map(({ name, example }) => [name, schemaOf(example)]));
}

function schemaOf(value: unknown): Schema {
  if (Array.isArray(value))
    return { type: 'array', items: value.length === 0 ? { type: 'string' } : schemaOf(value[0]) };
  if (typeof value !== 'object' || value === null) return { type: 'string' };
  const members = Object.entries(value).map(([name, member]) => [name, schemaOf(member)] as const);
  return { type: 'object', required: Object.keys(value), properties: Object.fromEntries(members) };
}
