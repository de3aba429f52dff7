/**
 * Access that ends by time alone, which no change of rights announces: whoever waits when it ends is answered as a call of
 * that moment is, and nothing is read or written for a call that began before (docs/decisions/0213).
 */
import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import http from 'node:http';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { addBrownOut, setSunset } from '../../src/oauth/legacy/sunset-administration.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { getEnvironment } from '../../src/tenancy/environments.ts';
import { entryProblem } from '../oauth/world.ts';
import { nextOf, untilTold } from '../support/follower.ts';
import { patient } from '../support/records.ts';
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

const service = await openTestService({ after });
const { clock } = service;
const { database, config } = service.platform;
const { stopping } = service.service.parts;
const environment = await getEnvironment(database, 'sandbox');

interface Scene {
  readonly firm: TestFirm;
  readonly vendor: TestApplication;
  readonly caller: Caller;
  /** Of an application whose access goes on. */
  readonly other: () => Promise<Caller>;
}

interface End {
  readonly name: string;
  readonly flow: 'client' | 'legacy';
  /** Plans it, so that it comes in `afterMs`. */
  readonly plan: (firm: TestFirm, vendor: TestApplication, atMs: number) => Promise<unknown>;
  readonly afterMs: number;
  readonly status: number;
  readonly code: string;
}

const minuteMs = 60_000;

const ends: readonly End[] = [
  ...(['client', 'legacy'] as const).map((flow) => ({
    name: `the authorisation has a last day, ${flow} flow`,
    flow,
    plan: (firm: TestFirm, { application }: TestApplication, expiresAtMs: number) =>
      authorise(database, clock, firm, application, { purpose: 'Test', expiresAtMs }, entryProblem),
    afterMs: minuteMs,
    status: 403,
    code: 'firm-forbidden',
  })),
  {
    name: 'the client-credentials token expires',
    flow: 'client',
    plan: async () => undefined,
    afterMs: config.clientTokenSeconds * 1000,
    status: 401,
    code: 'credentials-expired',
  },
  {
    name: 'the legacy token expires',
    flow: 'legacy',
    plan: async () => undefined,
    afterMs: config.legacyTokenSeconds * 1000,
    status: 401,
    code: 'credentials-expired',
  },
  {
    name: 'a brown-out begins',
    flow: 'legacy',
    plan: (firm, { application }, startsAtMs) =>
      addBrownOut(
        database,
        clock,
        { environment, firm, application },
        { startsAtMs, endsAtMs: startsAtMs + 60 * minuteMs },
      ),
    afterMs: minuteMs,
    status: 503,
    code: 'legacy-paused',
  },
  {
    name: 'the legacy flow ends',
    flow: 'legacy',
    plan: (firm, { application }, sunsetAtMs) =>
      setSunset(
        database,
        { environment, firm, application },
        { deprecatedAtMs: clock.now(), sunsetAtMs, link: 'https://example.com/migrate' },
      ),
    afterMs: minuteMs,
    status: 401,
    code: 'legacy-ended',
  },
];

let made = 0;

/** A firm with a patient, and a caller whose access ends in `end.afterMs`. */
async function openScene(end: End): Promise<Scene> {
  made += 1;
  const firm = await makeFirm(service, `firm-${made}`);
  const vendor = await makeApplication(service, `Vendor ${made}`, ['acl/*'], [firm]);
  const going = await makeApplication(service, `Going on ${made}`, ['acl/*'], [firm]);
  const other = () => openCaller(service, going, firm);
  await (await other()).send('PUT', 'Patient/one', { ...patient('One'), id: 'one' });
  await end.plan(firm, vendor, clock.now() + end.afterMs);
  const caller =
    end.flow === 'client'
      ? await openCaller(service, vendor, firm)
      : callerOf(firm, await legacyToken(vendor, firm), vendor.legacyKey);
  assert.equal((await caller.get('Patient/one')).status, 200);
  return { firm, vendor, caller, other };
}

function codeOf({ json }: Answer): string {
  return json.issue?.[0].details.coding[0].code ?? json.resourceType;
}

/** What `waiting` is answered with is what a call of now is. */
async function assertEnded(end: End, caller: Caller, waiting: Promise<Answer>): Promise<void> {
  const answer = await waiting;
  const ordinary = await caller.get('Patient/one');
  assert.deepEqual([answer.status, codeOf(answer)], [end.status, end.code]);
  assert.deepEqual(answer.json, ordinary.json);
  for (const name of ['retry-after', 'www-authenticate', 'deprecation', 'sunset', 'link'])
    assert.equal(answer.headers.get(name), ordinary.headers.get(name), name);
}

async function untilWaiting(): Promise<void> {
  while (getEventListeners(stopping, 'abort').length === 0) await delay(1);
}

for (const end of ends) {
  test(`${end.name}: a follower that waits is told nothing more`, async () => {
    const { caller, other } = await openScene(end);
    await untilTold(service.database.owner);
    const next = nextOf(await caller.get('$changes'));
    for (const accept of ['application/fhir+json', 'application/fhir+ndjson']) {
      assert.equal(nextOf(await caller.get(next)).length > 0, true, accept);
    }
    const waiting = [
      caller.get(`${next}&_wait=30`),
      caller.get(`${next}&_wait=30`, { accept: 'application/fhir+ndjson' }),
    ];
    while (getEventListeners(stopping, 'abort').length < waiting.length) await delay(1);
    clock.advance(end.afterMs);
    const written = await (await other()).send('PUT', 'Patient/two', { ...patient('Two'), id: 'two' });
    assert.equal(written.status, 201);
    for (const each of waiting) await assertEnded(end, caller, each);
  });

  test(`${end.name}: a body that ends after it is not written`, async () => {
    const { firm, caller, other } = await openScene(end);
    const headers = { ...caller.headers, 'content-type': 'application/fhir+json' };
    const sent = http.request(`${firm.base}/Patient/slow`, { method: 'PUT', headers, agent: false });
    const response = once(sent, 'response');
    sent.write('{"resourceType":"Patient",');
    await delay(100); // else it is refused before its body is looked at, which is right, too
    clock.advance(end.afterMs);
    sent.end('"id":"slow"}');
    const [answer] = await response;
    answer.resume();
    assert.equal(answer.statusCode, end.status);
    assert.equal((await (await other()).get('Patient/slow')).status, 404);
  });

  test(`${end.name}: who waits for another request with the same key writes nothing and is not told its answer`, async () => {
    const { caller, other } = await openScene(end);
    const key = { 'idempotency-key': '"a key of ours"' };
    const answered = await caller.send('POST', 'Patient', patient('First'), key);
    assert.equal(answered.status, 201);
    const waiting: Promise<Answer>[] = [];
    await service.database.owner.transaction(undefined, async (tx) => {
      await tx.query(sql`LOCK TABLE idempotency_key IN EXCLUSIVE MODE`);
      waiting.push(caller.send('POST', 'Patient', patient('First'), key));
      waiting.push(caller.send('POST', 'Patient', patient('Second'), { 'idempotency-key': '"another"' }));
      const ungranted = sql`SELECT count(*)::int AS n FROM pg_locks WHERE NOT granted`;
      while (((await tx.query<{ n: number }>(ungranted))[0]?.n ?? 0) < waiting.length) await delay(1);
      clock.advance(end.afterMs);
    });
    for (const each of waiting) await assertEnded(end, caller, each);
    assert.equal((await (await other()).get('Patient?family=Second')).json.entry, undefined);
  });
}

test('what is planned while a follower waits counts as well', async () => {
  const [end] = ends.filter(({ code }) => code === 'legacy-paused');
  assert.ok(end);
  const { firm, vendor, caller } = await openScene({ ...end, plan: async () => undefined });
  await untilTold(service.database.owner);
  const waiting = caller.get(`${nextOf(await caller.get('$changes'))}&_wait=30`);
  await untilWaiting();
  await end.plan(firm, vendor, clock.now() + end.afterMs);
  await delay(1_200); // longer than a look takes, so that it waits with the new rights
  await untilWaiting();
  clock.advance(end.afterMs);
  await assertEnded(end, caller, waiting);
});
