/** `praxis backup` and `praxis restore`: what is restored is the same. What is refused: restore-refusals.test.ts. */
import assert from 'node:assert/strict';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { Platform } from '../../src/app.ts';
import { makeSecret } from '../../src/base/ids.ts';
import { writeBackup } from '../../src/cli/backup/write-backup.ts';
import { backupCommands } from '../../src/cli/commands/data/backup.ts';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { sql } from '../../src/database/sql.ts';
import { getFirm } from '../../src/tenancy/firms.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { contentsOf, fillPlatform } from './filled-platform.ts';
import { makeFirm, openTestPlatform, runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const secretKey = makeSecret();
const files = openScratchDirectory({ after });
const source = await openTestPlatform({ after }, secretKey);
await fillPlatform(source, files);
const backup = path.join(files.path, 'praxis.backup');
const backupResult = await runCommand(source, backupCommands, 'backup', backup);

const restore = (platform: Platform, ...line: readonly string[]) =>
  runCommand(platform, backupCommands, 'restore', ...line);

test('a backup is readable by its owner alone, and holds no secret', () => {
  assert.equal(statSync(backup).mode & 0o777, 0o600);
  assert.throws(() => statSync(`${backup}.partial`), /ENOENT/);
  const text = gunzipSync(readFileSync(backup)).toString();
  assert.ok(!text.includes(secretKey));
  assert.deepEqual(Object.keys(JSON.parse(text.slice(0, text.indexOf('\n')))), [
    'praxisBackup',
    'createdAt',
    'software',
    'schema',
    'secretKey',
    'installation',
    'dataKeys',
  ]);
  assert.match(backupResult.output[0] ?? '', /^[\d,]+ rows in .*praxis\.backup \(\d+\.\d s, [\d,]+\/s\)$/);
  assert.equal(
    backupResult.progress,
    `The secret key is not in it, and nobody can restore it without: keep PRAXIS_SECRET_KEY elsewhere.\nThe content of documents is not in it either: afterwards copy ${source.content.place}, and after a restore let \`praxis content verify\` compare the two.\n`,
  );
});

/** Tables whose rows live inside a transaction only. */
const alwaysEmpty: ReadonlySet<string> = new Set(['write_lock']);

test('everything is restored as it was; only the epochs are raised', async (t) => {
  const empty = await openTestPlatform(t, secretKey);
  const result = await restore(empty, backup);
  assert.match(result.output[0] ?? '', /^[\d,]+ rows restored from .*praxis\.backup \(/);
  const { order_epoch: orderBefore, access_epoch: accessBefore, ...before } = await contentsOf(source);
  const { order_epoch: orderAfter, access_epoch: accessAfter, ...restored } = await contentsOf(empty);
  assert.deepEqual(restored, before);
  assert.deepEqual([orderBefore, orderAfter], [['(t,1)'], ['(t,2)']]);
  assert.deepEqual(accessAfter, accessBefore);
  const bare = Object.entries(before).filter(([table, rows]) => rows.length === 0 && !alwaysEmpty.has(table));
  assert.deepEqual(bare, [], 'a table without rows in `fillPlatform` shows nothing');
});

test('what comes after a restore gets new numbers, and rights that somebody remembers are old', async (t) => {
  const platform = await openTestPlatform(t, secretKey);
  const old = await openOperatorScope(platform.database, platform.clock, await makeFirm(platform, 'maple'));
  await restore(platform, backup, '--replace');
  await restore(platform, backup, '--replace');
  const maple = await getFirm(platform.database, 'sandbox', 'maple');
  await assert.rejects(platform.store.read({ ...old, firm: maple.id }, 'Patient', 'a'), { code: 'stale-access' });
  const elm = await makeFirm(platform, 'elm');
  const firms = await platform.database.query<{ id: number }>(sql`SELECT id FROM firm`);
  assert.equal(firms.length, 3);
  assert.equal(elm.id, Math.max(...firms.map(({ id }) => id)));
  const file = files.write(
    'after.ndjson',
    '{"resourceType":"Patient","id":"a"}\n{"resourceType":"Patient","id":"new"}\n',
  );
  assert.match(
    (await runCommand(platform, importCommands, 'import', file, '--firm', 'maple')).output[0] ?? '',
    /^2 resources stored at maple, 0 refused/,
  );
  const [order] = await platform.asOwner((owner) =>
    owner.query<{ distinct: boolean; epochs: number[] }>(sql`
      SELECT (SELECT count(*) = count(DISTINCT rid) FROM resource) AS distinct,
        (SELECT array_agg(DISTINCT epoch ORDER BY epoch) FROM resource_version) AS epochs`),
  );
  assert.deepEqual(order, { distinct: true, epochs: [1, 3] });
});

test('a backup made while others write holds one moment, whole', async (t) => {
  const platform = await openTestPlatform(t, secretKey);
  const firm = await makeFirm(platform, 'busy');
  const lines = (from: number): string =>
    Array.from(
      { length: 200 },
      (_, index) => `{"resourceType":"Patient","id":"p${from + index}","name":[{"family":"F"}]}\n`,
    ).join('');
  await runCommand(platform, importCommands, 'import', files.write('busy-0.ndjson', lines(0)), '--firm', firm.prefix);
  const file = path.join(files.path, 'busy.backup');
  let isDone = false;
  const writing = (async () => {
    for (let round = 1; !isDone; round += 1) {
      await runCommand(
        platform,
        importCommands,
        'import',
        files.write(`busy-${round}.ndjson`, lines(round * 200)),
        '--firm',
        firm.prefix,
      );
    }
  })();
  await writeBackup(platform, file, () => undefined);
  isDone = true;
  await writing;
  const target = await openTestPlatform(t, secretKey);
  await restore(target, file);
  const [count] = await target.asOwner((owner) =>
    owner.query<{ resources: number; versions: number; names: number; audits: number }>(sql`
      SELECT (SELECT count(*) FROM resource) AS resources, (SELECT count(*) FROM resource_version) AS versions,
        (SELECT count(DISTINCT rid) FROM index_string) AS names, (SELECT count(*) FROM audit_event) AS audits`),
  );
  assert.ok(count !== undefined && count.resources >= 200 && count.resources % 200 === 0);
  assert.deepEqual(count, {
    resources: count.resources,
    versions: count.resources,
    names: count.resources,
    audits: count.resources,
  });
});

test('an older backup is replaced only when the new one is complete', async () => {
  const file = files.write('kept.backup', 'the older one');
  writeFileSync(`${file}.partial`, 'left behind by one that was killed', { mode: 0o644 });
  const failing: Platform = { ...source, asOwner: () => Promise.reject(new Error('the database is gone')) };
  await assert.rejects(
    writeBackup(failing, file, () => undefined),
    /the database is gone/,
  );
  assert.equal(readFileSync(file, 'utf8'), 'the older one');
  await writeBackup(source, file, () => undefined);
  assert.equal(gunzipSync(readFileSync(file)).toString().slice(0, 16), '{"praxisBackup":');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});
