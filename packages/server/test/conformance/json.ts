/** https://hl7.org/fhir/R4/json.html */
import assert from 'node:assert/strict';
import { patient } from '../support/records.ts';
import { type Clause, type Page, shall, shallNot } from './clause.ts';

const clauses: readonly Clause[] = [
  shall('json-base-1', '2.6.2', 'Names of properties are unique', async ({ send }) => {
    for (const body of [
      '{"resourceType":"Patient","active":true,"active":true}',
      '{"resourceType":"Patient","name":[{"family":"One","family":"Two"}]}',
      '{"resourceType":"Patient","resourceType":"Patient"}',
    ]) {
      const { status, json } = await send('POST', 'Patient', body);
      assert.deepEqual([status, json.resourceType], [400, 'OperationOutcome'], body);
    }
  }),
  shall(
    'json-base-2',
    '2.6.2',
    'An element that is present has properties of its type or extensions',
    async ({ create, get, send, unique }) => {
      for (const part of [
        '"name":[{}]',
        '"name":[]',
        '"maritalStatus":{}',
        '"_birthDate":{}',
        '"birthDate":""',
        '"active":null',
      ]) {
        const { status } = await send('POST', 'Patient', `{"resourceType":"Patient",${part}}`);
        assert.equal(status, 400, part);
      }
      const extension = [{ url: 'http://hl7.org/fhir/StructureDefinition/data-absent-reason', valueCode: 'unknown' }];
      const { id } = await create({ ...patient(unique()), _birthDate: { extension } });
      assert.deepEqual((await get(`Patient/${id}`)).json._birthDate, { extension });
    },
  ),
  shallNot('json-base-3', '2.6.2', 'Comments stand in no JSON instance', async ({ create, get, send, unique }) => {
    for (const body of ['{"resourceType":"Patient" /* a */}', '// a\n{"resourceType":"Patient"}']) {
      assert.equal((await send('POST', 'Patient', body)).status, 400, body);
    }
    const { id } = await create({ ...patient(unique()), implicitRules: 'http://example.org/rules' });
    for (const query of ['', '?_pretty=true']) {
      const { text } = await get(`Patient/${id}${query}`);
      assert.doesNotMatch(text.replaceAll(/"(?:[^"\\]|\\.)*"/g, ''), /\/[/*]/);
    }
  }),
  shall('json-xml-1', 'xml', 'The order of arrays is kept', async ({ create, get, unique }) => {
    const given = ['Zoe', 'Ann', 'Mia', 'Ann', 'Bea'];
    const { id } = await create({ resourceType: 'Patient', name: [{ family: unique(), given }, { family: 'Second' }] });
    const { json } = await get(`Patient/${id}`);
    assert.deepEqual([json.name[0].given, json.name[1].family], [given, 'Second']);
    const xml = await get(`Patient/${id}`, { accept: 'application/fhir+xml' });
    assert.deepEqual(
      [...xml.text.matchAll(/<given value="(\w+)"/g)].map((match) => match[1]),
      given,
    );
  }),
  shall(
    'json-xml-2',
    'xml',
    'XHTML is one escaped string that keeps the rules of narratives',
    async ({ create, get, send, unique }) => {
      const text = (inner: string) => ({
        text: { status: 'additional', div: `<div xmlns="http://www.w3.org/1999/xhtml">${inner}</div>` },
      });
      const good = { ...patient(unique()), ...text('<p class="x">A "quoted" &amp; <b>bold</b> word</p>') };
      const { id } = await create(good);
      assert.deepEqual((await get(`Patient/${id}`)).json.text, good.text);
      for (const inner of ['<p>open', '<script>x()</script>', '<p onclick="x()">x</p>', '<iframe src="x"/>', '']) {
        const { status, json } = await send('POST', 'Patient', { ...patient(unique()), ...text(inner) });
        assert.ok([400, 422].includes(status), inner);
        assert.match(json.issue[0].expression[0], /^Patient\.text/);
      }
    },
  ),
];

export const json: Page = {
  name: 'json',
  title: 'JSON representation',
  url: 'https://hl7.org/fhir/R4/json.html',
  clauses,
};
