/**
 * `praxis restore`: what is refused, or fails, leaves everything as it was.
 * Slow: starts a process for each refusal, and makes backups.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import type { Platform } from '../../src/app.ts';
import { ConfigError } from '../../src/base/config.ts';
import { makeSecret } from '../../src/base/ids.ts';
import { backupCommands } from '../../src/cli/commands/data/backup.ts';
import { openDatabase } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { createApplication } from '../../src/tenancy/applications.ts';
import { getFirm } from '../../src/tenancy/firms.ts';
import { contentsOf, fillPlatform } from './filled-platform.ts';
import { makeFirm, openTestPlatform, runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const secretKey = makeSecret();
const files = openScratchDirectory({ after });
const source = await openTestPlatform({ after }, secretKey);
const empty = await openTestPlatform({ after }, secretKey);
await fillPlatform(source, files);
const backup = path.join(files.path, 'praxis.backup');
await runCommand(source, backupCommands, 'backup', backup);

const restore = (platform: Platform, ...line: readonly string[]) =>
  runCommand(platform, backupCommands, 'restore', ...line);

async function assertRefused(platform: Platform, line: readonly string[], message: RegExp): Promise<void> {
  const before = await contentsOf(platform);
  await assert.rejects(restore(platform, ...line), (error) => {
    assert.ok(error instanceof ConfigError, String(error));
    assert.match(error.message, message);
    return true;
  });
  assert.deepEqual(await contentsOf(platform), before);
}

/** The backup with its text changed, compressed again. */
function altered(name: string, change: (text: string) => string): string {
  return files.write(name, gzipSync(change(gunzipSync(readFileSync(backup)).toString())));
}
test('a file that is no whole backup is refused, and nothing is changed', async () => {
  const bytes = readFileSync(backup);
  const text = gunzipSync(bytes).toString();
  const lastLine = text.trimEnd().lastIndexOf('\n') + 1;
  const damaged = Buffer.from(bytes);
  damaged.writeUInt8((damaged.at(-6) ?? 0) ^ 1, damaged.length - 6);
  const refusals: readonly (readonly [file: string, message: RegExp])[] = [
    [path.join(files.path, 'missing'), /missing cannot be read: there is no such file$/],
    [files.path, /cannot be read: EISDIR$/],
    [files.write('empty', ''), /is not a backup of praxis|is cut off/],
    [files.write('text', 'hello'), /text is not a backup of praxis/],
    [files.write('gzip', gzipSync('hello\n')), /gzip is not a backup of praxis$/],
    [files.write('json', gzipSync('{"table":"firm"}\n')), /json is not a backup of praxis$/],
    [files.write('later', gzipSync('{"praxisBackup":2}\n')), /later has format 2 of backups, this praxis reads 1$/],
    [files.write('half', bytes.subarray(0, bytes.length >> 1)), /half is cut off, so nothing was restored$/],
    [files.write('last-byte', bytes.subarray(0, -1)), /last-byte is cut off, so nothing was restored$/],
    [files.write('damaged', damaged), /damaged is not a backup of praxis, or is damaged; nothing was restored$/],
    [altered('no-trailer', () => text.slice(0, lastLine)), /no-trailer is cut off: its last line is missing/],
    [altered('other-name', () => text.replace('Second', 'Secund')), /other-name was altered since it was made/],
    [
      altered('row-less', () => text.replace(/\n"[^\n]*Family 7\W[^\n]*/, '')),
      /row-less was altered since it was made/,
    ],
    [altered('more', () => `${text}"(1)"\n`), /more was altered since it was made/],
    [altered('count', () => text.replace(/"firm":2/, '"firm":3')), /count was altered since it was made/],
  ];
  for (const [file, message] of refusals) await assertRefused(empty, [file], message);
});

test('another secret key, and another schema, are refused with what to do', async (t) => {
  const other = await openTestPlatform(t, makeSecret());
  await assertRefused(
    other,
    [backup],
    /praxis\.backup was made under another secret key \([0-9a-f]{32}\), .*: set PRAXIS_SECRET_KEY_PREVIOUS to that key, then restore$/,
  );
  const schema = '"schema":{"version":99,"checksum":"00"';
  const file = altered('schema', (text) => text.replace(/"schema":\{"version":\d+,"checksum":"[0-9a-f]+"/, schema));
  await assertRefused(
    empty,
    [file],
    /schema holds schema 99 of praxis .*: restore it with that version of praxis, then start this one$/,
  );
});

test('a database that holds something is not overwritten unless that is asked for', async (t) => {
  const platform = await openTestPlatform(t, secretKey);
  await createApplication(platform.database, { environment: 'sandbox', name: 'Only one', acl: [] }, entryProblem);
  await assertRefused(
    platform,
    [backup],
    /^the database holds 0 firms and 1 applications: --replace gives them up for those of the backup$/,
  );
  await makeFirm(platform, 'birch');
  await assertRefused(platform, [backup], /^the database holds 1 firms and 1 applications: --replace /);
  await restore(platform, backup, '--replace');
  await assert.rejects(getFirm(platform.database, 'sandbox', 'birch'));
  assert.equal((await getFirm(platform.database, 'sandbox', 'maple')).name, 'Practice');
});

test('a database that another process uses is not restored', async () => {
  const { connections, log } = empty;
  // Another pool of the same role and name, as a running service has.
  const other = await openDatabase({ connection: connections.runtime, poolMax: 2, statementTimeoutMs: 1000, log });
  await assertRefused(empty, [backup], /^another praxis process uses the database: stop the service, then restore$/);
  await other.close();
});

test('a failure while rows are inserted leaves everything as it was', async (t) => {
  const platform = await openTestPlatform(t, secretKey);
  await makeFirm(platform, 'birch');
  await platform.asOwner((owner) =>
    owner.query(sql`ALTER TABLE legacy_account ADD CONSTRAINT nobody CHECK (firm < 0)`),
  );
  const before = await contentsOf(platform);
  await assert.rejects(restore(platform, backup, '--replace'), /SQLSTATE 23514/);
  assert.deepEqual(await contentsOf(platform), before);
  const next = await makeFirm(platform, 'elm');
  assert.equal(next.prefix, 'elm');
});
