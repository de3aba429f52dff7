/**
 * `praxis audit verify` against hands on the database: whatever the owner of the database changes, removes or adds is
 * found, sealed already or not, and the end as well. The server's own role cannot change anything to begin with.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { serviceLedger } from '../../src/audit/audit-row.ts';
import { commands } from '../../src/cli/commands.ts';
import { type Sql, sql } from '../../src/database/sql.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { keepTables, ledgerTables } from './kept-tables.ts';
import { openSealing } from './sealing.ts';

const dataDir = openScratchDirectory({ after }).path;
const service = await openTestService({ after }, { PRAXIS_DATA_DIR: dataDir });
const { owner, runtime } = service.database;
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const narrow = await makeApplication(service, 'Narrow', ['acl/pat_s_name_dob_gen'], [maple]);
const caller = await openCaller(service, application, maple);
const restricted = await openCaller(service, narrow, maple);

/** Some writes and reads, sealed. */
async function work(mark: string): Promise<void> {
  for (const id of [`${mark}-1`, `${mark}-2`]) {
    assert.equal((await caller.send('PUT', `Patient/${id}`, { ...patient(mark), id })).status, 201);
    assert.equal((await caller.get(`Patient/${id}`)).status, 200);
  }
  assert.equal((await restricted.get(`Patient?family=${mark}`)).status, 200);
  await service.service.parts.ledger.flush();
}

const sealLedger = openSealing(service, dataDir);

async function seal(): Promise<void> {
  for (const ledger of [serviceLedger, maple.id]) await sealLedger(ledger);
}

await work('Ash');
await seal();
await work('Birch');
await seal();
await work('Cherry');

/** What verify says about the firm: its exit status, and the lines after the first. */
async function verify(): Promise<{ readonly status: number; readonly findings: readonly string[] }> {
  const { exitStatus, output } = await runCommand(service.platform, commands, 'audit', 'verify', '--firm', 'maple');
  return { status: exitStatus, findings: output.slice(1).map((line) => line.trim()) };
}

const restore = await keepTables(owner);
const sealedRead = sql`(SELECT seq FROM audit_ledger WHERE firm = ${maple.id} AND id = 'Ash-1' AND interaction = 'read')`;
const openRead = sql`(SELECT seq FROM audit_ledger WHERE firm = ${maple.id} AND id = 'Cherry-1' AND interaction = 'read')`;
const openWrite = sql`(SELECT seq FROM audit_ledger WHERE firm = ${maple.id} AND id = 'Cherry-1' AND interaction = 'update')`;

const columns = sql`xid, firm, epoch, caller, action, vid, shown, times, patient_key, request_uuid, request_id, proof`;

/** What a hand does, and what verify has to say of it. */
const hands: readonly (readonly [what: string, statements: readonly Sql[], finding: RegExp])[] = [
  [
    'the caller of a sealed row changed',
    [
      sql`UPDATE audit_caller SET subject = 'somebody else'
        WHERE firm = ${maple.id} AND key = (SELECT caller FROM audit_event WHERE seq = ${sealedRead})`,
    ],
    /^row \d+ \(.* read\) was changed after seal 1, or put in by hand before it$/,
  ],
  [
    'the action of a sealed row removed',
    [
      sql`DELETE FROM audit_action
        WHERE firm = ${maple.id} AND key = (SELECT action FROM audit_event WHERE seq = ${sealedRead})`,
    ],
    /^row \d+ \(.*\) was changed after seal 1, or put in by hand before it$/,
  ],
  [
    'the proof of a sealed row changed',
    [sql`UPDATE audit_event SET proof = NULL WHERE seq = ${sealedRead}`],
    /^row \d+ \(.* read\) was changed after seal 1$/,
  ],
  [
    'a sealed row given a time that is none',
    [sql`UPDATE audit_event SET at = 9223372036854775807 WHERE seq = ${sealedRead}`],
    /^row \d+ \(at 9223372036854775807\) was changed or put in by hand: the server has not written it so$/,
  ],
  [
    'the time of a sealed row changed',
    [sql`UPDATE audit_event SET at = at - 1 WHERE seq = ${sealedRead}`],
    /^row \d+ \(.* read\) was changed after seal 1, or put in by hand before it$/,
  ],
  [
    'a sealed row removed',
    [sql`DELETE FROM audit_event WHERE seq = ${sealedRead}`],
    /^row \d+ was removed: seal 1 covers it$/,
  ],
  [
    'a row put in between sealed ones',
    [
      sql`INSERT INTO audit_event (at, seq, id, ${columns})
        SELECT at, seq + 1000000, 'Ash-9', ${columns} FROM audit_event WHERE seq = ${sealedRead}`,
    ],
    /^row \d+ \(.* read\) was put in by hand: seal [12] does not cover it$/,
  ],
  [
    'a row changed that is not sealed yet',
    [sql`UPDATE audit_event SET shown = 1 + shown WHERE seq = ${openRead}`],
    /^row \d+ \(.* read\) was changed or put in by hand: the server has not written it so$/,
  ],
  [
    'a row put in at the end',
    [
      sql`INSERT INTO audit_event (at, xid, seq, firm, epoch, application, outcome, interaction)
        VALUES (1, pg_current_xact_id(), nextval('resource_order'), ${maple.id}, 1, 1, 0, 'read')`,
    ],
    /^row \d+ \(.* read\) was changed or put in by hand: the server has not written it so$/,
  ],
  [
    'a copy of a row at the end',
    [
      sql`INSERT INTO audit_event (at, xid, seq, firm, epoch, caller, action, shown, id, request_uuid, patient_key, proof)
        SELECT at, pg_current_xact_id(), nextval('resource_order'), firm, epoch, caller, action, shown, id, request_uuid,
          patient_key, proof
        FROM audit_event WHERE seq = ${openRead}`,
    ],
    /^rows \d+, \d+ are copies of one row$/,
  ],
  [
    'the row of a write removed before it was sealed',
    [sql`DELETE FROM audit_event WHERE seq = ${openWrite}`],
    /^row \d+ was removed: a version of a resource has that number$/,
  ],
  ['a seal removed', [sql`DELETE FROM audit_seal WHERE number = 1 AND firm = ${maple.id}`], /^seal 1 was removed$/],
  [
    'a seal changed',
    [sql`UPDATE audit_seal SET rows = rows + 1 WHERE number = 1 AND firm = ${maple.id}`],
    /^seal 1 was changed, or what it is chained to$/,
  ],
  [
    'a seal made by another key',
    [sql`UPDATE audit_seal SET signature = decode(repeat('00', 64), 'hex') WHERE number = 2 AND firm = ${maple.id}`],
    /^seal 2 is not signed by this installation$/,
  ],
  [
    'the end cut off, with its seal',
    [
      sql`DELETE FROM audit_event WHERE firm = ${maple.id} AND seq > (SELECT row_seq FROM audit_seal WHERE firm = ${maple.id} AND number = 1)`,
      sql`DELETE FROM audit_seal WHERE firm = ${maple.id} AND number > 1`,
    ],
    /^the end of the ledger was removed: this machine has seen seal 2$/,
  ],
  [
    'everything removed',
    [sql`DELETE FROM audit_event WHERE firm = ${maple.id}`, sql`DELETE FROM audit_seal WHERE firm = ${maple.id}`],
    /^the end of the ledger was removed: this machine has seen seal 2$/,
  ],
  [
    'a row about one patient given the key of another',
    [sql`UPDATE audit_event SET patient_key = hashtext('Ash-2') WHERE seq = ${sealedRead}`],
    /^audit_event is not found by Ash-1 for row \d+$/,
  ],
  [
    'a row about several patients taken out of their index',
    [sql`DELETE FROM audit_patient_key WHERE firm = ${maple.id} AND patient_key = hashtext('Ash-1')`],
    /^audit_patient_key lacks Ash-1 for row \d+$/,
  ],
  [
    'a row put into the index of patients',
    [sql`INSERT INTO audit_patient_key (at, seq, firm, patient_key) VALUES (1, 1, ${maple.id}, 23)`],
    /^audit_patient_key adds 23 for row 1$/,
  ],
  [
    'a row put into the index of patients of before',
    [sql`INSERT INTO audit_patient (at, seq, firm, patient) VALUES (1, 1, ${maple.id}, 'Ash-1')`],
    /^audit_patient adds Ash-1 for row 1$/,
  ],
  [
    'a list of elements changed',
    [sql`UPDATE audit_elements SET elements = 'Patient.name' WHERE firm = ${maple.id}`],
    /^audit_elements \S+ was changed$/,
  ],
];

test('the role of the server can add rows and read them, and nothing else', async () => {
  for (const name of ledgerTables) {
    const table = sql.identifier(name);
    for (const statement of [
      sql`UPDATE ${table} SET firm = firm`,
      sql`DELETE FROM ${table}`,
      sql`TRUNCATE ${table}`,
      sql`DROP TABLE ${table}`,
    ])
      await assert.rejects(runtime.forFirm(maple.id).query(statement), /42501/, statement.text);
  }
});

for (const [what, statements, finding] of hands) {
  test(`verify finds ${what}`, async () => {
    for (const statement of statements) await owner.query(statement);
    try {
      const { status, findings } = await verify();
      assert.equal(status, 1);
      assert.ok(
        findings.some((line) => finding.test(line)),
        findings.join('\n'),
      );
    } finally {
      await restore();
    }
    assert.deepEqual(await verify(), { status: 0, findings: [] });
  });
}

test('a ledger that nobody touched is as it was written, and so is that of the service', async () => {
  const { exitStatus, output } = await runCommand(service.platform, commands, 'audit', 'verify');
  assert.equal(exitStatus, 0, output.join('\n'));
  assert.match(output[0] ?? '', /^the service: is as it was written \(\d+ rows under \d+ seals, \d+ not sealed yet\)$/);
  assert.equal(output[1], 'firm maple: is as it was written (10 rows under 2 seals, 5 not sealed yet)');
  assert.equal(output.length, 2);
});

test('seals that follow a cut end do not cover it up', async () => {
  await owner.query(sql`
    DELETE FROM audit_event WHERE firm = ${maple.id} AND seq > (SELECT row_seq FROM audit_seal WHERE firm = ${maple.id} AND number = 1)`);
  await owner.query(sql`DELETE FROM audit_seal WHERE firm = ${maple.id} AND number > 1`);
  for (const mark of ['Dogwood', 'Elder', 'Fir']) {
    await work(mark);
    await seal();
  }
  const { status, findings } = await verify();
  assert.equal(status, 1);
  assert.ok(findings.includes('the end of the ledger was removed: seal 2 was there once'), findings.join('\n'));
});

test('where no seal was ever seen, verify says that it cannot tell of the end', async () => {
  rmSync(path.join(dataDir, 'audit-heads'), { recursive: true });
  const { findings } = await verify();
  assert.ok(
    findings.includes(
      'note: this machine has seen no seal of the ledger: whether its end was removed is told where the service runs',
    ),
    findings.join('\n'),
  );
});
