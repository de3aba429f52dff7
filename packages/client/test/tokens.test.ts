/** Tokens of both flows: requested once for all who need one, renewed ahead of their end, and once more after a 401. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Clock, type Credentials, connect, ForbiddenError, TokenError } from '@praxis/client';
import { SignJWT } from 'jose';
import { setClientKeys } from '../../server/src/oauth/client-auth/client-keys.ts';
import { issueKeyedClient } from '../../server/src/oauth/client-auth/clients.ts';
import { keySetOf, makeKeyPair } from '../../server/test/oauth/assertions.ts';
import { makeApplication, makeFirm } from '../../server/test/support/service.ts';
import { clientCredentialsOf, openWorld, passwordCredentialsOf, recordFetch } from './world.ts';

const lifeMs = 900_000;
const world = await openWorld({ after }, { settings: { PRAXIS_CONNECTIONS_PER_ADDRESS: '2000' } });
const { service, maple, application, clock } = world;
const { id: patientId } = await world.praxis.create({ resourceType: 'Patient', name: [{ family: 'Example' }] });

function connectAs(credentials: Credentials, more: { readonly clock?: Clock; readonly base?: string } = {}) {
  const recorded = recordFetch();
  const options = { base: maple.base, clock, retry: { attemptsMax: 100 }, fetch: recorded.fetch };
  return { ...recorded, praxis: connect({ ...options, credentials, ...more }) };
}

test('a wrong secret is refused in the words of the token endpoint, and asked for once by all who wait', async () => {
  const clientSecret = 'planted-secret';
  const { praxis, countTokenRequests } = connectAs({ ...clientCredentialsOf(application), clientSecret });
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => praxis.read('Patient', patientId)));
  for (const result of results) {
    assert.ok(result.status === 'rejected' && result.reason instanceof TokenError);
    const { code, status, fix, requestId, message } = result.reason;
    assert.deepEqual([code, status, typeof requestId], ['invalid_client', 401, 'string']);
    assert.match(fix, /^Check client id, secret and API key/);
    assert.ok(!message.includes(clientSecret));
  }
  assert.equal(countTokenRequests(), 1);
});

test('the key of the other flow is refused by the token endpoint of each', async () => {
  for (const credentials of [
    { ...passwordCredentialsOf(application, maple), apiKey: application.clientKey },
    { ...clientCredentialsOf(application), apiKey: application.legacyKey },
  ]) {
    const { praxis, countTokenRequests } = connectAs(credentials);
    await assert.rejects(praxis.read('Patient', patientId), (error) => {
      assert.ok(error instanceof TokenError);
      assert.match(error.issue.diagnostics ?? '', /^x-api-key is a /);
      return true;
    });
    assert.equal(countTokenRequests(), 1);
  }
});

test('a practice that has not authorised the application is 403, and no other token is requested', async () => {
  const { praxis, countTokenRequests } = connectAs(clientCredentialsOf(application), {
    base: maple.base.replace('/maple/', '/oak/'),
  });
  await assert.rejects(praxis.read('Patient', patientId), (error) => {
    assert.ok(error instanceof ForbiddenError);
    assert.deepEqual([error.code, error.path], ['firm-forbidden', `Patient/${patientId}`]);
    return true;
  });
  assert.equal(countTokenRequests(), 1);
});

test('1,000 calls around the end of a token cause one token request, and none fails', async () => {
  const { praxis, countTokenRequests } = connectAs(clientCredentialsOf(application));
  await praxis.read('Patient', patientId);
  assert.equal(countTokenRequests(), 1);
  // From 62 s before its end, before it is renewed, until 38 s after it.
  service.clock.advance(lifeMs - 62_000);
  const calls: Promise<unknown>[] = [];
  for (let call = 0; call < 1_000; call += 1) {
    calls.push(praxis.read('Patient', patientId));
    if (call % 10 !== 9) continue;
    service.clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(calls);
  assert.equal(countTokenRequests(), 2);
});

test('1,000 calls at once without a token, and after its end, cause one token request each time', async () => {
  const { praxis, countTokenRequests } = connectAs(clientCredentialsOf(application));
  for (const requests of [1, 2]) {
    await Promise.all(Array.from({ length: 500 }, () => praxis.read('Patient', patientId)));
    assert.equal(countTokenRequests(), requests);
    service.clock.advance(lifeMs + 1);
  }
});

for (const [flow, credentials] of [
  ['client credentials', clientCredentialsOf(application)],
  ['password grant', passwordCredentialsOf(application, maple)],
] as const) {
  test(`${flow}: a client that does not see the end of its token is 401, and recovers by one new one`, async () => {
    const standing: Clock = { ...clock, now: () => 0 };
    const { praxis, requests, countTokenRequests } = connectAs(credentials, { clock: standing });
    await praxis.read('Patient', patientId);
    service.clock.advance(2 * 3_600_000);
    await Promise.all(Array.from({ length: 100 }, () => praxis.read('Patient', patientId)));
    assert.equal(countTokenRequests(), 2);
    const reads = requests.filter(({ url }) => url.endsWith(`/${patientId}`)).length;
    assert.ok(reads > 101 && reads <= 201, `${reads} reads`);
  });
}

test('the password grant renews by its refresh token, and by the password where that is refused', async () => {
  const { praxis, requests, countTokenRequests } = connectAs(passwordCredentialsOf(application, maple));
  const grants = async () =>
    await Promise.all(
      requests
        .filter(({ method }) => method === 'POST')
        .map(async (request) => new URLSearchParams(await request.clone().text()).get('grant_type')),
    );
  await praxis.read('Patient', patientId);
  service.clock.advance(3_600_000);
  await praxis.read('Patient', patientId);
  assert.deepEqual(await grants(), ['password', 'refresh_token']);
  service.clock.advance(400 * 86_400_000);
  await praxis.read('Patient', patientId);
  assert.deepEqual(await grants(), ['password', 'refresh_token', 'refresh_token', 'password']);
  assert.equal(countTokenRequests(), 4);
});

test('practices that are connected with the same credentials share a token', async () => {
  const pine = await makeFirm(service, 'pine');
  const both = clientCredentialsOf(await makeApplication(service, 'Both', ['acl/pat_r', 'acl/pat_s'], [maple, pine]));
  const [first, second] = [connectAs(both), connectAs(both, { base: pine.base })];
  await first.praxis.read('Patient', patientId);
  assert.equal(await second.praxis.search('Patient').count(), 0);
  assert.deepEqual([first.countTokenRequests(), second.countTokenRequests()], [1, 0]);
});

test('fewer access entries than the application has', async () => {
  const { praxis } = connectAs({ ...clientCredentialsOf(application), scope: ['acl/pat_r'] });
  assert.equal((await praxis.read('Patient', patientId)).id, patientId);
  await assert.rejects(praxis.search('Patient').first(), (error) => {
    assert.ok(error instanceof ForbiddenError);
    assert.equal(error.code, 'access-denied');
    return true;
  });
});

test('an assertion in place of a secret: refused by another key, made anew for each request', async () => {
  const [pair, another] = [await makeKeyPair('ES256', 'first'), await makeKeyPair('ES256', 'first')];
  const { database } = service.platform;
  const clientId = await issueKeyedClient(database, application.application);
  await setClientKeys(database, application.application, clientId, { jwks: keySetOf(pair) });
  const ids: string[] = [];
  const connectSigning = (privateKey: CryptoKey) =>
    connectAs({
      flow: 'client-credentials',
      apiKey: application.clientKey,
      clientId,
      async signAssertion(aud) {
        const jti = `assertion-${ids.length}`;
        ids.push(jti);
        const exp = Math.floor(service.clock.now() / 1000) + 60;
        const claims = new SignJWT({ iss: clientId, sub: clientId, aud, jti, exp });
        return await claims.setProtectedHeader({ alg: 'ES256', kid: 'first' }).sign(privateKey);
      },
    }).praxis;
  await assert.rejects(connectSigning(another.privateKey).read('Patient', patientId), (error) => {
    assert.ok(error instanceof TokenError);
    assert.equal(error.code, 'invalid_client');
    return true;
  });
  const praxis = connectSigning(pair.privateKey);
  await praxis.read('Patient', patientId);
  service.clock.advance(lifeMs);
  await praxis.read('Patient', patientId);
  assert.equal(ids.length, 3);
});

test('who waits for a token can leave, and the others get it', async () => {
  const { praxis, countTokenRequests } = connectAs(clientCredentialsOf(application));
  const leaving = new AbortController();
  const left = praxis.read('Patient', patientId, { signal: leaving.signal });
  const stays = praxis.read('Patient', patientId);
  leaving.abort(new Error('left'));
  await assert.rejects(left, { message: 'left' });
  assert.equal((await stays).id, patientId);
  assert.equal(countTokenRequests(), 1);
});
