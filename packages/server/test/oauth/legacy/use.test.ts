/**
 * Uses of the legacy flow are counted by firm, application and program, and what was stored is never counted twice.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { startService } from '../../../src/app.ts';
import { PraxisError } from '../../../src/base/errors.ts';
import { makeUuid } from '../../../src/base/ids.ts';
import type { Database } from '../../../src/database/database.ts';
import { sql } from '../../../src/database/sql.ts';
import { agentsPerApplicationMax, parseUserAgent } from '../../../src/oauth/legacy/agent.ts';
import { addBrownOut } from '../../../src/oauth/legacy/sunset-administration.ts';
import { type LegacyUseEvent, openLegacyUse } from '../../../src/oauth/legacy/use.ts';
import { type LegacyUseCount, storeLegacyUse } from '../../../src/oauth/legacy/use-store.ts';
import { getEnvironment } from '../../../src/tenancy/environments.ts';
import { testLog } from '../../support/cluster.ts';
import {
  callerOf,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  passwordForm,
  postForm,
  startMs,
} from '../../support/service.ts';

const service = await openTestService({ after });
const { database } = service.platform;
let made = 0;

async function makePair() {
  made += 1;
  const firm = await makeFirm(service, `firm-${made}`);
  const vendor = await makeApplication(service, `Vendor ${made}`, ['acl/*'], [firm]);
  return { firm, vendor, ids: { firm: firm.id, application: vendor.application.id } };
}

type Stored = readonly [agent: string, day: string, calls: number, tokens: number, refused: number];

async function storedOf(application: number): Promise<Stored[]> {
  const rows = await database.query<{ agent: string; day: string; calls: number; tokens: number; refused: number }>(sql`
    SELECT agent, day, calls, tokens, refused FROM legacy_use WHERE application = ${application} ORDER BY day, agent`);
  return rows.map((row) => [row.agent, row.day, row.calls, row.tokens, row.refused]);
}

for (const [userAgent, agent] of [
  [undefined, '(none)'],
  ['', '(none)'],
  ['  ', '(none)'],
  ['curl/8.5.0', 'curl'],
  ['curl', 'curl'],
  ['python-requests/2.31.0', 'python-requests'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36', 'Mozilla'],
  ['Reminder.App+2/1 jane.doe@example.com', 'Reminder.App+2'],
  ['jane.doe@example.com', '(other)'],
  ['patient12345/1', '(other)'],
  ['555-12-3456', '(other)'],
  ['(comment only)', '(other)'],
  ['Größe/1', '(other)'],
  [`${'a'.repeat(33)}/1`, '(other)'],
  ['a"b', '(other)'],
  ['a\nb', '(other)'],
] as const) {
  test(`User-Agent ${JSON.stringify(userAgent)} is kept as ${agent}`, () =>
    assert.equal(parseUserAgent(userAgent), agent));
}

test('calls and token answers of the legacy flow are counted, and nothing else is', async () => {
  const { firm, vendor, ids } = await makePair();
  const legacy = callerOf(firm, await legacyToken(vendor, firm), vendor.legacyKey);
  const agent = { 'user-agent': 'Reminder/2.1 (nightly)' };
  for (let times = 0; times < 3; times += 1) await legacy.get('Patient', agent);
  await legacy.get('Patient/none', agent);
  await legacy.get('Patient', { ...agent, 'x-api-key': 'wrong' });
  await postForm(firm.legacyTokenUrl, passwordForm(vendor, firm), vendor.legacyKey, agent);
  await postForm(firm.legacyTokenUrl, { ...passwordForm(vendor, firm), password: 'x' }, vendor.legacyKey, agent);
  await (await openCaller(service, vendor, firm)).get('Patient', agent);
  assert.deepEqual(await storedOf(ids.application), [], 'off the way of requests');
  await service.service.parts.legacyUse.flush();
  assert.deepEqual(await storedOf(ids.application), [
    ['Reminder', '2026-11-21', 4, 1, 0],
    ['node', '2026-11-21', 0, 1, 0],
  ]);
  await service.service.parts.legacyUse.flush();
  assert.equal((await storedOf(ids.application)).length, 2, 'an empty flush adds nothing');
});

test('what a brown-out refuses is counted as refused, by who proved who it is', async () => {
  const { firm, vendor, ids } = await makePair();
  const legacy = callerOf(firm, await legacyToken(vendor, firm), vendor.legacyKey);
  const environment = await getEnvironment(database, 'sandbox');
  const scope = { environment, application: vendor.application };
  const times = { startsAtMs: startMs - 1000, endsAtMs: startMs + 1000 };
  await addBrownOut(database, service.clock, scope, times);
  const agent = { 'user-agent': 'Stubborn/1' };
  assert.equal((await legacy.get('Patient', agent)).status, 503);
  assert.equal((await legacy.get('Patient', { ...agent, 'x-api-key': 'wrong' })).status, 401);
  const form = passwordForm(vendor, firm);
  assert.equal((await postForm(firm.legacyTokenUrl, form, vendor.legacyKey, agent)).status, 503);
  const wrong = { ...form, password: 'wrong' };
  assert.equal((await postForm(firm.legacyTokenUrl, wrong, vendor.legacyKey, agent)).status, 400);
  await service.service.parts.legacyUse.flush();
  assert.deepEqual(await storedOf(ids.application), [
    ['Stubborn', '2026-11-21', 0, 0, 2],
    ['node', '2026-11-21', 0, 1, 0],
  ]);
});

test('a service that is drained has stored what it counted', async () => {
  const { firm, vendor, ids } = await makePair();
  const node = await startService(service.platform);
  const base = firm.base.replace(service.origin, node.origin);
  const legacy = callerOf({ base }, await legacyToken(vendor, firm), vendor.legacyKey);
  await legacy.get('Patient', { 'user-agent': 'Late/1' });
  await node.drain();
  assert.deepEqual(await storedOf(ids.application), [['Late', '2026-11-21', 1, 0, 0]]);
});

test('what is counted when a counter is closed is stored', async (t) => {
  const { ids } = await makePair();
  const counter = openLegacyUse({ database, clock: service.clock, log: testLog });
  t.after(() => counter.close());
  counter.count({ ...ids, kind: 'call', userAgent: 'a' });
  await counter.close();
  assert.deepEqual(await storedOf(ids.application), [['a', '2026-11-21', 1, 0, 0]]);
});

/** A database whose transactions end as `outcomes` say, then as they do: the answer is lost before or after the commit. */
function losing(outcomes: ('before' | 'after' | 'broken')[]): Database {
  return {
    ...database,
    async transaction(firm, work, options) {
      const outcome = outcomes.shift();
      if (outcome === 'broken') throw new Error('broken');
      const lost = new PraxisError('unavailable', { diagnostics: 'connection lost' });
      if (outcome === 'before') throw lost;
      const result = await database.transaction(firm, work, options);
      if (outcome === 'after') throw lost;
      return result;
    },
  };
}

for (const outcomes of [['before'], ['after'], ['after', 'after', 'before']] as const) {
  test(`a flush whose answer is lost ${outcomes.join(', ')} the commit counts nothing twice and loses nothing`, async (t) => {
    const { ids } = await makePair();
    const counter = openLegacyUse({ database: losing([...outcomes]), clock: service.clock, log: testLog });
    t.after(() => counter.close());
    const use: LegacyUseEvent = { ...ids, kind: 'call', userAgent: 'a' };
    counter.count(use);
    counter.count(use);
    for (const _ of outcomes) {
      await counter.flush();
      counter.count({ ...use, kind: 'refused' });
    }
    await Promise.all([counter.flush(), counter.flush()]);
    assert.deepEqual(await storedOf(ids.application), [['a', '2026-11-21', 2, 0, outcomes.length]]);
  });
}

test('a batch that can never be stored does not hold up what comes after it', async (t) => {
  const { ids } = await makePair();
  const counter = openLegacyUse({ database: losing(['broken']), clock: service.clock, log: testLog });
  t.after(() => counter.close());
  counter.count({ ...ids, kind: 'call', userAgent: 'a' });
  await counter.flush();
  counter.count({ ...ids, kind: 'token', userAgent: 'a' });
  await counter.flush();
  assert.deepEqual(await storedOf(ids.application), [['a', '2026-11-21', 0, 1, 0]]);
});

test('an application has so many programs and no more, over all nodes; the rest is one', async () => {
  const { ids } = await makePair();
  const count = (agent: string): LegacyUseCount => ({
    ...ids,
    agent,
    day: '2026-11-21',
    calls: 1,
    tokens: 0,
    refused: 0,
    lastUsedAtMs: startMs,
  });
  const nodes = ['x', 'y', 'z'].map((node) =>
    Array.from({ length: agentsPerApplicationMax - 5 }, (_, index) => count(`${node}${index}`)),
  );
  await Promise.all(
    nodes.map((counts) => storeLegacyUse(database, { writer: makeUuid(), sequence: 1, counts }, startMs)),
  );
  const stored = await storedOf(ids.application);
  assert.equal(stored.length, agentsPerApplicationMax + 1);
  assert.equal(
    stored.find(([agent]) => agent === '(other)')?.[2],
    3 * (agentsPerApplicationMax - 5) - agentsPerApplicationMax,
  );
  const { ids: others } = await makePair();
  await storeLegacyUse(database, { writer: makeUuid(), sequence: 1, counts: [{ ...count('w'), ...others }] }, startMs);
  assert.equal((await storedOf(others.application))[0]?.[0], 'w', 'each application by itself');
});
