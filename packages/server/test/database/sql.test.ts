import assert from 'node:assert/strict';
import test from 'node:test';
import { type Sql, sql } from '../../src/database/sql.ts';

const shape = (statement: Sql) => ({ text: statement.text, values: statement.values });

test('sql refuses undefined, which would silently become NULL', () => {
  assert.throws(
    () => sql`SELECT ${1}, ${undefined}`,
    new TypeError('SQL value 2 is undefined; write null where NULL is meant'),
  );
  assert.throws(() => sql`SELECT ${sql`a`}, ${undefined}`, TypeError);
});

test('sql binds an object that looks like a statement instead of splicing it', () => {
  const forged = { text: '1; DROP TABLE firm', values: [] };
  assert.deepEqual(shape(sql`SELECT ${forged}`), { text: 'SELECT $1', values: [forged] });
});

test('sql binds text with quotes and semicolons as a value', () => {
  assert.deepEqual(shape(sql`SELECT ${"'; DROP TABLE firm; --"}`), {
    text: 'SELECT $1',
    values: ["'; DROP TABLE firm; --"],
  });
});

test('sql.identifier refuses whatever would need quoting', () => {
  for (const name of ['', 'a b', 'a"b', 'Firm', '1a', 'a;b', 'a'.repeat(64), 'é'])
    assert.throws(() => sql.identifier(name), TypeError);
  assert.equal(sql`SELECT 1 FROM ${sql.identifier('index_token')}`.text, 'SELECT 1 FROM "index_token"');
});

test('sql numbers values in order', () => {
  assert.deepEqual(shape(sql`SELECT ${1}, ${'a'}, ${null}`), { text: 'SELECT $1, $2, $3', values: [1, 'a', null] });
});

test('sql splices fragments and renumbers their values, at any depth', () => {
  const inner = sql`code = ${'x'} AND system = ${7}`;
  const middle = sql`(firm = ${3} AND ${inner})`;
  assert.deepEqual(shape(sql`SELECT ${1} WHERE ${middle} OR ${inner} LIMIT ${10}`), {
    text: 'SELECT $1 WHERE (firm = $2 AND code = $3 AND system = $4) OR code = $5 AND system = $6 LIMIT $7',
    values: [1, 3, 'x', 7, 'x', 7, 10],
  });
});

test('sql.join puts the separator between fragments only', () => {
  const conditions = [sql`a = ${1}`, sql`b`, sql`c = ${2}`];
  assert.deepEqual(shape(sql.join(conditions, sql` AND `)), { text: 'a = $1 AND b AND c = $2', values: [1, 2] });
  assert.deepEqual(shape(sql.join(conditions, sql`, ${0}, `)), {
    text: 'a = $1, $2, b, $3, c = $4',
    values: [1, 0, 0, 2],
  });
  assert.deepEqual(shape(sql.join([], sql` AND `)), { text: '', values: [] });
  assert.deepEqual(shape(sql`SELECT 1${sql.empty}`), { text: 'SELECT 1', values: [] });
});

test('sql.json binds the JSON text, of arrays too', () => {
  assert.deepEqual(shape(sql`SELECT ${sql.json(['a', { b: 1 }])}::jsonb`), {
    text: 'SELECT $1::jsonb',
    values: ['["a",{"b":1}]'],
  });
});

test('sql gives the same shape the same text', () => {
  const page = (firm: number, types: readonly string[]) =>
    sql`SELECT 1 WHERE firm = ${firm} AND (${sql.join(
      types.map((type) => sql`t = ${type}`),
      sql` OR `,
    )})`;
  assert.equal(page(1, ['a', 'b']).text, page(2, ['c', 'd']).text);
  assert.notEqual(page(1, ['a', 'b']).text, page(1, ['a']).text);
});

test('a time is bound in ms, null as NULL', () => {
  const { text, values } = sql`SELECT ${sql.timestamp(1_795_254_300_000)}, ${sql.timestamp(null)}`;
  assert.equal(text, 'SELECT to_timestamp($1::float8 / 1000), to_timestamp($2::float8 / 1000)');
  assert.deepEqual(values, [1_795_254_300_000, null]);
});
