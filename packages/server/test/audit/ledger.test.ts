/**
 * Rows on their way to the ledger: batches, order, room, and which firm sees what.
 */
import assert from 'node:assert/strict';
import { createHmac, hash } from 'node:crypto';
import test, { after } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { AccessRow } from '../../src/audit/audit-row.ts';
import { openDimensions } from '../../src/audit/dimensions.ts';
import { openLedger } from '../../src/audit/ledger.ts';
import { addRows, proveRows } from '../../src/audit/ledger-statements.ts';
import { findPatients } from '../../src/audit/patients.ts';
import { openProofCheck, openProver } from '../../src/audit/proof.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { makeDataKeys, openSecrets } from '../../src/base/secrets.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from '../support/cluster.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner, runtime } = await openTestDatabase({ after });
const secrets = openSecrets(makeDataKeys());
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
    SELECT id FROM audit_ledger WHERE firm = ${firm} ORDER BY epoch, xid, seq`);
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
  assert.deepEqual(ledger.takeTouched().sort(), [1, 2]);
});

test('rows are there once, whether their statement failed or only its answer was lost', async () => {
  const outcomes = ['failed', 'answer lost', 'failed', 'succeeded'];
  const unsteady: Database = {
    ...runtime,
    forFirm: (firm, caller) => ({
      async query(statement, options) {
        if (!statement.text.includes('praxis_audit'))
          return await runtime.forFirm(firm, caller).query(statement, options);
        const outcome = outcomes.shift() ?? 'succeeded';
        if (outcome !== 'failed') await runtime.forFirm(firm, caller).query(statement, options);
        if (outcome !== 'succeeded') throw new PraxisError('unavailable', { diagnostics: outcome });
        return [];
      },
    }),
  };
  const ledger = openLedger({ database: unsteady, log: testLog, prove, flushMs: 1 });
  void ledger.keep(71, [row('a'), row('b')]);
  await ledger.flush();
  void ledger.keep(71, [row('c')]);
  await ledger.flush();
  assert.deepEqual(await idsOf(71), ['a', 'b', 'c']);
  assert.deepEqual(outcomes, []);
});

test('a statement that is sent again while it is still under way adds its rows once', async () => {
  const pending = ['a', 'b'].map((id) => ({ row: row(id), times: 1, elements: null }));
  const statement = addRows(72, proveRows(72, pending, prove), [], openDimensions().begin(72));
  await Promise.all(Array.from({ length: 6 }, () => runtime.forFirm(72).query(statement)));
  assert.deepEqual(await idsOf(72), ['a', 'b']);
});

test('a firm sees its own ledger alone, and that of the service is seen by none', async () => {
  const ledger = open();
  void ledger.keep(0, [row('door', { patients: { ids: ['ada'], more: false } })]);
  await ledger.flush();
  for (const table of ['audit_event', 'audit_caller', 'audit_action'].map((name) => sql.identifier(name))) {
    assert.deepEqual(await runtime.query(sql`SELECT firm FROM ${table}`), []);
    const seen = await runtime.forFirm(2).query(sql`SELECT DISTINCT firm FROM ${table} WHERE firm <> 2`);
    assert.deepEqual(seen, []);
    assert.deepEqual(await runtime.forFirm(0).query(sql`SELECT DISTINCT firm FROM ${table}`), [{ firm: 0 }]);
  }
});

/** Keeps a row of the firm every millisecond or so until `work` is done, for 20 s at most. @returns rows, and the time in ms */
async function whileRowsCome(ledger: ReturnType<typeof open>, firm: number, work: () => Promise<void>) {
  let [kept, done] = [0, false];
  const beganMs = performance.now();
  const coming = (async () => {
    for (; !done && performance.now() - beganMs < 20_000; kept++) {
      void ledger.keep(firm, [row(`r${kept}`)]);
      await delay(1);
    }
    return done;
  })();
  await work();
  done = true;
  assert.equal(await coming, true, 'the work was done while rows came');
  return { kept, ms: performance.now() - beganMs };
}

test('under load rows still gather for a batch, and all are written', async () => {
  const flushMs = 100;
  const ledger = openLedger({ database: runtime, log: testLog, prove, flushMs });
  const { kept, ms } = await whileRowsCome(ledger, 6, () => delay(1_000));
  await ledger.close();
  const [found] = await owner.query<{ rows: number; statements: number }>(sql`
    SELECT count(*)::int AS rows, count(DISTINCT xid)::int AS statements FROM audit_ledger WHERE firm = 6`);
  assert.equal(found?.rows, kept);
  assert.ok((found?.statements ?? 0) <= ms / flushMs + 2, `${found?.statements} statements in ${ms} ms`);
});

test('who waits for rows to be written does not wait for those that come later', async () => {
  const ledger = open();
  await whileRowsCome(ledger, 7, async () => {
    for (let times = 0; times < 20; times++) {
      void ledger.keep(8, [row(`awaited-${times}`)]);
      await ledger.flush();
      assert.equal((await idsOf(8)).length, times + 1);
    }
  });
  await ledger.close();
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
  const rows = await owner.query(sql`SELECT id, times FROM audit_ledger WHERE firm = 4 ORDER BY id`);
  assert.deepEqual(rows, [
    { id: 'a', times: 5 },
    { id: 'b', times: null },
  ]);
});

const columns = {
  ...{ at: 1, application: 2, vid: null, shown: 0, times: null, rtype: 3, outcome: 0, interaction: 'read', id: 'é"' },
  ...{ subject: 's', token_id: 't', request_id: 'q', flow: 'client', elements: 'all', entries: null, reason: null },
  patients: 'ada',
};
const bytes = (text: string): Buffer => Buffer.from(text, 'hex');
const isProven = openProofCheck(secrets);

test('a proof is an HMAC of the row, as any library makes it, and no other row, firm or key has it', () => {
  const proof = prove(7, columns);
  const nonce = proof.slice(0, 16);
  const text = hash('sha256', `row ${secrets.key('audit-row').toString('hex')}`, 'hex');
  const key = Buffer.from(text).map((byte) => byte ^ 0x36);
  const numbers = [nonce, 7, 1, 2, null, 0, null, 3, 0].map(String);
  const texts = ['=read', '=é"', '=s', '=t', '=q', '=client', '=all', '', '', '=ada'];
  const mac = createHmac('sha256', key).update([...numbers, ...texts].join('\0'));
  assert.equal(proof.slice(16), mac.digest('hex').slice(0, 32));
  assert.equal(isProven(7, columns, bytes(proof)), true);
  assert.equal(isProven(8, columns, bytes(proof)), false);
  assert.equal(openProofCheck(openSecrets(makeDataKeys()))(7, columns, bytes(proof)), false);
  assert.notEqual(prove(7, columns), proof);
});

test('nothing, and what is shorter or longer than a proof, is none', () => {
  const proof = prove(7, columns);
  for (const other of [null, Buffer.alloc(0), bytes(proof.slice(2)), bytes(`${proof}00`), bytes(proof.repeat(2))])
    assert.equal(isProven(7, columns, other), false);
});

test('a proof fits no row in which any column differs, be it by nothing instead of an empty text', () => {
  const proof = bytes(prove(7, columns));
  for (const [name, value] of Object.entries(columns)) {
    const others =
      typeof value === 'number' ? [value + 1, null] : [value === null ? '' : null, `${value}x`, '=', '\u0001'];
    for (const other of others) {
      const changed = { ...columns, [name]: other };
      assert.equal(isProven(7, changed, proof), false, `${name}: ${other}`);
    }
  }
  // What stands at the end of one column cannot be moved to the next.
  assert.equal(isProven(7, { ...columns, subject: 's=t', token_id: '' }, proof), false);
});

test('rows are written as they are: columns that no row has, and characters that array literals are written with', async () => {
  const ledger = open();
  const texts = ['a,b', '{"x"}', 'NULL', 'null', '', ' ', '\\', 'é\n'];
  const patients = { ids: ['p2', 'p1'], more: true };
  void ledger.keep(
    5,
    texts.map((reason) => row('x', { reason, patients })),
  );
  void ledger.keep(5, [row('last')]);
  await ledger.flush();
  const rows = await owner.query<{ reason: string | null; patients: string | null; vid: number | null }>(sql`
    SELECT reason, patients, vid FROM audit_ledger WHERE firm = 5 ORDER BY epoch, xid, seq`);
  const expected = texts.map((reason) => ({ reason, patients: 'p2 p1 +', vid: null }));
  assert.deepEqual(rows, [...expected, { reason: null, patients: null, vid: null }]);
  const byPatient = await owner.query(sql`
    SELECT n.patient, count(*)::int AS n FROM audit_patient_key p JOIN audit_event a ON a.firm = 5 AND a.at = p.at AND a.seq = p.seq
    JOIN (VALUES ('p1'), ('p2')) AS n(patient) ON hashtext(n.patient) = p.patient_key
    WHERE p.firm = 5 GROUP BY n.patient ORDER BY n.patient`);
  assert.deepEqual(byPatient, [
    { patient: 'p1', n: texts.length },
    { patient: 'p2', n: texts.length },
  ]);
  await ledger.close();
});

test('the patients of a resource are itself or those that it refers to; texts that look like references are none', () => {
  const base = 'https://praxis.test/fhir/v2';
  const content = JSON.stringify({
    resourceType: 'Observation',
    subject: { display: 'x', reference: 'Patient/ada' },
    performer: [{ reference: `${base}/Patient/bob/_history/2` }, { reference: 'https://elsewhere.test/Patient/eve' }],
    note: [{ text: '"reference":"Patient/fake"' }],
  });
  assert.deepEqual(findPatients('Observation', 'o', content, base), { ids: ['ada', 'bob'], more: false });
  assert.deepEqual(findPatients('Patient', 'me', content, base), { ids: ['me'], more: false });
  assert.equal(findPatients('Device', 'd', '{"resourceType":"Device"}', base), undefined);
  const many = JSON.stringify(Array.from({ length: 1001 }, (_, at) => ({ reference: `Patient/${at}` })));
  const found = findPatients('Group', 'g', many, base);
  assert.deepEqual([found?.ids.length, found?.more], [1000, true]);
});
