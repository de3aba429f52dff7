/** `praxis admin …` and `praxis authorization …`: administrators and the history of authorisations. Denials first. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { seedAdministrator } from '../../src/cli/sandbox/seed.ts';
import { sql } from '../../src/database/sql.ts';
import { ask, password } from '../admin/world.ts';
import { makeApplication, makeFirm, openTestService } from '../support/service.ts';
import { runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const service = await openTestService({ after });
const { platform } = service;
const files = openScratchDirectory({ after });
const maple = await makeFirm(service, 'maple');
await makeApplication(service, 'Scheduler', ['acl/pat_r', 'acl/pat_s'], [maple]);
const run = (...line: readonly string[]) => runCommand(platform, commands, ...line);
const secret = files.write('password', `${password}\nnext line\n`);

async function administrators(): Promise<unknown> {
  return await platform.database.query(
    sql`SELECT username, role, state, password FROM administrator ORDER BY username`,
  );
}

test('malformed and impossible administrators are refused, and change nothing', async () => {
  const before = await administrators();
  const refusals: readonly (readonly [line: readonly string[], message: RegExp])[] = [
    [['create', 'Ada'], /^username must be 1 to 63 of a-z/],
    [['create', 'ada', '--role', 'king'], /^--role must be one of operator, practice, vendor, not 'king'$/],
    [['create', 'ada', '--role', 'practice'], /^--firm is missing: the role practice has one$/],
    [
      ['create', 'ada', '--role', 'practice', '--firm', 'nowhere'],
      /^firm nowhere does not exist in environment sandbox$/,
    ],
    [['create', 'ada', '--firm', 'maple'], /^--firm is for the role practice alone$/],
    [['create', 'ada', '--role', 'vendor', '--application', 'None'], /^application None does not exist/],
    [['create', 'ada', '--password-file', '/does/not/exist'], /^--password-file \/does\/not\/exist cannot be read$/],
    [['create', 'ada', '--password-file', files.write('weak', 'passwordpassword\n')], /^password is among those/],
    [['revoke', 'ada'], /^administrator ada does not exist$/],
    [['password', 'ada'], /^administrator ada does not exist$/],
  ];
  for (const [line, message] of refusals) {
    await assert.rejects(run('admin', ...line), (error) => {
      assert.ok(error instanceof UsageError || error instanceof PraxisError, String(error));
      assert.match(error instanceof PraxisError ? error.details.diagnostics : error.message, message);
      return true;
    });
  }
  assert.deepEqual(await administrators(), before);
});

test('an administrator is made with a password that is shown once, or with the first line of a file', async () => {
  const made = await run('admin', 'create', 'ada');
  const [, generated = ''] = /^password: (\S{32})$/m.exec(made.output.join('\n')) ?? [];
  assert.deepEqual(made.output, ['username: ada', `password: ${generated}`]);
  assert.match(made.progress, /cannot be shown again/);
  const signIn = (username: string, given: string) =>
    ask(service, undefined, 'POST', '/sessions', { username, password: given });
  assert.equal((await signIn('ada', generated)).json.role, 'operator');
  await assert.rejects(run('admin', 'create', 'ada'), /an administrator ada exists/);
  const desk = await run('admin', 'create', 'desk', '--role', 'practice', '--firm', 'maple', '--password-file', secret);
  assert.deepEqual(desk.output, ['administrator desk exists']);
  const session = (await signIn('desk', password)).json;
  assert.deepEqual([session.role, session.firm], ['practice', 'maple']);
  const changed = await run('admin', 'password', 'ada', '--password-file', secret);
  assert.deepEqual(changed.output, ['administrator ada has the password given']);
  assert.equal((await signIn('ada', generated)).status, 401);
  assert.equal((await signIn('ada', password)).status, 201);
  assert.deepEqual((await run('admin', 'revoke', 'desk')).output, ['administrator desk is revoked']);
  assert.equal((await ask(service, session.token, 'GET', '/me')).status, 401);
  assert.deepEqual((await run('admin', 'list')).output, [
    'USERNAME\tROLE\tENVIRONMENT\tFIRM OR APPLICATION\tSTATE\tCREATED',
    'ada\toperator\t\t\tactive\t2026-11-21 09:30',
    'desk\tpractice\tsandbox\tmaple\trevoked\t2026-11-21 09:30',
  ]);
});

test('the sandbox has an operator; one of an interrupted seeding gets another password', async () => {
  const first = await seedAdministrator(platform);
  const second = await seedAdministrator(platform);
  assert.equal(first.username, 'operator');
  assert.equal((await ask(service, undefined, 'POST', '/sessions', first)).status, 401);
  const session = await ask(service, undefined, 'POST', '/sessions', second);
  assert.deepEqual([session.status, session.json.role], [201, 'operator']);
});

test('the history of an authorisation says what was changed, when and by whom', async () => {
  await run('authorize', 'Scheduler', 'maple', '--acl', 'acl/pat_r', '--purpose', 'Recall', '--until', '2027-01-01');
  await run('authorization', 'suspend', 'Scheduler', 'maple');
  await assert.rejects(run('authorization', 'suspend', 'Scheduler', 'maple'), /no active authorisation of Scheduler/);
  await run('authorization', 'resume', 'Scheduler', 'maple');
  const { output } = await run('authorization', 'history', 'Scheduler', 'maple');
  const lines = output.map((line) =>
    line.replace(/\t\d{4}-\d\d-\d\d \d\d:\d\d\tcommand line\t/, '\tWHEN\tcommand line\t'),
  );
  assert.deepEqual(lines, [
    'VERSION\tSTATE\tCHANGED\tBY\tPURPOSE\tUNTIL\tACL',
    '4\tactive\tWHEN\tcommand line\tRecall\t2027-01-01 00:00\tacl/pat_r',
    '3\tsuspended\tWHEN\tcommand line\tRecall\t2027-01-01 00:00\tacl/pat_r',
    '2\tactive\tWHEN\tcommand line\tRecall\t2027-01-01 00:00\tacl/pat_r',
    '1\tactive\tWHEN\tcommand line\tTest\t\tacl/pat_r acl/pat_s',
  ]);
});
