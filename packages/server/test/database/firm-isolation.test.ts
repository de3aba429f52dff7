import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import type { FirmConnection } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { StatementError } from '../../src/database/sqlstate.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner, runtime } = await openTestDatabase({ after }, { poolMax: 12, statementTimeoutMs: 150 });

const firms = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

await owner.query(
  sql`CREATE TABLE note (firm int NOT NULL, id int NOT NULL, body text NOT NULL, PRIMARY KEY (firm, id))`,
);
await owner.query(sql`ALTER TABLE note ENABLE ROW LEVEL SECURITY`);
await owner.query(
  sql`CREATE POLICY firm_only ON note TO praxis_runtime USING (firm = (NULLIF(current_setting('praxis.firm', true), ''))::int)`,
);
await owner.query(sql`GRANT SELECT, INSERT, UPDATE, DELETE ON note TO praxis_runtime`);
await owner.query(sql`INSERT INTO note SELECT firm, 1, 'of ' || firm FROM unnest(${firms}::int[]) AS firm`);

const allNotes = sql`SELECT firm, body FROM note ORDER BY firm`;

test('without a firm a tenant table shows nothing and takes nothing', async () => {
  assert.deepEqual(await runtime.query(allNotes), []);
  assert.deepEqual(await runtime.query(allNotes, { short: true }), []);
  assert.deepEqual(await runtime.transaction(undefined, (tx) => tx.query(allNotes)), []);
  await assert.rejects(
    runtime.query(sql`INSERT INTO note VALUES (1, 2, 'x')`),
    (error) => error instanceof StatementError && error.sqlState === '42501',
  );
});

test('a firm sees its own rows only, whatever the statement asks for', async () => {
  const asTwo = runtime.forFirm(2);
  assert.deepEqual(await asTwo.query(allNotes), [{ firm: 2, body: 'of 2' }]);
  assert.deepEqual(await asTwo.query(sql`SELECT body FROM note WHERE firm = ${3}`), []);
  assert.deepEqual(await runtime.transaction(2, (tx) => tx.query(allNotes)), [{ firm: 2, body: 'of 2' }]);
});

test('a firm cannot write, change, move or delete rows of another', async () => {
  const asTwo = runtime.forFirm(2);
  const refused = (error: unknown) => error instanceof StatementError && error.sqlState === '42501';
  await assert.rejects(asTwo.query(sql`INSERT INTO note VALUES (3, 2, 'x')`), refused);
  await assert.rejects(asTwo.query(sql`UPDATE note SET firm = 3, id = 9`), refused);
  assert.deepEqual(await asTwo.query(sql`UPDATE note SET body = 'x' WHERE firm = 3 RETURNING id`), []);
  assert.deepEqual(await asTwo.query(sql`DELETE FROM note WHERE firm <> 2 RETURNING id`), []);
  assert.equal((await owner.query(allNotes)).length, firms.length);
});

test('a number that is no firm is refused before anything is sent', () => {
  for (const firm of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => runtime.forFirm(firm), TypeError);
});

test('the firm of a transaction ends with it', async () => {
  await runtime.transaction(4, (tx) => tx.query(sql`SELECT 1`));
  await assert.rejects(runtime.transaction(4, (tx) => tx.query(sql`SELECT 1 / 0`)));
  const seen = await Promise.all(
    Array.from({ length: 20 }, () => runtime.query(sql`SELECT count(*)::int AS n FROM note`)),
  );
  assert.deepEqual(new Set(seen.map(([row]) => (row as { n: number }).n)), new Set([0]));
});

/** A small generator of numbers, so that a failure can be repeated. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const whatIsSeen = sql`SELECT current_setting('praxis.firm') AS firm, array_agg(body) AS bodies FROM note`;

async function seesOnlyItself(connection: FirmConnection, firm: number | undefined, short: boolean): Promise<void> {
  const expected = firm === undefined ? { firm: '', bodies: null } : { firm: String(firm), bodies: [`of ${firm}`] };
  assert.deepEqual(await connection.query(whatIsSeen, { short }), [expected]);
}

test('thousands of interleaved statements of ten firms, failing ones among them, each see their own firm', async () => {
  const random = randomNumbers(20261121);
  const statements: Promise<void>[] = [];
  for (let index = 0; index < 6000; index++) {
    const firm = random(11) === 0 ? undefined : 1 + random(10);
    const connection = firm === undefined ? runtime : runtime.forFirm(firm);
    const short = random(4) > 0;
    const kind = random(100);
    if (kind < 6)
      statements.push(
        assert.rejects(connection.query(sql`SELECT 1 / (SELECT count(*) FROM note WHERE id < 0)`, { short })),
      );
    else if (kind < 7) statements.push(assert.rejects(connection.query(sql`SELECT pg_sleep(1)`, { short: false })));
    else if (kind < 9) statements.push(runtime.transaction(firm, async (tx) => seesOnlyItself(tx, firm, false)));
    else statements.push(seesOnlyItself(connection, firm, short));
    if (index % 400 === 0) await Promise.all(statements.splice(0));
  }
  await Promise.all(statements);
});

/** Fails where `divisor` is 0, after it has seen what it sees. */
const seenThrough = (divisor: number) => sql`
  SELECT current_setting('praxis.firm') AS firm, array_agg(body) AS bodies, count(*)::int / ${divisor}::int AS n FROM note`;

test('statements that share transactions see their own firm, whatever fails beside them and whatever ends', async () => {
  const random = randomNumbers(20261122);
  const divided = (error: unknown) => error instanceof StatementError && error.sqlState === '22012';
  for (let turn = 0; turn < 400; turn++) {
    const statements = Array.from({ length: 1 + random(40) }, async () => {
      const firm = 1 + random(10);
      const handle = runtime.forFirm(firm);
      const options = { short: true, idempotent: true };
      const kind = random(60);
      if (kind === 0) return assert.rejects(handle.query(seenThrough(0), options), divided);
      if (kind === 1) return runtime.transaction(firm, (tx) => seesOnlyItself(tx, firm, false)).catch(lostAtCommit);
      if (kind === 2) return assert.rejects(handle.query(sql`SELECT 1 / (SELECT 0)`, { short: true }));
      const expected = { firm: String(firm), bodies: [`of ${firm}`], n: 1 };
      return assert.deepEqual(await handle.query(seenThrough(1), options), [expected]);
    });
    if (turn % 80 === 79)
      await owner.query(sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE usename = 'praxis_runtime' AND datname = current_database() AND random() < 0.5`);
    await Promise.all(statements);
  }
});

/** A connection that ends while its transaction commits leaves the outcome unknown: that is said, and not tried again. */
function lostAtCommit(error: unknown): void {
  if (!(error instanceof PraxisError) || error.code !== 'unavailable') throw error;
}

test('only the database module sets the firm', async () => {
  const { readdir, readFile } = await import('node:fs/promises');
  const source = new URL('../../src/', import.meta.url);
  const setters: string[] = [];
  for (const name of await readdir(source, { recursive: true })) {
    if (!/\.(ts|sql)$/.test(name)) continue;
    const text = await readFile(new URL(name, source), 'utf8');
    if (/set_config\s*\(\s*'+praxis\.firm|SET\s+(LOCAL\s+|SESSION\s+)?praxis\.firm/i.test(text)) setters.push(name);
  }
  assert.deepEqual(setters.sort(), ['database/pool/pipelined-query.ts', 'database/transaction.ts']);
});
