import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner, runtime } = await openTestDatabase({ after });

async function until(condition: () => boolean): Promise<void> {
  for (let waitedMs = 0; !condition(); waitedMs += 10) {
    assert.ok(waitedMs < 5000, 'nothing happened for 5 s');
    await delay(10);
  }
}

test('notifications reach every handler of their channel, until it is taken away', async () => {
  const first: (string | undefined)[] = [];
  const second: (string | undefined)[] = [];
  const stopFirst = await runtime.listen('keys "1"', (payload) => first.push(payload));
  await runtime.listen('keys "1"', (payload) => second.push(payload));
  await owner.notify('keys "1"', 'one');
  await owner.notify('other', 'elsewhere');
  await until(() => second.length === 1);
  await stopFirst();
  await owner.notify('keys "1"', 'two');
  await until(() => second.length === 2);
  assert.deepEqual([first, second], [['one'], ['one', 'two']]);
});

test('after the connection was lost, handlers are told that they may have missed some, and hear the next', async () => {
  const heard: (string | undefined)[] = [];
  await runtime.listen('epochs', (payload) => heard.push(payload));
  await owner.query(
    sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
  );
  await until(() => heard.length === 1);
  await owner.notify('epochs', 'after');
  await until(() => heard.length === 2);
  assert.deepEqual(heard, [undefined, 'after']);
});
