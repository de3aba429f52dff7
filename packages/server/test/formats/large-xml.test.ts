/** Large answers in XML are written in slices, and are what small ones are. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { parseJson, parseXml, toXml } from '@praxis/fhir';
import { makeMany } from '../../src/base/worst-case.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const caller = await openCaller(service, await makeApplication(service, 'Large', ['acl/*'], [maple]), maple);
const other = await openCaller(service, await makeApplication(service, 'Small', ['acl/*'], [cedar]), cedar);
const xml = { accept: 'application/fhir+xml' };

/** Of 1.8 million characters, with whatever a text in XML spells in another way. */
function observation(version: number): object {
  return {
    resourceType: 'Observation',
    id: 'large',
    status: 'final',
    code: { text: `Version ${version}` },
    component: makeMany(9_000, (number) => ({
      code: { coding: [{ system: 'http://loinc.org', code: `c${number % 300}`, display: `<${number}> & "é"\t` }] },
      valueQuantity: { value: number % 300, system: 'http://unitsofmeasure.org', code: 'mg' },
      ...(number % 10 === 0
        ? { extension: [{ url: 'http://example.org/a', valueDecimal: 1, _valueDecimal: { id: 'd' } }] }
        : {}),
    })),
  };
}

for (const version of [1, 2, 3, 4]) {
  const { status, text } = await caller.send('PUT', 'Observation/large', observation(version));
  assert.equal(status, version === 1 ? 201 : 200, text.slice(0, 1_000));
}

test('another firm does not get it', async () => {
  for (const path of ['Observation/large', 'Observation/large/_history', 'Observation/large/_history/1'])
    assert.equal((await other.get(path, xml)).status, 404, path);
});

test('a large resource is written as the same JSON is, byte for byte', async () => {
  const { text: json } = await caller.get('Observation/large');
  const { text, headers } = await caller.get('Observation/large', xml);
  const resource = parseJson(json) as Parameters<typeof toXml>[0];
  assert(text === toXml(resource));
  assert.equal(headers.get('content-type'), 'application/fhir+xml; charset=utf-8');
  // Too long to be laid out.
  assert((await caller.get('Observation/large?_pretty=true', xml)).text === text);
});

test('one that is laid out is written so as well', async () => {
  const name = makeMany(8_000, (number) => ({ family: `Family ${number % 90}` }));
  assert.equal((await caller.send('PUT', 'Patient/names', { resourceType: 'Patient', id: 'names', name })).status, 201);
  const { text: json } = await caller.get('Patient/names');
  const { text } = await caller.get('Patient/names?_pretty=true', xml);
  assert(text === toXml(parseJson(json) as Parameters<typeof toXml>[0], { pretty: true }));
});

test('a history of large versions has the entries that it has in JSON', async () => {
  const inXml = await caller.get('Observation/large/_history', xml);
  assert.equal(inXml.status, 200);
  const { entry, type, total } = parseXml(inXml.text);
  const { json } = await caller.get('Observation/large/_history');
  assert.equal(json.entry.length, 4);
  assert.deepEqual({ entry, type, total }, { entry: json.entry, type: json.type, total: json.total });
});
