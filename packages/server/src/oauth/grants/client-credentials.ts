/**
 * Client credentials (contract 4.3, 5.6 to 5.10; https://www.rfc-editor.org/rfc/rfc6749#section-4.4).
 *
 * A request without `x-api-key` gets a token that looks valid and opens nothing (contract 7.1), unless the setting
 * `strictKeys` refuses it; an empty, repeated or unknown key is a wrong key and refused always.
 */
import { sql } from '../../database/sql.ts';
import { type ApiKeyFacts, headerProblem, keyProblem } from '../api-key-header.ts';
import { readClientCredentials } from '../client-authentication.ts';
import { makeClientToken, realmPath } from '../client-tokens.ts';
import { refuse } from '../errors.ts';
import { grantedEntries } from '../granted-entries.ts';
import type { TokenService } from '../token-service.ts';
import type { ClientRequest, Grant } from './grant.ts';

/** Stands for the stored hash where there is no client; no secret has it. */
const noSecretHash = new Uint8Array(32);

const pointRead = { short: true, idempotent: true } as const;

interface ClientFacts {
  readonly secretHash: Buffer;
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

export const clientCredentialsGrant: Grant<ClientRequest> = {
  grantType: 'client_credentials',

  async issue(service, request, form) {
    const { clientId, clientSecret } = readClientCredentials(request.authorization, form);
    const caller = await findCaller(service, request, clientId);
    const right = service.secrets.matches('client-secret', clientSecret, caller.secretHash ?? noSecretHash);
    if (caller.secretHash === null || !right || caller.realm !== request.realm)
      refuse('invalid_client', 'client_id or client_secret is wrong for this realm');
    // Only who knows the secret learns more.
    if (caller.clientState !== 'active') refuse('invalid_client', 'client has been revoked');
    if (caller.applicationState !== 'active') refuse('invalid_client', 'application is suspended');
    const keyed = requireKeyOrNone(service, request, caller);
    const entries = grantedEntries(caller.acl, form.get('scope'));
    const { subject, environment, application } = caller;
    const holder = { clientId, subject, environment, entries, keyed };
    const seconds = service.settings.clientTokenSeconds;
    const issuer = service.originOfRealm(request.realm) + realmPath(request.realm);
    const key = await service.keys.signer(request.realm);
    return {
      response: {
        access_token: await makeClientToken(key, issuer, holder, service.clock.now(), seconds),
        expires_in: seconds,
        refresh_expires_in: 0,
        token_type: 'Bearer',
        'not-before-policy': 0,
        scope: entries.join(' '),
      },
      subject,
      application,
      keyed,
    };
  },
};

/** Client, application, environment and API key in one round trip, whatever of them exists. */
async function findCaller(service: TokenService, request: ClientRequest, clientId: string): Promise<CallerRow> {
  const keyHash = request.apiKey.kind === 'sent' ? service.secrets.hash('api-key', request.apiKey.apiKey) : null;
  const [row] = await service.database.query<CallerRow>(
    sql`
    SELECT k.id AS "keyId", k.flow AS "keyFlow", k.state AS "keyState", k.application AS "keyApplication", ka.environment AS "keyEnvironment",
           c.secret_hash AS "secretHash", c.state AS "clientState", c.subject,
           a.id AS application, a.state AS "applicationState", a.acl, e.id AS "environmentId", e.name AS environment, e.realm
    FROM (VALUES (1)) AS request(one)
    LEFT JOIN api_key k ON k.hash = ${keyHash}
    LEFT JOIN application ka ON ka.id = k.application
    LEFT JOIN client c ON c.client_id = ${clientId}
    LEFT JOIN application a ON a.id = c.application
    LEFT JOIN environment e ON e.id = a.environment`,
    pointRead,
  );
  if (!row) throw new Error('a statement without conditions gave no row');
  return row;
}

/** Whether the request carries the API key of the client's application; false when it carries none at all. */
function requireKeyOrNone(service: TokenService, request: ClientRequest, caller: ApiKeyFacts & ClientFacts): boolean {
  if (request.apiKey.kind === 'absent' && !service.settings.strictKeys) return false;
  const problem = headerProblem(request.apiKey, 'client') ?? keyProblem(caller, 'client', caller.environmentId);
  if (problem !== undefined) refuse('invalid_client', problem);
  if (caller.keyApplication !== caller.application)
    refuse('invalid_client', 'x-api-key belongs to another application than the client');
  return true;
}
