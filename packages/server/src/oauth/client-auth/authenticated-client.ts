/**
 * Which client sends a request to an endpoint of a realm: its credentials, its application and the API key beside them, read
 * in one statement that does the same work whatever of them exists. The token endpoint, introspection and revocation share it.
 *
 * A request without `x-api-key` is let pass (contract 7.1), unless the setting `strictKeys` refuses it; an empty, repeated or
 * unknown key is a wrong key and refused always.
 */
import { pointRead } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { countRequest } from '../counted-request.ts';
import { refuse } from '../errors.ts';
import type { Form } from '../form.ts';
import type { ClientRequest } from '../grants/grant.ts';
import { buildEndpointPath, buildRealmPath, type ClientHolder } from '../signing/client-tokens.ts';
import type { TokenService } from '../token-service.ts';
import { type ApiKeyFacts, findHeaderProblem, findKeyProblem } from './api-key-header.ts';
import { type ClientAssertion, findSigner, readClientAssertion } from './client-assertion.ts';
import { type ClientAssertionCredentials, readClientCredentials } from './client-authentication.ts';
import { type ClientKeySet, digestRegistration, readKeySet } from './client-keys.ts';
import { isFirstUse } from './used-assertions.ts';

/** A client that has proved who it is, and may act. */
export interface AuthenticatedClient extends Omit<ClientHolder, 'scope'> {
  readonly application: number;
  readonly acl: readonly string[];
}

interface ClientFacts {
  readonly secretId: number | null;
  readonly jwks: unknown;
  readonly jwksUri: string | null;
  readonly clientState: string;
  readonly subject: string;
  readonly application: number;
  readonly applicationState: string;
  readonly acl: readonly string[];
  readonly environmentId: number;
  readonly environment: string;
  readonly realm: string;
}

type CallerRow = ApiKeyFacts & (ClientFacts | { readonly [N in keyof ClientFacts]: null });

/** A client's facts, once its credentials have been checked. */
type ProvenClient = ApiKeyFacts &
  ClientFacts & { readonly clientId: string; readonly registeredKey: string | undefined };

/**
 * The client of a request.
 * @throws OAuthError `invalid_request` for two ways of authentication at once, `invalid_client` for wrong credentials, a
 *   revoked client, a suspended application or a wrong API key; only who proves to be the client learns which;
 *   `rate_exceeded` when its API key or address has asked for too much
 */
export async function authenticateClient(
  service: TokenService,
  request: ClientRequest,
  form: Form,
): Promise<AuthenticatedClient> {
  const credentials = readClientCredentials(request.authorization, form);
  const client =
    'assertion' in credentials
      ? await clientByAssertion(service, request, credentials)
      : await clientBySecret(service, request, credentials.clientId, credentials.clientSecret);
  request.exchange.client = { subject: client.subject, application: client.application };
  if (client.clientState !== 'active') refuse('invalid_client', 'client has been revoked');
  if (client.applicationState !== 'active') refuse('invalid_client', 'application is suspended');
  const keyed = requireKeyOrNone(service, request, client);
  const who = keyed && client.keyId !== null ? { apiKey: client.keyId } : { keyless: client.application };
  countRequest(service.rateLimit, request.exchange, { ...who, address: request.address });
  const { clientId, subject, application, acl, environment, registeredKey } = client;
  const secretId = client.secretId ?? undefined;
  return { clientId, subject, application, acl, environment, keyed, secretId, registeredKey };
}

async function clientBySecret(
  service: TokenService,
  request: ClientRequest,
  clientId: string,
  clientSecret: string,
): Promise<ProvenClient> {
  const caller = await findCaller(service, request, clientId, service.secrets.hash('client-secret', clientSecret));
  if (caller.secretId === null || caller.realm !== request.realm)
    refuse('invalid_client', 'client_id or client_secret is wrong for this realm');
  service.uses.note('client_secret', caller.secretId);
  return { ...caller, clientId, registeredKey: undefined };
}

async function clientByAssertion(
  service: TokenService,
  request: ClientRequest,
  credentials: ClientAssertionCredentials,
): Promise<ProvenClient> {
  const nowMs = service.clock.now();
  const assertion = readClientAssertion(credentials.assertion, audiencesOf(service, request), nowMs);
  const { clientId } = assertion;
  if (credentials.clientId !== undefined && credentials.clientId !== clientId)
    refuse('invalid_client', 'client_id differs from iss and sub of the client_assertion');
  const caller = await findCaller(service, request, clientId, null);
  const keys = caller.realm === request.realm ? await keysOf(service, caller, assertion) : undefined;
  const key = keys && (await findSigner(assertion, keys));
  if (caller.realm === null || key === undefined)
    refuse('invalid_client', 'client_assertion is not signed with a key (kid, alg) of a client of this realm');
  if (!(await isFirstUse(service.database, assertion, nowMs)))
    refuse(
      'invalid_client',
      'client_assertion was used before: make a new one, with a jti of its own, for each request',
    );
  return { ...caller, clientId, registeredKey: digestRegistration(key, caller.jwksUri) };
}

/** RFC 7523 §3 item 3: the token endpoint or the issuer; other endpoints take themselves as well. */
function audiencesOf(service: TokenService, { realm, endpoint }: ClientRequest): readonly string[] {
  const issuer = service.originOfRealm(realm) + buildRealmPath(realm);
  return [...new Set([issuer, issuer + buildEndpointPath('token'), issuer + buildEndpointPath(endpoint)])];
}

/** The registered keys; undefined when there are none. An assertion's own `jku` is never followed, it may only be right. */
async function keysOf(
  service: TokenService,
  { jwks, jwksUri }: CallerRow,
  { jwt, kid }: ClientAssertion,
): Promise<ClientKeySet | undefined> {
  const { jku } = jwt.header;
  if (jku !== undefined && jku !== jwksUri) return undefined;
  if (jwksUri === null) {
    const stored = readKeySet(jwks, 'as stored');
    return 'keys' in stored ? stored : undefined;
  }
  const published = await service.remoteKeys.at(jwksUri, kid);
  if ('problem' in published) refuse('invalid_client', `client_assertion cannot be verified: ${published.problem}`);
  return published;
}

/** Client, application, environment and API key in one round trip, whatever of them exists. */
async function findCaller(
  service: TokenService,
  request: ClientRequest,
  clientId: string,
  secretHash: Buffer | null,
): Promise<CallerRow> {
  const keyHash = request.apiKey.kind === 'sent' ? service.secrets.hash('api-key', request.apiKey.apiKey) : null;
  const [row] = await service.database.query<CallerRow>(
    sql`
    SELECT k.id AS "keyId", k.flow AS "keyFlow", k.state AS "keyState", k.application AS "keyApplication", ka.environment AS "keyEnvironment",
           s.id AS "secretId", c.jwks, c.jwks_uri AS "jwksUri", c.state AS "clientState", c.subject,
           a.id AS application, a.state AS "applicationState", a.acl, e.id AS "environmentId", e.name AS environment, e.realm
    FROM (VALUES (1)) AS request(one)
    LEFT JOIN api_key k ON k.hash = ${keyHash}
    LEFT JOIN application ka ON ka.id = k.application
    LEFT JOIN client c ON c.client_id = ${clientId}
    LEFT JOIN client_secret s ON s.client = c.client_id AND s.hash = ${secretHash} AND s.state = 'active'
    LEFT JOIN application a ON a.id = c.application
    LEFT JOIN environment e ON e.id = a.environment`,
    pointRead,
  );
  if (!row) throw new Error('a statement without conditions gave no row');
  return row;
}

/** Whether the request carries the API key of the client's application; false when it carries none at all. */
function requireKeyOrNone(service: TokenService, request: ClientRequest, client: ProvenClient): boolean {
  if (request.apiKey.kind === 'absent' && !service.settings.strictKeys) return false;
  const problem = findHeaderProblem(request.apiKey, 'client') ?? findKeyProblem(client, 'client', client.environmentId);
  if (problem !== undefined) refuse('invalid_client', problem);
  if (client.keyApplication !== client.application)
    refuse('invalid_client', 'x-api-key belongs to another application than the client');
  if (client.keyId !== null) service.uses.note('api_key', client.keyId);
  return true;
}
