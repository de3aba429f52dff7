/** Contract 4.1, 5.2, 5.3, 5.5: the legacy password grant. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { revokeApiKey } from '../../../src/oauth/client-auth/api-keys.ts';
import { issueLegacyAccount, resetLegacyPassword, revokeLegacyAccount } from '../../../src/oauth/legacy/accounts.ts';
import { decodeJwt, verifyHs256 } from '../../../src/oauth/signing/jwt.ts';
import { suspendApplication } from '../../../src/tenancy/applications.ts';
import { authorise, revokeAuthorisation } from '../../../src/tenancy/authorisations.ts';
import { suspendFirm } from '../../../src/tenancy/firms.ts';
import { openTestDatabase } from '../../support/database.ts';
import {
  assertRefused,
  bodyOf,
  entryProblem,
  fieldOf,
  formRequest,
  makeAccount,
  makeFirm,
  makeVendor,
  openWorld,
  requestLegacyToken,
} from '../world.ts';

const { runtime: database } = await openTestDatabase({ after });
const world = await openWorld(database);
const firm = await makeFirm(world);
const otherFirm = await makeFirm(world);
const trainingFirm = await makeFirm(world, 'training');
const vendor = await makeVendor(world);
const otherVendor = await makeVendor(world);
const trainingVendor = await makeVendor(world, ['acl/*'], 'training');
const account = await makeAccount(world, vendor, firm);
const otherAccount = await makeAccount(world, otherVendor, firm);
const atOtherFirm = await makeAccount(world, vendor, otherFirm);
const trainingAccount = await makeAccount(world, trainingVendor, trainingFirm);

const wrongKeys: readonly (readonly [name: string, apiKey: readonly string[], description: string])[] = [
  ['missing', [], 'x-api-key header is missing: send the API key of the legacy flow'],
  ['empty', [''], 'x-api-key header is empty: an empty key is a wrong key'],
  ['repeated', [vendor.legacyKey, vendor.legacyKey], 'x-api-key header is sent more than once: send one key'],
  ['unknown', ['unknown'], 'x-api-key is not a known API key'],
  [
    'the client-credentials key of the application',
    [vendor.clientKey],
    'x-api-key is a client-credentials key: this needs the legacy key of the application',
  ],
  ['another environment’s', [trainingVendor.legacyKey], 'x-api-key belongs to another environment'],
  ['another application’s', [otherVendor.legacyKey], 'x-api-key belongs to another application than the account'],
];
for (const [name, apiKey, description] of wrongKeys) {
  test(`contract 4.1: an x-api-key that is ${name} is invalid_client`, async () => {
    assertRefused(await requestLegacyToken(world, firm, apiKey, account), 401, 'invalid_client', description);
  });
}

const noSuchFirm = { ...firm, prefix: 'no-such-firm' };
const wrong = 'username or password is wrong for this firm';
const wrongAccounts: readonly (readonly [name: string, at: typeof firm, given: typeof account])[] = [
  ['wrong password', firm, { ...account, password: 'wrong' }],
  ['unknown username', firm, { ...account, username: 'nobody' }],
  ['username in another case', firm, { ...account, username: account.username.toUpperCase() }],
  ['account of another firm', firm, atOtherFirm],
  ['account of another environment', firm, trainingAccount],
  ['unknown firm', noSuchFirm, account],
  ['firm of another environment', { ...trainingFirm, environment: 'sandbox' }, trainingAccount],
  ['account of another application with a wrong password', firm, { ...otherAccount, password: 'wrong' }],
];
for (const [name, at, given] of wrongAccounts) {
  test(`contract 5.3: ${name} is invalid_grant, always in the same words`, async () => {
    assertRefused(await requestLegacyToken(world, at, [vendor.legacyKey], given), 400, 'invalid_grant', wrong);
  });
}

for (const name of ['username', 'password']) {
  for (const state of ['missing', 'empty']) {
    test(`contract 4.1: ${name} ${state} is invalid_request`, async () => {
      const form: Record<string, string> = { grant_type: 'password', ...account, [name]: '' };
      if (state === 'missing') delete form[name];
      const place = { environment: await world.environment('sandbox'), firmPrefix: firm.prefix };
      const reply = await world.endpoints.legacy(place, formRequest(form, [vendor.legacyKey]));
      assertRefused(reply, 400, 'invalid_request', `${name} is missing or empty`);
    });
  }
}

test('contract 5.3: what was revoked, suspended or has expired is refused at once', async (t) => {
  const refusedAfter = async (
    name: string,
    status: 400 | 401,
    error: string,
    description: string,
    change: (made: Awaited<ReturnType<typeof fresh>>) => Promise<unknown>,
  ): Promise<void> => {
    await t.test(name, async () => {
      const made = await fresh();
      fieldOf(await requestLegacyToken(world, made.firm, [made.vendor.legacyKey], made.account), 'access_token');
      await change(made);
      assertRefused(
        await requestLegacyToken(world, made.firm, [made.vendor.legacyKey], made.account),
        status,
        error,
        description,
      );
    });
  };
  await refusedAfter('API key revoked', 401, 'invalid_client', 'x-api-key has been revoked', (made) =>
    revokeApiKey(database, made.vendor.application, made.vendor.legacyKeyId),
  );
  await refusedAfter('application suspended', 401, 'invalid_client', 'application is suspended', (made) =>
    suspendApplication(database, made.vendor.application),
  );
  await refusedAfter('account revoked', 400, 'invalid_grant', 'account has been revoked', (made) =>
    revokeLegacyAccount(database, made.firm, made.account.username),
  );
  await refusedAfter('password reset', 400, 'invalid_grant', wrong, (made) =>
    resetLegacyPassword(database, world.secrets, made.firm, made.account.username),
  );
  await refusedAfter('firm suspended', 400, 'invalid_grant', 'firm is suspended', (made) =>
    suspendFirm(database, made.firm),
  );
  const unauthorised = 'firm does not authorise this application, or no longer';
  await refusedAfter('authorisation revoked', 400, 'invalid_grant', unauthorised, (made) =>
    revokeAuthorisation(database, made.firm, made.vendor.application),
  );
  await refusedAfter('authorisation expired', 400, 'invalid_grant', unauthorised, async (made) => {
    const terms = { purpose: 'test', expiresAtMs: world.clock.now() + 1000 };
    await authorise(database, world.clock, made.firm, made.vendor.application, terms, entryProblem);
    world.clock.advance(1000);
  });
});

async function fresh() {
  const made = { firm: await makeFirm(world), vendor: await makeVendor(world) };
  return { ...made, account: await makeAccount(world, made.vendor, made.firm) };
}

test('contract 5.3: an account at a firm that never authorised the application is refused', async () => {
  const lone = await makeFirm(world);
  const there = await issueLegacyAccount(database, world.secrets, lone, vendor.application);
  assertRefused(
    await requestLegacyToken(world, lone, [vendor.legacyKey], there),
    400,
    'invalid_grant',
    'firm does not authorise this application, or no longer',
  );
});

test('contract 2: the answer has the four fields of the legacy flow; scope is the firm', async () => {
  const reply = await requestLegacyToken(world, firm, [vendor.legacyKey], account);
  const body = bodyOf(reply);
  assert.deepEqual(Object.keys(body).sort(), ['access_token', 'refresh_token', 'scope', 'token_type']);
  assert.deepEqual(
    { scope: body['scope'], token_type: body['token_type'] },
    { scope: firm.prefix, token_type: 'Bearer' },
  );
  assert.deepEqual(
    { status: reply.status, headers: reply.headers },
    {
      status: 200,
      headers: { 'content-type': 'application/json;charset=UTF-8', 'cache-control': 'no-store', pragma: 'no-cache' },
    },
  );
});

test('contract 2: access and refresh token are HS256 JWTs with these claims', async () => {
  const reply = await requestLegacyToken(world, firm, [vendor.legacyKey], account);
  const iat = Math.floor(world.clock.now() / 1000);
  const grantId = decodeJwt(fieldOf(reply, 'refresh_token'))?.claims['jti'];
  for (const [field, tokenType, seconds] of [
    ['access_token', 'access', 3600],
    ['refresh_token', 'refresh', 2_592_000],
  ] as const) {
    const jwt = decodeJwt(fieldOf(reply, field));
    assert.ok(jwt && verifyHs256(jwt, world.secrets.key('legacy-token')));
    const { jti, sub, cred, ...claims } = jwt.claims;
    assert.deepEqual(jwt.header, { alg: 'HS256', typ: 'JWT' });
    assert.deepEqual(claims, {
      iss: vendor.application.name,
      aud: 'sandbox',
      urlPrefix: firm.prefix,
      ...(tokenType === 'access' ? { vendor: `${account.username}@${firm.prefix}` } : {}),
      ...(tokenType === 'access' ? { sid: grantId } : {}),
      tokenType,
      pol: 1,
      iat,
      exp: iat + seconds,
    });
    assert.match(String(sub), /^fhir_[A-Za-z0-9_-]{12}$/);
    assert.match(String(jti), /^[0-9a-f-]{36}$/);
    assert.match(String(cred), /^[A-Za-z0-9_-]{16}$/);
  }
});

test('contract 4.1: every token has an id of its own', async () => {
  const ids = new Set<unknown>();
  for (let request = 0; request < 5; request++) {
    const reply = await requestLegacyToken(world, firm, [vendor.legacyKey], account);
    for (const field of ['access_token', 'refresh_token']) ids.add(decodeJwt(fieldOf(reply, field))?.claims['jti']);
  }
  assert.equal(ids.size, 10);
});

test('contract 1.3: an application has an account of its own at each firm, and accounts of several applications share a firm', async () => {
  for (const [at, by, given] of [
    [firm, vendor, account],
    [otherFirm, vendor, atOtherFirm],
    [firm, otherVendor, otherAccount],
  ] as const) {
    assert.equal(fieldOf(await requestLegacyToken(world, at, [by.legacyKey], given), 'scope'), at.prefix);
  }
});
