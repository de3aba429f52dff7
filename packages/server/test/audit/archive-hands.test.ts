/**
 * `praxis audit verify` against hands on a ledger that was archived twice: on its records, on what is left in the database, on the
 * files, and against rows of the files that are put back. Whoever has no key can do none of it unnoticed.
 */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { type Sql, sql } from '../../src/database/sql.ts';
import { openArchiveFixture } from './archive-fixture.ts';
import { keepTables } from './kept-tables.ts';

const fixture = await openArchiveFixture({ after });
const { owner, maple, cedar, archives, archive, verify, dayOf } = fixture;
/** Before anything was archived. */
const putBack = await keepTables(owner, 'old');
await archive(dayOf('Birch'));
await archive(dayOf('Cherry'));
const [first, second] = ['audit-sandbox-maple-1-1.ndjson.gz', 'audit-sandbox-maple-2-2.ndjson.gz'].map((name) =>
  path.join(archives, name),
);
assert.ok(first !== undefined && second !== undefined);
const restore = await keepTables(owner);

const firm = maple.id;
const columns = sql`caller, action, vid, shown, times, patient_key, resource_uuid, request_uuid, patient_uuid, id, request_id,
  patients, patient_uuids, proof`;
const archivedRead = sql`(SELECT seq FROM old_audit_event e WHERE firm = ${firm} AND id = 'Ash-1' AND shown IS NOT NULL)`;
const leftRead = sql`(SELECT seq FROM audit_ledger WHERE firm = ${firm} AND id = 'Cherry-1' AND interaction = 'read')`;

/** What a hand does, and what verify has to say of it. */
const hands: readonly (readonly [what: string, statements: readonly Sql[], finding: RegExp])[] = [
  [
    'the record of the last archive removed',
    [sql`DELETE FROM audit_archive WHERE firm = ${firm} AND number = 2`],
    /^seal 2 was removed$/,
  ],
  [
    'the record of an archive before it removed',
    [sql`DELETE FROM audit_archive WHERE firm = ${firm} AND number = 1`],
    /^the record of archive 1 was removed$/,
  ],
  ['all records removed', [sql`DELETE FROM audit_archive WHERE firm = ${firm}`], /^seal 1 was removed$/],
  ...(
    [
      ['digest', sql`digest = decode(repeat('00', 32), 'hex')`],
      ['file', sql`file = 'another'`],
      ['rows', sql`rows = rows + 1`],
      ['time', sql`until_at = until_at - 1`],
      ['late rows', sql`late = late + 1`],
      ['place', sql`row_seq = row_seq + 1`],
      ['firm', sql`firm = ${cedar.id}`],
    ] as const
  ).map(
    ([what, change]) =>
      [
        `the ${what} in the record of an archive changed`,
        [sql`UPDATE audit_archive SET ${change} WHERE firm = ${firm} AND number = 2`],
        what === 'firm'
          ? /^seal 2 was removed$/
          : /^the record of archive 2 was changed or put in by hand, or is of another installation$/,
      ] as const,
  ),
  [
    'a record of an archive that nobody made',
    [
      sql`INSERT INTO audit_archive SELECT a.at, a.from_at, a.until_at, a.rows, s.row_xid, s.row_seq, a.firm, 3, s.row_epoch, 3, 3, 3, 0,
          a.file, a.digest, s.head, a.signature
        FROM audit_archive a JOIN audit_seal s ON s.firm = a.firm AND s.number = 3 WHERE a.firm = ${firm} AND a.number = 2`,
      sql`DELETE FROM audit_event WHERE firm = ${firm} AND seq <= (SELECT row_seq FROM audit_seal WHERE firm = ${firm} AND number = 3)`,
      sql`DELETE FROM audit_seal WHERE firm = ${firm} AND number = 3`,
    ],
    /^the record of archive 3 was changed or put in by hand, or is of another installation$/,
  ],
  [
    'more rows removed than were archived, with their seal',
    [
      sql`DELETE FROM audit_event WHERE firm = ${firm} AND seq <= (SELECT row_seq FROM audit_seal WHERE firm = ${firm} AND number = 3)`,
      sql`DELETE FROM audit_seal WHERE firm = ${firm} AND number = 3`,
    ],
    /^seal 3 was removed$/,
  ],
  [
    'a row behind the archives removed',
    [sql`DELETE FROM audit_event WHERE firm = ${firm} AND seq = ${leftRead}`],
    /^row \d+ was removed: seal 3 covers it$/,
  ],
  [
    'a row behind the archives changed',
    [sql`UPDATE audit_event SET shown = shown + 1 WHERE firm = ${firm} AND seq = ${leftRead}`],
    /^row \d+ \(.* read\) was changed after seal 3, or put in by hand before it$/,
  ],
  [
    'the first seal behind the archives changed',
    [sql`UPDATE audit_seal SET rows = rows + 1 WHERE firm = ${firm} AND number = 3`],
    /^seal 3 was changed, or what it is chained to$/,
  ],
  [
    'everything behind the archives removed',
    [sql`DELETE FROM audit_event WHERE firm = ${firm}`, sql`DELETE FROM audit_seal WHERE firm = ${firm}`],
    /^the end of the ledger was removed: this machine has seen seal 4$/,
  ],
  [
    'archived rows put back where they were',
    [sql`INSERT INTO audit_event SELECT * FROM old_audit_event WHERE firm = ${firm} AND seq = ${archivedRead}`],
    /^row \d+ \(.* read\) was put in by hand: it lies before the end of archive 2$/,
  ],
  [
    'an archived seal put back',
    [sql`INSERT INTO audit_seal SELECT * FROM old_audit_seal WHERE firm = ${firm} AND number = 2`],
    /^seal 2 was put in by hand: archive 2 or one before has it$/,
  ],
  [
    'a copy of an archived row at the end',
    [
      sql`INSERT INTO audit_event (at, xid, seq, firm, epoch, ${columns})
        SELECT at, pg_current_xact_id(), nextval('resource_order'), firm, epoch, ${columns} FROM old_audit_event WHERE seq = ${archivedRead}`,
    ],
    /^1 rows more than archive 2 left are not later than its end: copies of rows that it has, /,
  ],
  [
    'archived patients put back',
    [
      sql`INSERT INTO audit_patient_key SELECT * FROM old_audit_patient_key WHERE firm = ${firm} AND patient_key = hashtext('Ash-1')`,
    ],
    /^audit_patient_key adds -?\d+ for row \d+$/,
  ],
];

for (const [what, statements, finding] of hands) {
  test(`verify finds ${what}`, async () => {
    for (const statement of statements) await owner.query(statement);
    try {
      const { status, output } = await verify();
      assert.equal(status, 1);
      assert.ok(
        output.slice(1).some((line) => finding.test(line)),
        output.join('\n'),
      );
    } finally {
      await restore();
    }
    assert.equal((await verify()).status, 0);
  });
}

test('the role of the server can read records of archives, and nothing else', async () => {
  const runtime = fixture.service.database.runtime.forFirm(firm);
  for (const statement of [
    sql`INSERT INTO audit_archive SELECT * FROM audit_archive`,
    sql`UPDATE audit_archive SET firm = firm`,
    sql`DELETE FROM audit_archive`,
  ])
    await assert.rejects(runtime.query(statement), /42501/, statement.text);
  const numbers = sql`SELECT number FROM audit_archive ORDER BY number`;
  assert.deepEqual(await runtime.query(numbers), [{ number: 1 }, { number: 2 }]);
  assert.deepEqual(await fixture.service.database.runtime.forFirm(cedar.id).query(numbers), []);
});

const scratch = path.join(archives, 'changed');
mkdirSync(scratch);

/** What verify says of a file: its exit status, and the lines after the first. */
async function verifyFile(file: string) {
  const { status, output } = await verify('--archive', file);
  return { status, findings: output.slice(1) };
}

async function verifyChanged(change: (lines: string[]) => readonly string[]) {
  const file = path.join(scratch, 'changed.ndjson.gz');
  const lines = gunzipSync(readFileSync(second ?? ''))
    .toString()
    .trimEnd()
    .split('\n');
  writeFileSync(file, gzipSync(`${change(lines).join('\n')}\n`));
  return await verifyFile(file);
}

const noRecord = 'the ledger has no record of this file: it was changed, or its record was removed';

test('both files are as they were written', async () => {
  for (const file of [first, second]) assert.deepEqual(await verifyFile(file), { status: 0, findings: [] });
});

test('a byte of a file that is changed is found, wherever it is', async () => {
  const bytes = readFileSync(first);
  for (const at of [9, 40, Math.floor(bytes.length / 2), bytes.length - 3]) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    const file = path.join(scratch, 'byte.ndjson.gz');
    writeFileSync(file, changed);
    assert.equal((await verifyFile(file)).status, 1, `byte ${at}`);
  }
  const file = path.join(scratch, 'cut.ndjson.gz');
  writeFileSync(file, bytes.subarray(0, bytes.length - 40));
  assert.deepEqual(await verifyFile(file), { status: 1, findings: [noRecord, 'the file is cut off'] });
  writeFileSync(file, 'no archive');
  assert.equal((await verifyFile(file)).status, 1);
  await assert.rejects(verifyFile(path.join(scratch, 'none')), /there is no such file/);
});

test('what was changed in a file by whoever packs it again is named', async () => {
  const isRead = (line: string): boolean => line.includes('"interaction":"read"');
  for (const [change, finding] of [
    [
      (lines) => lines.map((line) => (isRead(line) ? line.replace('Birch-1', 'Birch-9') : line)),
      /^row \d+ \(.* read\) was changed after seal 2, or put in by hand before it$/,
    ],
    [(lines) => lines.filter((line) => !isRead(line)), /^row \d+ was removed: seal 2 covers it$/],
    [
      (lines) => lines.flatMap((line) => (isRead(line) ? [line, line.replace(/"seq":\d+/, '"seq":999999')] : [line])),
      /^row 999999 \(.* read\) was put in by hand: seal 2 does not cover it$/,
    ],
    [
      (lines) => lines.map((line) => line.replace('"rows":5,"marks"', '"rows":4,"marks"')),
      /^seal 2 was changed, or what it is chained to$/,
    ],
    [
      (lines) => lines.map((line) => line.replace(/"signature":"[^"]{8}/, '"signature":"AAAAAAAA')),
      /^seal 2 is not signed by this installation$/,
    ],
    [
      (lines) => lines.map((line) => line.replace('Patient.birthDate', 'Patient.name')),
      /^the list of elements \S+ was changed$/,
    ],
    [(lines) => lines.filter((line) => !line.startsWith('{"list"')), /^the list of elements \S+ was removed$/],
    [(lines) => lines.slice(0, -1), /^the file is cut off$/],
    [
      (lines) => lines.map((line) => line.replace('"firstSeal":2', '"firstSeal":1')),
      /^the file does not follow what the ledger has before seal 1$/,
    ],
    [
      (lines) => lines.map((line) => line.replace(`"ledger":${firm}`, `"ledger":${cedar.id}`)),
      /^the file does not follow what the ledger has before seal 2$/,
    ],
    [(lines) => [...lines, '{"seq":"x"}'], /^line \d+ of the file is not one of an archive$/],
  ] satisfies readonly (readonly [(lines: string[]) => readonly string[], RegExp])[]) {
    const { status, findings } = await verifyChanged(change);
    assert.equal(status, 1);
    assert.ok(findings.includes(noRecord), findings.join('\n'));
    assert.ok(
      findings.some((line) => finding.test(line)),
      `${finding}:\n${findings.join('\n')}`,
    );
  }
});

test('a file whose record was removed or is of other seals is no archive of the ledger', async () => {
  await owner.query(sql`DELETE FROM audit_archive WHERE firm = ${firm} AND number = 2`);
  assert.deepEqual(await verifyFile(second), { status: 1, findings: [noRecord] });
  await restore();
  await owner.query(
    sql`UPDATE audit_archive SET head = decode(repeat('00', 32), 'hex') WHERE firm = ${firm} AND number = 2`,
  );
  assert.equal((await verifyFile(second)).status, 1);
  await restore();
});

test('copies of archived rows in the ledger are named with the file that they are of', async () => {
  await owner.query(sql`
    INSERT INTO audit_event (at, xid, seq, firm, epoch, ${columns})
    SELECT at, pg_current_xact_id(), nextval('resource_order'), firm, epoch, ${columns} FROM old_audit_event WHERE seq = ${archivedRead}`);
  const { status, findings } = await verifyFile(first);
  assert.equal(status, 1);
  assert.match(
    findings[0] ?? '',
    /^row \d+ \(.* read\) of the ledger is a copy of row \d+ \(.* read\) of the archive$/,
  );
  assert.equal((await verifyFile(second)).status, 0);
  await restore();
});

test('a ledger of before it was archived, as from a backup, is whole; the files are of no record then', async () => {
  await putBack();
  await owner.query(sql`TRUNCATE audit_archive`);
  assert.equal((await verify()).status, 0);
});
