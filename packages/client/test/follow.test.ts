/** Followers of the change feed: what a page is, when it is done, and that kills lose nothing. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { pathToFileURL } from 'node:url';
import { connect, FeedEndedError, InvalidError, makeMemoryCursor } from '@praxis/client';
import { makeFileCursor } from '@praxis/client/node';
import { entryProblem } from '../../server/src/admin/entry-problem.ts';
import { authorise } from '../../server/src/tenancy/authorisations.ts';
import { untilTold } from '../../server/test/support/follower.ts';
import { makeApplication } from '../../server/test/support/service.ts';
import { killFollowers } from './killed-follower.ts';
import { clientCredentialsOf, openWorld } from './world.ts';

const world = await openWorld({ after });
const { service, maple, praxis, clock } = world;
const directory = mkdtempSync(join(tmpdir(), 'praxis-cursor-'));
after(() => rmSync(directory, { recursive: true }));

/** What all types that are followed say until now, in pages of two. */
const once = { types: ['Patient'], count: 2, waitSeconds: 0 } as const;
const toldOf = () => untilTold(service.database.owner);

test('a cursor that is none, or of other types, is refused', async () => {
  const tell = async (cursor: string, types: readonly ['Patient'] | readonly ['Task']) =>
    await Array.fromAsync(praxis.follow({ types, waitSeconds: 0, cursor: makeMemoryCursor(cursor) }));
  await assert.rejects(tell('nonsense', ['Patient']), InvalidError);
  const cursor = makeMemoryCursor();
  await praxis.create({ resourceType: 'Patient' });
  await toldOf();
  await Array.fromAsync(praxis.follow({ ...once, cursor }));
  await assert.rejects(tell((await cursor.load()) ?? '', ['Task']), (error) => {
    assert.ok(error instanceof InvalidError);
    assert.equal(error.code, 'operation-parameter-invalid');
    return true;
  });
});

test('a feed whose rights have changed has ended; from the beginning it is told anew', async () => {
  const application = await makeApplication(service, 'Narrowed', ['acl/pat_s', 'acl/pat_r', 'acl/enc_s'], [maple]);
  const narrowed = connect({ base: maple.base, credentials: clientCredentialsOf(application), clock });
  const cursor = makeMemoryCursor();
  const tell = async () => await Array.fromAsync(narrowed.follow({ waitSeconds: 0, cursor }));
  assert.ok((await tell()).length > 0);
  await authorise(
    service.platform.database,
    service.clock,
    maple,
    application.application,
    { purpose: 'Test', acl: ['acl/pat_s'] },
    entryProblem,
  );
  await assert.rejects(tell(), FeedEndedError);
  await cursor.save(undefined);
  assert.ok((await tell()).length > 0);
});

test('first all resources, then their changes and deletions, in pages', async () => {
  const cursor = makeMemoryCursor();
  const families = ['Follow-a', 'Follow-b', 'Follow-c'];
  const ids: string[] = [];
  for (const family of families) ids.push((await praxis.create({ resourceType: 'Patient', name: [{ family }] })).id);
  await toldOf();
  const told = async () => {
    const pages = await Array.fromAsync(praxis.follow({ ...once, cursor }));
    for (const { changes } of pages) assert.ok(changes.length === 1 || changes.length === 2);
    return pages.flatMap(({ changes }) => changes).filter(({ id }) => ids.includes(id));
  };
  const first = await told();
  assert.deepEqual(
    first.map((change) => change.kind === 'saved' && change.resource.name?.[0]?.family),
    families,
  );
  assert.deepEqual(await told(), []);
  const [a = '', b = ''] = ids;
  await praxis.update('Patient', a, (patient) => {
    patient.active = true;
  });
  await praxis.delete('Patient', b);
  await toldOf();
  assert.deepEqual(
    (await told()).map(({ kind, type, id, versionId }) => [kind, type, id, versionId]),
    [
      ['saved', 'Patient', a, '2'],
      ['deleted', 'Patient', b, '2'],
    ],
  );
});

test('a follower wakes up when something changes, and ends with its signal', async () => {
  const cursor = makeMemoryCursor();
  await Array.fromAsync(praxis.follow({ ...once, cursor }));
  const stopping = new AbortController();
  const following = praxis.follow({ types: ['Patient'], cursor, waitSeconds: 5, signal: stopping.signal });
  const waiting = following.next();
  const { id } = await praxis.create({ resourceType: 'Patient', name: [{ family: 'Awaited' }] });
  const { value, done } = await waiting;
  assert.ok(done !== true);
  assert.deepEqual(
    value.changes.map((change) => change.id),
    [id],
  );
  const rest = following.next();
  stopping.abort(new Error('enough'));
  await assert.rejects(rest, { message: 'enough' });
});

test('a page is done when the next one is asked for, or when it is committed', async () => {
  for (const family of ['Done-a', 'Done-b', 'Done-c'])
    await praxis.create({ resourceType: 'Patient', name: [{ family }] });
  await toldOf();
  const cursor = makeMemoryCursor();
  const firstOf = async (commits: boolean) => {
    for await (const page of praxis.follow({ ...once, cursor })) {
      if (commits) await page.commit();
      return page.changes.map(({ id }) => id);
    }
    return assert.fail('no page');
  };
  const first = await firstOf(false);
  assert.equal(await cursor.load(), undefined);
  assert.deepEqual(await firstOf(true), first);
  assert.notDeepEqual(await firstOf(false), first);
});

test('since a moment, not from the beginning', async () => {
  service.clock.advance(3_600_000);
  const since = new Date(service.clock.now()).toISOString();
  const { id } = await praxis.create({ resourceType: 'Patient', name: [{ family: 'Since' }] });
  await toldOf();
  const tell = async (options: typeof once & { readonly since?: string }) =>
    (await Array.fromAsync(praxis.follow(options))).flatMap(({ changes }) => changes).map((change) => change.id);
  const late = await tell({ ...once, since });
  assert.equal(late.at(-1), id);
  assert.ok(late.length < (await tell(once)).length);
});

test('a cursor in a file is whole, private and durable; no file is no cursor', async () => {
  const path = join(directory, 'cursor.txt');
  const cursor = makeFileCursor(path);
  assert.equal(await cursor.load(), undefined);
  await cursor.save('one');
  await cursor.save('two');
  assert.equal(readFileSync(path, 'utf8'), 'two');
  assert.equal(await makeFileCursor(pathToFileURL(path)).load(), 'two');
  assert.ok(!existsSync(`${path}.new`));
  await cursor.save(undefined);
  await cursor.save(undefined);
  assert.equal(await cursor.load(), undefined);
  await assert.rejects(makeFileCursor(join(directory, 'none', 'cursor.txt')).save('x'), { code: 'ENOENT' });
});

test('a follower that is killed 4 times while 5 writers work misses nothing, and doubles only pages that were not done', async () => {
  const { written, pages } = await killFollowers(world, { kills: 4, writers: 5, seed: 17 });
  assert.ok(written > 0 && pages > 0);
});
