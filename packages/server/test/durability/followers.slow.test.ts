/**
 * Followers of the change feed while many write, some in slow transactions: their copies equal the database, or what their
 * searches show; nothing is missing, and no resource goes back to an earlier version (docs/decisions/0170, 0171). The same of
 * subscribers while processes are killed and endpoints fail (docs/decisions/0318), and of the follower of packages/client.
 * Slow: many writers and followers at once for some seconds, and 50 kills of a follower.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { JsonObject } from '@praxis/fhir';
import { killFollowers } from '../../../client/test/killed-follower.ts';
import { openWorld } from '../../../client/test/world.ts';
import { sql } from '../../src/database/sql.ts';
import { buildWrite } from '../../src/engine/write/build-write.ts';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { setOperatorRows } from '../../src/tenancy/authorisations.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { applyTo, type Copy, openFollowing, untilTold } from '../support/follower.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const writers = Number(process.env['FEED_WRITERS'] ?? '50');
const writesEach = Number(process.env['FEED_WRITES'] ?? '20');
const shared = 30;
/** Each of them has a connection for as long as it takes. */
const slowMax = 12;

const service = await openTestService({ after }, { PRAXIS_DATABASE_POOL: '24' });
const { database, store, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const examsApplication = await makeApplication(service, 'Exams', ['acl/obsv_ef_s'], [maple]);
await setOperatorRows(database, maple, examsApplication.application, {
  obsv_ef: { criteria: [{ parameter: 'category', values: ['exam'] }], elements: ['code', 'category'] },
});
const exams = await openCaller(service, examsApplication, maple);
const scope = await openOperatorScope(database, clock, maple);

/** A number below `below`, the same each time for a seed. */
function pick(seed: number, below: number): number {
  return (Math.imul(seed + 17, 48_271) >>> 3) % below;
}

function observation(id: string, seed: number): JsonObject {
  const category = [{ coding: [{ code: seed % 3 === 0 ? 'survey' : 'exam' }] }];
  return { resourceType: 'Observation', id, status: 'final', code: { text: `value ${seed}` }, category };
}

/** Puts and deletes by requests, on resources of which several writers have their hands. */
async function write(writer: number): Promise<void> {
  for (let round = 0; round < writesEach; round += 1) {
    const seed = writer * 1000 + round;
    const id = `o${pick(seed, shared)}`;
    const answer =
      seed % 7 === 3
        ? await full.send('DELETE', `Observation/${id}`)
        : await full.send('PUT', `Observation/${id}`, observation(id, seed));
    assert.ok(answer.status < 300 || answer.status === 409, answer.text);
  }
}

/**
 * A transaction that has its place in the order early, and then changes what others have changed meanwhile.
 */
async function writeSlowly(writer: number): Promise<void> {
  const caller = { flow: 'client', tokenId: 't', subject: 's', requestId: 'r' } as const;
  const context = { scope, clock, caller, baseUrl: maple.base, budget: openOperatorBudget() };
  for (let round = 0; round < writesEach / 4; round += 1) {
    const seed = writer * 1000 + round;
    await store.transaction(scope, async (inside) => {
      const own = `slow-${writer}-${round}`;
      await inside.write(scope, await buildWrite(context, 'create', 'Observation', own, observation(own, seed), 0));
      const id = `o${pick(seed, shared)}`;
      await full.get('Observation?_count=1'); // time for others
      const current = await inside.read(scope, 'Observation', id);
      const version = current?.versionId ?? 0;
      const kind = version === 0 ? 'create' : 'update';
      await inside.write(scope, await buildWrite(context, kind, 'Observation', id, observation(id, seed), version));
    });
  }
}

/** Follows until `isOver`, beginning a new connection with nothing but its place after each page; then reads the rest. */
async function copyWhile(caller: Caller, path: string, isOver: () => boolean): Promise<Copy> {
  const copy: Copy = new Map();
  const versions = new Map<string, number>();
  let place = path;
  const step = async (): Promise<number> => {
    const following = openFollowing(caller, place);
    const entries = await following.readPage();
    applyTo(copy, entries, versions);
    place = following.place;
    return entries.length;
  };
  while (!isOver()) await step();
  await untilTold(service.database.owner);
  while ((await step()) > 0);
  return copy;
}

async function found(caller: Caller): Promise<Copy> {
  const copy: Copy = new Map();
  for (let url: string | undefined = 'Observation?_count=100'; url !== undefined; ) {
    const { json, text, status } = await caller.get(url);
    assert.equal(status, 200, text);
    for (const { resource } of json.entry ?? []) copy.set(`Observation/${resource.id}`, resource);
    url = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  return copy;
}

test(`${writers} writers, and followers whose copies equal what their searches show`, async () => {
  let isOver = false;
  const slow = Math.min(slowMax, Math.ceil(writers / 5));
  const writing = Promise.all(
    Array.from({ length: writers }, (_, writer) => (writer < slow ? writeSlowly(writer) : write(writer))),
  ).finally(() => {
    isOver = true;
  });
  const [whole, late, some] = await Promise.all([
    copyWhile(full, '$changes?_count=7', () => isOver),
    writing.then(() => copyWhile(full, '$changes?_type=Observation', () => true)),
    copyWhile(exams, '$changes?_count=5', () => isOver),
    writing,
  ]);
  const all = await found(full);
  assert.ok(all.size > shared / 2);
  assert.deepEqual(new Map([...whole].toSorted()), new Map([...all].toSorted()));
  assert.deepEqual(new Map([...late].toSorted()), new Map([...all].toSorted()));
  const visible = await found(exams);
  assert.ok(visible.size > 0 && visible.size < all.size);
  assert.deepEqual(new Map([...some].toSorted()), new Map([...visible].toSorted()));
  const [row] = await service.database.owner.query<{ overtaken: number }>(
    sql`SELECT count(*)::int AS overtaken FROM resource_version WHERE written_by IS NOT NULL`,
  );
  assert.ok(
    (row?.overtaken ?? 0) > 0,
    'some version was written by a transaction older than that of the one before it',
  );
});

test('subscribers have what their searches show after kills, failures and changes of rights: the bench at small size', async () => {
  const bench = fileURLToPath(new URL('../../../../bench/main.ts', import.meta.url));
  const size = ['--changes', '500', '--writers', '10', '--faults', '10', '--rights', '4', '--seed', 'test'];
  // A status other than 0 is an error that says what is broken.
  const { stdout } = await promisify(execFile)(process.execPath, [bench, 'events-proof', ...size]);
  assert.match(stdout, /^Every copy is what a search shows, and nothing was told beyond rights$/m);
});

test('a follower of the client that is killed 50 times while 20 writers work misses nothing, and doubles only pages that were not done', async () => {
  const { kills, written, pages } = await killFollowers(await openWorld({ after }), {
    kills: 50,
    writers: 20,
    seed: 50,
  });
  assert.equal(kills, 50);
  assert.ok(written > 50 && pages > 50);
});
