/**
 * A running service for one test file: real HTTP on a free port, real database, a clock that stands still.
 */

import { rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { openPlatform, type Platform, type Service, type ServiceOptions, startService } from '../../src/app.ts';
import type { Clock } from '../../src/base/clock.ts';
import { makeFixedClock } from '../../src/base/clock.ts';
import { readConfig } from '../../src/base/config.ts';
import { makeSecret } from '../../src/base/ids.ts';
import type { Log } from '../../src/base/log.ts';
import { issueApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { issueClient } from '../../src/oauth/client-auth/clients.ts';
import { issueLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
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

/**
 * Starts a service; `settings` are environment variables that differ from the defaults.
 * @param log where it logs, for tests of what is logged
 */
export async function openTestService(
  t: Lifetime,
  settings: Readonly<Record<string, string>> = {},
  log: Log = testLog,
  options: ServiceOptions = {},
): Promise<TestService> {
  const database = await openTestDatabase(t);
  const clock = makeFixedClock(startMs);
  const dataDir = path.join(os.tmpdir(), `praxis-service-${makeSecret(9)}`); // made when something is put there
  t.after(async () => rmSync(dataDir, { recursive: true, force: true }));
  const config = readConfig({
    PRAXIS_PORT: '0',
    PRAXIS_DATA_DIR: dataDir,
    PRAXIS_RATE_LIMIT: '0',
    PRAXIS_GUESS_LIMIT: '0',
    PRAXIS_AUDIT_SEAL_MS: '0',
    PRAXIS_COMPLETE_LAG_MS: '0',
    PRAXIS_SECRET_KEY: makeSecret(),
    PRAXIS_LOG_LEVEL: 'silent',
    ...settings,
  });
  const connections = { ...database.connections, stop: async () => undefined };
  const platform = await openPlatform({ config, clock, log, connections });
  const service = await startService(platform, options);
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
export async function makeFirm(
  { platform, origin }: Pick<TestService, 'platform' | 'origin'>,
  prefix: string,
  environment = 'sandbox',
  timeZone = 'America/New_York',
): Promise<TestFirm> {
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
  { platform }: Pick<TestService, 'platform'>,
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

/** Contract 4.3: the token endpoint of a realm. */
export function clientTokenUrl({ origin }: TestService, realm = 'sandbox'): string {
  return `${origin}/auth/realms/${realm}/protocol/openid-connect/token`;
}

/** The form of a client-credentials request. */
export function clientForm({ clientId, clientSecret }: TestApplication): Record<string, string> {
  return { grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
}

/** The form of a password request; the firm must be one of the application's. */
export function passwordForm({ accounts }: TestApplication, firm: Firm): Record<string, string> {
  const account = accounts.get(firm.prefix);
  if (account === undefined) throw new Error(`no account at ${firm.prefix}`);
  return { grant_type: 'password', ...account };
}

/** POSTs a form to a token endpoint; without `apiKey` the header is omitted. */
export async function postForm(
  url: string,
  form: Readonly<Record<string, string>>,
  apiKey?: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  const key: Record<string, string> = apiKey === undefined ? {} : { 'x-api-key': apiKey };
  return await answerOf(
    await fetch(url, { method: 'POST', headers: { ...key, ...headers }, body: new URLSearchParams(form) }),
  );
}

/** A client-credentials access token. */
export async function clientToken(
  service: TestService,
  application: TestApplication,
  realm = 'sandbox',
): Promise<string> {
  return accessToken(await postForm(clientTokenUrl(service, realm), clientForm(application), application.clientKey));
}

/** A legacy access token at `firm`. */
export async function legacyToken(application: TestApplication, firm: TestFirm): Promise<string> {
  return accessToken(await postForm(firm.legacyTokenUrl, passwordForm(application, firm), application.legacyKey));
}

function accessToken({ status, json, text }: Answer): string {
  if (status === 200 && typeof json?.access_token === 'string') return json.access_token;
  throw new Error(`no token: ${status} ${text}`);
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
  /** The body as JSON; undefined when it is empty or something else. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on whole bodies of many shapes.
  readonly json: any;
}

export function callerOf(firm: Pick<TestFirm, 'base'>, token: string, apiKey: string): Caller {
  const headers = { authorization: `Bearer ${token}`, 'x-api-key': apiKey };
  const call = async (
    method: string,
    path: string,
    body: unknown,
    extra: Readonly<Record<string, string>>,
  ): Promise<Answer> => {
    const url = path.startsWith('http') ? path : `${firm.base}/${path}`;
    const content = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
    const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/fhir+json' };
    return await answerOf(await fetch(url, { method, headers: { ...headers, ...type, ...extra }, ...content }));
  };
  return {
    headers,
    get: (path, extra = {}) => call('GET', path, undefined, extra),
    send: (method, path, body, extra = {}) => call(method, path, body, extra),
  };
}

/** A caller by client credentials with all of the application's entries. */
export async function openCaller(
  service: TestService,
  application: TestApplication,
  firm: TestFirm,
  realm = 'sandbox',
): Promise<Caller> {
  return callerOf(firm, await clientToken(service, application, realm), application.clientKey);
}

export async function answerOf(response: Response): Promise<Answer> {
  return toAnswer(response.status, response.headers, await response.text());
}

export function toAnswer(status: number, headers: Headers, text: string): Answer {
  const isJson = text !== '' && /[/+]json\b/.test(headers.get('content-type') ?? '');
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined };
}
