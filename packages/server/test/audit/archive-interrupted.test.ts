/** `praxis audit archive` that was killed: running it again finishes or begins anew; nothing is lost, nothing is there twice. */
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { listArchives, signArchive, storeArchive } from '../../src/audit/archive-record.ts';
import { openSealingKey } from '../../src/audit/seal.ts';
import { sql } from '../../src/database/sql.ts';
import { openArchiveFixture } from './archive-fixture.ts';
import { keepTables } from './kept-tables.ts';

const fixture = await openArchiveFixture({ after });
const { service, owner, maple, archives, archive, verify, dayOf } = fixture;
const target = path.join(archives, 'audit-sandbox-maple-1-2.ndjson.gz');
const apart = path.join(archives, 'apart');
let restore: () => Promise<void>;
const whole = ['firm maple: is as it was written (10 rows under 2 seals, 0 not sealed yet, 10 in 1 archives)'];

before(() => mkdirSync(apart));

test('killed before the file was whole: what is left of it is replaced', async () => {
  restore = await keepTables(owner);
  writeFileSync(`${target}.partial`, 'half');
  await archive(dayOf('Cherry'));
  assert.deepEqual(await verify(), { status: 0, output: whole });
  assert.equal((await verify('--archive', target)).status, 0);
});

test('killed between the file and the removal: the file that is there is used', async () => {
  await restore();
  assert.equal((await verify('--archive', target)).status, 1, 'no record tells of it yet');
  const bytes = readFileSync(target);
  const { output } = await archive(dayOf('Cherry'));
  assert.equal(output[0], `${target} was there from an interrupted run`);
  assert.deepEqual(readFileSync(target), bytes);
  assert.deepEqual(await verify(), { status: 0, output: whole });
  assert.equal((await verify('--archive', target)).status, 0);
});

/** As after the first portion of the removal: the rows of seal 1 are gone, those of seal 2 are there. */
async function interruptRemoval(): Promise<void> {
  const [record] = await listArchives(owner, maple.id);
  assert.ok(record);
  await restore();
  const [seal] = await owner.query<{ head: Buffer; epoch: number; xid: string; seq: number }>(sql`
    SELECT head, row_epoch AS epoch, row_xid::text AS xid, row_seq AS seq FROM audit_seal WHERE firm = ${maple.id} AND number = 1`);
  assert.ok(seal);
  const { head, ...place } = seal;
  await owner.query(sql`
    DELETE FROM audit_patient_key k USING audit_event e
    WHERE e.firm = ${maple.id} AND e.seq <= ${place.seq} AND k.firm = e.firm AND k.at = e.at AND k.seq = e.seq`);
  await owner.query(sql`DELETE FROM audit_event WHERE firm = ${maple.id} AND seq <= ${place.seq}`);
  await owner.query(sql`DELETE FROM audit_seal WHERE firm = ${maple.id} AND number = 1`);
  const { signature: _, ...facts } = record;
  const moved = { ...facts, end: { number: 1, head, place }, rows: 5, untilMs: Date.parse(dayOf('Ash')), late: null };
  await owner.query(
    storeArchive(maple.id, signArchive(openSealingKey(service.platform.secrets), maple.id, undefined, moved)),
  );
}

const note =
  'note: seals up to 2 are being moved to audit-sandbox-maple-1-2.ndjson.gz: if no audit archive runs, run it again';

test('killed amid the removal: the ledger is whole, and the next run finishes', async () => {
  await interruptRemoval();
  assert.deepEqual(await verify(), {
    status: 0,
    output: ['firm maple: is as it was written (15 rows under 3 seals, 0 not sealed yet, 5 in 1 archives)', note],
  });
  assert.equal((await verify('--archive', target)).status, 0);
  const { output } = await archive(dayOf('Birch'));
  assert.match(output[1] ?? '', /^archive 1: 10 rows .* \(seals 1 to 2\)/);
  assert.deepEqual(await verify(), { status: 0, output: whole });
});

test('amid the removal another file of the same name is no archive: nothing is removed by it', async () => {
  await interruptRemoval();
  copyFileSync(target, path.join(apart, 'kept'));
  const bytes = readFileSync(target);
  bytes.writeUInt8(bytes.readUInt8(9) ^ 1, 9); // the operating system in the header of gzip, which nobody reads
  writeFileSync(target, bytes);
  await assert.rejects(archive(dayOf('Cherry')), /exists and is not the archive of these seals/);
  assert.equal(
    (await verify()).output[0],
    'firm maple: is as it was written (15 rows under 3 seals, 0 not sealed yet, 5 in 1 archives)',
  );
  renameSync(path.join(apart, 'kept'), target);
});

test('amid the removal, where the file is elsewhere, a new archive begins where the database does', async () => {
  await interruptRemoval();
  renameSync(target, path.join(apart, path.basename(target)));
  const { output } = await archive(dayOf('Cherry'));
  assert.match(output[0] ?? '', /^archive 2: 5 rows .* \(seals 2 to 2\) are in .*audit-sandbox-maple-2-2\.ndjson\.gz$/);
  assert.deepEqual(await verify(), {
    status: 0,
    output: ['firm maple: is as it was written (10 rows under 2 seals, 0 not sealed yet, 10 in 2 archives)'],
  });
  for (const file of [
    path.join(apart, path.basename(target)),
    path.join(archives, 'audit-sandbox-maple-2-2.ndjson.gz'),
  ])
    assert.deepEqual((await verify('--archive', file)).status, 0);
  rmSync(path.join(archives, 'audit-sandbox-maple-2-2.ndjson.gz'));
});
