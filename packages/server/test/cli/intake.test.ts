/** `praxis intake …`: rules, the list, and decisions, as by the administration API (test/practice/intake/intake.test.ts). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { PraxisError } from '../../src/base/errors.ts';
import { UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { runCommand } from './platform.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const portal = await openCaller(service, await makeApplication(service, 'Portal', ['acl/*'], [maple]), maple);
const condition = { resourceType: 'Condition', subject: { reference: 'Patient/p1' }, code: { text: 'Myopia' } };

async function intake(...line: readonly string[]): Promise<readonly string[]> {
  return (await runCommand(service.platform, commands, 'intake', ...line)).output;
}

async function proposed(): Promise<string> {
  const answer = await portal.send('POST', 'Condition', condition);
  assert.equal(answer.status, 202, answer.text);
  return answer.headers.get('location')?.split('/').at(-1) ?? '';
}

test('what is wrong on the command line is refused, and nothing is changed', async () => {
  await intake('require', 'maple', 'Condition');
  const task = await proposed();
  const before = await tenantRows(service.database.owner);
  for (const line of [
    ['require', 'maple', 'Patient'],
    ['decide', 'maple', task, '--rest', 'perhaps'],
    ['decide', 'maple', task, '--edit', 'code'],
    ['decide', 'maple', task, '--edit', 'code={'],
    ['decide', 'maple', task, '--rest', 'accept', '--version', 'x'],
  ])
    await assert.rejects(intake(...line), UsageError, line.join(' '));
  for (const line of [
    ['decide', 'maple', task],
    ['decide', 'maple', task, '--accept', 'severity'],
    ['show', 'maple', 'unknown'],
    ['require', 'maple', 'Condition', '--application', 'Nobody'],
  ])
    await assert.rejects(intake(...line), PraxisError, line.join(' '));
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('rules are made, listed and taken away', async () => {
  await intake('require', 'maple', 'Coverage', '--application', 'Portal');
  assert.deepEqual(await intake('rules', 'maple'), ['TYPE\tAPPLICATION', 'Condition\t*', 'Coverage\tPortal']);
  await assert.rejects(intake('release', 'maple', 'Coverage'), /There is no such rule: intake rules lists them/);
  assert.deepEqual(await intake('release', 'maple', 'Coverage', '--application', 'Portal'), [
    'Coverage is stored at once',
  ]);
});

test('a proposal is listed, shown, and decided element by element', async () => {
  await intake('require', 'maple', 'Condition');
  const task = await proposed();
  assert.ok((await intake('list', 'maple')).some((line) => line.startsWith(`${task}\t`)));
  const shown = JSON.parse((await intake('show', 'maple', task)).join('\n'));
  assert.deepEqual(shown.fields[0], {
    ...{ field: 'code', change: 'set', overtaken: false },
    values: { proposed: { text: 'Myopia' } },
  });
  assert.deepEqual(await intake('decide', 'maple', task, '--accept', 'subject'), [`${task} is in-progress`]);
  const [line = ''] = await intake('decide', 'maple', task, '--edit', 'code={"text":"Hyperopia"}');
  const id = line.slice(`${task} is completed: Condition/`.length);
  assert.equal((await portal.get(`Condition/${id}`)).json.code.text, 'Hyperopia');
  assert.ok(!(await intake('list', 'maple')).some((each) => each.startsWith(`${task}\t`)));
});
