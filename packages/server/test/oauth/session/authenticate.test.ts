/**
 * Contract 5.1, 5.5, 5.7, 5.8, 7.1: every API call needs a token and the API key of its application and flow; a refusal says
 * which of the two failed and how. The full cross of token states and key states, whole refusals asserted.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../../src/base/errors.ts';
import { makeDataKeys, openSecrets } from '../../../src/base/secrets.ts';
import { issueApiKey, revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { revokeClient } from '../../../src/oauth/client-auth/clients.ts';
import { resetLegacyPassword, revokeLegacyAccount } from '../../../src/oauth/legacy/accounts.ts';
import type { ApiCredentials, Session } from '../../../src/oauth/session/session.ts';
import { decodeJwt, signHs256, signRs256 } from '../../../src/oauth/signing/jwt.ts';
import { suspendApplication } from '../../../src/tenancy/applications.ts';
import { openTestDatabase } from '../../support/database.ts';
import {
  fieldOf,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
  requestLegacyToken,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const firm = await makeFirm(world);
const otherFirm = await makeFirm(world);
const vendor = await makeVendor(world);
const otherVendor = await makeVendor(world);
const trainingVendor = await makeVendor(world, ['acl/*'], 'training');
const prodVendor = await makeVendor(world, ['acl/*'], 'prod');
const account = await makeAccount(world, vendor, firm);
await makeAccount(world, vendor, otherFirm);
await makeAccount(world, otherVendor, firm);
const environment = await world.environment('sandbox');

type Owner = typeof vendor;
const clientToken = async (of: Owner, apiKey?: readonly string[]): Promise<string> =>
  fieldOf(await requestClientToken(world, of, apiKey), 'access_token');
const legacyAnswer = (with_: typeof account, of: Owner = vendor) =>
  requestLegacyToken(world, firm, [of.legacyKey], with_);

const goodClient = await clientToken(vendor);
const goodLegacy = fieldOf(await legacyAnswer(account), 'access_token');
const refreshToken = fieldOf(await legacyAnswer(account), 'refresh_token');

async function revokedApiKey(flow: 'legacy' | 'client'): Promise<string> {
  const { id, apiKey } = await issueApiKey(database, world.secrets, vendor.application, flow, 'gone');
  await revokeApiKey(database, vendor.application, id);
  return apiKey;
}

async function tokenOfRevokedClient(): Promise<string> {
  const gone = await makeVendor(world);
  const token = await clientToken(gone);
  await revokeClient(database, gone.application, gone.clientId);
  return token;
}

async function tokenOfSuspendedApplication(): Promise<string> {
  const gone = await makeVendor(world);
  const token = await clientToken(gone);
  await suspendApplication(database, gone.application);
  return token;
}

async function tokenOfAccount(change: (username: string) => Promise<unknown>): Promise<string> {
  const made = await makeAccount(world, vendor, firm);
  const token = fieldOf(await legacyAnswer(made), 'access_token');
  await change(made.username);
  return token;
}

/** A world of the same database whose tokens expired a while ago. */
const past = await openWorld(database, { secrets: world.secrets });
past.clock.advance(-24 * 3_600_000);
/** A world of another installation: same names, other keys. */
const foreign = await openWorld(database, { secrets: openSecrets(makeDataKeys()) });

async function signedBySandbox(claims: Readonly<Record<string, unknown>>): Promise<string> {
  const { kid, privateKey } = await world.keys.signer('sandbox');
  return await signRs256({ alg: 'RS256', kid }, claims, privateKey);
}

function tampered(token: string): string {
  const [head, payload, signature = ''] = token.split('.');
  return `${head}.${payload}.${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
}

const signature = 'Bearer token has a wrong signature: it was altered or made elsewhere';
const malformed = 'Bearer token is malformed: it is not a token of this service';
const elsewhere = 'Bearer token belongs to another environment';

interface TokenState {
  readonly name: string;
  /** Values of the Authorization header. */
  readonly authorization: readonly string[];
  readonly code: 'credentials-missing' | 'credentials-invalid' | 'credentials-expired';
  readonly problem: string;
  /** The refusal rests on the database, so the key was looked up as well. */
  readonly flow?: 'legacy' | 'client';
}

const bearer = (token: string): readonly string[] => [`Bearer ${token}`];
const invalid = 'credentials-invalid';
const badTokens: readonly TokenState[] = [
  {
    name: 'none',
    authorization: [],
    code: 'credentials-missing',
    problem: 'Bearer token is missing: send the header Authorization: Bearer <access token>',
  },
  {
    name: 'another scheme',
    authorization: ['Basic eDp5'],
    code: 'credentials-missing',
    problem: 'Bearer token is missing: the Authorization header has another scheme',
  },
  {
    name: 'sent twice',
    authorization: [...bearer(goodClient), ...bearer(goodClient)],
    code: invalid,
    problem: 'Bearer token is sent more than once: send one Authorization header',
  },
  { name: 'garbage', authorization: bearer('garbage'), code: invalid, problem: malformed },
  { name: 'three parts of garbage', authorization: bearer('a.b.c'), code: invalid, problem: malformed },
  {
    name: 'unsigned',
    authorization: bearer(`${Buffer.from('{"alg":"none"}').toString('base64url')}.${goodClient.split('.')[1]}.AA`),
    code: invalid,
    problem: 'Bearer token is signed with an algorithm that this service does not use',
  },
  { name: 'client, tampered', authorization: bearer(tampered(goodClient)), code: invalid, problem: signature },
  { name: 'legacy, tampered', authorization: bearer(tampered(goodLegacy)), code: invalid, problem: signature },
  {
    name: 'legacy, of another installation',
    authorization: bearer(signHs256({ alg: 'HS256', typ: 'JWT' }, { sub: 'x' }, foreign.secrets.key('legacy-token'))),
    code: invalid,
    problem: signature,
  },
  {
    name: 'legacy, without claims',
    authorization: bearer(signHs256({ alg: 'HS256' }, {}, world.secrets.key('legacy-token'))),
    code: invalid,
    problem: 'Bearer token lacks a claim of a legacy token',
  },
  {
    name: 'client, without claims',
    authorization: bearer(await signedBySandbox({ iss: 'https://login.example.com/auth/realms/sandbox' })),
    code: invalid,
    problem: 'Bearer token lacks a claim of a client-credentials token',
  },
  {
    name: 'client, with the issuer of another realm than its key’s',
    authorization: bearer(
      await signedBySandbox({
        ...decodeJwt(goodClient)?.claims,
        iss: 'https://login.example.com/auth/realms/production',
      }),
    ),
    code: invalid,
    problem: 'Bearer token names an issuer that its key does not sign for',
  },
  {
    name: 'client, of an unknown key',
    authorization: bearer(
      await signRs256(
        { alg: 'RS256', kid: 'x'.repeat(43) },
        decodeJwt(goodClient)?.claims ?? {},
        (await world.keys.signer('sandbox')).privateKey,
      ),
    ),
    code: invalid,
    problem: 'Bearer token is signed with an unknown key (kid): it was made elsewhere or its key is retired',
  },
  {
    name: 'client, expired',
    authorization: bearer(fieldOf(await requestClientToken(past, vendor), 'access_token')),
    code: 'credentials-expired',
    problem: 'Bearer token has expired: request a new one',
  },
  {
    name: 'legacy, expired',
    authorization: bearer(fieldOf(await requestLegacyToken(past, firm, [vendor.legacyKey], account), 'access_token')),
    code: 'credentials-expired',
    problem: 'Bearer token has expired: request a new one',
  },
  {
    name: 'client, of another realm',
    authorization: bearer(await clientToken(prodVendor)),
    code: invalid,
    problem: 'Bearer token was issued by realm production: environment sandbox takes tokens of realm sandbox',
  },
  {
    name: 'client, of another environment',
    authorization: bearer(await clientToken(trainingVendor)),
    code: invalid,
    problem: elsewhere,
  },
  {
    name: 'keyless',
    authorization: bearer(await clientToken(vendor, [])),
    code: invalid,
    problem:
      'Bearer token was requested without x-api-key and opens nothing: request a new one and send the header x-api-key',
  },
  {
    name: 'refresh token',
    authorization: bearer(refreshToken),
    code: invalid,
    problem: 'Bearer token is a refresh token: send the access_token of the same answer',
  },
  {
    name: 'client, revoked',
    authorization: bearer(await tokenOfRevokedClient()),
    code: invalid,
    problem: 'Bearer token belongs to a revoked client',
    flow: 'client',
  },
  {
    name: 'client, application suspended',
    authorization: bearer(await tokenOfSuspendedApplication()),
    code: invalid,
    problem: 'Bearer token belongs to a suspended application',
    flow: 'client',
  },
  {
    name: 'legacy, account revoked',
    authorization: bearer(await tokenOfAccount((name) => revokeLegacyAccount(database, firm, name))),
    code: invalid,
    problem: 'Bearer token belongs to a revoked account',
    flow: 'legacy',
  },
  {
    name: 'legacy, password reset',
    authorization: bearer(await tokenOfAccount((name) => resetLegacyPassword(database, world.secrets, firm, name))),
    code: invalid,
    problem: 'Bearer token ended with the password it was got with: log in again',
    flow: 'legacy',
  },
];

const goodTokens = [
  { name: 'client', authorization: bearer(goodClient), flow: 'client' },
  { name: 'legacy', authorization: bearer(goodLegacy), flow: 'legacy' },
] as const;

interface KeyState {
  readonly name: string;
  /** Values of the x-api-key header. */
  readonly apiKey: readonly string[];
  readonly code?: 'credentials-missing';
  /** What is wrong with it for a token of the flow; undefined when it is right. */
  readonly problem: (flow: 'legacy' | 'client') => string | undefined;
  /** What is wrong with the header, whatever the token. */
  readonly header?: string;
}

const empty = 'x-api-key header is empty: an empty key is a wrong key';
const repeated = 'x-api-key header is sent more than once: send one key';
const flowNames = { legacy: 'legacy', client: 'client-credentials' } as const;
const ofAnother = 'x-api-key belongs to another application than the Bearer token';
const needs = (key: 'legacy' | 'client', flow: 'legacy' | 'client'): string =>
  `x-api-key is a ${flowNames[key]} key: this needs the ${flowNames[flow]} key of the application`;

const keyStates: readonly KeyState[] = [
  {
    name: 'missing',
    apiKey: [],
    code: 'credentials-missing',
    problem: (flow) => `x-api-key header is missing: send the API key of the ${flowNames[flow]} flow`,
    header: 'x-api-key header is missing: send the API key of the application and flow of the token',
  },
  { name: 'empty', apiKey: [''], problem: () => empty, header: empty },
  { name: 'repeated', apiKey: [vendor.clientKey, vendor.clientKey], problem: () => repeated, header: repeated },
  { name: 'unknown', apiKey: ['unknown'], problem: () => 'x-api-key is not a known API key' },
  {
    name: 'legacy',
    apiKey: [vendor.legacyKey],
    problem: (flow) => (flow === 'legacy' ? undefined : needs('legacy', 'client')),
  },
  {
    name: 'client',
    apiKey: [vendor.clientKey],
    problem: (flow) => (flow === 'client' ? undefined : needs('client', 'legacy')),
  },
  {
    name: 'legacy, of another application',
    apiKey: [otherVendor.legacyKey],
    problem: (flow) => (flow === 'legacy' ? ofAnother : needs('legacy', 'client')),
  },
  {
    name: 'client, of another application',
    apiKey: [otherVendor.clientKey],
    problem: (flow) => (flow === 'client' ? ofAnother : needs('client', 'legacy')),
  },
  {
    name: 'client, of another environment',
    apiKey: [trainingVendor.clientKey],
    problem: (flow) => (flow === 'client' ? 'x-api-key belongs to another environment' : needs('client', 'legacy')),
  },
  { name: 'client, revoked', apiKey: [await revokedApiKey('client')], problem: () => 'x-api-key has been revoked' },
  { name: 'legacy, revoked', apiKey: [await revokedApiKey('legacy')], problem: () => 'x-api-key has been revoked' },
];

function call(authorization: readonly string[], apiKey: readonly string[], firmPrefix = firm.prefix): Promise<Session> {
  const credentials: ApiCredentials = { environment, product: 'pm', firmPrefix, authorization, apiKey };
  return world.sessions.authenticate(credentials);
}

/** The whole refusal: code, every issue, the challenge. */
async function refusalOf(attempt: Promise<Session>): Promise<object> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof PraxisError, String(error));
  return {
    code: error.code,
    status: error.status,
    problems: error.issues.map(({ diagnostics }) => diagnostics),
    headers: error.details.headers,
  };
}

function refusal(code: string, problems: readonly string[], tokenSent: boolean): object {
  const described = `Bearer realm="sandbox", error="invalid_token", error_description="${problems[0]}"`;
  return {
    code,
    status: 401,
    problems,
    headers: { 'www-authenticate': tokenSent ? described : 'Bearer realm="sandbox"' },
  };
}

for (const token of badTokens) {
  for (const key of keyStates) {
    test(`contract 5.1: token ${token.name}, key ${key.name}: 401 that names the token`, async () => {
      // The application of some of these tokens is not the key's: then the key is named as well.
      const looksUp = token.flow !== undefined && key.header === undefined;
      const attempt = refusalOf(call(token.authorization, key.apiKey));
      if (!looksUp) {
        const [code, problems] =
          token.flow === undefined
            ? [token.code, [token.problem, key.header]]
            : [key.code ?? invalid, [key.name === 'missing' ? key.problem(token.flow) : key.header]];
        const named = problems.filter((problem) => problem !== undefined);
        assert.deepEqual(await attempt, refusal(code, named, token.code !== 'credentials-missing'));
        return;
      }
      const { problems, ...rest } = { problems: [], ...(await attempt) } as { problems: readonly string[] };
      assert.deepEqual({ problems: [problems[0]], ...rest }, refusal(token.code, [token.problem], true));
      assert.ok(problems.length <= 2);
    });
  }
}

for (const token of goodTokens) {
  for (const key of keyStates) {
    const problem = key.problem(token.flow);
    if (problem === undefined) {
      test(`contract 5.1: token ${token.name}, key ${key.name}: a session`, async () => {
        const { principal } = await call(token.authorization, key.apiKey);
        assert.deepEqual(
          { flow: principal.flow, application: principal.application },
          { flow: token.flow, application: vendor.application.id },
        );
      });
    } else {
      test(`contract 5.8: token ${token.name}, key ${key.name}: 401 that names the key`, async () => {
        assert.deepEqual(
          await refusalOf(call(token.authorization, key.apiKey)),
          refusal(key.code ?? invalid, [problem], true),
        );
      });
    }
  }
}

for (const place of ['query', 'body'] as const) {
  test(`contract 5.1: an access_token in the ${place} is refused, also beside a good one in the header`, async () => {
    const credentials: ApiCredentials = {
      environment,
      product: 'pm',
      firmPrefix: firm.prefix,
      authorization: bearer(goodClient),
      apiKey: [vendor.clientKey],
      tokenElsewhere: place,
    };
    const problem = `Bearer token in the ${place} is refused: send it in the Authorization header only`;
    await call(credentials.authorization, credentials.apiKey);
    assert.deepEqual(await refusalOf(world.sessions.authenticate(credentials)), refusal(invalid, [problem], true));
  });
}

test('contract 5.1: a header that is repeated is refused although the first value has a remembered session', async () => {
  await call(bearer(goodClient), [vendor.clientKey]);
  const tokens = call([...bearer(goodClient), 'Bearer other'], [vendor.clientKey]);
  const twoTokens = 'Bearer token is sent more than once: send one Authorization header';
  assert.deepEqual(await refusalOf(tokens), refusal(invalid, [twoTokens], true));
  const keys = call(bearer(goodClient), [vendor.clientKey, 'other']);
  assert.deepEqual(await refusalOf(keys), refusal(invalid, [repeated], true));
});

test('settled order-of-checks: credentials are checked before the firm: a wrong key at an unknown firm is 401', async () => {
  for (const prefix of ['no-such-firm', otherFirm.prefix]) {
    assert.deepEqual(
      await refusalOf(call(bearer(goodClient), ['unknown'], prefix)),
      refusal(invalid, ['x-api-key is not a known API key'], true),
    );
  }
});
