// What the pipelined protocol has to guarantee, and what pipelined-query.ts and connection.ts rely on in pg.
import assert from 'node:assert/strict';
import net from 'node:net';
import path from 'node:path';
import test, { after } from 'node:test';
import pg from 'pg';
import { buildClientConfig } from '../../../src/database/connection-settings.ts';
import { Connection, type ConnectionHooks } from '../../../src/database/pool/connection.ts';
import { rolledBack } from '../../../src/database/pool/multi-tenant-batch.ts';
import { firmSetting, type Row, type Wire } from '../../../src/database/pool/pipelined-query.ts';
import { openPreparedNames } from '../../../src/database/pool/prepared-names.ts';
import { type Sql, sql } from '../../../src/database/sql.ts';
import { testLog } from '../../support/cluster.ts';
import { openTestDatabase } from '../../support/database.ts';

const { owner, connections } = await openTestDatabase({ after });

await owner.query(sql`CREATE TABLE seen (firm text, step int)`);
await owner.query(sql`GRANT INSERT, SELECT ON seen TO praxis_runtime`);

const firmNow = sql`SELECT current_setting('praxis.firm') AS firm`;
const failing = sql`SELECT 1 / (SELECT 0 FROM pg_class LIMIT 1)`;

async function openConnection(
  t: { after(work: () => void): void },
  hooks: Partial<ConnectionHooks> = {},
  target = connections.runtime,
): Promise<Connection> {
  const config = buildClientConfig(target, { applicationName: 'segment test', statementTimeoutMs: 1000 });
  const silent = { names: openPreparedNames(100), log: testLog, onProgress: () => undefined, onEnd: () => undefined };
  const connection = await Connection.open(config, { ...silent, ...hooks });
  t.after(() => connection.abandon('test ended'));
  return connection;
}

function execute(connection: Connection, firm: string, statement: Sql, mayShare = false): Promise<Row[]> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown, rows: Row[]): void => (error === undefined ? resolve(rows) : reject(error));
    connection.execute(firm, statement, settle, mayShare);
  });
}

/** Notes that it ran, for which firm and in which transaction; fails where `divisor` is 0. */
const noted = (step: number, divisor = 1) => sql`
  INSERT INTO seen SELECT current_setting('praxis.firm'), ${step}::int / ${divisor}::int
  RETURNING firm, step, pg_current_xact_id()::text AS transaction`;

/** A connection that has the statement prepared, and its firm 1 confirmed. */
async function openPrepared(t: { after(work: () => void): void }): Promise<Connection> {
  const connection = await openConnection(t);
  for (const step of [1, 2]) await execute(connection, '1', noted(step));
  await owner.query(sql`TRUNCATE seen`);
  return connection;
}

/** Of all that is sent in one turn, who may share: what became of each. */
function together(connection: Connection, sent: readonly (readonly [firm: string, statement: Sql])[]) {
  return Promise.allSettled(sent.map(([firm, statement]) => execute(connection, firm, statement, true)));
}

const settled = (results: readonly PromiseSettledResult<Row[]>[]) =>
  results.map((result) =>
    result.status === 'fulfilled' ? result.value[0]?.['firm'] : (result.reason as { code?: string }).code,
  );

test('a statement whose firm cannot be set does not run, nor under the firm before', async (t) => {
  const connection = await openConnection(t);
  await execute(connection, '1', sql`INSERT INTO seen VALUES (current_setting('praxis.firm'), 1)`);
  await execute(connection, '1', sql`DEALLOCATE ALL`); // takes the prepared set_config away, so setting a firm fails
  await assert.rejects(execute(connection, '2', sql`INSERT INTO seen VALUES (current_setting('praxis.firm'), 2)`), {
    code: '26000',
  });
  assert.equal(connection.usable, false);
  assert.deepEqual(await owner.query(sql`SELECT firm, step FROM seen`), [{ firm: '1', step: 1 }]);
});

test('statements already sent behind one that failed run under their own firm', async (t) => {
  const connection = await openConnection(t);
  await execute(connection, '1', firmNow);
  const results = await Promise.allSettled([
    execute(connection, '2', failing), // its setting of firm 2 is rolled back with it
    execute(connection, '2', firmNow),
    execute(connection, '1', firmNow),
    execute(connection, '1', failing),
    execute(connection, '1', firmNow),
    execute(connection, '', firmNow),
    execute(connection, '3', failing),
    execute(connection, '', firmNow),
    execute(connection, '3', firmNow),
  ]);
  assert.deepEqual(settled(results), ['22012', '2', '1', '22012', '1', '', '22012', '', '3']);
});

test('what is sent in one turn for other firms than the one that is set shares a transaction, each under its own', async (t) => {
  const connection = await openPrepared(t);
  const firms = ['2', '3', '1', '2', '', '3', '1'];
  const results = await together(
    connection,
    firms.map((firm, at) => [firm, noted(at)]),
  );
  const rows = results.map((result) => (result.status === 'fulfilled' ? result.value[0] : undefined));
  assert.deepEqual(
    rows.map((row) => [row?.['firm'], row?.['step']]),
    firms.map((firm, at) => [firm, at]),
  );
  const transactions = (isOwn: boolean) =>
    rows.filter((row) => (row?.['firm'] === '1') === isOwn).map((row) => row?.['transaction']);
  assert.equal(new Set(transactions(false)).size, 1);
  assert.equal(new Set(transactions(true)).size, 2); // what finds its firm set goes alone
  assert.deepEqual(await execute(connection, '9', firmNow), [{ firm: '9' }]);
});

test('one that fails takes back all that shared its transaction, and no setting of it stays', async (t) => {
  const connection = await openPrepared(t);
  const results = await together(connection, [
    ['2', noted(1)],
    ['3', noted(2, 0)],
    ['3', noted(3)],
    ['4', noted(4)],
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? (result.reason.code ?? result.reason) : undefined)),
    [rolledBack, '22012', rolledBack, rolledBack],
  );
  assert.deepEqual(await owner.query(sql`SELECT * FROM seen`), []);
  assert.equal(connection.firm, undefined);
  assert.deepEqual(await connection.executeReserved(firmNow), [{ firm: '1' }]);
  assert.deepEqual(await execute(connection, '4', firmNow), [{ firm: '4' }]);
});

test('a firm that cannot be set keeps all of the turn from running', async (t) => {
  const connection = await openPrepared(t);
  await execute(connection, '1', sql`DEALLOCATE praxis_firm`);
  const results = await together(connection, [
    ['2', noted(1)],
    ['3', noted(2)],
  ]);
  assert.deepEqual(
    results.map((result) => (result.status === 'rejected' ? (result.reason.code ?? result.reason) : undefined)),
    ['26000', rolledBack],
  );
  assert.equal(connection.usable, false);
  assert.deepEqual(await owner.query(sql`SELECT * FROM seen`), []);
});

/** Bind messages for the prepared set_config that this process has sent: pg's one way of sending them is counted. */
const sent = { settings: 0 };
const wire = pg.Connection.prototype as unknown as Pick<Wire, 'bind'>;
const originalBind = wire.bind;
wire.bind = function counting(message) {
  if (message.statement === firmSetting.name) sent.settings++;
  originalBind.call(this, message);
};

test('a firm that is confirmed is not sent again, until an error puts it in doubt', async (t) => {
  const connection = await openConnection(t);
  const before = sent.settings;
  assert.equal(connection.firm, undefined);
  await execute(connection, '5', firmNow);
  await execute(connection, '5', firmNow);
  await execute(connection, '5', firmNow);
  assert.equal(sent.settings - before, 1);
  await assert.rejects(execute(connection, '5', failing));
  assert.equal(connection.firm, undefined);
  await execute(connection, '5', firmNow);
  await execute(connection, '6', firmNow);
  await execute(connection, '5', firmNow);
  assert.equal(sent.settings - before, 4);
});

test('through a pooler, which may swap the session, every statement brings its firm and leaves none behind', async (t) => {
  const proxy = await openPoolerLike(t, connections.runtime);
  const connection = await openConnection(t, {}, { ...connections.runtime, ...proxy });
  const before = sent.settings;
  for (const firm of ['7', '7', '8']) assert.deepEqual(await execute(connection, firm, firmNow), [{ firm }]);
  assert.equal(sent.settings - before, 3);
  for (const step of [1, 2]) await execute(connection, '7', noted(step));
  const shared = await together(connection, [
    ['7', noted(3)],
    ['8', noted(4)],
    ['7', noted(5)],
  ]);
  assert.deepEqual(settled(shared), ['7', '8', '7']);
  assert.deepEqual(await connection.executeReserved(firmNow), [{ firm: '' }]);
});

/** Passes a connection through and, as poolers do, announces a process number that is not the session's. */
async function openPoolerLike(
  t: { after(work: () => void): void },
  target: { host: string; port: number },
): Promise<{ host: string; port: number }> {
  const server = net.createServer((client) => {
    const upstream = net.connect(path.join(target.host, `.s.PGSQL.${target.port}`));
    client.pipe(upstream).on('error', () => client.destroy());
    upstream.on('data', (chunk: Buffer) => {
      const at = chunk.indexOf(backendKeyData);
      if (at >= 0) chunk.writeInt32BE(1, at + backendKeyData.length);
      client.write(chunk);
    });
    client.on('error', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return { host: '127.0.0.1', port: (server.address() as net.AddressInfo).port };
}

/** Type and length of the message that announces the process number. */
const backendKeyData = Buffer.from([0x4b, 0, 0, 0, 12]);

test('a value that cannot be serialised fails that statement only', async (t) => {
  const connection = await openConnection(t);
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const results = await Promise.allSettled([
    execute(connection, '1', firmNow),
    execute(connection, '2', sql`SELECT ${circular}::jsonb`),
    execute(connection, '3', firmNow),
  ]);
  assert.deepEqual(
    results.map((result) => result.status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(results[2], { status: 'fulfilled', value: [{ firm: '3' }] });
});

test('a text is prepared from its second use on, and few stay prepared', async (t) => {
  const connection = await openConnection(t, { names: openPreparedNames(1000) });
  const names = async () =>
    (
      await execute(
        connection,
        '',
        sql`SELECT count(*)::int AS n FROM pg_prepared_statements WHERE name NOT IN ('praxis_firm', 'praxis_timeout')`,
      )
    )[0]?.['n'];
  const text = (index: number) => sql`SELECT ${index}::int AS ${sql.identifier(`c${index}`)}`;
  await execute(connection, '', text(0));
  assert.equal(await names(), 0);
  await execute(connection, '', text(0));
  assert.equal(await names(), 2); // this one, and the count itself
  for (let round = 0; round < 2; round++) {
    await Promise.all(Array.from({ length: 400 }, (_, index) => execute(connection, '', text(index))));
  }
  assert.equal(await names(), 256);
  assert.deepEqual(await execute(connection, '', text(0)), [{ c0: 0 }]);
});

test('a lost connection fails what is under way, is reported once, and does not end the process', async (t) => {
  let ended = 0;
  const connection = await openConnection(t, { onEnd: () => ended++ });
  const [row] = await execute(connection, '', sql`SELECT pg_backend_pid() AS pid`);
  const waiting = Promise.allSettled([
    execute(connection, '1', sql`SELECT pg_sleep(5)`),
    execute(connection, '1', firmNow),
  ]);
  await owner.query(sql`SELECT pg_terminate_backend(${row?.['pid']})`);
  assert.deepEqual(
    (await waiting).map((result) => result.status),
    ['rejected', 'rejected'],
  );
  assert.equal(ended, 1);
  assert.equal(connection.usable, false);
});
