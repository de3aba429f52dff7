/**
 * A small world for tests of tenancy and tokens: three environments in two realms, firms, applications with keys, clients
 * and accounts, on a real database with a clock that stands still.
 */
import assert from 'node:assert/strict';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { type Clock, makeFixedClock } from '../../src/base/clock.ts';
import { makeDataKeys, openSecrets, type Secrets } from '../../src/base/secrets.ts';
import type { Database } from '../../src/database/database.ts';
import { openBruteForceLimit } from '../../src/limits/brute-force-limit.ts';
import { openRateLimit } from '../../src/limits/rate-limit.ts';
import { openSharedCounters } from '../../src/limits/shared-counters.ts';
import { issueApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { issueClient } from '../../src/oauth/client-auth/clients.ts';
import { type CredentialUses, openCredentialUses } from '../../src/oauth/client-auth/credential-uses.ts';
import { openRemoteKeys } from '../../src/oauth/client-auth/remote-keys.ts';
import { issueLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
import type { ApiCredentials } from '../../src/oauth/session/session.ts';
import { openSessions, type Sessions } from '../../src/oauth/session/sessions.ts';
import { openSigningKeys, type SigningKeys } from '../../src/oauth/signing/signing-keys.ts';
import { openTokenScopes } from '../../src/oauth/signing/token-scopes.ts';
import {
  openTokenEndpoints,
  type TokenEndpoints,
  type TokenReply,
  type TokenRequest,
} from '../../src/oauth/token-endpoint.ts';
import type { TokenService, TokenSettings } from '../../src/oauth/token-service.ts';
import { type Application, createApplication } from '../../src/tenancy/applications.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { type Environment, ensureDefaultEnvironments, getEnvironment } from '../../src/tenancy/environments.ts';
import { createFirm, type Firm } from '../../src/tenancy/firms.ts';
import { testLog } from '../support/cluster.ts';

export const startMs = Date.UTC(2026, 10, 21, 9, 30);
export const realmOrigin = 'https://login.example.com';

export { entryProblem };

export interface World {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock & { advance(ms: number): void };
  readonly keys: SigningKeys;
  readonly uses: CredentialUses;
  readonly service: TokenService;
  readonly endpoints: TokenEndpoints;
  readonly sessions: Sessions;
  environment(name: string): Promise<Environment>;
}

const noLimits = { rateLimit: 0, firmRateLimit: 0, addressRateLimit: 0 };

export interface WorldOptions {
  readonly settings?: Partial<TokenSettings>;
  readonly secrets?: Secrets;
  /** Longest scope that a token carries itself. */
  readonly scopeCharactersMax?: number;
}

/** The services of one process over `database`. */
export async function openWorld(database: Database, options: WorldOptions = {}): Promise<World> {
  await ensureDefaultEnvironments(database);
  const secrets = options.secrets ?? openSecrets(makeDataKeys());
  const clock = makeFixedClock(startMs);
  const keys = openSigningKeys(database, secrets, clock);
  const uses = openCredentialUses(database, clock, testLog);
  const settings: TokenSettings = {
    strictKeys: false,
    clientTokenSeconds: 900,
    legacyTokenSeconds: 3600,
    legacyRefreshSeconds: 2_592_000,
    ...options.settings,
  };
  const service: TokenService = {
    database,
    secrets,
    clock,
    keys,
    uses,
    rateLimit: openRateLimit(noLimits, openSharedCounters(database, clock), clock, secrets),
    guesses: openBruteForceLimit(openSharedCounters(database, clock), secrets, clock, { perAccount: 0, perAddress: 0 }),
    remoteKeys: openRemoteKeys(clock, { loopback: true }),
    scopes: openTokenScopes(database, clock, options.scopeCharactersMax ?? 2048),
    originOfRealm: () => realmOrigin,
    settings,
  };
  return {
    database,
    secrets,
    clock,
    keys,
    uses,
    service,
    endpoints: openTokenEndpoints(service),
    sessions: openSessions({ database, secrets, clock, keys, uses, sessionsMax: 1000 }),
    environment: (name) => getEnvironment(database, name),
  };
}

let made = 0;

/** A firm with a name of its own. */
export async function makeFirm(world: World, environment = 'sandbox'): Promise<Firm> {
  made += 1;
  return await createFirm(world.database, {
    environment,
    prefix: `firm-${made}`,
    name: `Practice ${made}`,
    timeZone: 'America/New_York',
  });
}

/** An application with both keys and a client. */
export interface Vendor {
  readonly application: Application;
  readonly legacyKey: string;
  readonly legacyKeyId: number;
  readonly clientKey: string;
  readonly clientKeyId: number;
  readonly clientId: string;
  readonly clientSecret: string;
}

export async function makeVendor(
  world: World,
  acl: readonly string[] = ['acl/*'],
  environment = 'sandbox',
): Promise<Vendor> {
  const { database, secrets } = world;
  made += 1;
  const application = await createApplication(
    database,
    { environment, name: `Application ${made}`, acl },
    entryProblem,
  );
  const legacy = await issueApiKey(database, secrets, application, 'legacy', 'test');
  const client = await issueApiKey(database, secrets, application, 'client', 'test');
  const { clientId, clientSecret } = await issueClient(database, secrets, application);
  return {
    application,
    legacyKey: legacy.apiKey,
    legacyKeyId: legacy.id,
    clientKey: client.apiKey,
    clientKeyId: client.id,
    clientId,
    clientSecret,
  };
}

/** Lets `vendor` act at `firm`, and makes an account for its legacy flow there. */
export async function makeAccount(
  world: World,
  vendor: Vendor,
  firm: Firm,
  acl?: readonly string[],
): Promise<{ username: string; password: string }> {
  await authorise(
    world.database,
    world.clock,
    firm,
    vendor.application,
    { purpose: 'test', ...(acl ? { acl } : {}) },
    entryProblem,
  );
  return await issueLegacyAccount(world.database, world.secrets, firm, vendor.application);
}

/** A token request with a form body. */
export function formRequest(
  form: Readonly<Record<string, string>>,
  apiKey: readonly string[],
  authorization: readonly string[] = [],
): TokenRequest {
  return {
    contentType: ['application/x-www-form-urlencoded'],
    authorization,
    apiKey,
    address: '192.0.2.1',
    body: Buffer.from(new URLSearchParams(form).toString()),
  };
}

/** The JSON object of a token answer. */
export function bodyOf(reply: TokenReply): Record<string, unknown> {
  const body: unknown = JSON.parse(reply.body);
  assert.ok(typeof body === 'object' && body !== null);
  return Object.fromEntries(Object.entries(body));
}

/** A text field of a token answer that was issued. */
export function fieldOf(reply: TokenReply, name: string): string {
  assert.equal(reply.status, 200, reply.body);
  const value = bodyOf(reply)[name];
  assert.ok(typeof value === 'string', `${name} in ${reply.body}`);
  return value;
}

/** A client-credentials answer of `vendor`; `apiKey` defaults to its own. */
export async function requestClientToken(
  world: World,
  vendor: Vendor,
  apiKey: readonly string[] = [vendor.clientKey],
  more: Readonly<Record<string, string>> = {},
): Promise<TokenReply> {
  const realm = (await world.environment(vendor.application.environment)).realm;
  const form = {
    grant_type: 'client_credentials',
    client_id: vendor.clientId,
    client_secret: vendor.clientSecret,
    ...more,
  };
  return await world.endpoints.client(realm, formRequest(form, apiKey));
}

/** A legacy password answer at `firm`. */
export async function requestLegacyToken(
  world: World,
  firm: Firm,
  apiKey: readonly string[],
  account: { username: string; password: string },
): Promise<TokenReply> {
  const environment = await world.environment(firm.environment);
  return await world.endpoints.legacy(
    { environment, firmPrefix: firm.prefix },
    formRequest({ grant_type: 'password', ...account }, apiKey),
  );
}

/** The credentials of an API call. */
export async function apiCall(
  world: World,
  firm: { environment: string; prefix: string },
  token: string,
  apiKey: string,
): Promise<ApiCredentials> {
  const environment = await world.environment(firm.environment);
  return { environment, product: 'pm', firmPrefix: firm.prefix, authorization: [`Bearer ${token}`], apiKey: [apiKey] };
}

/** `database` with a count of the statements it was sent; transactions count as one. */
export function counting(database: Database): { readonly database: Database; statements: number } {
  const counted = {
    statements: 0,
    database: {
      ...database,
      query: <R>(...call: Parameters<Database['query']>) => {
        counted.statements += 1;
        return database.query<R>(...call);
      },
      transaction: <T>(...call: Parameters<Database['transaction']>) => {
        counted.statements += 1;
        return database.transaction(...call) as Promise<T>;
      },
    },
  };
  return counted;
}

/** `secrets` with a list of the hash work done: purpose and length of the hashed value. */
export function observing(secrets: Secrets): { readonly secrets: Secrets; readonly work: string[] } {
  const work: string[] = [];
  return {
    work,
    secrets: {
      ...secrets,
      hash(purpose, value) {
        work.push(`hash ${purpose} ${value.length}`);
        return secrets.hash(purpose, value);
      },
      matches(purpose, value, expected) {
        work.push(`matches ${purpose} ${value.length} ${expected.length}`);
        return secrets.matches(purpose, value, expected);
      },
    },
  };
}

/** The challenges of the two token endpoints in environment and realm `sandbox`. */
const challenges = {
  legacy: 'ApiKey realm="sandbox", header="x-api-key"',
  client: 'Basic realm="sandbox", charset="UTF-8"',
} as const;

/** Asserts the whole refusal of a token endpoint (RFC 6749 §5.2): status, headers, body, record. */
export function assertRefused(
  reply: TokenReply,
  status: 400 | 401,
  error: string,
  description: string,
  endpoint: keyof typeof challenges = 'legacy',
): void {
  const challenge = status === 401 ? { 'www-authenticate': challenges[endpoint] } : {};
  assert.deepEqual(
    { status: reply.status, headers: reply.headers, body: bodyOf(reply), outcome: reply.record.outcome },
    {
      status,
      headers: {
        'content-type': 'application/json;charset=UTF-8',
        'cache-control': 'no-store',
        pragma: 'no-cache',
        ...challenge,
      },
      body: { error, error_description: description },
      outcome: error,
    },
  );
}
