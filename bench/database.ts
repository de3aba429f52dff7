/**
 * What the database module costs: point reads through pipelined and through checked-out connections, and what row-level
 * security and the firm's setting add. Prints a table; figures are in docs/decisions/0010-pipelined-connections.md.
 *
 *     npx node bench/database.ts [SECONDS PER LINE]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { openLog } from '../packages/server/src/base/log.ts';
import { type Database, type DatabaseConnection, openDatabase } from '../packages/server/src/database/database.ts';
import { startEmbeddedDatabase } from '../packages/server/src/database/embedded-postgres.ts';
import { sql } from '../packages/server/src/database/sql.ts';

const log = openLog('warn');
const rowsPerFirm = 10_000;
const firmsMax = 10;

interface Workload {
  readonly name: string;
  readonly database: Database;
  readonly short: boolean;
  readonly callers: number;
  /** Firms that the callers take turns with; 1 = never a change of firm. */
  readonly firms: number;
}

const secondsPerLine = Number(process.argv[2] ?? 3);
const dataDir = mkdtempSync(path.join(os.tmpdir(), 'praxis-bench-'));
const server = await startEmbeddedDatabase({ dataDir, log });
try {
  await measureAll();
} finally {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
}

async function measureAll(): Promise<void> {
  const owner = await open(server.owner, 'bypassed');
  await fill(owner);
  const runtime = await open(server.runtime, 'required');
  const workloads: readonly Workload[] = [
    { name: 'one caller, no row-level security', database: owner, short: true, callers: 1, firms: 1 },
    { name: 'one caller, firm unchanged', database: runtime, short: true, callers: 1, firms: 1 },
    { name: 'one caller, firm changes each time', database: runtime, short: true, callers: 1, firms: firmsMax },
    { name: '64 callers, checked out, firm unchanged', database: runtime, short: false, callers: 64, firms: 1 },
    { name: '64 callers, checked out, 10 firms', database: runtime, short: false, callers: 64, firms: firmsMax },
    { name: '64 callers, pipelined, firm unchanged', database: runtime, short: true, callers: 64, firms: 1 },
    { name: '64 callers, pipelined, 10 firms', database: runtime, short: true, callers: 64, firms: firmsMax },
  ];
  console.log(`${'point reads of 1.5 kB'.padEnd(44)} reads/s   p50 ms   p99 ms   CPU-µs/read (this process)`);
  for (const workload of workloads) console.log(await measure(workload));
  await Promise.all([owner.close(), runtime.close()]);
}

function open(connection: DatabaseConnection, rowSecurity: 'bypassed' | 'required'): Promise<Database> {
  return openDatabase({ connection, rowSecurity, poolMax: 16, statementTimeoutMs: 10_000, log });
}

async function fill(owner: Database): Promise<void> {
  await owner.query(sql`CREATE TABLE read_me (firm int, id text COLLATE "C", content text, PRIMARY KEY (firm, id))`);
  await owner.query(sql`
    INSERT INTO read_me SELECT firm, 'id' || n, repeat('x', 1500) FROM generate_series(1, ${firmsMax}) AS firm, generate_series(1, ${rowsPerFirm}) AS n`);
  await owner.query(sql`ALTER TABLE read_me ENABLE ROW LEVEL SECURITY`);
  await owner.query(
    sql`CREATE POLICY firm_only ON read_me TO praxis_runtime USING (firm = (NULLIF(current_setting('praxis.firm', true), ''))::int)`,
  );
  await owner.query(sql`GRANT SELECT ON read_me TO praxis_runtime`);
  await owner.query(sql`VACUUM ANALYZE read_me`);
}

async function measure(workload: Workload): Promise<string> {
  await run(workload, 0.5); // warms caches, connections and prepared statements
  const cpuBefore = process.cpuUsage();
  const { latenciesMs, seconds } = await run(workload, secondsPerLine);
  const cpu = process.cpuUsage(cpuBefore);
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number) => (latenciesMs[Math.floor(latenciesMs.length * share)] ?? 0).toFixed(3).padStart(8);
  const rate = Math.round(latenciesMs.length / seconds)
    .toString()
    .padStart(7);
  return `${workload.name.padEnd(44)} ${rate} ${at(0.5)} ${at(0.99)} ${((cpu.user + cpu.system) / latenciesMs.length).toFixed(1).padStart(8)}`;
}

async function run(workload: Workload, seconds: number): Promise<{ latenciesMs: number[]; seconds: number }> {
  const latenciesMs: number[] = [];
  const startMs = performance.now();
  const call = async (caller: number): Promise<void> => {
    for (let turn = caller; performance.now() - startMs < seconds * 1000; turn++) {
      const firm = 1 + (turn % workload.firms);
      const beforeMs = performance.now();
      await readOne(workload, firm, 1 + ((turn * 7919) % rowsPerFirm));
      latenciesMs.push(performance.now() - beforeMs);
    }
  };
  await Promise.all(Array.from({ length: workload.callers }, (_, caller) => call(caller)));
  return { latenciesMs, seconds: (performance.now() - startMs) / 1000 };
}

async function readOne({ database, short }: Workload, firm: number, n: number): Promise<void> {
  const statement = sql`SELECT content FROM read_me WHERE firm = ${firm} AND id = ${`id${n}`}`;
  const rows = await database.forFirm(firm).query(statement, { short, idempotent: true });
  if (rows.length !== 1) throw new Error(`firm ${firm} did not find its row ${n}`);
}
