/**
 * A session of ours sets what our statements rely on: a database whose own defaults are hostile answers as any other. And the
 * log says what a session cannot mend.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openPlatform, startService } from '../../src/app.ts';
import { openDatabase } from '../../src/database/database.ts';
import { meaningSettings, planSettings } from '../../src/database/session-settings.ts';
import { type Sql, sql } from '../../src/database/sql.ts';
import { captureLog } from '../support/captured-log.ts';
import { testLog } from '../support/cluster.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const hostile: Readonly<Record<string, string>> = {
  jit: 'on',
  jit_above_cost: '0',
  plan_cache_mode: 'force_custom_plan',
  seq_page_cost: '1000',
  random_page_cost: '1000',
  cpu_tuple_cost: '9',
  cpu_index_tuple_cost: '9',
  cpu_operator_cost: '9',
  from_collapse_limit: '1',
  join_collapse_limit: '1',
  geqo: 'off',
  geqo_threshold: '2',
  work_mem: '64kB',
  hash_mem_multiplier: '1',
  max_parallel_workers_per_gather: '7',
  parallel_setup_cost: '0',
  TimeZone: 'Asia/Kathmandu',
  DateStyle: 'German, DMY',
  IntervalStyle: 'iso_8601',
  bytea_output: 'escape',
  extra_float_digits: '-15',
  standard_conforming_strings: 'off',
  array_nulls: 'off',
  transform_null_equals: 'on',
  row_security: 'off',
  default_transaction_isolation: 'serializable',
  client_min_messages: 'debug5',
  lock_timeout: '1',
  idle_session_timeout: '1',
  statement_timeout: '1',
  idle_in_transaction_session_timeout: '1',
  ...Object.fromEntries(
    Object.keys(planSettings)
      .filter((name) => name.startsWith('enable_'))
      .map((name) => [name, 'off']),
  ),
};

const service = await openTestService({ after });
const { owner, runtime, connections, name: database } = service.database;

/** A statement that the template would not make: names of settings are no parameters. */
const made = (text: string): Sql => ({ ...sql`SELECT`, text, values: [] });
for (const [name, value] of Object.entries(hostile))
  await owner.query(made(`ALTER DATABASE ${database} SET ${name} = '${value}'`));

const reads = sql`SELECT name, current_setting(name) AS value FROM unnest(${Object.keys({ ...planSettings, ...meaningSettings })}::text[]) AS n(name)`;

test('the settings of the database do not reach our sessions', async () => {
  const opened = await openDatabase({
    connection: connections.runtime,
    poolMax: 2,
    statementTimeoutMs: 4000,
    log: testLog,
  });
  after(() => opened.close());
  const before = new Map((await runtime.query<{ name: string; value: string }>(reads)).map((row) => [row.name, row]));
  const now = await opened.query<{ name: string; value: string }>(reads);
  for (const { name, value } of now) {
    const ours = { ...planSettings, ...meaningSettings }[name];
    assert.equal(value.split(',')[0], ours, name);
    assert.notEqual(hostile[name] ?? ours, ours, `${name} has nothing hostile to be kept from`);
    assert.equal(value, before.get(name)?.value, name);
  }
  const [limits] = await opened.query(sql`
    SELECT current_setting('statement_timeout') AS statement, current_setting('idle_in_transaction_session_timeout') AS idle`);
  assert.deepEqual(limits, { statement: '4s', idle: '1min' });
});

test('a service on it writes, reads, searches and pages as on any other', async (t) => {
  const platform = await openPlatform({
    config: { ...service.platform.config },
    clock: service.clock,
    log: testLog,
    connections: { ...connections, stop: async () => undefined },
  });
  const started = await startService(platform);
  t.after(async () => {
    await started.drain();
    await platform.close();
  });
  const here = { ...service, platform, service: started, origin: started.origin };
  const maple = await makeFirm(here, 'maple');
  const caller = await openCaller(here, await makeApplication(here, 'Full', ['acl/*'], [maple]), maple);
  for (const family of ['Ash', 'Birch', 'Cherry'])
    assert.equal((await caller.send('POST', 'Patient', patient(family))).status, 201);
  const { json, status } = await caller.get('Patient?_sort=family&_count=2');
  assert.equal(status, 200);
  assert.deepEqual(
    json.entry.map((entry: { resource: { name: { family: string }[] } }) => entry.resource.name[0]?.family),
    ['Ash', 'Birch'],
  );
  const next = json.link.find(({ relation }: { relation: string }) => relation === 'next').url;
  assert.equal((await caller.get(next)).json.entry.length, 1);
});

test('the function that writes, which switches sequential scans off, reads the order by its key', async () => {
  const [source] = await owner.query<{ text: string }>(
    sql`SELECT prosrc AS text FROM pg_proc WHERE proname = 'praxis_write_resources'`,
  );
  const [statement] = /SELECT o\.epoch FROM order_epoch o[^)]*/.exec(source?.text ?? '') ?? [];
  const way = await runtime.transaction(1, async (tx) => {
    await tx.query(sql`SET LOCAL enable_seqscan = off`);
    const [row] = await tx.query<{ 'QUERY PLAN': readonly { Plan: { 'Node Type': string } }[] }>(
      made(`EXPLAIN (FORMAT JSON) ${statement}`),
    );
    return row?.['QUERY PLAN'][0]?.Plan['Node Type'];
  });
  // Before PostgreSQL 18 a way that is switched off costs 10,000,000,000 more.
  assert.equal(way, 'Index Scan', statement);
});

test('what a session cannot mend is said in the log', async (t) => {
  const open = async () => {
    const { log, lines } = captureLog();
    const opened = await openDatabase({ connection: connections.runtime, poolMax: 2, statementTimeoutMs: 4000, log });
    await opened.close();
    return lines.map((line) => JSON.parse(line)).filter(({ level }) => level >= 40);
  };
  assert.deepEqual(await open(), []);
  await owner.query(made(`ALTER DATABASE ${database} SET default_transaction_read_only = on`));
  t.after(() =>
    owner.query(made(`ALTER DATABASE ${database} RESET default_transaction_read_only`)).then(() => undefined),
  );
  assert.deepEqual(
    (await open()).map(({ msg }) => msg),
    ['default_transaction_read_only of the database is on: writes are refused'],
  );
});
