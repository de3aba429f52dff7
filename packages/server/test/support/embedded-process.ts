/**
 * Program: starts the embedded database in EMBEDDED_DATA_DIR and says `ready PID`. With EMBEDDED_WRITES it then inserts
 * numbers, one durable commit each, and says `acknowledged N` after each. It ends, stopping the server if it is the last,
 * when its standard input ends.
 */
import { openDatabase } from '../../src/database/database.ts';
import { startEmbeddedDatabase } from '../../src/database/embedded-postgres.ts';
import { sql } from '../../src/database/sql.ts';
import { testLog } from './cluster.ts';

const say = (line: string) => process.stdout.write(`${line}\n`);

const server = await startEmbeddedDatabase({ dataDir: process.env['EMBEDDED_DATA_DIR'] ?? '', log: testLog });
say(`ready ${server.pid}`);
process.stdin.resume().on('end', async () => {
  await server.stop();
  process.exit(0);
});
// A write that fails ends the program: the server may be killed too.
if (process.env['EMBEDDED_WRITES'] !== undefined) await write().catch(() => process.exit(1));

async function write(): Promise<void> {
  const owner = await openDatabase({
    connection: server.owner,
    rowSecurity: 'bypassed',
    poolMax: 4,
    statementTimeoutMs: 5000,
    log: testLog,
  });
  await owner.query(sql`CREATE TABLE IF NOT EXISTS written (n int PRIMARY KEY GENERATED ALWAYS AS IDENTITY)`);
  for (;;) {
    const [row] = await owner.query<{ n: number }>(sql`INSERT INTO written DEFAULT VALUES RETURNING n`);
    say(`acknowledged ${row?.n}`);
  }
}
