/**
 * An event loop that was busy for long has not read the answers of the database: its connections are well (F7,
 * docs/decisions/0242).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { answerGraceMs } from '../../../src/database/pool/connection-pool.ts';
import { sql } from '../../../src/database/sql.ts';
import { openTestDatabase } from '../../support/database.ts';

const statementTimeoutMs = 400;

// Of 2 connections one serves one statement at a time.
const { runtime } = await openTestDatabase({ after }, { poolMax: 2, statementTimeoutMs, waitMaxMs: 100 });

test('F7: a statement that was answered while the event loop did not turn is answered, and so is who waited behind it', async () => {
  const pid = async () => (await runtime.query<{ pid: number }>(sql`SELECT pg_backend_pid() AS pid`))[0]?.pid;
  const before = await pid();
  const underWay = pid();
  const waiting = pid();
  await turn();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, statementTimeoutMs + answerGraceMs + 100);
  assert.deepEqual(await Promise.all([underWay, waiting]), [before, before]);
});
