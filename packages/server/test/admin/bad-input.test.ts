/**
 * Malformed requests of every action are refused with the field and the rule, repeat nothing of what was sent, and change
 * nothing.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import type { Action } from '../../src/actions/action.ts';
import type { Field } from '../../src/actions/schema.ts';
import { actions } from '../../src/admin/actions/list.ts';
import { makeApplication, makeFirm, openTestService } from '../support/service.ts';
import { everyRow, type Rows } from '../support/tenant-rows.ts';
import { openAdministrator } from './world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
await makeApplication(service, 'Scheduler', ['acl/pat_r'], [maple]);
const operator = await openAdministrator(service, 'operator', 'operator');
const secret = 'do-not-repeat-me';

/** Asks as the operator; the limit of requests a minute is not what this is about. */
async function ask(action: Action, body: unknown) {
  service.clock.advance(200);
  const own: Readonly<Record<string, string>> = { environment: 'sandbox', firm: 'maple', application: 'Scheduler' };
  const path = action.path.replaceAll(/\{([^}]+)\}/g, (_, name: string) => own[name] ?? '1');
  return await operator.ask(action.method, path, body);
}

async function rows(): Promise<Rows> {
  await service.service.parts.ledger.flush();
  const all = await everyRow(service.database.owner);
  const written = ([name]: readonly [string, unknown]) =>
    name !== 'admin_session' && name !== 'rate_counter' && !name.startsWith('audit_');
  return Object.fromEntries(Object.entries(all).filter(written));
}

/** Values that a field of the kind is not. */
function wrongValues(field: Field): readonly unknown[] {
  const anything = [null, { rawJSON: secret }];
  const noText = [7, true, [secret], ''];
  switch (field.kind) {
    case 'text':
      return [...anything, ...noText, 'x'.repeat(field.lengthMax + 1), `${secret}\u0000`, `${secret}\n`];
    case 'choice':
      return [...anything, ...noText, secret, 'constructor'];
    case 'time':
      return [...anything, ...noText, secret, '2027-02-29T00:00:00Z', '2027-01-01', '2027-01-01T25:00:00Z'];
    case 'integer':
      return [...anything, secret, 1.5, field.max + 1, field.min - 1];
    case 'flag':
      return [...anything, secret, 1, 'true'];
    case 'texts':
      return [...anything, secret, [7], [''], [[secret]], Array.from({ length: field.itemsMax + 1 }, () => 'x')];
    case 'flags':
      return [null, secret, [], { [secret]: true }, { [field.names[0] ?? '']: 'true' }];
    case 'object':
      return [null, secret, [secret], 7];
  }
}

test('each field of each action, with each value that it is not', async () => {
  const before = await rows();
  let asked = 0;
  for (const action of actions) {
    for (const [name, field] of Object.entries(action.fields)) {
      for (const value of wrongValues(field)) {
        const answer = await ask(action, { [name]: value });
        asked += 1;
        const named = answer.json.errors.find((each: { field: string }) => each.field === name);
        assert.deepEqual([answer.status, answer.json.code], [400, 'input-invalid'], `${action.name}: ${answer.text}`);
        assert.match(named?.detail ?? '', new RegExp(`^${name} must be `), `${action.name}: ${answer.text}`);
        assert.ok(!answer.text.includes(secret), answer.text);
      }
    }
  }
  assert.ok(asked > 300);
  assert.deepEqual(await rows(), before);
});

test('each action, with fields that it has not, without those that it needs, with what is no object', async () => {
  const before = await rows();
  for (const action of actions.filter(({ method }) => method !== 'GET')) {
    const takesNone = Object.keys(action.fields).length === 0;
    for (const body of [{ [secret]: secret }, { environment: secret, nothing: 1 }, [secret], `"${secret}"`, 'null']) {
      const answer = await ask(action, body);
      assert.deepEqual([answer.status, answer.json.code], [400, 'input-invalid'], `${action.name}: ${answer.text}`);
      if (takesNone) assert.equal(answer.json.detail, 'This action takes no body');
      assert.ok(!answer.text.includes(secret), answer.text);
    }
    for (const [name] of Object.entries(action.fields).filter(([, { required }]) => required === true)) {
      const answer = await ask(action, {});
      const missing = { field: name, detail: `${name} is missing` };
      assert.ok(answer.json.errors.some((each: object) => JSON.stringify(each) === JSON.stringify(missing)));
    }
  }
  assert.deepEqual(await rows(), before);
});

test('bodies that are not the JSON that is taken', async () => {
  const before = await rows();
  const action = actions.find(({ name }) => name === 'firm create');
  assert.ok(action !== undefined);
  const bodies: readonly (readonly [string, string])[] = [
    [`{"prefix":${secret}}`, 'The body is not JSON (line 1, column 11)'],
    [`{"prefix":"a","prefix":"${secret}"}`, 'The body names a member twice (line 1, column 15)'],
    [`{"__proto__":"${secret}"}`, 'The body has a member __proto__ (line 1, column 2)'],
    [`{"prefix":${'['.repeat(20)}${']'.repeat(20)}}`, 'The body is nested deeper than 16 (line 1, column 26)'],
    [
      `{"prefix":[${'1,'.repeat(1_000)}1]}`,
      'The body has a list of more than 1000 items or a text that is too long (line 1, column 2012)',
    ],
    ['\ufeff{}', 'The body is not JSON (line 1, column 1)'],
  ];
  for (const [body, detail] of bodies) {
    const answer = await ask(action, body);
    assert.deepEqual([answer.status, answer.json.code, answer.json.detail], [400, 'json-malformed', detail]);
  }
  const response = await fetch(`${service.origin}/admin/api/environments/sandbox/firms`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operator.token}`, 'content-type': 'application/json' },
    body: Buffer.from([0x7b, 0xff, 0x7d]),
  });
  assert.deepEqual([response.status, ((await response.json()) as { code: string }).code], [400, 'request-malformed']);
  assert.deepEqual(await rows(), before);
});
