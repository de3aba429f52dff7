/**
 * The rows that resources leave in the index tables: a set, bounded in size, the same for the same resource.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '@praxis/fhir';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { boundKey, boundPrefix, keyBytesMax } from '../../src/search/index/bounded-key.ts';
import { type IndexRows, indexResource, makeIndexRows } from '../../src/search/index/index-rows.ts';
import {
  computeFirmParameterNumber,
  computeParameterNumber,
  computeSystemNumber,
  getTypeNumber,
} from '../../src/search/numbers.ts';
import { officialExamples } from './official-examples.ts';
import { baseUrl, timeZone } from './world.ts';

const index = async (resource: JsonObject): Promise<IndexRows> =>
  await indexResource(
    String(resource['resourceType']),
    resource,
    { timeZone, baseUrl, searchParameters: [], characters: 0 },
    openOperatorBudget(),
  );

test('a small patient, row by row', async () => {
  const rows = await index({
    resourceType: 'Patient',
    id: 'p',
    active: true,
    name: [{ family: 'Carreno Quinones', given: ['Eve'] }],
    birthDate: '1970-06-01',
    generalPractitioner: [{ reference: `${baseUrl}/Practitioner/d1/_history/3` }],
    managingOrganization: { identifier: { system: 'http://acme.org', value: 'ORG1' } },
  });
  const number = (code: string): number => computeParameterNumber('Patient', code);
  const of = (code: string, params: readonly number[], ...columns: readonly (readonly unknown[])[]): unknown[][] =>
    params.flatMap((param, row) => (param === number(code) ? [columns.map((column) => column[row])] : []));
  assert.deepEqual(of('active', rows.tokenParam, rows.tokenSystem, rows.tokenCode), [['0', 'true']]);
  assert.deepEqual(of('family', rows.stringParam, rows.stringValue, rows.stringOriginal), [
    ['carreno quinones', 'Carreno Quinones'],
    ['quinones', ''],
  ]);
  assert.deepEqual(of('name', rows.stringParam, rows.stringValue, rows.stringOriginal), [
    ['carreno quinones', 'Carreno Quinones'],
    ['eve', 'Eve'],
    ['quinones', ''],
    ['eve carreno quinones', ''],
  ]);
  // The first of June 1970 in New York, at UTC-4.
  assert.deepEqual(of('birthdate', rows.dateParam, rows.dateLo, rows.dateHi), [
    [13_060_800_000_000, 13_147_200_000_000],
  ]);
  assert.deepEqual(of('general-practitioner', rows.referenceParam, rows.referenceTargetType, rows.referenceTargetId), [
    [getTypeNumber('Practitioner'), 'd1'],
    [getTypeNumber('Practitioner'), 'd1/_history/3'],
  ]);
  assert.deepEqual(of('organization', rows.referenceParam, rows.referenceTargetType, rows.referenceTargetId), [
    [0, ''],
  ]);
  const identifier = rows.tokenParam.indexOf(computeParameterNumber('Patient', 'organization', 'identifier'));
  assert.deepEqual(
    [rows.tokenSystem[identifier], rows.tokenCode[identifier]],
    [computeSystemNumber('http://acme.org'), 'org1'],
  );
});

test('a string parameter of a firm reads the text of concepts and the display of codings', async () => {
  const definition = {
    code: 'kind',
    type: 'string',
    base: ['Encounter'],
    expression: 'Encounter.class | Encounter.type',
    description: 'Kind',
  };
  const own = { id: 7, url: 'http://example.org/SearchParameter/kind', definition, complete: true, failed: false };
  const rows = await indexResource(
    'Encounter',
    {
      resourceType: 'Encounter',
      class: { code: 'AMB', display: 'Ambulatory' },
      type: [{ text: 'Check-up', coding: [{ code: 'C', display: 'Control' }] }],
    },
    { timeZone, baseUrl, searchParameters: [own], characters: 100 },
    openOperatorBudget(),
  );
  const number = computeFirmParameterNumber('Encounter', own.id);
  assert.deepEqual(
    rows.stringOriginal.filter((_text, row) => rows.stringParam[row] === number),
    ['Ambulatory', 'Check-up'],
  );
});

test('moments beyond what a number holds exactly are text', async () => {
  const rows = await index({ resourceType: 'Patient', id: 'p', birthDate: '9999-12-31' });
  assert.deepEqual([rows.dateLo, rows.dateHi], [['253402232400000000'], ['253402318800000000']]);
});

test('no resource leaves the same row twice, and columns have one length', async () => {
  for (const example of officialExamples()) {
    const rows = await index(example);
    const tables = [
      [rows.tokenParam, rows.tokenSystem, rows.tokenCode],
      [rows.referenceParam, rows.referenceTargetType, rows.referenceTargetId],
      [rows.dateParam, rows.dateLo, rows.dateHi],
      [rows.stringParam, rows.stringValue, rows.stringOriginal],
      [rows.numberParam, rows.numberLo, rows.numberHi, rows.numberSystem, rows.numberCode],
    ] as const;
    for (const columns of tables) {
      const [first] = columns;
      assert.ok(columns.every((column) => column.length === first.length));
      const texts = first.map((_, row) => columns.map((column) => String(column[row])).join('\n'));
      assert.equal(new Set(texts).size, texts.length, `${example['resourceType']}/${example['id']}`);
    }
  }
});

test('the rows of a type without values are none', async () => {
  assert.deepEqual(await index({ resourceType: 'Basic', id: 'b' }), makeIndexRows());
});

test('a list of thousands of entries is indexed in linear time, each entry once', async () => {
  const entry = Array.from({ length: 20_000 }, (_, n) => ({ item: { reference: `Patient/${n % 10_000}` } }));
  const startMs = performance.now();
  const rows = await index({ resourceType: 'List', id: 'l', status: 'current', mode: 'working', entry });
  assert.ok(performance.now() - startMs < 1000);
  const item = computeParameterNumber('List', 'item');
  assert.equal(rows.referenceParam.filter((param) => param === item).length, 10_000);
});

test('keys are bounded, equal for equal values and different for different ones', () => {
  assert.equal(boundKey('short'), 'short');
  assert.equal(boundKey('a\0b'), 'ab');
  const long = 'é'.repeat(600);
  const key = boundKey(long);
  assert.ok(Buffer.byteLength(key) <= keyBytesMax);
  assert.equal(boundKey(long), key);
  assert.notEqual(boundKey(`${long}x`), key);
  assert.ok(key.startsWith(boundPrefix(long)));
  assert.ok(!key.includes('\ufffd'));
  const emoji = `${'a'.repeat(899)}😀${'b'.repeat(200)}`;
  assert.ok(!boundKey(emoji).includes('\ufffd'));
  assert.equal(boundKey('x'.repeat(keyBytesMax)), 'x'.repeat(keyBytesMax));
});
