/**
 * `praxis audit archive`: old seals of a ledger go to a file, and `praxis audit verify` stays whole. Refusals first, which change
 * nothing; then a first archive, one that was interrupted, and one that follows.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { openLedger } from '../../src/audit/ledger.ts';
import { openProver } from '../../src/audit/proof.ts';
import { runAudited } from '../../src/cli/audited.ts';
import type { CommandContext } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { findCommand, parseInput } from '../../src/cli/parse.ts';
import { sql } from '../../src/database/sql.ts';
import { openCaller } from '../support/service.ts';
import { openArchiveFixture } from './archive-fixture.ts';
import { addWideRow } from './wide-rows.ts';

const fixture = await openArchiveFixture({ after });
const { service, owner, maple, cedar, application, archives, run, archive, verify, dayOf } = fixture;
const target = path.join(archives, 'audit-sandbox-maple-1-2.ndjson.gz');

/** What an archive could change: the rows of all ledgers, and the files. */
async function readState() {
  const [rows] = await owner.query(sql`
    SELECT (SELECT json_agg(e ORDER BY seq) FROM audit_event e) AS events, (SELECT json_agg(s ORDER BY firm, number) FROM audit_seal s) AS seals,
      (SELECT json_agg(k ORDER BY k.*) FROM audit_patient_key k) AS keys, (SELECT json_agg(a ORDER BY firm, number) FROM audit_archive a) AS archives`);
  return { rows, files: existsSync(archives) ? readdirSync(archives) : [] };
}

async function refuses(archiving: () => Promise<unknown>, message: RegExp): Promise<void> {
  const before = await readState();
  await assert.rejects(archiving, message);
  assert.deepEqual(await readState(), before);
}

/** The ids of rows of a firm's ledger that are still in the database, of each mark once. */
async function marksOf(firm: number): Promise<readonly string[]> {
  const rows = await owner.query<{ mark: string }>(sql`
    SELECT DISTINCT split_part(id, '-', 1) AS mark FROM audit_ledger WHERE firm = ${firm} AND id LIKE '%-1' ORDER BY 1`);
  return rows.map(({ mark }) => mark);
}

test('what is no time, too new, or of no one ledger is refused', async () => {
  await refuses(() => archive('yesterday'), /--before must be a date that exists/);
  const recent = new Date(service.clock.now() - 86_399_000).toISOString();
  await refuses(() => archive(recent), /--before must be more than a day ago/);
  await refuses(() => archive(dayOf('Cherry'), '--service'), /give one of --firm and --service/);
  await refuses(
    () => run('audit', 'archive', '--before', dayOf('Cherry'), '--to', archives),
    /give one of --firm and --service/,
  );
  await refuses(() => run('audit', 'archive', '--firm', 'oak', '--before', dayOf('Cherry'), '--to', archives), /oak/);
});

test('verify takes a file or a firm', async () => {
  await refuses(() => verify('--archive', target, '--firm', 'maple'), /give --firm or --archive/);
  await refuses(() => verify('--archive', target), /there is no such file/);
});

test('where no seal is old enough there is nothing to archive', async () => {
  await refuses(() => archive(dayOf('Ash')), /there is nothing to archive/);
});

test('a ledger that is not as it was written is not archived: what is wrong is printed', async () => {
  for (const [change, undo] of [
    [
      sql`UPDATE audit_event SET shown = 7 WHERE firm = ${maple.id} AND shown = 2 AND at = (SELECT min(at) FROM audit_event WHERE firm = ${maple.id})`,
      sql`UPDATE audit_event SET shown = 2 WHERE firm = ${maple.id} AND shown = 7`,
    ],
    [
      sql`UPDATE audit_seal SET rows = rows + 1 WHERE number = 2 AND firm = ${maple.id}`,
      sql`UPDATE audit_seal SET rows = rows - 1 WHERE number = 2 AND firm = ${maple.id}`,
    ],
    [
      sql`INSERT INTO audit_patient_key (at, seq, firm, patient_key) VALUES (1, 1, ${maple.id}, 23)`,
      sql`DELETE FROM audit_patient_key WHERE at = 1`,
    ],
  ] as const) {
    await owner.query(change);
    await refuses(() => archive(dayOf('Cherry')), /not as (?:it was|they were) written, so nothing was archived/);
    await owner.query(undo);
  }
  assert.equal((await verify()).status, 0);
});

test('a file that is there is not overwritten', async () => {
  writeFileSync(target, 'something');
  await refuses(() => archive(dayOf('Cherry')), /exists and is not the archive of these seals/);
  renameSync(target, path.join(archives, 'something'));
});

test('old seals go to a file, and the ledger is as it was written', async () => {
  const others = await marksOf(cedar.id);
  const { output } = await archive(dayOf('Cherry'));
  const digest = createHash('sha256').update(readFileSync(target)).digest('hex');
  assert.deepEqual(output, [
    `archive 1: 10 rows from ${dayOf('Ash')} to ${dayOf('Birch')} (seals 1 to 2) are in ${target}`,
    `SHA-256 ${digest}`,
  ]);
  assert.equal(statSync(target).mode & 0o777, 0o600);
  assert.deepEqual(await verify(), {
    status: 0,
    output: ['firm maple: is as it was written (10 rows under 2 seals, 0 not sealed yet, 10 in 1 archives)'],
  });
  assert.deepEqual(await verify('--archive', target), {
    status: 0,
    output: [`${target}: is as it was written (10 rows under 2 seals, archive 1)`],
  });
  assert.deepEqual(await marksOf(maple.id), ['Cherry', 'Dogwood']);
  assert.deepEqual(await marksOf(cedar.id), others);
  const [left] = await owner.query<{ keys: number }>(sql`
    SELECT count(*)::int AS keys FROM audit_patient_key WHERE firm = ${maple.id} AND at < ${Date.parse(dayOf('Cherry'))}`);
  assert.equal(left?.keys, 0);
});

test('the file can be read without praxis: lines of JSON that tell who did what, and by what it is proven', () => {
  const lines = gunzipSync(readFileSync(target))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  const { createdAt: _, software: __, publicKey, follows, ...header } = lines[0];
  assert.deepEqual(header, {
    ...{ praxisAuditArchive: 1, environment: 'sandbox', firm: 'maple', ledger: maple.id },
    ...{ firstSeal: 1, lastSeal: 2 },
  });
  assert.match(publicKey, /^-----BEGIN PUBLIC KEY-----/);
  assert.equal(follows, '0'.repeat(64));
  assert.deepEqual(Object.keys(lines[1].seal), [
    'number',
    'at',
    'epoch',
    'xid',
    'seq',
    'rows',
    'marks',
    'head',
    'signature',
  ]);
  const search = lines.find(({ interaction }) => interaction === 'search-type');
  assert.deepEqual([search.patients, search.shown, search.entries], ['Ash-1 Ash-2', 2, 'acl/pat_s_name_dob_gen']);
  assert.match(search.proof, /^[0-9a-f]{48}$/);
  const { list } = lines.find((line) => line.list?.fingerprint === search.elements);
  assert.equal(list.elements, 'Patient.birthDate Patient.gender Patient.name');
  assert.deepEqual(lines.at(-1), { end: { seals: 2, rows: 10, lists: 1 } });
});

test('the report of disclosures names the archive where its period begins before the end of it', async () => {
  const disclosures = async (...more: readonly string[]) => {
    const line = ['audit', 'disclosures', '--firm', 'maple', '--patient', 'Patient/Ash-1', '--csv', ...more];
    return (await run(...line)).output.slice(1);
  };
  const named = [`maple,${dayOf('Birch')},,,archive,audit-sandbox-maple-1-2.ndjson.gz,0,,,`];
  assert.deepEqual(await disclosures(), named);
  assert.deepEqual(await disclosures('--from', dayOf('Birch')), named);
  assert.deepEqual(await disclosures('--from', dayOf('Cherry')), []);
  assert.deepEqual(await disclosures('--to', dayOf('Ash')), []);
  assert.match(
    (await disclosures('--patient', 'Patient/Cherry-1')).join('\n'),
    /,archive,.*\n.*,read,Patient\/Cherry-1,/,
  );
});

test('reads and searches of what is left go on, and so do seals', async () => {
  const caller = await openCaller(service, application, maple);
  const found = async (id: string) => (await caller.get(`AuditEvent?patient=Patient/${id}&_summary=count`)).json.total;
  assert.equal(await found('Ash-1'), 0);
  assert.equal(await found('Cherry-1'), 3);
  assert.equal((await caller.get('Patient/Ash-1')).status, 200);
  await service.service.parts.ledger.flush();
  await fixture.seal();
  assert.deepEqual(await verify(), {
    status: 0,
    output: ['firm maple: is as it was written (13 rows under 3 seals, 0 not sealed yet, 10 in 1 archives)'],
  });
});

test('nothing is archived twice, and the last seal stays', async () => {
  await refuses(() => archive(dayOf('Cherry')), /there is nothing to archive/);
  service.clock.advance(4 * 86_400_000);
  const before = new Date(service.clock.now() - 86_400_001).toISOString();
  const { output } = await archive(before);
  assert.match(
    output[0] ?? '',
    /^archive 2: 10 rows from .* \(seals 3 to 4\) are in .*audit-sandbox-maple-3-4\.ndjson\.gz$/,
  );
  await refuses(() => archive(before), /there is nothing to archive/);
  await fixture.workDay('Elder');
  assert.deepEqual(await verify(), {
    status: 0,
    output: ['firm maple: is as it was written (8 rows under 2 seals, 0 not sealed yet, 20 in 2 archives)'],
  });
  for (const name of ['audit-sandbox-maple-1-2.ndjson.gz', 'audit-sandbox-maple-3-4.ndjson.gz'])
    assert.equal((await verify('--archive', path.join(archives, name))).status, 0);
});

test('rows of the release before, and rows that come late, are archived like others', async () => {
  const { database, secrets, log } = service.platform;
  const prove = openProver(secrets);
  const row = { atMs: service.clock.now(), application: 1, interaction: 'read', outcome: 0, shown: 1 } as const;
  await addWideRow(database, maple.id, { ...row, patients: { ids: ['Ash-1', 'Ash-2'], more: true } }, prove);
  await fixture.workDay('Fir');
  // A row that waited for the database: it is sealed with later ones, and stays when earlier seals go.
  const ledger = openLedger({ database, log, prove, flushMs: 1 });
  await ledger.keep(maple.id, [{ ...row, id: 'late' }]);
  await ledger.close();
  await fixture.workDay('Ginkgo');
  const { output } = await archive(dayOf('Ginkgo'));
  assert.match(output[0] ?? '', /^archive 3: 14 rows from .* \(seals 5 to 7\)/);
  const file = path.join(archives, 'audit-sandbox-maple-5-7.ndjson.gz');
  assert.ok(gunzipSync(readFileSync(file)).toString().includes('"patients":"Ash-1 Ash-2 +"'));
  assert.deepEqual(await owner.query(sql`SELECT late FROM audit_archive WHERE firm = ${maple.id} AND number = 3`), [
    { late: 1 },
  ]);
  assert.deepEqual(await owner.query(sql`SELECT FROM audit_patient WHERE firm = ${maple.id}`), []);
  assert.equal((await verify()).status, 0);
  assert.equal((await verify('--archive', file)).status, 0);
});

test('the ledger of the service is archived like that of a firm', async () => {
  const line = ['audit', 'archive', '--service', '--before', dayOf('Dogwood'), '--to', archives];
  const { output } = await run(...line);
  assert.match(output[0] ?? '', /audit-service-1-3\.ndjson\.gz$/);
  const whole = await run('audit', 'verify');
  assert.equal(whole.exitStatus, 0, whole.output.join('\n'));
  assert.match(whole.output[0] ?? '', /^the service: is as it was written \(.*, \d+ in 1 archives\)$/);
  assert.equal((await verify('--archive', path.join(archives, 'audit-service-1-3.ndjson.gz'))).status, 0);
});

test('the command is noted in the ledger that it archives, with its date', async () => {
  const line = ['audit', 'archive', '--firm', 'maple', '--before', dayOf('Ash'), '--to', archives];
  const known = findCommand(commands, line) ?? assert.fail();
  const context: CommandContext = {
    config: service.platform.config,
    platform: async () => service.platform,
    print: () => undefined,
    progress: () => undefined,
    interactive: false,
  };
  const running = runAudited(known.command, context, parseInput(known.command, known.rest));
  await assert.rejects(running, /there is nothing to archive/);
  const rows = await owner.query(sql`
    SELECT id, outcome FROM audit_ledger WHERE firm = ${maple.id} AND interaction = 'administer' ORDER BY epoch, xid, seq`);
  const id = `audit archive --firm maple --environment sandbox --before ${dayOf('Ash')}`;
  assert.deepEqual(rows, [
    { id, outcome: 0 },
    { id, outcome: 4 },
  ]);
});
