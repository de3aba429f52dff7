/**
 * What our statements rely on, set by each session of ours whatever the defaults of the server, the database and the role are
 * (https://www.postgresql.org/docs/current/config-setting.html): a session's own options come before those.
 */
import type { Log } from '../base/log.ts';
import { type Sql, sql } from './sql.ts';

type Settings = Readonly<Record<string, string>>;

/** How statements are planned and run. Options that `DATABASE_URL` brings win over these. */
export const planSettings: Settings = {
  // Statements here take milliseconds; compiling them takes longer.
  jit: 'off',
  // Statements say themselves how they are run, so a plan per execution finds no better one and takes longer than most run.
  plan_cache_mode: 'force_generic_plan',
  seq_page_cost: '1',
  random_page_cost: '1.1',
  cpu_tuple_cost: '0.01',
  cpu_index_tuple_cost: '0.005',
  cpu_operator_cost: '0.0025',
  from_collapse_limit: '8',
  join_collapse_limit: '8',
  geqo: 'on',
  geqo_threshold: '12',
  work_mem: '4MB',
  hash_mem_multiplier: '2',
  // One statement of one caller takes one core.
  max_parallel_workers_per_gather: '0',
  ...Object.fromEntries(
    [
      ...['bitmapscan', 'hashagg', 'hashjoin', 'incremental_sort', 'indexonlyscan', 'indexscan', 'material', 'memoize'],
      ...['mergejoin', 'nestloop', 'seqscan', 'sort', 'tidscan'],
    ].map((way) => [`enable_${way}`, 'on']),
  ),
};

/** What statements, their values and their answers mean. Nothing wins over these. */
export const meaningSettings: Settings = {
  TimeZone: 'UTC',
  DateStyle: 'ISO',
  IntervalStyle: 'postgres',
  bytea_output: 'hex',
  extra_float_digits: '1',
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  transform_null_equals: 'off',
  row_security: 'on',
  default_transaction_isolation: 'read committed',
  client_min_messages: 'warning',
  // Statements that wait for a lock end by statement_timeout; connections wait in the pool for as long as it likes.
  lock_timeout: '0',
  idle_session_timeout: '0',
};

/** As the `options` of a connection: `-c name=value` for each, spaces escaped. */
export function formatOptions(settings: Settings): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value.replaceAll(/[\\ ]/g, '\\$&')}`)
    .join(' ');
}

/**
 * Says in the log what is wrong with the server: settings of ours that do not hold, since a pooler keeps them back; and those
 * that a session cannot mend.
 */
export async function warnOfServer(database: { query<R>(statement: Sql): Promise<R[]> }, log: Log): Promise<void> {
  const names = Object.keys(meaningSettings);
  const rows = await database.query<{ name: string; value: string }>(sql`
    SELECT n.name, current_setting(n.name) AS value
    FROM unnest(${[...names, 'jit', 'fsync', 'synchronous_commit', 'autovacuum', 'track_counts', 'default_transaction_read_only']}::text[]) AS n(name)`);
  const values = new Map(rows.map(({ name, value }) => [name, value]));
  // A style is followed by an order of day and month, which ISO does not use.
  const lost = names.filter((name) => values.get(name)?.split(',')[0] !== meaningSettings[name]);
  if (lost.length > 0)
    log.warn({ settings: lost }, 'the settings of our sessions do not hold: let the pooler pass startup options on');
  if (values.get('fsync') === 'on' && values.get('synchronous_commit') === 'off')
    log.warn('synchronous_commit of the database is off: what was acknowledged is lost when its server fails');
  for (const name of ['autovacuum', 'track_counts'])
    if (values.get(name) === 'off')
      log.warn(`${name} of the database is off: statements are planned for sizes that tables had once`);
  if (values.get('default_transaction_read_only') === 'on')
    log.warn('default_transaction_read_only of the database is on: writes are refused');
}
