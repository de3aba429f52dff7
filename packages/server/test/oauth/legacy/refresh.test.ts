/** Contract 4.2, 5.4, 5.5: the legacy refresh. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { resetLegacyPassword, revokeLegacyAccount } from '../../../src/oauth/legacy/accounts.ts';
import { decodeJwt, signHs256 } from '../../../src/oauth/signing/jwt.ts';
import type { TokenReply } from '../../../src/oauth/token-endpoint.ts';
import { suspendApplication } from '../../../src/tenancy/applications.ts';
import { revokeAuthorisation } from '../../../src/tenancy/authorisations.ts';
import { createFirm, type Firm, resumeFirm, suspendFirm } from '../../../src/tenancy/firms.ts';
import { openTestDatabase } from '../../support/database.ts';
import {
  assertRefused,
  bodyOf,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestClientToken,
  requestLegacyToken,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);

async function refresh(firm: Firm, apiKey: readonly string[], refreshToken: string): Promise<TokenReply> {
  const place = { environment: await world.environment(firm.environment), firmPrefix: firm.prefix };
  return await world.endpoints.legacy(
    place,
    formRequest({ grant_type: 'refresh_token', refresh_token: refreshToken }, apiKey),
  );
}

/** A firm, an application and the answer to its login there. */
async function login(environment = 'sandbox') {
  const firm = await makeFirm(world, environment);
  const vendor = await makeVendor(world, ['acl/*'], environment);
  const account = await makeAccount(world, vendor, firm);
  const reply = await requestLegacyToken(world, firm, [vendor.legacyKey], account);
  return {
    firm,
    vendor,
    account,
    accessToken: fieldOf(reply, 'access_token'),
    refreshToken: fieldOf(reply, 'refresh_token'),
  };
}

const mine = await login();
const others = await login();
const inTraining = await login('training');

const wrongKeys: readonly (readonly [name: string, apiKey: readonly string[], description: string])[] = [
  ['missing', [], 'x-api-key header is missing: send the API key of the legacy flow'],
  ['empty', [''], 'x-api-key header is empty: an empty key is a wrong key'],
  ['repeated', [mine.vendor.legacyKey, mine.vendor.legacyKey], 'x-api-key header is sent more than once: send one key'],
  ['unknown', ['unknown'], 'x-api-key is not a known API key'],
  [
    'the client-credentials key',
    [mine.vendor.clientKey],
    'x-api-key is a client-credentials key: this needs the legacy key of the application',
  ],
  ['another environment’s', [inTraining.vendor.legacyKey], 'x-api-key belongs to another environment'],
  ['another application’s', [others.vendor.legacyKey], 'x-api-key belongs to another application than the account'],
];
for (const [name, apiKey, description] of wrongKeys) {
  test(`contract 4.2: an x-api-key that is ${name} is invalid_client`, async () => {
    assertRefused(await refresh(mine.firm, apiKey, mine.refreshToken), 401, 'invalid_client', description);
  });
}

test('contract 4.2: a missing or empty refresh_token is invalid_request', async () => {
  assertRefused(
    await refresh(mine.firm, [mine.vendor.legacyKey], ''),
    400,
    'invalid_request',
    'refresh_token is missing or empty',
  );
});

const foreign = 'refresh_token was issued for another firm or environment';
const wrongTokens: readonly (readonly [name: string, token: () => string | Promise<string>, description: string])[] = [
  ['garbage', () => 'garbage', 'refresh_token is not a token of this service'],
  [
    'the access token of the same answer',
    () => mine.accessToken,
    'refresh_token is an access token: send the refresh_token of the same answer',
  ],
  [
    'a client-credentials token',
    async () => fieldOf(await requestClientToken(world, mine.vendor), 'access_token'),
    'refresh_token has a wrong signature: it was altered or made elsewhere',
  ],
  [
    'tampered',
    () => tampered(mine.refreshToken, others.firm.prefix),
    'refresh_token has a wrong signature: it was altered or made elsewhere',
  ],
  [
    'signed with another key',
    () => signHs256({ alg: 'HS256' }, decodeJwt(mine.refreshToken)?.claims ?? {}, Buffer.alloc(32)),
    'refresh_token has a wrong signature: it was altered or made elsewhere',
  ],
  [
    'signed by us without the claims of a token',
    () => signHs256({ alg: 'HS256' }, { sub: 'x' }, world.secrets.key('legacy-token')),
    'refresh_token lacks a claim of a legacy token',
  ],
  ['another firm’s', () => others.refreshToken, foreign],
  ['another environment’s', () => inTraining.refreshToken, foreign],
];
for (const [name, token, description] of wrongTokens) {
  test(`contract 5.4: a refresh token that is ${name} is invalid_grant`, async () => {
    assertRefused(await refresh(mine.firm, [mine.vendor.legacyKey], await token()), 400, 'invalid_grant', description);
  });
}

test('contract 5.4: a refresh token is worthless at every other firm, also one that authorises the application', async () => {
  const second = await makeFirm(world);
  await makeAccount(world, mine.vendor, second);
  for (const firm of [second, others.firm, { ...mine.firm, prefix: 'no-such-firm' }]) {
    assertRefused(await refresh(firm, [mine.vendor.legacyKey], mine.refreshToken), 400, 'invalid_grant', foreign);
  }
});

test('contract 5.4: a refresh token is worthless at the firm of the same prefix in another environment', async () => {
  const twin = { environment: 'sandbox', prefix: inTraining.firm.prefix, name: 'Twin', timeZone: 'UTC' };
  const firm = await createFirm(database, twin);
  await makeAccount(world, mine.vendor, firm);
  assertRefused(await refresh(firm, [mine.vendor.legacyKey], inTraining.refreshToken), 400, 'invalid_grant', foreign);
});

function tampered(token: string, firmPrefix: string): string {
  const [head, , signature] = token.split('.');
  const claims = { ...decodeJwt(token)?.claims, urlPrefix: firmPrefix };
  return `${head}.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${signature}`;
}

type Login = Awaited<ReturnType<typeof login>>;
const changes: readonly (readonly [
  name: string,
  change: (made: Login) => Promise<unknown>,
  status: 400 | 401,
  error: string,
  description: string,
])[] = [
  [
    'the API key is revoked',
    (made) => revokeApiKey(database, made.vendor.application, made.vendor.legacyKeyId),
    401,
    'invalid_client',
    'x-api-key has been revoked',
  ],
  [
    'the application is suspended',
    (made) => suspendApplication(database, made.vendor.application),
    401,
    'invalid_client',
    'application is suspended',
  ],
  [
    'the account is revoked',
    (made) => revokeLegacyAccount(database, made.firm, made.account.username),
    400,
    'invalid_grant',
    'account has been revoked',
  ],
  [
    'the password is reset',
    (made) => resetLegacyPassword(database, world.secrets, made.firm, made.account.username),
    400,
    'invalid_grant',
    'refresh_token ended with the password it was got with: log in again',
  ],
  ['the firm is suspended', (made) => suspendFirm(database, made.firm), 400, 'invalid_grant', 'firm is suspended'],
  [
    'the authorisation is revoked',
    (made) => revokeAuthorisation(database, made.firm, made.vendor.application),
    400,
    'invalid_grant',
    'firm does not authorise this application, or no longer',
  ],
];
for (const [name, change, status, error, description] of changes) {
  test(`contract 5.4: once ${name}, the next refresh is refused`, async () => {
    const made = await login();
    assert.equal((await refresh(made.firm, [made.vendor.legacyKey], made.refreshToken)).status, 200);
    await change(made);
    assertRefused(await refresh(made.firm, [made.vendor.legacyKey], made.refreshToken), status, error, description);
  });
}

test('contract 4.2, 5.4: the answer has the four fields, a new access token and the refresh token that was sent', async () => {
  const made = await login();
  const accessTokens = new Set([made.accessToken]);
  for (let round = 1; round <= 3; round++) {
    world.clock.advance(1000);
    const reply = await refresh(made.firm, [made.vendor.legacyKey], made.refreshToken);
    const { access_token: accessToken, ...rest } = bodyOf(reply);
    assert.deepEqual(rest, { scope: made.firm.prefix, token_type: 'Bearer', refresh_token: made.refreshToken });
    accessTokens.add(String(accessToken));
    assert.equal(accessTokens.size, round + 1);
  }
});

test('contract 5.4: a suspended firm’s refresh token works again when the suspension ends', async () => {
  const made = await login();
  await suspendFirm(database, made.firm);
  assert.equal((await refresh(made.firm, [made.vendor.legacyKey], made.refreshToken)).status, 400);
  await resumeFirm(database, made.firm, { by: 'operator', nowMs: 0 });
  assert.equal((await refresh(made.firm, [made.vendor.legacyKey], made.refreshToken)).status, 200);
});

test('contract 8: a refresh token lasts as long as the setting says, to the second', async () => {
  const made = await login();
  world.clock.advance(2_592_000_000 - 1000);
  assert.equal((await refresh(made.firm, [made.vendor.legacyKey], made.refreshToken)).status, 200);
  world.clock.advance(1000);
  assertRefused(
    await refresh(made.firm, [made.vendor.legacyKey], made.refreshToken),
    400,
    'invalid_grant',
    'refresh_token has expired: request a new one',
  );
});
