/**
 * A running service for one test file: real HTTP on a free port, real database, a clock that stands still.
 */
import { fixedClock } from '../../src/base/clock.ts';
import type { Clock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { newSecret } from '../../src/base/ids.ts';
import { openPlatform, type Platform, type Service, startService } from '../../src/app.ts';
import { entryProblem } from '../../src/cli/options.ts';
import { issueApiKey } from '../../src/oauth/api-keys.ts';
import { issueClient } from '../../src/oauth/clients.ts';
import { issueLegacyAccount } from '../../src/oauth/legacy-accounts.ts';
import { type Application, createApplication } from '../../src/tenancy/applications.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { createFirm, type Firm } from '../../src/tenancy/firms.ts';
import { testLog } from './cluster.ts';
import { type Lifetime, openTestDatabase, type TestDatabase } from './database.ts';

/** 2026-11-21T09:30:00Z */
export const startMs = Date.UTC(2026, 10, 21, 9, 30);

export interface TestService {
  readonly origin: string;
  readonly platform: Platform;
  readonly service: Service;
  readonly database: TestDatabase;
  readonly clock: Clock & { advance(ms: number): void };
}

/** Starts a service; `settings` are environment variables that differ from the defaults. */
export async function openTestService(t: Lifetime, settings: Readonly<Record<string, string>> = {}): Promise<TestService> {
  const database = await openTestDatabase(t);
  const clock = fixedClock(startMs);
  const config = readConfig({ PRAXIS_PORT: '0', PRAXIS_RATE_LIMIT: '0', PRAXIS_SECRET_KEY: newSecret(), PRAXIS_LOG_LEVEL: 'silent', ...settings });
  const connections = { ...database.connections, stop: async () => undefined };
  const platform = await openPlatform({ config, clock, log: testLog, connections });
  const service = await startService(platform);
  t.after(async () => {
    await service.drain();
    await platform.close();
  });
  return { origin: service.origin, platform, service, database, clock };
}

export interface TestFirm extends Firm {
  /** FHIR base of the firm. */
  readonly base: string;
  readonly legacyTokenUrl: string;
}

/** A firm of product `pm`. */
export async function makeFirm({ platform, origin }: TestService, prefix: string, environment = 'sandbox', timeZone = 'America/New_York'): Promise<TestFirm> {
  const firm = await createFirm(platform.database, { environment, prefix, name: `Firm ${prefix}`, timeZone });
  const root = `${origin}/${environment}/firm/${prefix}/pm`;
  return { ...firm, base: `${root}/fhir/v2`, legacyTokenUrl: `${root}/ws/oauth2/grant` };
}

export interface TestApplication {
  readonly application: Application;
  readonly clientKey: string;
  readonly clientKeyId: number;
  readonly legacyKey: string;
  readonly legacyKeyId: number;
  readonly clientId: string;
  readonly clientSecret: string;
  /** By firm prefix. */
  readonly accounts: ReadonlyMap<string, { readonly username: string; readonly password: string }>;
}

/** An application with keys, a client, and an account at each of `firms`, all of which authorise its entries. */
export async function makeApplication(
  { platform }: TestService,
  name: string,
  acl: readonly string[],
  firms: readonly Firm[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<TestApplication> {
  const { database, secrets, clock } = platform;
  const environment = firms[0]?.environment ?? 'sandbox';
  const application = await createApplication(database, { environment, name, acl, settings }, entryProblem);
  const clientKey = await issueApiKey(database, secrets, application, 'client', 'test');
  const legacyKey = await issueApiKey(database, secrets, application, 'legacy', 'test');
  const accounts = new Map<string, { username: string; password: string }>();
  for (const firm of firms) {
    await authorise(database, clock, firm, application, { purpose: 'Test' }, entryProblem);
    accounts.set(firm.prefix, await issueLegacyAccount(database, secrets, firm, application));
  }
  const client = await issueClient(database, secrets, application);
  return {
    application,
    clientKey: clientKey.apiKey,
    clientKeyId: clientKey.id,
    legacyKey: legacyKey.apiKey,
    legacyKeyId: legacyKey.id,
    ...client,
    accounts,
  };
}

const tokenPath = (realm: string): string => `/auth/realms/${realm}/protocol/openid-connect/token`;

/** A client-credentials access token. */
export async function clientToken({ origin }: TestService, application: TestApplication, realm = 'sandbox'): Promise<string> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: application.clientId, client_secret: application.clientSecret });
  return await accessToken(await fetch(origin + tokenPath(realm), { method: 'POST', headers: { 'x-api-key': application.clientKey }, body }));
}

/** A legacy access token at `firm`. */
export async function legacyToken(application: TestApplication, firm: TestFirm): Promise<string> {
  const account = application.accounts.get(firm.prefix);
  const body = new URLSearchParams({ grant_type: 'password', username: account?.username ?? '', password: account?.password ?? '' });
  return await accessToken(await fetch(firm.legacyTokenUrl, { method: 'POST', headers: { 'x-api-key': application.legacyKey }, body }));
}

async function accessToken(response: Response): Promise<string> {
  const body: unknown = await response.json();
  if (response.status === 200 && typeof body === 'object' && body !== null && 'access_token' in body) return String(body.access_token);
  throw new Error(`no token: ${response.status} ${JSON.stringify(body)}`);
}

/** Calls a firm's FHIR API with both credentials. */
export interface Caller {
  readonly headers: Readonly<Record<string, string>>;
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  send(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<Answer>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body's text. */
  readonly text: string;
  /** The body as JSON; undefined when empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on whole bodies of many shapes.
  readonly json: any;
}

export function callerOf(firm: TestFirm, token: string, apiKey: string): Caller {
  const headers = { authorization: `Bearer ${token}`, 'x-api-key': apiKey };
  const call = async (method: string, path: string, body: unknown, extra: Readonly<Record<string, string>>): Promise<Answer> => {
    const url = path.startsWith('http') ? path : `${firm.base}/${path}`;
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/fhir+json' };
    return await answerOf(await fetch(url, { method, headers: { ...headers, ...type, ...extra }, ...content }));
  };
  return { headers, get: (path, extra = {}) => call('GET', path, undefined, extra), send: (method, path, body, extra = {}) => call(method, path, body, extra) };
}

/** A caller by client credentials with all of the application's entries. */
export async function openCaller(service: TestService, application: TestApplication, firm: TestFirm, realm = 'sandbox'): Promise<Caller> {
  return callerOf(firm, await clientToken(service, application, realm), application.clientKey);
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: text === '' ? undefined : JSON.parse(text) };
}
