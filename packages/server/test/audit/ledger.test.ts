/**
 * Rows on their way to the ledger: batches, order, room, and which firm sees what.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { after } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { AccessRow } from '../../src/audit/audit-row.ts';
import { openLedger } from '../../src/audit/ledger.ts';
import { patientsOf } from '../../src/audit/patients.ts';
import { isProven, openProver } from '../../src/audit/proof.ts';
import { newSecret } from '../../src/base/ids.ts';
import { openSecrets } from '../../src/base/secrets.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner, runtime } = await openTestDatabase({ after });
const secrets = openSecrets(newSecret());
const prove = openProver(secrets);
const open = () => openLedger({ database: runtime, log: testLog, prove, flushMs: 1 });

const row = (id: string, more: Partial<AccessRow> = {}): AccessRow => ({
  atMs: 1,
  application: 1,
  interaction: 'read',
  id,
  outcome: 0,
  ...more,
});

async function idsOf(firm: number): Promise<string[]> {
  const rows = await owner.query<{ id: string }>(sql`
    SELECT id FROM audit_event WHERE firm = ${firm} ORDER BY epoch, xid, seq`);
  return rows.map(({ id }) => id);
}

test('rows of a firm keep their order, over any number of batches, and lists of elements are kept once', async () => {
  const ledger = open();
  const ids = Array.from({ length: 2_500 }, (_, at) => `r${at}`);
  for (const id of ids) void ledger.keep(1, [row(id, { shown: 1, elements: ['Patient.name', 'Patient.gender'] })]);
  void ledger.keep(2, [row('other')]);
  await ledger.flush();
  assert.deepEqual(await idsOf(1), ids);
  assert.deepEqual(await idsOf(2), ['other']);
  assert.deepEqual(await owner.query(sql`SELECT firm, elements FROM audit_elements`), [
    { firm: 1, elements: 'Patient.gender Patient.name' },
  ]);
  assert.deepEqual(ledger.takeTouched(), [1, 2]);
});

test('a firm sees its own ledger alone, and that of the service is seen by none', async () => {
  const ledger = open();
  void ledger.keep(0, [row('door', { patients: { ids: ['ada'], more: false } })]);
  await ledger.flush();
  for (const table of ['audit_event', 'audit_patient'].map((name) => sql.identifier(name))) {
    assert.deepEqual(await runtime.query(sql`SELECT firm FROM ${table}`), []);
    const seen = await runtime.forFirm(2).query(sql`SELECT DISTINCT firm FROM ${table} WHERE firm <> 2`);
    assert.deepEqual(seen, []);
    assert.deepEqual(await runtime.forFirm(0).query(sql`SELECT DISTINCT firm FROM ${table}`), [{ firm: 0 }]);
  }
});

test('while the database takes nothing, requests wait for room, and then no row is lost', async () => {
  const ledger = open();
  let waiting: Promise<void> | undefined;
  let kept = 0;
  let released = false;
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`LOCK TABLE audit_event IN ACCESS EXCLUSIVE MODE`);
    for (; waiting === undefined; kept++) waiting = ledger.keep(3, [row(`w${kept}`)]);
    void waiting.then(() => {
      released = true;
    });
    for (let turns = 0; turns < 100; turns++) await turn();
    assert.equal(released, false);
  });
  await waiting;
  await ledger.close();
  assert.equal((await idsOf(3)).length, kept);
});

test('equal refusals that are written together become one row that counts them', async () => {
  const ledger = open();
  void ledger.keep(4, [row('a', { repeats: 'x' }), row('b', { repeats: 'y' })]);
  for (let more = 0; more < 4; more++) void ledger.keep(4, [row('a', { repeats: 'x' })]);
  await ledger.flush();
  const rows = await owner.query(sql`SELECT id, times FROM audit_event WHERE firm = 4 ORDER BY id`);
  assert.deepEqual(rows, [
    { id: 'a', times: 5 },
    { id: 'b', times: null },
  ]);
});

test('a proof is a nested keyed hash of the row, and no other row, firm or key has it', () => {
  const columns = {
    ...{ at: 1, application: 2, vid: null, shown: 0, times: null, rtype: 3, outcome: 0, interaction: 'read', id: 'é"' },
    ...{ subject: 's', token_id: 't', request_id: 'q', flow: 'client', elements: 'all', entries: null, reason: null },
    patients: 'ada',
  };
  const proof = prove(7, columns);
  const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
  const key = secrets.key('audit-row').toString('hex');
  const text = JSON.stringify([proof.subarray(0, 8).toString('hex'), 7, ...Object.values(columns)]);
  const mac = sha256(sha256(`outer ${key}`) + sha256(sha256(`inner ${key}`) + text));
  assert.equal(proof.subarray(8).toString('hex'), mac.slice(0, 32));
  assert.equal(isProven(secrets, 7, columns, proof), true);
  assert.equal(isProven(secrets, 8, columns, proof), false);
  assert.equal(isProven(secrets, 7, { ...columns, id: 'e"' }, proof), false);
  assert.equal(isProven(openSecrets(newSecret()), 7, columns, proof), false);
  assert.notDeepEqual(prove(7, columns), proof);
});

test('the patients of a resource are itself or those that it refers to; texts that look like references are none', () => {
  const base = 'https://praxis.test/fhir/v2';
  const content = JSON.stringify({
    resourceType: 'Observation',
    subject: { display: 'x', reference: 'Patient/ada' },
    performer: [{ reference: `${base}/Patient/bob/_history/2` }, { reference: 'https://elsewhere.test/Patient/eve' }],
    note: [{ text: '"reference":"Patient/fake"' }],
  });
  assert.deepEqual(patientsOf('Observation', 'o', content, base), { ids: ['ada', 'bob'], more: false });
  assert.deepEqual(patientsOf('Patient', 'me', content, base), { ids: ['me'], more: false });
  assert.equal(patientsOf('Device', 'd', '{"resourceType":"Device"}', base), undefined);
  const many = JSON.stringify(Array.from({ length: 1001 }, (_, at) => ({ reference: `Patient/${at}` })));
  const found = patientsOf('Group', 'g', many, base);
  assert.deepEqual([found?.ids.length, found?.more], [1000, true]);
});
