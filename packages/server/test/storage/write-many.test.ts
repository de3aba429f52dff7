/**
 * Batches: one transaction, one outcome per write, in order.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { getStoredText } from '../../src/access/disclosure.ts';
import { sql } from '../../src/database/sql.ts';
import { batchMax, openStore, type WriteOutcome } from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import { contentText, everything, indexRows, makeFirms, opened, resourceDelete, resourceWrite } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple } = await makeFirms(owner);
const store = openStore(runtime);

const conflict = (currentVersion: number | undefined): WriteOutcome => ({ outcome: 'conflict', currentVersion });
const written = (versionId: number): WriteOutcome => ({ outcome: 'written', versionId });

async function codesOf(id: string): Promise<string[]> {
  const rows = await owner.query<{ code: string }>(sql`
    SELECT t.code FROM index_token t JOIN resource r ON r.firm = t.firm AND r.rid = t.rid WHERE r.id = ${id} AND t.param = 11 ORDER BY 1`);
  return rows.map(({ code }) => code);
}

test('more than a batch takes is refused, nothing is written', async () => {
  const before = await everything(owner);
  const writes = Array.from({ length: batchMax + 1 }, (_, index) => resourceWrite(`many-${index}`));
  await assert.rejects(store.writeMany(maple, writes), RangeError);
  await assert.rejects(store.currentVersions(maple, writes), RangeError);
  assert.deepEqual(await everything(owner), before);
});

test('no writes, no outcomes', async () => {
  assert.deepEqual(await store.writeMany(maple, []), []);
});

test('creates, updates, deletes and conflicts in one batch: each has its outcome, conflicts change nothing', async () => {
  await store.writeMany(
    maple,
    ['update', 'delete', 'taken', 'behind'].map((id) => resourceWrite(id, 0, { index: indexRows(`old ${id}`) })),
  );
  const outcomes = await store.writeMany(maple, [
    resourceWrite('create', 0, { index: indexRows('new create') }),
    resourceWrite('taken', 0, { index: indexRows('new taken') }),
    resourceWrite('update', 1, { index: indexRows('new update') }),
    resourceWrite('behind', 2, { index: indexRows('new behind') }),
    resourceDelete('delete', 1),
    resourceWrite('never', 3, { index: indexRows('new never') }),
    resourceWrite('create-too', 0, { index: indexRows('new create-too') }),
  ]);
  assert.deepEqual(outcomes, [
    written(1),
    conflict(1),
    written(2),
    conflict(1),
    written(2),
    conflict(undefined),
    written(1),
  ]);
  const codes = Object.fromEntries(
    await Promise.all(
      ['create', 'taken', 'update', 'behind', 'delete', 'never', 'create-too'].map(async (id) => [
        id,
        await codesOf(id),
      ]),
    ),
  );
  assert.deepEqual(codes, {
    create: ['code-new create'],
    taken: ['code-old taken'],
    update: ['code-new update'],
    behind: ['code-old behind'],
    delete: [],
    never: [],
    'create-too': ['code-new create-too'],
  });
});

test('one resource several times in a batch: each write sees the one before, the last one’s index rows stay', async () => {
  const outcomes = await store.writeMany(maple, [
    resourceWrite('growing', 0, { index: indexRows('one') }),
    resourceWrite('growing', 0, { index: indexRows('again') }),
    resourceWrite('growing', 1, { index: indexRows('two') }),
    resourceWrite('growing', 2, { index: indexRows('three'), note: 'last' }),
    resourceWrite('growing', 2, { index: indexRows('late') }),
    resourceWrite('fleeting', 0, { index: indexRows('fleeting') }),
    resourceDelete('fleeting', 1),
  ]);
  assert.deepEqual(outcomes, [written(1), conflict(1), written(2), written(3), conflict(3), written(1), written(2)]);
  assert.deepEqual(await codesOf('growing'), ['code-three']);
  assert.deepEqual(await codesOf('fleeting'), []);
  const { versions: history } = await store.history(maple, 'Patient', 'growing', { limit: 10 });
  assert.deepEqual(
    history.map((version) => version.versionId),
    [3, 2, 1],
  );
  assert.equal(opened(history[0])?.['content'], opened(await store.read(maple, 'Patient', 'growing'))?.['content']);
});

test('a full batch is written in one transaction, its changes in the order given', async () => {
  const writes = Array.from({ length: batchMax }, (_, index) =>
    resourceWrite(`full-${index}`, 0, { index: indexRows(`${index}`) }),
  );
  assert.deepEqual(
    await store.writeMany(maple, writes),
    writes.map(() => written(1)),
  );
  const order = await owner.query<{ id: string; xid: string }>(
    sql`SELECT id, xid::text FROM resource_version WHERE id LIKE 'full-%' ORDER BY epoch, resource_version.xid, seq`,
  );
  assert.deepEqual(
    order.map(({ id }) => id),
    writes.map(({ id }) => id),
  );
  assert.equal(new Set(order.map(({ xid }) => xid)).size, 1);
  assert.deepEqual(await codesOf('full-999'), ['code-999']);
});

test('the time of a batch of updates grows with their number only', async () => {
  const writes = (expected: number) =>
    Array.from({ length: batchMax }, (_, index) =>
      resourceWrite(`full-${index}`, expected, { index: indexRows(`${index}`) }),
    );
  const startMs = performance.now();
  assert.deepEqual(
    await store.writeMany(maple, writes(1)),
    writes(1).map(() => written(2)),
  );
  // About half a second; comparing the rows of each update with those of all takes ten.
  assert.ok(performance.now() - startMs < 5000, `${performance.now() - startMs} ms`);
  assert.deepEqual(await codesOf('full-999'), ['code-999']);
});

test('batches that create the same ids at once create each once', async () => {
  const ids = Array.from({ length: 40 }, (_, index) => `contended-${index}`);
  const batches = await Promise.all(
    Array.from({ length: 6 }, (_, shift) => {
      const turned = [...ids.slice(shift), ...ids.slice(0, shift)];
      return store.writeMany(
        maple,
        turned.map((id) => resourceWrite(id, 0, { index: indexRows(`batch ${shift}`) })),
      );
    }),
  );
  const outcomes = batches.flat();
  assert.equal(outcomes.filter(({ outcome }) => outcome === 'written').length, ids.length);
  assert.deepEqual(
    new Set(outcomes.filter(({ outcome }) => outcome === 'conflict').map((each) => JSON.stringify(each))),
    new Set([JSON.stringify(conflict(1))]),
  );
  for (const id of ids) assert.equal((await codesOf(id)).length, 1, id);
});

test('long contents are stored as they are, beside short ones and deletions', async () => {
  const notes = ['"\\{},NULL\n\t\u0007', 'ä 王 😀', ''].map((note) => note.repeat(20_000));
  await store.writeMany(maple, [resourceWrite('long-deleted')]);
  const outcomes = await store.writeMany(maple, [
    ...notes.map((note, index) => resourceWrite(`long-${index}`, 0, { note })),
    resourceDelete('long-deleted', 1),
  ]);
  assert.deepEqual(outcomes, [written(1), written(1), written(1), written(2)]);
  for (const [index, note] of notes.entries()) {
    const found = await store.read(maple, 'Patient', `long-${index}`);
    assert.ok(found !== undefined && !found.deleted);
    assert.equal(getStoredText(found.content), contentText('Patient', `long-${index}`, 1, note));
  }
  assert.equal((await store.read(maple, 'Patient', 'long-deleted'))?.deleted, true);
});
