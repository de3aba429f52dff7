/**
 * Index rows follow the current version, and an update touches only the rows that differ (design: diff updates).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { type Sql, sql } from '../../src/database/sql.ts';
import { type IndexRows, makeIndexRows } from '../../src/search/index/index-rows.ts';
import { openStore } from '../../src/storage/store.ts';
import { openTestDatabase } from '../support/database.ts';
import { changed, everything, incompressible, indexRows, makeFirms, resourceDelete, resourceWrite } from './fixture.ts';

const { owner, runtime } = await openTestDatabase({ after });
const { maple } = await makeFirms(owner);
const store = openStore(runtime);

/** Columns of the values of each index table, as one text. */
const values: Readonly<Record<string, Sql>> = {
  index_token: sql`concat_ws('|', t.param, t.system, t.code)`,
  index_reference: sql`concat_ws('|', t.param, t.target_rtype, t.target_id)`,
  index_date: sql`concat_ws('|', t.param, t.lo, t.hi)`,
  index_string: sql`concat_ws('|', t.param, t.value, t.original)`,
  index_number: sql`concat_ws('|', t.param, t.lo, t.hi, t.system, t.code)`,
};

/** The rows of a resource → where each lies and which transaction wrote it. */
async function physicalRows(id: string): Promise<Map<string, string>> {
  const rows: [string, string][] = [];
  for (const [table, value] of Object.entries(values)) {
    const found = await owner.query<{ value: string; place: string }>(sql`
      SELECT ${value} AS value, concat_ws('/', t.ctid, t.xmin, t.xmax) AS place
      FROM ${sql.identifier(table)} t JOIN resource r ON r.firm = t.firm AND r.rid = t.rid
      WHERE r.firm = ${maple.firm} AND r.rtype = (SELECT rtype FROM resource WHERE id = ${id} LIMIT 1) AND r.id = ${id} ORDER BY 1`);
    rows.push(...found.map(({ value, place }): [string, string] => [`${table}|${value}`, place]));
  }
  return new Map(rows);
}

/** What `physicalRows` should list for `rows`. */
function expectedRows(rows: IndexRows): string[] {
  return [
    ...rows.tokenParam.map((param, i) => `index_token|${param}|${rows.tokenSystem[i]}|${rows.tokenCode[i]}`),
    ...rows.referenceParam.map(
      (param, i) => `index_reference|${param}|${rows.referenceTargetType[i]}|${rows.referenceTargetId[i]}`,
    ),
    ...rows.dateParam.map((param, i) => `index_date|${param}|${rows.dateLo[i]}|${rows.dateHi[i]}`),
    ...rows.stringParam.map((param, i) => `index_string|${param}|${rows.stringValue[i]}|${rows.stringOriginal[i]}`),
    ...rows.numberParam.map(
      (param, i) =>
        `index_number|${param}|${Number(rows.numberLo[i])}|${Number(rows.numberHi[i])}|${rows.numberSystem[i]}|${rows.numberCode[i]}`,
    ),
  ].sort();
}

const names = (rows: ReadonlyMap<string, string>): string[] => [...rows.keys()].sort();

test('a create inserts exactly the rows given, whatever characters they hold', async () => {
  await store.write(maple, resourceWrite('plain', 0, { index: indexRows('plain') }));
  assert.deepEqual(names(await physicalRows('plain')), expectedRows(indexRows('plain')));
});

test('an update that changes nothing indexed touches no index row', async () => {
  await store.write(maple, resourceWrite('still', 0, { index: indexRows('still') }));
  const before = await physicalRows('still');
  await store.write(maple, resourceWrite('still', 1, { note: 'other text', index: indexRows('still') }));
  assert.deepEqual(await physicalRows('still'), before);
});

const oneOfEachKind: readonly (readonly [string, Partial<IndexRows>])[] = [
  ['token', { tokenCode: ['new code', indexRows('part').tokenCode[1] ?? ''] }],
  ['reference', { referenceTargetType: [6] }],
  ['date', { dateHi: ['4611686018427387904'] }],
  ['string', { stringOriginal: ['VALUE PART'] }],
  ['number', { numberHi: ['99'] }],
];

for (const [kind, change] of oneOfEachKind) {
  test(`an update of one ${kind} deletes one row, inserts one, and leaves the others where they are`, async () => {
    const id = `part-${kind}`;
    const next = changed(indexRows('part'), change);
    await store.write(maple, resourceWrite(id, 0, { index: indexRows('part') }));
    const before = await physicalRows(id);
    await store.write(maple, resourceWrite(id, 1, { index: next }));
    const after = await physicalRows(id);
    assert.deepEqual(names(after), expectedRows(next));
    const kept = names(before).filter((name) => after.has(name));
    assert.equal(kept.length, before.size - 1);
    for (const name of kept) assert.equal(after.get(name), before.get(name), name);
  });
}

test('rows of another resource stay when one resource drops the same values', async () => {
  for (const id of ['left', 'right']) await store.write(maple, resourceWrite(id, 0, { index: indexRows('both') }));
  const before = await physicalRows('right');
  await store.write(maple, resourceWrite('left', 1));
  assert.deepEqual(names(await physicalRows('left')), []);
  assert.deepEqual(await physicalRows('right'), before);
});

test('a delete removes all rows, a revival inserts its own', async () => {
  await store.write(maple, resourceWrite('mortal', 0, { index: indexRows('before') }));
  await store.write(maple, resourceDelete('mortal', 1));
  assert.deepEqual(names(await physicalRows('mortal')), []);
  await store.write(maple, resourceWrite('mortal', 2, { index: indexRows('after') }));
  assert.deepEqual(names(await physicalRows('mortal')), expectedRows(indexRows('after')));
});

test('rows that the database holds equal are stored once, in creates and in updates', async () => {
  const twice: IndexRows = {
    ...makeIndexRows(),
    tokenParam: [1, 1, 1],
    tokenSystem: ['0', '0', '5'],
    tokenCode: ['same', 'same', 'same'],
    stringParam: [2, 2],
    stringValue: ['\ud800', '\udfff'],
    stringOriginal: ['', ''],
    numberParam: [3, 3, 3, 3],
    numberLo: ['0.1', '0.10', '0.1000000000000000000001', '1e400'],
    numberHi: ['1', '1', '1', 'Infinity'],
    numberSystem: ['0', '0', '0', '0'],
    numberCode: ['', '', '', ''],
  };
  const once = [
    'index_number|3|0.1|1|0|',
    'index_number|3|Infinity|Infinity|0|',
    'index_string|2|\ufffd|',
    'index_token|1|0|same',
    'index_token|1|5|same',
  ];
  await store.write(maple, resourceWrite('repeating', 0, { index: twice }));
  assert.deepEqual(names(await physicalRows('repeating')), once);
  const before = await physicalRows('repeating');
  await store.write(maple, resourceWrite('repeating', 1, { index: twice }));
  assert.deepEqual(await physicalRows('repeating'), before);
});

test('keys of the longest values that search makes fit the index', async () => {
  const long = incompressible(1000);
  const rows: IndexRows = {
    ...makeIndexRows(),
    tokenParam: [1],
    tokenSystem: ['9'],
    tokenCode: [long],
    referenceParam: [2],
    referenceTargetType: [0],
    referenceTargetId: [long],
    stringParam: [3],
    stringValue: [long],
    stringOriginal: [incompressible(1000)],
    numberParam: [4],
    numberLo: ['1'],
    numberHi: ['1'],
    numberSystem: ['9'],
    numberCode: [long],
  };
  await store.write(maple, resourceWrite('long', 0, { index: rows }));
  assert.deepEqual(names(await physicalRows('long')), expectedRows(rows));
});

test('a resource with thousands of index rows is updated in time that grows with their number only', async () => {
  const members = 5000;
  const group = (last: string): IndexRows => ({
    ...makeIndexRows(),
    referenceParam: Array.from({ length: members }, () => 7),
    referenceTargetType: Array.from({ length: members }, () => 100),
    referenceTargetId: Array.from({ length: members }, (_, index) =>
      index === members - 1 ? last : `member-${index}`,
    ),
  });
  await store.write(maple, resourceWrite('group', 0, { type: 'Group', index: group('a') }));
  const before = await physicalRows('group');
  const startMs = performance.now();
  await store.write(maple, resourceWrite('group', 1, { type: 'Group', index: group('b') }));
  // Comparing each with each would take seconds.
  assert.ok(performance.now() - startMs < 1000, `${performance.now() - startMs} ms`);
  const after = await physicalRows('group');
  assert.deepEqual(
    [...before].filter(([name, place]) => after.get(name) !== place).map(([name]) => name),
    ['index_reference|7|100|a'],
  );
  assert.equal(after.size, members);
  await store.write(maple, { ...resourceDelete('group', 2), type: 'Group' });
  assert.equal((await physicalRows('group')).size, 0);
});

test('columns of different lengths are refused before anything is sent', async () => {
  const before = await everything(owner);
  const torn = changed(indexRows('torn'), { tokenCode: ['only one'] });
  await assert.rejects(store.write(maple, resourceWrite('torn', 0, { index: torn })), TypeError);
  assert.deepEqual(await everything(owner), before);
});
