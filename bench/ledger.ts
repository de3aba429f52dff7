/**
 * What a row of a read costs the audit ledger: CPU time of the database's process and of this thread, for rows that are
 * added in batches and for seals over them. Medians; CPU time depends little on what else the machine does.
 *
 *     node bench/ledger.ts [BATCHES]
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openPlatform } from '../packages/server/src/app.ts';
import { openDimensions } from '../packages/server/src/audit/dimensions.ts';
import { openHeadFiles } from '../packages/server/src/audit/head-files.ts';
import { addRows, proveRows } from '../packages/server/src/audit/ledger-statements.ts';
import { openProver } from '../packages/server/src/audit/proof.ts';
import { openSealingKey } from '../packages/server/src/audit/seal.ts';
import { sealNext } from '../packages/server/src/audit/sealing.ts';
import { systemClock } from '../packages/server/src/base/clock.ts';
import { readConfig } from '../packages/server/src/base/config.ts';
import { makeSecret } from '../packages/server/src/base/ids.ts';
import { openLog } from '../packages/server/src/base/log.ts';
import { openDatabase } from '../packages/server/src/database/database.ts';
import { startEmbeddedDatabase } from '../packages/server/src/database/embedded-postgres.ts';
import { sql } from '../packages/server/src/database/sql.ts';
import { ledgerRows } from './ledger-rows.ts';

const batches = Number(process.argv[2] ?? 100);
const firm = 5;
const log = openLog('error');
const dataDir = mkdtempSync(path.join(tmpdir(), 'praxis-bench-'));
const embedded = await startEmbeddedDatabase({ dataDir, log });
const config = readConfig({ PRAXIS_DATA_DIR: dataDir, PRAXIS_SECRET_KEY: makeSecret() });
const platform = await openPlatform({ config, clock: systemClock, log, connections: embedded });
// Two connections, of which one serves what is not short: all is done by one process of the database.
const database = await openDatabase({ connection: embedded.runtime, poolMax: 2, statementTimeoutMs: 0, log });
const ledger = database.forFirm(firm);
const prove = openProver(platform.secrets);
const dimensions = openDimensions();

interface Cpu {
  readonly database: number;
  readonly thread: number;
}

/** CPU time of `work`, in µs. */
async function cpuOf(pid: number, work: () => Promise<unknown>): Promise<Cpu> {
  const micros = (): number => Number(readFileSync(`/proc/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1000;
  const [before, thread] = [micros(), process.threadCpuUsage()];
  await work();
  const used = process.threadCpuUsage(thread);
  return { database: micros() - before, thread: used.user + used.system };
}

function report(name: string, costs: readonly Cpu[], rows: number): void {
  const median = (values: readonly number[]): string =>
    ((values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN) / rows).toFixed(1).padStart(7);
  const [inDatabase, here] = [costs.map((cost) => cost.database), costs.map(({ thread }) => thread)];
  console.log(`${name.padEnd(28)}${median(inDatabase)} µs a row in the database${median(here)} µs here`);
}

try {
  const [backend] = await ledger.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`);
  const pid = backend?.pid ?? 0;
  let atMs = Date.now();
  const add = (rows: number): Promise<Cpu> => {
    atMs += 100;
    return cpuOf(pid, async () => {
      const keys = dimensions.begin(firm);
      await ledger.query(addRows(firm, proveRows(firm, ledgerRows(rows, atMs), prove), [], keys));
      keys.commit();
    });
  };
  for (let warm = 0; warm < 20; warm++) await add(100);
  for (const rows of [30, 100, 300, 1000]) {
    const costs: Cpu[] = [];
    for (let batch = 0; batch < batches; batch++) costs.push(await add(rows));
    report(`batches of ${rows}`, costs, rows);
  }
  const [count] = await ledger.query<{ n: number }>(
    sql`SELECT count(*)::int AS n FROM audit_event WHERE firm = ${firm}`,
  );
  const heads = openHeadFiles(path.join(dataDir, 'heads'));
  const options = { database, clock: systemClock, log, key: openSealingKey(platform.secrets), heads };
  const sealing = await cpuOf(pid, async () => {
    while ((await sealNext(options, firm)) === 'more');
  });
  report(`seals over ${count?.n} open rows`, [sealing], count?.n ?? 0);
} finally {
  await database.close();
  await platform.close();
  rmSync(dataDir, { recursive: true, force: true });
}
