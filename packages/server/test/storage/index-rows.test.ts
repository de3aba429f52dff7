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

for (const [kind, change] of oneOfEachKind) {
  test(`an update of one ${kind} that brings the rows before sends what differs, and leaves the others where they are`, async () => {
    const id = `brought-${kind}`;
    const [first, next] = [indexRows('part'), changed(indexRows('part'), change)];
    await store.write(maple, resourceWrite(id, 0, { index: first, indexRules: 7 }));
    const before = await physicalRows(id);
    await store.write(maple, resourceWrite(id, 1, { index: next, indexRules: 7, indexBefore: first }));
    const after = await physicalRows(id);
    assert.deepEqual(names(after), expectedRows(next));
    const kept = names(before).filter((name) => after.has(name));
    assert.equal(kept.length, before.size - 1);
    for (const name of kept) assert.equal(after.get(name), before.get(name), name);
    await store.write(maple, resourceWrite(id, 2, { index: makeIndexRows(), indexRules: 7, indexBefore: next }));
    assert.deepEqual(names(await physicalRows(id)), []);
    await store.write(maple, resourceWrite(id, 3, { index: first, indexRules: 7, indexBefore: makeIndexRows() }));
    assert.deepEqual(names(await physicalRows(id)), expectedRows(first));
  });
}

const rulesBefore: readonly (readonly [string, number | undefined])[] = [
  ['other rules', 6],
  ['rules that nobody can tell', undefined],
];

for (const [what, rules] of rulesBefore) {
  test(`where the rows before were made by ${what}, the database compares all of them`, async () => {
    const id = `by-${rules}`;
    const stored = changed(indexRows('stored'), { tokenCode: ['made', 'differently'] });
    const next = indexRows('next');
    await store.write(
      maple,
      resourceWrite(id, 0, { index: stored, ...(rules !== undefined && { indexRules: rules }) }),
    );
    const supposed = { index: next, indexRules: 7, indexBefore: indexRows('stored') };
    assert.deepEqual(await store.write(maple, resourceWrite(id, 1, supposed)), { outcome: 'written', versionId: 2 });
    assert.deepEqual(names(await physicalRows(id)), expectedRows(next));
    const { versions } = await store.history(maple, 'Patient', id, { limit: 10 });
    assert.deepEqual(
      versions.map(({ versionId }) => versionId),
      [2, 1],
    );
    await store.write(maple, resourceWrite(id, 2, { index: stored, indexRules: 7, indexBefore: next }));
    assert.deepEqual(names(await physicalRows(id)), expectedRows(stored));
  });
}

test('a write that brings the rows before and expects another version is a conflict, and changes no row', async () => {
  await store.write(maple, resourceWrite('overtaken', 0, { index: indexRows('a'), indexRules: 7 }));
  await store.write(maple, resourceWrite('overtaken', 1, { index: indexRows('b'), indexRules: 7 }));
  const before = await physicalRows('overtaken');
  const late = { index: indexRows('c'), indexRules: 7, indexBefore: indexRows('a') };
  assert.deepEqual(await store.write(maple, resourceWrite('overtaken', 1, late)), {
    outcome: 'conflict',
    currentVersion: 2,
  });
  assert.deepEqual(await physicalRows('overtaken'), before);
});

test('in a transaction and in a batch the rows are right as well, also where a resource occurs twice', async () => {
  const [a, b, c] = [indexRows('a'), indexRows('b'), indexRows('c')];
  await store.write(maple, resourceWrite('alone', 0, { index: a, indexRules: 7 }));
  await store.write(maple, resourceWrite('unknown', 0, { index: a }));
  const writes = [
    resourceWrite('alone', 1, { index: b, indexRules: 7, indexBefore: a }),
    resourceWrite('unknown', 1, { index: b, indexRules: 7, indexBefore: c }),
    resourceWrite('twice', 0, { index: a, indexRules: 7 }),
    resourceWrite('twice', 1, { index: b, indexRules: 7, indexBefore: a }),
  ];
  const outcomes = await store.transaction(maple, (inside) => inside.writeMany(maple, writes));
  assert.deepEqual(
    outcomes.map((outcome) => outcome.outcome === 'written' && outcome.versionId),
    [2, 2, 1, 2],
  );
  for (const id of ['alone', 'unknown', 'twice']) assert.deepEqual(names(await physicalRows(id)), expectedRows(b), id);
  const more = ['alone', 'unknown', 'twice'].map((id) =>
    resourceWrite(id, 2, { index: c, indexRules: 7, indexBefore: id === 'unknown' ? a : b }),
  );
  await store.writeMany(maple, more);
  for (const id of ['alone', 'unknown', 'twice']) assert.deepEqual(names(await physicalRows(id)), expectedRows(c), id);
});

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
