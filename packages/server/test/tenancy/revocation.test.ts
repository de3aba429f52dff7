/**
 * Revocation has no delay: on a session that has just worked, the next request is refused, whoever revoked it and whatever
 * is asked; and a new grant acts at once, too (docs/integrate/contract.md#credentials).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import type { Database } from '../../src/database/database.ts';
import { issueApiKey, revokeApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { revokeClient } from '../../src/oauth/client-auth/clients.ts';
import { resetLegacyPassword, revokeLegacyAccount } from '../../src/oauth/legacy/accounts.ts';
import { resumeApplication, setApplicationAcl, suspendApplication } from '../../src/tenancy/applications.ts';
import { authorise, revokeAuthorisation } from '../../src/tenancy/authorisations.ts';
import { resumeFirm, suspendFirm } from '../../src/tenancy/firms.ts';
import { encounter, patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  callerOf,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestApplication,
  type TestFirm,
} from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const { clock, secrets } = service.platform;
let made = 0;

interface Scene {
  readonly firm: TestFirm;
  readonly vendor: TestApplication;
  /** By both flows, both of which have just read, searched and written. */
  readonly client: Caller;
  readonly legacy: Caller;
}

/** A firm and an application of their own, with warm sessions. */
async function openScene(acl: readonly string[] = ['acl/*']): Promise<Scene> {
  made += 1;
  const firm = await makeFirm(service, `firm-${made}`);
  const vendor = await makeApplication(service, `Vendor ${made}`, acl, [firm]);
  const client = await openCaller(service, vendor, firm);
  const legacy = callerOf(firm, await legacyToken(vendor, firm), vendor.legacyKey);
  for (const caller of [client, legacy]) {
    for (let times = 0; times < 2; times += 1) {
      assert.equal((await caller.get('Patient')).status, 200);
      assert.equal((await caller.get('Patient/one')).status, 404);
    }
  }
  return { firm, vendor, client, legacy };
}

/** What is asked after the revocation: everything that needs rights, and what is refused before any data is touched. */
const requests: readonly { readonly name: string; readonly send: (caller: Caller) => Promise<Answer> }[] = [
  { name: 'read', send: (caller) => caller.get('Patient/one') },
  { name: 'vread', send: (caller) => caller.get('Patient/one/_history/1') },
  { name: 'vread of a version that cannot be', send: (caller) => caller.get('Patient/one/_history/x') },
  { name: 'history', send: (caller) => caller.get('Patient/one/_history') },
  { name: 'history of a type', send: (caller) => caller.get('Patient/_history') },
  { name: 'history of the firm', send: (caller) => caller.get('_history') },
  { name: 'search', send: (caller) => caller.get('Patient?family=Stone') },
  { name: 'search of several types', send: (caller) => caller.get('?_type=Patient,Encounter') },
  { name: 'count', send: (caller) => caller.get('Patient?_summary=count') },
  { name: 'create', send: (caller) => caller.send('POST', 'Patient', patient('Late')) },
  { name: 'update', send: (caller) => caller.send('PUT', 'Patient/one', { ...patient('Late'), id: 'one' }) },
  { name: 'delete', send: (caller) => caller.send('DELETE', 'Patient/one') },
  { name: 'search that is wrong', send: (caller) => caller.get('Patient?colour=red') },
  { name: 'body that is wrong', send: (caller) => caller.send('POST', 'Patient', '{') },
  { name: 'media type that is wrong', send: (caller) => caller.get('Patient', { accept: 'text/turtle' }) },
  { name: 'type that is none', send: (caller) => caller.get('Patience') },
  { name: 'method that is none', send: (caller) => caller.send('PUT', 'Patient/one/_history', {}) },
];

interface Revocation {
  readonly name: string;
  readonly flows: readonly ('client' | 'legacy')[];
  readonly act: (database: Database, scene: Scene) => Promise<unknown>;
  readonly status: 401 | 403;
  readonly words: RegExp;
}

const both = ['client', 'legacy'] as const;

const revocations: readonly Revocation[] = [
  {
    name: 'client key',
    flows: ['client'],
    act: (database, { vendor }) => revokeApiKey(database, vendor.application, vendor.clientKeyId),
    status: 401,
    words: /^x-api-key has been revoked/,
  },
  {
    name: 'legacy key',
    flows: ['legacy'],
    act: (database, { vendor }) => revokeApiKey(database, vendor.application, vendor.legacyKeyId),
    status: 401,
    words: /^x-api-key has been revoked/,
  },
  {
    name: 'client',
    flows: ['client'],
    act: (database, { vendor }) => revokeClient(database, vendor.application, vendor.clientId),
    status: 401,
    words: /^Bearer token belongs to a revoked client/,
  },
  {
    name: 'account',
    flows: ['legacy'],
    act: (database, { vendor, firm }) =>
      revokeLegacyAccount(database, firm, vendor.accounts.get(firm.prefix)?.username ?? ''),
    status: 401,
    words: /^Bearer token belongs to a revoked account/,
  },
  {
    name: 'password of the account',
    flows: ['legacy'],
    act: (database, { vendor, firm }) =>
      resetLegacyPassword(database, secrets, firm, vendor.accounts.get(firm.prefix)?.username ?? ''),
    status: 401,
    words: /^Bearer token ended with the password/,
  },
  {
    name: 'application',
    flows: both,
    act: (database, { vendor }) => suspendApplication(database, vendor.application),
    status: 401,
    words: /^Bearer token belongs to a suspended application/,
  },
  {
    name: 'firm',
    flows: both,
    act: (database, { firm }) => suspendFirm(database, firm),
    status: 403,
    words: /^Firm is not open/,
  },
  {
    name: 'authorisation',
    flows: both,
    act: (database, { vendor, firm }) => revokeAuthorisation(database, firm, vendor.application),
    status: 403,
    words: /^Firm is not open/,
  },
];

/** `database`: whose connections revoke; those of another process share nothing with the service but the data. */
const revokers: readonly { readonly name: string; readonly database: Database }[] = [
  { name: 'by this process', database: service.platform.database },
  { name: 'by another process', database: service.database.runtime },
];

for (const { name, flows, act, status, words } of revocations) {
  test(`revoked: ${name}: the next request is refused, whatever it asks`, async () => {
    for (const revoker of revokers) {
      for (const [index, request] of requests.entries()) {
        // A session of its own for each request; a few scenes are enough for both ways of revoking.
        if (revoker !== revokers[0] && index % 4 !== 0) continue;
        const scene = await openScene();
        await act(revoker.database, scene);
        const before = await tenantRows(service.database.owner);
        for (const flow of flows) {
          const answer = await request.send(scene[flow]);
          assert.equal(answer.status, status, `${revoker.name}: ${flow}: ${request.name}: ${answer.text}`);
          assert.match(answer.json.issue[0].diagnostics, words);
        }
        assert.deepEqual(await tenantRows(service.database.owner), before, request.name);
      }
    }
  });
}

test('what is revoked for one is not revoked for the other', async () => {
  const scene = await openScene();
  const stranger = await openScene();
  const { database } = service.platform;
  await revokeApiKey(database, scene.vendor.application, scene.vendor.clientKeyId);
  assert.equal((await scene.client.get('Patient')).status, 401);
  assert.equal((await scene.legacy.get('Patient')).status, 200);
  assert.equal((await stranger.client.get('Patient')).status, 200);
  await suspendFirm(database, scene.firm);
  assert.equal((await scene.legacy.get('Patient')).status, 403);
  assert.equal((await stranger.client.get('Patient')).status, 200);
});

test('an authorisation ends at its hour, between two requests', async () => {
  const { firm, vendor, client, legacy } = await openScene();
  const terms = { purpose: 'A minute', expiresAtMs: clock.now() + 60_000 };
  await authorise(service.platform.database, clock, firm, vendor.application, terms, entryProblem);
  for (const caller of [client, legacy]) assert.equal((await caller.get('Patient')).status, 200);
  service.clock.advance(60_000);
  for (const caller of [client, legacy]) assert.equal((await caller.get('Patient')).status, 403);
});

test('a token ends at its hour, between two requests', async () => {
  const { client } = await openScene();
  service.clock.advance(899_999);
  assert.equal((await client.get('Patient')).status, 200);
  service.clock.advance(1);
  const answer = await client.get('Patient');
  assert.equal(answer.status, 401);
  assert.equal(answer.json.issue[0].details.coding[0].code, 'credentials-expired');
});

test('entries that firm or operator take away are gone at the next request, those they give are there', async () => {
  for (const { database } of revokers) {
    const acl = ['acl/enc_s', 'acl/pat_r', 'acl/pat_s'];
    const { firm, vendor, client, legacy } = await openScene(acl);
    const statuses = async (): Promise<number[]> => {
      const answers = [client, legacy].flatMap((caller) => [caller.get('Patient'), caller.get('Encounter')]);
      return (await Promise.all(answers)).map(({ status }) => status);
    };
    const allow = (entries: readonly string[]): Promise<void> =>
      authorise(database, clock, firm, vendor.application, { purpose: 'Test', acl: entries }, entryProblem);
    assert.deepEqual(await statuses(), [200, 200, 200, 200]);
    await allow(['acl/pat_s', 'acl/pat_r']);
    assert.deepEqual(await statuses(), [200, 403, 200, 403]);
    await allow(['acl/enc_s']);
    assert.deepEqual(await statuses(), [403, 200, 403, 200]);
    await allow(acl);
    assert.deepEqual(await statuses(), [200, 200, 200, 200]);
    await setApplicationAcl(database, vendor.application, ['acl/pat_s'], entryProblem);
    assert.deepEqual(await statuses(), [200, 403, 200, 403]);
  }
});

test('a grant acts at the request after it: authorised, resumed, a new key', async () => {
  for (const { database } of revokers) {
    const { firm, vendor, client } = await openScene();
    const elsewhere = await makeFirm(
      service,
      `${firm.prefix}-${revokers.findIndex((each) => each.database === database)}`,
    );
    const there = callerOf(elsewhere, client.headers['authorization']?.slice('Bearer '.length) ?? '', vendor.clientKey);
    assert.equal((await there.get('Patient')).status, 403);
    await authorise(database, clock, elsewhere, vendor.application, { purpose: 'Test' }, entryProblem);
    assert.equal((await there.get('Patient')).status, 200);
    await revokeAuthorisation(database, elsewhere, vendor.application);
    assert.equal((await there.get('Patient')).status, 403);
    await authorise(database, clock, elsewhere, vendor.application, { purpose: 'Again' }, entryProblem);
    assert.equal((await there.get('Patient')).status, 200);

    await suspendFirm(database, firm);
    assert.equal((await client.get('Patient')).status, 403);
    await resumeFirm(database, firm, { by: 'operator', nowMs: 0 });
    assert.equal((await client.get('Patient')).status, 200);
    await suspendApplication(database, vendor.application);
    assert.equal((await client.get('Patient')).status, 401);
    await resumeApplication(database, vendor.application);
    assert.equal((await client.get('Patient')).status, 200);

    const { apiKey } = await issueApiKey(database, secrets, vendor.application, 'client', 'second');
    assert.equal((await client.get('Patient', { 'x-api-key': apiKey })).status, 200);
    await revokeApiKey(database, vendor.application, vendor.clientKeyId);
    assert.equal((await client.get('Patient')).status, 401);
    assert.equal((await client.get('Patient', { 'x-api-key': apiKey })).status, 200);
  }
});

test('under load: no request that begins after the revocation succeeds, and none fails otherwise', async () => {
  for (const { database } of revokers) {
    const { firm, vendor, client } = await openScene();
    let revokedAt = Number.POSITIVE_INFINITY;
    let isRunning = true;
    const seen: { readonly beganAt: number; readonly status: number }[] = [];
    const work = async (number: number): Promise<void> => {
      while (isRunning) {
        const beganAt = performance.now();
        const { status } = await (number % 2 === 0
          ? client.get('Patient')
          : client.send('POST', 'Encounter', encounter('Patient/one')));
        seen.push({ beganAt, status });
      }
    };
    const workers = [0, 1, 2, 3].map(work);
    await new Promise((resolve) => setTimeout(resolve, 150));
    await revokeAuthorisation(database, firm, vendor.application);
    revokedAt = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 100));
    isRunning = false;
    await Promise.all(workers);
    const late = seen.filter(({ beganAt }) => beganAt > revokedAt);
    assert.ok(late.length > 0 && late.length < seen.length);
    assert.deepEqual(new Set(late.map(({ status }) => status)), new Set([403]));
    assert.ok(
      seen.every(({ status }) => [200, 201, 403].includes(status)),
      JSON.stringify(seen.slice(0, 20)),
    );
  }
});
