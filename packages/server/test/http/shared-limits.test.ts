/**
 * Two nodes on one database count rates and wrong attempts together: what a caller has used at one is used at the other, once
 * they have told each other.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startService } from '../../src/app.ts';
import { chosenPasswordLimits } from '../../src/limits/brute-force-limit.ts';
import { ask, makeAdministrator, password } from '../admin/world.ts';
import {
  callerOf,
  clientForm,
  clientToken,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';

const settings = { PRAXIS_RATE_LIMIT: '30', PRAXIS_FIRM_RATE_LIMIT: '40', PRAXIS_GUESS_LIMIT: '6' };
const service = await openTestService({ after }, settings);
const other = await startService(service.platform);
after(() => other.drain());
const nodes = [service, { ...service, origin: other.origin }] as const;
const [first, second] = nodes;
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/*'], [maple]);
const neighbour = await makeApplication(service, 'Neighbour', ['acl/*'], [maple]);

/** Both tell what they have counted; a node hears of the other when it has something to tell itself. */
async function exchange(): Promise<void> {
  await service.service.jobs.settle();
  await other.jobs.settle();
}

async function callersOf(application: typeof vendor) {
  const token = await clientToken(service, application);
  return nodes.map(({ origin }) => {
    const caller = callerOf({ base: maple.base.replace(service.origin, origin) }, token, application.clientKey);
    return async () => {
      const { status, headers } = await caller.get('Patient');
      const [, ofKey, ofFirm] = /^"api-key";r=(\d+);t=\d+, "firm";r=(\d+);/.exec(headers.get('ratelimit') ?? '') ?? [];
      return { status, ofKey: Number(ofKey), ofFirm: Number(ofFirm) };
    };
  });
}

test('an API key and a firm have one minute at all nodes together', async () => {
  const [atFirst, atSecond] = await callersOf(vendor);
  const [, neighbourAtSecond] = await callersOf(neighbour);
  assert.ok(atFirst && atSecond && neighbourAtSecond);
  service.clock.advance(60_000);
  for (let request = 1; request < 20; request += 1) await atFirst();
  assert.deepEqual(await atFirst(), { status: 200, ofKey: 10, ofFirm: 20 });
  await exchange();
  await atSecond();
  await exchange();
  assert.deepEqual(await atSecond(), { status: 200, ofKey: 8, ofFirm: 18 }, '20 of the first node are known here');
  for (let request = 1; request <= 8; request += 1) assert.equal((await atSecond()).status, 200);
  assert.deepEqual(await atSecond(), { status: 429, ofKey: 0, ofFirm: 9 });
  await exchange();
  // The first node told all that it had: it hears of the second's with the next request.
  assert.deepEqual(await atFirst(), { status: 200, ofKey: 9, ofFirm: 19 });
  await exchange();
  assert.deepEqual(await atFirst(), { status: 429, ofKey: 0, ofFirm: 7 });
  for (let request = 1; request <= 6; request += 1) assert.equal((await neighbourAtSecond()).status, 200);
  await exchange();
  assert.deepEqual(await neighbourAtSecond(), { status: 200, ofKey: 23, ofFirm: 0 }, 'with 33 of the vendor at both');
  assert.equal((await neighbourAtSecond()).status, 429);
  service.clock.advance(60_000);
  for (const at of [atFirst, atSecond]) assert.equal((await at()).status, 200);
});

test('wrong secrets that a client is tried with at one node count at the other', async () => {
  service.clock.advance(60_000);
  const wrong = { ...clientForm(vendor), client_secret: 'guessed' };
  const guess = async (node: (typeof nodes)[number]) => (await postForm(clientTokenUrl(node), wrong)).status;
  for (let attempt = 1; attempt <= 4; attempt += 1) assert.equal(await guess(first), 401);
  await exchange();
  assert.equal(await guess(second), 401);
  await exchange();
  assert.equal(await guess(second), 401, 'the sixth');
  assert.equal(await guess(second), 429);
  assert.equal((await postForm(clientTokenUrl(second), clientForm(vendor))).status, 429);
  assert.equal((await postForm(clientTokenUrl(second), clientForm(vendor), vendor.clientKey)).status, 200, 'the owner');
  await exchange();
  assert.equal(await guess(first), 401);
  await exchange();
  assert.equal(await guess(first), 429);
});

test('wrong passwords that an administrator is tried with at one node count at the other', async () => {
  await makeAdministrator(service, 'owner', 'operator');
  service.clock.advance(60_000);
  const { perAccountAndAddress } = chosenPasswordLimits;
  const guess = async (node: (typeof nodes)[number], given = 'wrong') =>
    (await ask(node, undefined, 'POST', '/sessions', { username: 'owner', password: given })).status;
  for (let attempt = 1; attempt < perAccountAndAddress; attempt += 1) assert.equal(await guess(first), 401);
  await exchange();
  assert.equal(await guess(second), 401);
  await exchange();
  assert.equal(await guess(second, password), 429);
  service.clock.advance(60_000);
  assert.equal(await guess(second, password), 201);
});
