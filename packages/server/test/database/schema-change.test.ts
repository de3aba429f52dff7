// While the schema changes under a running server, prepared statements go out of date; callers must not notice.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { openTestDatabase } from '../support/database.ts';

const { owner, runtime } = await openTestDatabase({ after });

await owner.query(sql`CREATE TABLE plan (id int)`);
await owner.query(sql`GRANT SELECT ON plan TO praxis_runtime`);
await owner.query(sql`INSERT INTO plan VALUES (1)`);

const everything = sql`SELECT * FROM plan`;

test('prepared statements whose result has changed run again, pipelined, checked out and in a transaction', async () => {
  const ways = [
    () => runtime.query(everything, { short: true }),
    () => runtime.query(everything),
    () => runtime.transaction(undefined, (tx) => tx.query(everything)),
  ];
  for (let round = 0; round < 3; round++) for (const read of ways) assert.deepEqual(await read(), [{ id: 1 }]);
  await owner.query(sql`ALTER TABLE plan ADD COLUMN name text`);
  for (const read of ways) assert.deepEqual(await read(), [{ id: 1, name: null }]);
});
