import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { ColumnValueError } from '../../src/database/sqlstate.ts';
import { openTestDatabase } from '../support/database.ts';

const { runtime } = await openTestDatabase({ after });

test('int8 beyond 2^53 is an error, and the connection goes on', async () => {
  await assert.rejects(runtime.query(sql`SELECT 9007199254740993::int8 AS n`), ColumnValueError);
  assert.deepEqual(await runtime.query(sql`SELECT 9007199254740991::int8 AS n`), [{ n: 9007199254740991 }]);
});

test('timestamptz outside of the years 1 to 9999 is an error', async () => {
  await assert.rejects(runtime.query(sql`SELECT '0044-03-15 BC'::timestamptz AS t`), ColumnValueError);
});

test('columns become the documented JavaScript values', async () => {
  const [row] = await runtime.query(sql`
    SELECT 1::int2 AS small, -5::int8 AS big, '{1,NULL,3}'::int8[] AS bigs, 1.50::numeric AS exact, 1.5::float8 AS float,
      true AS yes, 'é' AS text, '\\x00ff'::bytea AS bytes, '{"a":[1]}'::jsonb AS object, '["x"]'::json AS list,
      ARRAY['a', 'b,"c'] AS texts, '2026-11-21 10:00:00.1239+01'::timestamptz AS at, 'infinity'::timestamptz AS never,
      '2026-11-21'::date AS day, '2026-11-21 10:00'::timestamp AS wall, NULL::int AS nothing`);
  assert.deepEqual(row, {
    small: 1,
    big: -5,
    bigs: [1, null, 3],
    exact: '1.50',
    float: 1.5,
    yes: true,
    text: 'é',
    bytes: Buffer.from([0, 255]),
    object: { a: [1] },
    list: ['x'],
    texts: ['a', 'b,"c'],
    at: Date.UTC(2026, 10, 21, 9, 0, 0, 123),
    never: Number.POSITIVE_INFINITY,
    day: '2026-11-21',
    wall: '2026-11-21 10:00:00',
    nothing: null,
  });
});

test('JavaScript values are bound as documented', async () => {
  const [row] = await runtime.query(sql`
    SELECT ${['a', 'b,"c', null]}::text[] AS texts, ${[1, 2]}::int[] AS numbers, ${Buffer.from('ab')}::bytea AS bytes,
      ${sql.json([1, { a: null }])}::jsonb AS json, ${true}::bool AS yes, ${null}::text AS nothing, ${'1.50'}::numeric AS exact`);
  assert.deepEqual(row, {
    texts: ['a', 'b,"c', null],
    numbers: [1, 2],
    bytes: Buffer.from('ab'),
    json: [1, { a: null }],
    yes: true,
    nothing: null,
    exact: '1.50',
  });
});
