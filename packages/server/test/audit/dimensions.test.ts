/**
 * Callers and actions of a ledger: each is kept once for all rows of a process; rows never refer to what is not there, whatever
 * was undone or lost; and rows of before, which have the columns themselves, are found beside those of today.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { AccessRow } from '../../src/audit/audit-row.ts';
import { streamDisclosures } from '../../src/audit/disclosures.ts';
import { openLedger } from '../../src/audit/ledger.ts';
import { openProver } from '../../src/audit/proof.ts';
import { makeDataKeys, openSecrets } from '../../src/base/secrets.ts';
import { sql } from '../../src/database/sql.ts';
import { openStore } from '../../src/storage/store.ts';
import { makeFirms, resourceWrite } from '../storage/fixture.ts';
import { testLog } from '../support/cluster.ts';
import { openTestDatabase } from '../support/database.ts';
import { addWideRow } from './wide-rows.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple } = await makeFirms(owner);
const prove = openProver(openSecrets(makeDataKeys()));
const open = () => openLedger({ database: runtime, log: testLog, prove, flushMs: 1 });
const store = openStore(runtime, prove);

const row = (id: string, more: Partial<AccessRow> = {}): AccessRow => ({
  ...{ atMs: 1, application: 1, interaction: 'read', id, outcome: 0, subject: 'one', tokenId: 'token', flow: 'client' },
  ...more,
});

interface Found {
  readonly id: string;
  readonly subject: string | null;
  readonly interaction: string;
}

async function rowsOf(firm: number): Promise<Found[]> {
  return await owner.query<Found>(sql`
    SELECT id, subject, interaction FROM audit_ledger WHERE firm = ${firm} ORDER BY epoch, xid, seq`);
}

async function count(table: string, firm: number): Promise<number> {
  const [found] = await owner.query<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM ${sql.identifier(table)} WHERE firm = ${firm}`,
  );
  return found?.n ?? 0;
}

/** As if the database had failed over to a replica that lacks what was added last. */
async function loseDimensions(firm: number): Promise<void> {
  await owner.query(sql`DELETE FROM audit_caller WHERE firm = ${firm}`);
  await owner.query(sql`DELETE FROM audit_action WHERE firm = ${firm}`);
}

test('a caller and an action are kept once for all rows of a process', async () => {
  const ledger = open();
  for (const id of ['a', 'b', 'c']) {
    void ledger.keep(11, [row(id), row(id, { interaction: 'vread' }), row(id, { tokenId: 'other' })]);
    await ledger.flush();
  }
  assert.deepEqual([await count('audit_caller', 11), await count('audit_action', 11)], [2, 2]);
  const other = open();
  void other.keep(11, [row('d')]);
  await other.flush();
  assert.deepEqual([await count('audit_caller', 11), await count('audit_action', 11)], [3, 3]);
  assert.deepEqual(
    (await rowsOf(11)).map(({ id, subject, interaction }) => `${id} ${subject} ${interaction}`),
    [...['a', 'b', 'c'].flatMap((id) => [`${id} one read`, `${id} one vread`, `${id} one read`]), 'd one read'],
  );
});

test('what is NULL in a caller or an action is not what is empty', async () => {
  const ledger = open();
  void ledger.keep(12, [
    row('a', { subject: '' }),
    { atMs: 1, application: 1, interaction: 'read', id: 'b', outcome: 0 },
  ]);
  await ledger.flush();
  assert.deepEqual(await rowsOf(12), [
    { id: 'a', subject: '', interaction: 'read' },
    { id: 'b', subject: null, interaction: 'read' },
  ]);
});

test('rows of reads bring callers and actions again that the database has lost', async () => {
  const ledger = open();
  void ledger.keep(13, [row('a')]);
  await ledger.flush();
  await loseDimensions(13);
  void ledger.keep(13, [row('b')]);
  await ledger.flush();
  const [, last] = await rowsOf(13);
  assert.deepEqual(last, { id: 'b', subject: 'one', interaction: 'read' });
});

test('a write whose caller the database has lost is refused once, and written when it is sent again', async () => {
  await store.write(maple, resourceWrite('lost-1'));
  await loseDimensions(maple.firm);
  await assert.rejects(store.write(maple, resourceWrite('lost-2')), { code: 'unavailable' });
  assert.equal(await store.exists(maple, 'Patient', 'lost-2'), false);
  assert.equal((await store.write(maple, resourceWrite('lost-2'))).outcome, 'written');
});

test('a transaction whose caller the database has lost runs again', async () => {
  await store.write(maple, resourceWrite('again-1'));
  await loseDimensions(maple.firm);
  let runs = 0;
  await store.transaction(maple, async (inside) => {
    runs += 1;
    await inside.write(maple, resourceWrite('again-2'));
    await inside.write(maple, resourceWrite('again-3'));
  });
  assert.equal(runs, 2);
  assert.equal(await count('audit_caller', maple.firm), 1);
});

/** Rows whose caller or action is not in the ledger. */
const dangling = sql`
  SELECT a.seq FROM audit_event a WHERE a.firm = ${maple.firm} AND (
    NOT EXISTS (SELECT FROM audit_caller c WHERE c.firm = a.firm AND c.key = a.caller)
    OR NOT EXISTS (SELECT FROM audit_action w WHERE w.firm = a.firm AND w.key = a.action))`;

test('what a transaction added and undid is added again by the next write', async () => {
  await owner.query(sql`DELETE FROM audit_event WHERE firm = ${maple.firm}`);
  await loseDimensions(maple.firm);
  const fresh = openStore(runtime, prove);
  const undone = new Error('undone');
  const given = fresh.transaction(maple, async (inside) => {
    await inside.write(maple, resourceWrite('undone-1'));
    throw undone;
  });
  await assert.rejects(given, undone);
  await fresh.transaction(maple, async (inside) => {
    const inner = inside.transaction(maple, async (deeper) => {
      await deeper.write(maple, resourceWrite('undone-2'));
      throw undone;
    });
    await assert.rejects(inner, undone);
    await inside.write(maple, resourceWrite('kept-1'));
  });
  await fresh.write(maple, resourceWrite('kept-2'));
  const kept = await rowsOf(maple.firm);
  assert.deepEqual(
    kept.map(({ id }) => id),
    ['kept-1', 'kept-2'],
  );
  assert.deepEqual(await owner.query(dangling), []);
  assert.equal(await count('audit_caller', maple.firm), 1);
});

test('many writes at once leave no row without its caller', async () => {
  const fresh = openStore(runtime, prove);
  const ids = Array.from({ length: 40 }, (_, at) => `many-${at}`);
  await Promise.all(ids.map((id) => fresh.write(maple, resourceWrite(id))));
  assert.deepEqual(await owner.query(dangling), []);
});

const uuid = '0192aaaa-0000-7000-8000-000000000001';
const otherUuid = '0192aaaa-0000-7000-8000-000000000002';
const upper = uuid.toUpperCase();

test('ids come back as they were, whatever their form and number', async () => {
  const ledger = open();
  const concerned: readonly (readonly [id: string, patients: readonly string[], more?: boolean])[] = [
    [uuid, [uuid]],
    [uuid, [otherUuid]],
    [uuid, [upper]],
    [upper, [upper]],
    ['ada', ['ada']],
    ['ada', ['bob']],
    [uuid, [uuid, otherUuid]],
    [uuid, [uuid, 'bob']],
    [uuid, [uuid], true],
    [uuid, []],
  ];
  for (const [id, ids, more = false] of concerned)
    void ledger.keep(14, [row(id, { requestId: id, shown: 1, elements: 'all', patients: { ids, more } })]);
  await ledger.flush();
  const rows = await owner.query<{ id: string; request_id: string; patients: string | null }>(sql`
    SELECT id, request_id, patients FROM audit_ledger WHERE firm = 14 ORDER BY epoch, xid, seq`);
  assert.deepEqual(
    rows.map(({ id, request_id, patients }) => [id, request_id, patients]),
    concerned.map(([id, ids, more]) => [id, id, ids.length === 0 ? null : [...ids, ...(more ? ['+'] : [])].join(' ')]),
  );
  const of = async (patient: string): Promise<readonly (string | null)[]> => {
    const question = { firm: 14, patient, fromMs: 0, toMs: 10 };
    return (await Array.fromAsync(streamDisclosures(runtime, question))).map(({ id }) => id);
  };
  assert.deepEqual(await of(uuid), [uuid, uuid, uuid, uuid]);
  assert.deepEqual(await of(otherUuid), [uuid, uuid]);
  assert.deepEqual(await of(upper), [uuid, upper]);
  assert.deepEqual(await of('bob'), ['ada', uuid]);
  assert.deepEqual(await of('carl'), []);
});

test('rows of the release before are found beside those of today, in the order of time', async () => {
  const ledger = open();
  const shown = { shown: 1, elements: 'all', patients: { ids: ['ada'], more: false } } as const;
  void ledger.keep(15, [row('first', { ...shown, atMs: 1 }), row('third', { ...shown, atMs: 3 })]);
  await ledger.flush();
  const before = row('second', { ...shown, atMs: 2, subject: 'two', patients: { ids: ['ada', 'bob'], more: false } });
  await addWideRow(runtime, 15, before, prove);
  const question = { firm: 15, patient: 'ada', fromMs: 0, toMs: 10 };
  const found = await Array.fromAsync(streamDisclosures(runtime, question));
  assert.deepEqual(
    found.map(({ id, subject }) => [id, subject]),
    [
      ['first', 'one'],
      ['second', 'two'],
      ['third', 'one'],
    ],
  );
});
