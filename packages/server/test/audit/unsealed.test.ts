/**
 * Rows that no seal covers can be removed without a trace, so there must not be old ones: `praxis audit verify` and the job
 * that seals say so, and a process that ends seals what it has written.
 */
import assert from 'node:assert/strict';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openHeadFiles } from '../../src/audit/head-files.ts';
import { openLedger } from '../../src/audit/ledger.ts';
import { openProver } from '../../src/audit/proof.ts';
import { openSealingKey } from '../../src/audit/seal.ts';
import { openSealingJob, type SealingState } from '../../src/audit/sealing.ts';
import { commands } from '../../src/cli/commands.ts';
import { sql } from '../../src/database/sql.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { captureLog } from '../support/captured-log.ts';
import { makeFirm, openTestService } from '../support/service.ts';

const dataDir = openScratchDirectory({ after }).path;
const service = await openTestService({ after }, { PRAXIS_DATA_DIR: dataDir }); // seals nothing by itself
const { clock } = service;
const { database, secrets } = service.platform;
const { owner } = service.database;
const boundMs = 600_000;

/** What a process has of the ledger: rows on their way, the job that seals, and what is logged. */
function openProcess() {
  const { log, lines } = captureLog();
  const ledger = openLedger({ database, log, prove: openProver(secrets), flushMs: 1 });
  const heads = openHeadFiles(path.join(dataDir, 'audit-heads'));
  const job = openSealingJob({ database, clock, log, key: openSealingKey(secrets), heads, ledger, pauseMs: 1 });
  return { ledger, job, said: () => lines.map((line) => JSON.parse(line)) };
}

type Process = ReturnType<typeof openProcess>;

/** Three rows of reads; the number of the first. */
async function write({ ledger }: Process, firm: number): Promise<string> {
  for (const id of ['a', 'b', 'c'])
    await ledger.keep(firm, [{ atMs: clock.now(), application: 1, interaction: 'read', id, outcome: 0 }]);
  await ledger.flush();
  const [row] = await owner.query<{ seq: string }>(
    sql`SELECT min(seq)::text AS seq FROM audit_event WHERE firm = ${firm} AND at = ${clock.now()}`,
  );
  return row?.seq ?? assert.fail();
}

async function verify(prefix: string): Promise<{ readonly status: number; readonly output: readonly string[] }> {
  const { exitStatus, output } = await runCommand(service.platform, commands, 'audit', 'verify', '--firm', prefix);
  return { status: exitStatus, output };
}

/** A transaction that has begun to write and does not end until `work` has. */
async function besideTransaction(work: () => Promise<void>): Promise<void> {
  await owner.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_current_xact_id()`);
    await work();
  });
}

/** Other test files have transactions under way in the same cluster: rows may have to wait for them. */
async function sealAll({ job }: Process): Promise<void> {
  for (let state: SealingState = 'more'; state !== 'done'; ) state = await job.run();
}

test('rows that are not sealed after ten minutes are a finding, until they are', async () => {
  const firm = await makeFirm(service, 'maple');
  const process = openProcess();
  const at = new Date(clock.now()).toISOString();
  const seq = await write(process, firm.id);
  clock.advance(boundMs);
  assert.deepEqual(await verify('maple'), {
    status: 0,
    output: ['firm maple: is as it was written (0 rows under 0 seals, 3 not sealed yet)'],
  });
  clock.advance(1);
  await write(process, firm.id);
  assert.deepEqual(await verify('maple'), {
    status: 1,
    output: [
      'firm maple: has 1 findings (0 rows under 0 seals, 6 not sealed yet)',
      `  row ${seq} (${at} read) is not sealed yet, and could be removed unnoticed: no service seals, or a transaction does not end`,
    ],
  });
  await sealAll(process);
  const sealed = await verify('maple');
  assert.equal(sealed.status, 0, sealed.output.join('\n'));
  assert.match(
    sealed.output[0] ?? '',
    /^firm maple: is as it was written \(6 rows under \d seals, 0 not sealed yet\)$/,
  );
});

test('a transaction that does not end holds seals up: the job says so in the log, and verify finds it', async () => {
  const firm = await makeFirm(service, 'cedar');
  const writer = openProcess();
  await besideTransaction(async () => {
    await write(writer, firm.id);
    const early = openProcess();
    assert.equal(await early.job.run(), 'waiting');
    assert.deepEqual(early.said(), []);
    clock.advance(boundMs + 1);
    const late = openProcess();
    assert.equal(await late.job.run(), 'waiting');
    const said = late.said().filter((line) => line.firm === firm.id);
    assert.deepEqual(
      said.map(({ msg, sinceMs }) => ({ msg, sinceMs })),
      [
        {
          msg: 'rows of the audit ledger cannot be sealed: a transaction does not end',
          sinceMs: clock.now() - boundMs - 1,
        },
      ],
    );
    assert.equal((await verify('cedar')).status, 1);
  });
  await sealAll(writer);
  assert.equal((await verify('cedar')).status, 0);
});

test('a row that was removed before it was sealed is missed no more than docs/operate/security.md says', async () => {
  const firm = await makeFirm(service, 'birch');
  const process = openProcess();
  const seq = await write(process, firm.id);
  await owner.query(sql`DELETE FROM audit_event WHERE firm = ${firm.id} AND seq = ${seq}::bigint`);
  assert.equal((await verify('birch')).status, 0);
  await sealAll(process);
  await owner.query(sql`DELETE FROM audit_event WHERE firm = ${firm.id} AND seq = ${seq}::bigint + 1`);
  const { output } = await verify('birch');
  assert.match(output[1] ?? '', /^ {2}row \d+ was removed: seal \d covers it$/);
});

test('rows that were still on their way when the job looked are sealed when it looks again', async () => {
  const firm = await makeFirm(service, 'alder');
  const process = openProcess();
  await process.job.run(); // a sweep of all ledgers, after which only those with new rows are looked at
  process.ledger.takeTouched();
  await process.ledger.keep(firm.id, [{ atMs: clock.now(), application: 1, interaction: 'read', id: 'a', outcome: 0 }]);
  await process.job.run();
  await process.ledger.flush();
  const isSealed = async (): Promise<boolean> => / 0 not sealed yet\)$/.test((await verify('alder')).output[0] ?? '');
  // Transactions of other test files may hold it up as well.
  for (let attempt = 0; attempt < 100 && !(await isSealed()); attempt++) {
    await process.job.run();
    await delay(20);
  }
  assert.equal(await isSealed(), true);
});

test('at the end of a process its rows are sealed; a transaction that does not end is not waited for', async () => {
  const firm = await makeFirm(service, 'elm');
  const process = openProcess();
  await besideTransaction(async () => {
    await write(process, firm.id);
    await process.job.finish();
    assert.match((await verify('elm')).output[0] ?? '', /\(0 rows under 0 seals, 3 not sealed yet\)$/);
  });
  const open = async (): Promise<boolean> => !/ 0 not sealed yet\)$/.test((await verify('elm')).output[0] ?? '');
  // Transactions of other test files may hold it up as well.
  for (let attempt = 0; attempt < 20 && (await open()); attempt++) {
    process.ledger.touch(firm.id);
    await process.job.finish();
  }
  assert.equal(await open(), false);
});
