/**
 * A firm with rows in every table is erased, cut off again and again: all its rows go, each counted once, and those of others stay as
 * they are, byte for byte: a firm with the same resources, and one of the same prefix in another environment.
 */
import assert from 'node:assert/strict';
import { createPublicKey, verify } from 'node:crypto';
import test, { after } from 'node:test';
import { createAdministrator } from '../../src/admin/administrators.ts';
import { openPasswords } from '../../src/admin/passwords.ts';
import { openSealingKey } from '../../src/audit/seal.ts';
import { makeFixedClock } from '../../src/base/clock.ts';
import { makeTrustedClock } from '../../src/base/service-clock.ts';
import { commands } from '../../src/cli/commands.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { type EraseContext, listTablesLeft, openEraser } from '../../src/offboarding/erase-firm.ts';
import { confirmErasure, getErasure, requestErasure } from '../../src/offboarding/erasures.ts';
import { erasedTables } from '../../src/offboarding/firm-tables.ts';
import { getFirm, suspendFirm } from '../../src/tenancy/firms.ts';
import { ageOperators, password } from '../admin/world.ts';
import { fillPlatform } from '../cli/filled-platform.ts';
import { makeFirm, openTestPlatform, runCommand, startMs } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { everyTable } from '../support/tenant-rows.ts';

const opened = await openTestPlatform({ after });
const files = openScratchDirectory({ after });
const platform = { ...opened, config: { ...opened.config, dataDir: files.path } };
const { database } = platform;
await fillPlatform(platform, files);
const maple = await getFirm(database, 'sandbox', 'maple');
const birch = await makeFirm(platform, 'birch');
const elsewhere = await makeFirm(platform, 'maple', 'prod');
for (const [firm, environment] of [
  ['birch', 'sandbox'],
  ['maple', elsewhere.environment],
] as const)
  await runCommand(
    platform,
    commands,
    'import',
    `${files.path}/source.ndjson`,
    '--firm',
    firm,
    '--environment',
    environment,
  );
for (const username of ['ada', 'bob'])
  await createAdministrator(
    { database, clock: platform.clock, passwords: openPasswords(platform.secrets) },
    { username, role: 'operator', environment: 'sandbox', password },
  );
await ageOperators({ platform }, 'ada', 'bob');

await platform.asOwner(async (owner) => {
  await owner.query(sql`INSERT INTO write_lock (firm, key) VALUES (${maple.id}, '\\x01')`);
  await owner.query(sql`
    INSERT INTO legacy_sunset (environment, firm, deprecated_at, link)
    SELECT environment, id, now(), 'https://example.com' FROM firm WHERE id = ${maple.id}`);
});

/** Uploads of before can no longer be under way. */
const clock = makeTrustedClock(makeFixedClock(startMs + 2 * 3_600_000));
const context: EraseContext = { ...platform, clock };

/** Every row of every table, but for those of the firm, and for the record of the erasure. */
async function othersRows(): Promise<ReadonlyMap<string, readonly string[]>> {
  return await platform.asOwner(async (owner) => {
    const found = new Map<string, readonly string[]>();
    const tables = (await everyTable(owner)).filter((name) => !['firm', 'firm_erasure', 'write_probe'].includes(name));
    for (const table of tables) {
      const rows = await owner.query<{ row: string }>(sql`
        SELECT t::text AS row FROM ${sql.identifier(table)} t
        WHERE to_jsonb(t) ->> 'firm' IS DISTINCT FROM ${String(maple.id)}
          AND NOT (${table}::text LIKE 'admin\\_%' AND to_jsonb(t) ? 'administrator' AND EXISTS (
            SELECT FROM administrator a WHERE a.firm = ${maple.id} AND a.id::text = to_jsonb(t) ->> 'administrator'))
        ORDER BY 1`);
      found.set(
        table,
        rows.map(({ row }) => row),
      );
    }
    return found;
  });
}

async function countRows(): Promise<Readonly<Record<string, number>>> {
  return await platform.asOwner(async (owner) => {
    const counts: Record<string, number> = {};
    for (const { name } of erasedTables) {
      const [row] = await owner.query<{ rows: number }>(
        sql`SELECT count(*)::int AS rows FROM ${sql.identifier(name)} WHERE firm = ${maple.id}`,
      );
      counts[name] = row?.rows ?? 0;
    }
    return counts;
  });
}

/** A process that is killed at each `slices`th transaction. */
function dyingAfter(slices: number): EraseContext {
  let begun = 0;
  const dying = (owner: Database): Database => ({
    ...owner,
    async transaction(firm, work, options) {
      begun += 1;
      if (begun <= slices) return await owner.transaction(firm, work, options);
      return await owner.transaction(firm, async (tx) => {
        await work(tx);
        throw new Error('killed');
      });
    },
  });
  return { ...context, asOwner: (work) => platform.asOwner((owner) => work(dying(owner))) };
}

let erasureId = 0;
let before: ReadonlyMap<string, readonly string[]>;

test('the firm has rows in every table', async () => {
  const empty = Object.entries(await countRows()).filter(([, rows]) => rows === 0);
  assert.deepEqual(empty, []);
});

test('nothing is removed before the confirmation', async () => {
  await suspendFirm(database, maple);
  const { id } = await requestErasure(platform, await getFirm(database, 'sandbox', 'maple'), {
    reason: 'End',
    by: 'ada',
  });
  erasureId = id;
  const counts = await countRows();
  assert.equal(await openEraser(context).eraseConfirmed(), 'done');
  assert.deepEqual(await countRows(), counts);
  before = await othersRows();
});

test('cut off at each slice and continued by another process: all rows go, each counted once', async () => {
  await confirmErasure(platform, erasureId, { firm: 'maple', by: 'bob' });
  const { access_epoch: _, ...counted } = await countRows();
  let kills = 0;
  for (let done = false; !done; ) {
    const eraser = openEraser(dyingAfter(7));
    try {
      let state = await eraser.eraseConfirmed();
      // Transactions of other tests in the cluster.
      while (state !== 'done') state = await eraser.eraseConfirmed();
      done = true;
    } catch (error) {
      assert.ok(error instanceof Error && error.message === 'killed', String(error));
      kills += 1;
      // A process of later begins at the first table again, so it gets further only as that is quick.
      if (kills > 8) {
        const last = openEraser(context);
        while ((await last.eraseConfirmed()) !== 'done');
        done = true;
      }
    }
  }
  assert.ok(kills > 5);
  assert.deepEqual(await listTablesLeft(database.forFirm(maple.id), maple.id), []);
  const erasure = await getErasure(platform, erasureId);
  assert.equal(erasure.state, 'erased');
  const { access_epoch: epochs = 0, audit_seal: seals = 0, ...removed } = erasure.erased;
  assert.ok(epochs > 0 && seals >= (counted['audit_seal'] ?? 0));
  const { audit_seal: _seals, ...expected } = counted;
  assert.deepEqual(removed, expected);
});

test('rows of others are as they were, byte for byte', async () => {
  const now = await othersRows();
  assert.ok((now.get('resource')?.length ?? 0) > 600);
  for (const [table, rows] of before) assert.deepEqual(now.get(table), rows, table);
});

test('the proof is signed, and tells what was removed and where the ledger ended', async () => {
  const { proof, signature } = await getErasure(platform, erasureId);
  assert.ok(proof !== null && signature !== null);
  const { tables, types, contents, ledger, ...facts } = JSON.parse(proof);
  const at = new Date(startMs).toISOString();
  assert.deepEqual(facts, {
    praxisErasure: 1,
    id: erasureId,
    firm: { environment: 'sandbox', prefix: 'maple', number: maple.id, name: 'Practice' },
    reason: 'End',
    requestedBy: 'ada',
    requestedAt: at,
    confirmedBy: 'bob',
    confirmedAt: at,
    finishedAt: new Date(clock.now()).toISOString(),
  });
  assert.deepEqual(types.Patient, { resources: 301, versions: 302 });
  assert.equal(tables.resource, 303);
  assert.equal(contents, 2);
  assert.match(ledger.head, /^[0-9a-f]{64}$/);
  assert.deepEqual(ledger.archives, [{ file: 'a.ndjson.gz', sha256: Buffer.alloc(32, 1).toString('hex') }]);
  // As anybody with the public key alone can tell.
  const key = createPublicKey(openSealingKey(platform.secrets).publicKey);
  const signed = Buffer.from(`praxis firm erasure\n${proof}`);
  assert.equal(verify(null, signed, key, signature), true);
  assert.equal(verify(null, Buffer.from(signed.toString().replace('ada', 'eve')), key, signature), false);
});

test('the ledgers of others are whole, and the prefix is free again', async () => {
  for (const environment of ['sandbox', elsewhere.environment]) {
    const { exitStatus, output } = await runCommand(
      platform,
      commands,
      'audit',
      'verify',
      '--environment',
      environment,
    );
    assert.equal(exitStatus, 0, output.join('\n'));
    assert.ok(!output.some((line) => line.startsWith('firm erased')));
  }
  const again = await makeFirm(platform, 'maple');
  assert.ok(again.id > birch.id);
  assert.deepEqual(await listTablesLeft(database.forFirm(again.id), again.id), []);
});

test('rows that came late are removed, also after days', async () => {
  await platform.asOwner((owner) =>
    owner.query(
      sql`INSERT INTO job_failure (job, firm, failures, reason, failed_at) VALUES ('waitlist', ${maple.id}, 1, 'x', 1)`,
    ),
  );
  const later = makeTrustedClock(makeFixedClock(startMs + 3 * 86_400_000));
  await openEraser({ ...context, clock: later }).eraseLate('recent');
  assert.deepEqual(await listTablesLeft(database.forFirm(maple.id), maple.id), ['job_failure']);
  await openEraser({ ...context, clock: later }).eraseLate('all');
  assert.deepEqual(await listTablesLeft(database.forFirm(maple.id), maple.id), []);
});
