/** Two processes of one machine that seal the same ledger and keep the same heads of it (docs/decisions/0260). */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { openHeadFiles } from '../../src/audit/head-files.ts';
import { commands } from '../../src/cli/commands.ts';
import type { Database } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { captureLog } from '../support/captured-log.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openSealing } from './sealing.ts';

const dataDir = openScratchDirectory({ after }).path;
const service = await openTestService({ after }, { PRAXIS_DATA_DIR: dataDir });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const directory = path.join(dataDir, 'audit-heads');

const write = async (): Promise<void> => {
  assert.equal((await caller.send('POST', 'Patient', patient('Stone'))).status, 201);
};

async function verify(): Promise<readonly string[]> {
  const { output } = await runCommand(service.platform, commands, 'audit', 'verify', '--firm', 'maple');
  return output.slice(1).map((line) => line.trim());
}

test('a seal that another process adds meanwhile is not taken for one that is missing', async () => {
  const here = openSealing(service, dataDir);
  const { log, lines } = captureLog();
  let meanwhile = async (): Promise<void> => undefined;
  const { database } = service.platform;
  const slow: Database = {
    ...database,
    forFirm: (firm) => ({
      async query(statement, options) {
        const rows = await database.forFirm(firm).query<never>(statement, options);
        if (statement.text.includes('FROM audit_seal')) {
          const work = meanwhile;
          meanwhile = async () => undefined;
          await work();
        }
        return rows;
      },
    }),
  };
  const there = openSealing({ ...service, platform: { ...service.platform, database: slow } }, dataDir, log);
  await write();
  await here(maple.id);
  await write();
  meanwhile = () => here(maple.id);
  await there(maple.id);
  assert.deepEqual(
    lines.filter((line) => line.includes('missing')),
    [],
  );
  assert.deepEqual(await verify(), []);
});

test('what one process found missing is not forgotten by another that knew less', async () => {
  const [here, there] = [openSealing(service, dataDir), openSealing(service, dataDir)];
  await write();
  await there(maple.id);
  const [kept] = await service.database.owner.query<{ number: number }>(
    sql`SELECT max(number)::int AS number FROM audit_seal WHERE firm = ${maple.id}`,
  );
  const number = kept?.number ?? 0;
  for (let more = 0; more < 2; more++) {
    await write();
    await here(maple.id);
  }
  const { owner } = service.database;
  await owner.query(sql`
    DELETE FROM audit_event WHERE firm = ${maple.id}
      AND seq > (SELECT row_seq FROM audit_seal WHERE firm = ${maple.id} AND number = ${number})`);
  await owner.query(sql`DELETE FROM audit_seal WHERE firm = ${maple.id} AND number > ${number}`);
  await write();
  await here(maple.id);
  await write();
  await there(maple.id);
  const lost = `the end of the ledger was removed: seal ${number + 2} was there once`;
  assert.ok((await verify()).includes(lost), (await verify()).join('\n'));
});

test('what releases before have kept is read, and goes on as names', async () => {
  const before = openHeadFiles(directory).read(maple.id) ?? assert.fail();
  rmSync(path.join(directory, String(maple.id)), { recursive: true });
  writeFileSync(path.join(directory, `${maple.id}.json`), `${JSON.stringify(before)}\n`);
  const heads = openHeadFiles(directory);
  assert.deepEqual(heads.read(maple.id), before);
  const next = { number: before.number + 1, head: 'ab' };
  await heads.note(maple.id, next);
  assert.deepEqual(heads.read(maple.id), { ...next, missing: before.missing });
  assert.deepEqual(readdirSync(directory), [String(maple.id)]);
  assert.equal(before.missing.length, 1);
});
