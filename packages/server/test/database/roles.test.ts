import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { ConfigError } from '../../src/base/config.ts';
import { StartError } from '../../src/base/start-error.ts';
import { controlPlaneTables } from '../../src/database/control-plane.ts';
import { openDatabase } from '../../src/database/database.ts';
import { sql } from '../../src/database/sql.ts';
import { StatementError } from '../../src/database/sqlstate.ts';
import { testLog } from '../support/cluster.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner, runtime, connections } = await openTestDatabase({ after });

const base = { poolMax: 2, statementTimeoutMs: 1000, log: testLog };
const urlOf = ({ host, database, user, password }: typeof connections.owner) =>
  `postgresql://${user}:${password}@/${database}?host=${encodeURIComponent(host)}&options=${encodeURIComponent('-c work_mem=5MB')}`;

test('the server does not run as a role that owns tables', async () => {
  await assert.rejects(openDatabase({ ...base, connection: connections.owner }), (error) => {
    assert.ok(error instanceof ConfigError);
    assert.match(
      error.message,
      /^Database role praxis_owner owns the table \w+, so row-level security would not separate the firms; use praxis_runtime or a member of it$/,
    );
    return true;
  });
});

test('wrong credentials end at once with a message that does not repeat them', async () => {
  const wrong = { ...connections.runtime, password: 'not-the-password' };
  await assert.rejects(openDatabase({ ...base, connection: wrong }), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.message, /password authentication failed for user "praxis_runtime"/);
    assert.ok(!error.message.includes('not-the-password'));
    return true;
  });
  await assert.rejects(
    openDatabase({ ...base, connection: { ...connections.runtime, database: 'absent' } }),
    /database "absent" does not exist/,
  );
  await assert.rejects(openDatabase({ ...base, connection: { url: 'mysql://a:secret@b/c' } }), {
    message: 'DATABASE_URL must look like postgresql://role:password@host:5432/database',
  });
});

test('an unreachable database ends after the set time', async () => {
  const nowhere = { ...connections.runtime, host: '/nonexistent' };
  await assert.rejects(openDatabase({ ...base, connection: nowhere, connectWaitMaxMs: 150 }), {
    name: 'StartError',
    message:
      /^Database .* cannot be reached \(.*\): there is no such socket: start the database, or correct the directory$/,
  });
});

test('the owner connection drops to the runtime role where that has no login', async () => {
  const database = await openDatabase({
    ...base,
    connection: { url: urlOf(connections.owner), role: 'praxis_runtime' },
  });
  const [row] = await database.query(
    sql`SELECT current_user::text AS role, session_user::text AS login, current_setting('work_mem') AS option`,
  );
  assert.deepEqual(row, { role: 'praxis_runtime', login: 'praxis_owner', option: '5MB' });
  await database.close();
});

test('the runtime role can neither delete from nor truncate nor alter control-plane tables, nor turn its protection off', async () => {
  const refused = (error: unknown) => error instanceof StatementError && ['42501', '42P01'].includes(error.sqlState);
  for (const table of Object.keys(controlPlaneTables)) {
    const name = sql.identifier(table);
    await assert.rejects(runtime.query(sql`TRUNCATE ${name} CASCADE`), refused, table);
    await assert.rejects(runtime.query(sql`ALTER TABLE ${name} ADD COLUMN x int`), refused, table);
    if (!deletable.has(table)) await assert.rejects(runtime.query(sql`DELETE FROM ${name}`), refused, table);
  }
  await assert.rejects(runtime.query(sql`SET ROLE praxis_owner`), refused);
  await assert.rejects(runtime.query(sql`CREATE TABLE mine (id int)`), refused);
  await assert.rejects(runtime.query(sql`CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'`), refused);
});

/** Control-plane tables whose rows end by being deleted. */
const deletable: ReadonlySet<string> = new Set([
  'admin_address',
  'admin_session',
  'client_assertion',
  'firm_search_parameter',
  'firm_search_parameter_change',
  'job_failure',
  'occupancy_change',
  'rate_counter',
  'revoked_token',
  'subscription_binding',
  'subscription_due',
  'token_scope',
  'waitlist_due',
]);

test('the runtime role cannot change what identifies a row of the control plane', async () => {
  const refused = (error: unknown) => error instanceof StatementError && error.sqlState === '42501';
  await assert.rejects(runtime.query(sql`UPDATE api_key SET application = 1`), refused);
  await assert.rejects(runtime.query(sql`UPDATE firm SET environment = 1`), refused);
  await assert.rejects(runtime.query(sql`UPDATE authorisation SET firm = 1`), refused);
  await assert.rejects(runtime.query(sql`UPDATE signing_key SET private_sealed = ''`), refused);
});

test('the runtime role is not superuser, does not bypass row-level security and owns nothing', async () => {
  const rows = await owner.query(sql`
    SELECT rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolreplication,
      (SELECT count(*)::int FROM pg_class WHERE relowner = pg_roles.oid) AS owned,
      (SELECT count(*)::int FROM pg_auth_members WHERE member = pg_roles.oid) AS memberships
    FROM pg_roles WHERE rolname = 'praxis_runtime'`);
  assert.deepEqual(rows, [
    {
      rolsuper: false,
      rolbypassrls: false,
      rolcreaterole: false,
      rolcreatedb: false,
      rolreplication: false,
      owned: 0,
      memberships: 0,
    },
  ]);
});
