/** docs/integrate/contract.md#credentials: argon2id behind a bounded queue for passwords that people choose. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { hashesMax, hashWaitersMax } from '../../src/admin/passwords.ts';
import { sql } from '../../src/database/sql.ts';
import { ask, openAdministrator, password } from '../admin/world.ts';
import { openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const operator = await openAdministrator(service, 'operator', 'operator');

test('settled chosen-passwords: one that is short or guessed first is refused, and nothing is stored', async () => {
  for (const weak of ['violet kettle', 'passwordpassword', 'qwertyuiop12345678']) {
    const answer = await operator.ask('POST', '/administrators', { username: 'ada', role: 'operator', password: weak });
    assert.deepEqual([answer.status, answer.json.errors[0].field], [422, 'password']);
  }
  assert.equal((await operator.ask('GET', '/administrators')).json.items.length, 1);
});

test('settled chosen-passwords: more than the queue takes are answered 503 with Retry-After, the others as ever', async () => {
  const tries = hashesMax + hashWaitersMax + 8;
  // Each under a name of its own, so that none is slowed for guessing; the address allows for as many wrong ones.
  const answers = await Promise.all(
    Array.from({ length: tries }, (_, index) =>
      ask(service, undefined, 'POST', '/sessions', { username: `nobody-${index}`, password }),
    ),
  );
  const statuses = new Set(answers.map(({ status }) => status));
  assert.deepEqual([...statuses].sort(), [401, 503]);
  for (const { status, headers, json } of answers) {
    if (status !== 503) continue;
    assert.deepEqual([json.code, headers.get('retry-after')], ['unavailable', '2']);
  }
});

test('settled chosen-passwords: they are stored by argon2id, salted', async () => {
  await operator.ask('POST', '/administrators', { username: 'ada', role: 'operator', password });
  const rows = await service.database.owner.query<{ password: string }>(sql`SELECT password FROM administrator`);
  assert.equal(new Set(rows.map((row) => row.password)).size, 2);
  for (const row of rows) assert.match(row.password, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
});
