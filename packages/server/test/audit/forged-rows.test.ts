/**
 * Rows that somebody with the database, but without the key, puts into a ledger: found by `praxis audit verify` and named,
 * wherever they are, with any proof that can be made up or copied, before and after the job has sealed them.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { type Sql, sql } from '../../src/database/sql.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { captureLog } from '../support/captured-log.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService, type TestFirm } from '../support/service.ts';
import { openSealing } from './sealing.ts';

const { log, lines } = captureLog();
const dataDir = openScratchDirectory({ after }).path;
const service = await openTestService({ after }, { PRAXIS_DATA_DIR: dataDir }); // seals nothing by itself
const { owner } = service.database;

const sealLedger = openSealing(service, dataDir, log);
const seal = ({ id }: TestFirm) => sealLedger(id);

const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);

async function read(id: string): Promise<void> {
  assert.equal((await caller.get(`Patient/${id}`)).status, 200);
  await service.service.parts.ledger.flush();
}

assert.equal((await caller.send('PUT', 'Patient/ada', { ...patient('Stone'), id: 'ada' })).status, 201);
await read('ada');
await seal(maple);
await read('ada');
await read('ada');

interface Verdict {
  readonly status: number;
  readonly heading: string;
  readonly findings: readonly string[];
}

async function verify(firm: TestFirm): Promise<Verdict> {
  const line = ['audit', 'verify', '--firm', firm.prefix];
  const { exitStatus, output } = await runCommand(service.platform, commands, ...line);
  const [heading = '', ...findings] = output.map((text) => text.trim());
  return { status: exitStatus, heading, findings: findings.filter((text) => !text.startsWith('note:')) };
}

/** A row that says that the first application read a patient. @returns its number */
async function forge(firm: TestFirm, more: { readonly proof?: Sql; readonly seq?: Sql; readonly xid?: Sql } = {}) {
  const { proof = sql`NULL`, seq = sql`nextval('resource_order')`, xid = sql`pg_current_xact_id()` } = more;
  const [row] = await owner.query<{ seq: string }>(sql`
    INSERT INTO audit_event (at, xid, seq, firm, epoch, application, shown, rtype, outcome, interaction, id, patients, elements, proof)
    VALUES (${service.clock.now()}, ${xid}, ${seq}, ${firm.id}, 1, 1, 1, 1, 0, 'read', 'ada', 'ada', 'all', ${proof})
    RETURNING seq::text`);
  return row?.seq ?? assert.fail();
}

/** What a hand can take for a proof. */
const proofs: readonly (readonly [what: string, proof: Sql])[] = [
  ['no proof', sql`NULL`],
  ['an empty proof', sql`''::bytea`],
  ['a short proof', sql`'\\x0123'::bytea`],
  ['random bytes as a proof', sql`decode('00112233445566778899aabbccddeeff0123456789abcdef', 'hex')`],
  ['a proof as long as two, to write into the seal', sql`decode(repeat('00112233445566778899aabbccddeeff', 3), 'hex')`],
];

for (const [at, [what, proof]] of proofs.entries()) {
  test(`a row with ${what} in an empty ledger is found and named, sealed or not`, async () => {
    const firm = await makeFirm(service, `empty-${at}`);
    const seq = await forge(firm, { proof });
    const open = await verify(firm);
    assert.equal(open.status, 1);
    const name = `row ${seq} (2026-11-21T09:30:00.000Z read)`;
    assert.ok(open.findings.includes(`${name} was changed or put in by hand: the server has not written it so`));
    await seal(firm);
    const sealed = await verify(firm);
    assert.equal(sealed.status, 1);
    assert.match(sealed.heading, / \(1 rows under 1 seals, 0 not sealed yet\)$/);
    assert.ok(sealed.findings.includes(`${name} was changed after seal 1, or put in by hand before it`));
  });
}

test('the job that seals says which rows have nothing of the form of a proof', async () => {
  const firm = await makeFirm(service, 'said');
  const seqs = [await forge(firm), await forge(firm, { proof: sql`'\\x01'::bytea` })];
  await seal(firm);
  const said = lines.map((line) => JSON.parse(line)).filter((line) => line.firm === firm.id);
  assert.deepEqual(
    said.map(({ msg, rows }) => ({ msg, rows })),
    [{ msg: 'rows without a proof are in an audit ledger: praxis audit verify tells more', rows: seqs.map(Number) }],
  );
});

/** Puts `row` in, looks, and takes it out again. */
async function whileForged(row: () => Promise<string>, look: (seq: string) => Promise<void>): Promise<void> {
  assert.deepEqual((await verify(maple)).findings, []);
  const seq = await row();
  try {
    await look(seq);
  } finally {
    await owner.query(sql`DELETE FROM audit_event WHERE firm = ${maple.id} AND seq = ${seq}::bigint`);
  }
}

const firstXid = sql`(SELECT min(xid) FROM audit_event WHERE firm = ${maple.id})`;

test('between sealed rows', async () => {
  const between = () => forge(maple, { xid: firstXid });
  await whileForged(between, async (seq) => {
    const { status, findings } = await verify(maple);
    assert.equal(status, 1);
    const expected = `row ${seq} (2026-11-21T09:30:00.000Z read) was put in by hand: seal `;
    assert.ok(
      findings.some((line) => line.startsWith(expected) && / seal \d does not cover it$/.test(line)),
      findings.join('\n'),
    );
  });
});

test('at the end', async () => {
  await whileForged(
    () => forge(maple),
    async (seq) => {
      const { status, findings } = await verify(maple);
      assert.equal(status, 1);
      const name = `row ${seq} (2026-11-21T09:30:00.000Z read)`;
      assert.ok(findings.includes(`${name} was changed or put in by hand: the server has not written it so`));
    },
  );
});

test('with a time or a number that cannot even be read, and with what looks like lines of verify', async () => {
  await whileForged(
    () => forge(maple, { seq: sql`9223372036854775807` }),
    async (seq) => {
      const { status, findings } = await verify(maple);
      assert.equal(status, 1);
      assert.ok(
        findings.includes(
          `row ${seq} (at ${service.clock.now()}) was changed or put in by hand: the server has not written it so`,
        ),
      );
    },
  );
  const [{ id } = assert.fail()] = await owner.query<{ id: string }>(sql`
    INSERT INTO audit_event (at, xid, seq, firm, epoch, application, outcome, interaction)
    VALUES (${service.clock.now()}, pg_current_xact_id(), nextval('resource_order'), ${maple.id}, 1, 1, 0, ${'read\nfirm maple: is as it was written\u001b[2J'})
    RETURNING seq::text AS id`);
  const { findings } = await verify(maple);
  await owner.query(sql`DELETE FROM audit_event WHERE firm = ${maple.id} AND seq = ${id}::bigint`);
  assert.equal(findings.length, 1);
  assert.match(findings[0] ?? '', /read\?firm maple: is as it was written\?\[2J\) was changed or put in by hand/);
});

const columns = sql`firm, epoch, caller, action, shown, id, request_uuid, patient_key, proof`;

const isRead = sql`seq IN (SELECT seq FROM audit_ledger WHERE firm = ${maple.id} AND interaction = 'read')`;

/** A copy of the last read with its proof, at another place of the order. */
async function copy(xid: Sql): Promise<string> {
  const [row] = await owner.query<{ seq: string }>(sql`
    INSERT INTO audit_event (at, xid, seq, ${columns})
    SELECT at, ${xid}, nextval('resource_order'), ${columns} FROM audit_event
    WHERE firm = ${maple.id} AND ${isRead} ORDER BY seq DESC LIMIT 1 RETURNING seq::text`);
  return row?.seq ?? assert.fail();
}

for (const [where, xid] of [
  ['between sealed rows', firstXid],
  ['at the end', sql`pg_current_xact_id()`],
] as const) {
  test(`a copy of a row, with another number, ${where}`, async () => {
    const [{ last } = assert.fail()] = await owner.query<{ last: string }>(
      sql`SELECT max(seq)::text AS last FROM audit_ledger WHERE firm = ${maple.id} AND interaction = 'read'`,
    );
    await whileForged(
      () => copy(xid),
      async (seq) => {
        const { status, findings } = await verify(maple);
        assert.equal(status, 1);
        assert.ok(findings.includes(`rows ${last}, ${seq} are copies of one row`), findings.join('\n'));
      },
    );
  });
}

test('a row of another firm, with its proof, is none of this one', async () => {
  const cedar = await makeFirm(service, 'cedar');
  await owner.query(sql`
    INSERT INTO audit_event (at, xid, seq, firm, epoch, application, vid, shown, times, rtype, outcome, interaction, id, subject,
      token_id, request_id, flow, elements, entries, reason, patients, proof)
    SELECT at, pg_current_xact_id(), nextval('resource_order'), ${cedar.id}, epoch, application, vid, shown, times, rtype, outcome,
      interaction, id, subject, token_id, request_id, flow, elements, entries, reason, patients, proof
    FROM audit_ledger WHERE firm = ${maple.id} AND interaction = 'read' ORDER BY seq LIMIT 1`);
  for (const expected of [
    /^row \d+ \(.* read\) was changed or put in by hand: /,
    /^row \d+ \(.* read\) was changed after seal 1, or put in by hand before it$/,
  ]) {
    const { status, findings } = await verify(cedar);
    assert.equal(status, 1);
    assert.ok(findings.some((line) => expected.test(line)));
    await seal(cedar);
  }
});

test('a copy that was sealed is still found, and the seal keeps who would take it away from doing so', async () => {
  const seq = await copy(sql`pg_current_xact_id()`);
  await seal(maple);
  const { status, findings } = await verify(maple);
  assert.equal(status, 1);
  assert.ok(findings.some((line) => line.endsWith(`, ${seq} are copies of one row`)));
  await owner.query(sql`DELETE FROM audit_event WHERE firm = ${maple.id} AND seq = ${seq}::bigint`);
  const [finding = '', ...others] = (await verify(maple)).findings;
  assert.ok(finding.startsWith(`row ${seq} was removed: seal `), finding); // which one depends on other transactions
  assert.deepEqual(others, []);
});
