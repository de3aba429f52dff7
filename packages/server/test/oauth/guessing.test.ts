/**
 * Guessing passwords and secrets is slowed, per account and per address, and the owner is not locked out by it.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../src/app.ts';
import {
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openTestService,
  passwordForm,
  postForm,
} from '../support/service.ts';

const service = await openTestService({ after }, { PRAXIS_GUESS_LIMIT: '3', PRAXIS_TRUSTED_PROXIES: '127.0.0.1' });
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const other = await makeApplication(service, 'Other', ['acl/*'], [maple]);

/** Every test begins a new minute. */
const nextMinute = (): void => service.clock.advance(60_000);

const wrongPassword = () => ({ ...passwordForm(vendor, maple), password: 'guessed' });
const wrongSecret = () => ({ ...clientForm(vendor), client_secret: 'guessed' });

/** @param address where the proxy says that the request comes from */
async function post(url: string, form: Readonly<Record<string, string>>, key: string | undefined, address: string) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'x-forwarded-for': address, ...(key === undefined ? {} : { 'x-api-key': key }) },
    body: new URLSearchParams(form),
  });
  return { status: response.status, headers: response.headers, json: await response.json() };
}

const flows = [
  {
    flow: 'legacy',
    url: maple.legacyTokenUrl,
    wrong: wrongPassword,
    right: () => passwordForm(vendor, maple),
    key: vendor.legacyKey,
    otherRight: () => passwordForm(other, maple),
    otherKey: other.legacyKey,
    refused: { status: 400, error: 'invalid_grant' },
  },
  {
    flow: 'client',
    url: clientTokenUrl(service),
    wrong: wrongSecret,
    right: () => clientForm(vendor),
    key: vendor.clientKey,
    otherRight: () => clientForm(other),
    otherKey: other.clientKey,
    refused: { status: 401, error: 'invalid_client' },
  },
];

for (const { flow, url, wrong, right, key, otherRight, otherKey, refused } of flows) {
  test(`${flow}: after three wrong attempts in a minute further ones are refused unseen, right or wrong, until it ends`, async () => {
    nextMinute();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const { status, json } = await post(url, wrong(), key, '192.0.2.1');
      assert.deepEqual({ status, error: json.error }, refused);
    }
    service.clock.advance(18_000);
    for (const form of [wrong(), right()]) {
      const { status, headers, json } = await post(url, form, key, '192.0.2.1');
      const until = new Date(service.clock.now() + 42_000).toISOString();
      assert.equal(status, 429);
      assert.deepEqual(json, {
        error: 'too_many_attempts',
        error_description: `too many wrong attempts in this minute: wait 42 s, until ${until}`,
      });
      assert.equal(headers.get('retry-after'), '42');
      assert.equal(headers.get('cache-control'), 'no-store');
    }
    assert.equal((await post(url, otherRight(), otherKey, '192.0.2.1')).status, 200, 'another account');
    service.clock.advance(42_000);
    assert.equal((await post(url, right(), key, '192.0.2.1')).status, 200);
  });

  test(`${flow}: the owner, who has the key, gets in while others without it guess from anywhere, at any rate`, async () => {
    nextMinute();
    for (const [index, guessed] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      const { status } = await post(url, wrong(), guessed, `192.0.2.${index + 10}`);
      assert.equal(status, index < 3 ? 401 : 429, guessed);
    }
    assert.equal((await post(url, right(), key, '192.0.2.99')).status, 200);
    assert.equal((await post(url, right(), key, '192.0.2.10')).status, 200, 'also from an address that guesses');
  });
}

test('an address that guesses at many accounts is refused at all of them, others are not', async () => {
  nextMinute();
  for (let attempt = 1; attempt <= 30; attempt += 1) {
    const form = { ...clientForm(vendor), client_id: `guessed-${attempt}` };
    assert.equal((await post(clientTokenUrl(service), form, undefined, '192.0.2.200')).status, 401);
  }
  assert.equal((await post(clientTokenUrl(service), clientForm(other), undefined, '192.0.2.200')).status, 429);
  assert.equal((await post(clientTokenUrl(service), clientForm(other), undefined, '192.0.2.201')).status, 200);
  assert.equal((await post(clientTokenUrl(service), clientForm(other), other.clientKey, '192.0.2.200')).status, 200);
});

test('a guesser does not count anew by other names beside that of the client, or by writing it otherwise', async () => {
  nextMinute();
  const url = clientTokenUrl(service);
  for (const attempt of [1, 2, 3]) {
    const form = { ...wrongSecret(), username: `other-${attempt}` };
    assert.equal((await post(url, form, vendor.clientKey, '192.0.2.1')).status, 401);
  }
  const form = { ...wrongSecret(), username: 'another' };
  assert.equal((await post(url, form, vendor.clientKey, '192.0.2.1')).status, 429);
  const id = vendor.clientId;
  for (const name of [id, `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`]) {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${name}:guessed`).toString('base64')}`,
        'x-api-key': vendor.clientKey,
        'x-forwarded-for': '192.0.2.1',
      },
      body: new URLSearchParams({ grant_type: 'client_credentials' }),
    });
    assert.equal(response.status, 429, name);
  }
});

test('introspection and revocation are guarded alike', async () => {
  nextMinute();
  const base = clientTokenUrl(service).replace(/token$/, '');
  for (const endpoint of ['token/introspect', 'revoke', 'token/introspect']) {
    assert.equal(
      (await post(base + endpoint, { ...wrongSecret(), token: 'x' }, vendor.clientKey, '192.0.2.1')).status,
      401,
    );
  }
  assert.equal(
    (await post(`${base}revoke`, { ...clientForm(vendor), token: 'x' }, vendor.clientKey, '192.0.2.1')).status,
    429,
  );
});

test('attempts at one process of the service count at the others', async (t) => {
  nextMinute();
  const second = await startService(service.platform);
  t.after(() => second.drain());
  const here = clientTokenUrl(service);
  const there = here.replace(service.origin, second.origin);
  const guess = async (url: string): Promise<number> =>
    (await post(url, wrongSecret(), vendor.clientKey, '192.0.2.1')).status;
  assert.deepEqual([await guess(there), await guess(there)], [401, 401]);
  await second.jobs.settle();
  assert.equal(await guess(here), 401, 'it does not know yet what was counted there');
  // Whoever tells what it has counted learns the sum with it.
  await service.service.jobs.settle();
  assert.equal(await guess(here), 429);
  assert.equal(await guess(there), 401, 'it does not know yet what was counted here');
  await second.jobs.settle();
  assert.equal(await guess(there), 429);
});

test('with no limit any number of attempts is answered', async () => {
  const open = await openTestService({ after }, { PRAXIS_GUESS_LIMIT: '0' });
  const firm = await makeFirm(open, 'maple');
  const application = await makeApplication(open, 'Vendor', ['acl/*'], [firm]);
  const form = { ...passwordForm(application, firm), password: 'guessed' };
  for (let attempt = 1; attempt <= 120; attempt += 1) {
    assert.equal((await postForm(firm.legacyTokenUrl, form, application.legacyKey)).status, 400);
  }
});
