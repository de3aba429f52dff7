/** Every action does what it says, once, by the roles that may; the document describes it; the command line has it, too. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { actions } from '../../src/admin/actions/list.ts';
import { commands } from '../../src/cli/commands.ts';
import { buildAdministrationDocument } from '../../src/openapi/administration.ts';
import { answerOf } from '../support/service.ts';
import { openAsking } from './actions/asking.ts';
import { testAudit } from './actions/audit.ts';
import { testAuthorisations } from './actions/authorisations.ts';
import { testClock } from './actions/clock.ts';
import { testErasures } from './actions/erasures.ts';
import { testJobs } from './actions/jobs.ts';
import { testPlatform } from './actions/platform.ts';
import { testPractice } from './actions/practice.ts';
import { ask } from './world.ts';

const asking = await openAsking({ after });
const { service, done } = asking;

// In this order: what one makes the next one finds.
testJobs(asking);
testAuthorisations(asking);
testPlatform(asking);
testAudit(asking);
testPractice(asking);
testClock(asking);
testErasures(asking);

test('every action was asked for', () => {
  assert.deepEqual(
    actions.map(({ name }) => name).filter((name) => !done.has(name)),
    [],
  );
});

/** What only makes sense on the machine itself: its files and processes, the database as its owner, the heads that it keeps. */
const machineCommands: ReadonlySet<string> = new Set([
  'serve',
  'migrate',
  'import',
  'export',
  'export verify',
  'synthetic',
  'sandbox reset',
  'backup',
  'restore',
  'audit verify',
  // As the owner of the database: the runtime role can never remove rows of the ledger.
  'audit archive',
  // A key that is made of the machine's secrets, for files that are checked elsewhere.
  'audit key',
  'content verify',
  // As the owner of the database, as the job of the service.
  'firm erase run',
  // The runtime role has no right on the keys' table, and the key is a file or a setting of the machine.
  'secret show',
  'secret rotate',
  // Looks at the machine, also where the service does not start.
  'doctor',
  // A script of the shell.
  'completion',
  // What an application does, on the machine of its developer.
  'listen',
]);

test('everything else that the command line does is an action of the same name', () => {
  const names = new Set(actions.map(({ name }) => name));
  const missing = commands.map(({ name }) => name).filter((name) => !machineCommands.has(name) && !names.has(name));
  assert.deepEqual(missing, []);
});

test('the document is valid, open to all, and describes every action', async () => {
  const answer = await answerOf(await fetch(`${service.origin}/admin/openapi.json`));
  assert.equal(answer.status, 200);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  const result = await new Validator().validate(answer.json);
  assert.deepEqual(result, { valid: true });
  const { paths } = buildAdministrationDocument('1');
  const described = Object.entries(paths).flatMap(([path, item]) =>
    Object.keys(item)
      .filter((key) => key !== 'parameters')
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  assert.deepEqual(
    described.sort(),
    ['POST /sessions', ...actions.map(({ method, path }) => `${method} ${path}`)].sort(),
  );
  assert.equal((await ask(service, undefined, 'GET', '/../openapi.json')).status, 200);
  const post = await answerOf(await fetch(`${service.origin}/admin/openapi.json`, { method: 'POST' }));
  assert.deepEqual([post.status, post.json.code], [405, 'method-not-allowed']);
});
