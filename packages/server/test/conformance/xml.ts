/** https://hl7.org/fhir/R4/xml.html */
import assert from 'node:assert/strict';
import { patient } from '../support/records.ts';
import type { Answer } from '../support/service.ts';
import { type Clause, type Page, shall, shallNot, should, shouldNot } from './clause.ts';
import type { World } from './world.ts';

const xmlType = { 'content-type': 'application/fhir+xml', accept: 'application/fhir+json' };

/** Creates a Patient of XML elements; `before` stands in front of the root. */
function post({ send }: World, elements: string, before = ''): Promise<Answer> {
  return send('POST', 'Patient', `${before}<Patient xmlns="http://hl7.org/fhir">${elements}</Patient>`, {
    ...xmlType,
    prefer: 'return=representation',
  });
}

async function assertRefused(world: World, elements: string, before = ''): Promise<void> {
  const { status, json } = await post(world, elements, before);
  assert.deepEqual([status, json.resourceType], [400, 'OperationOutcome'], `${before}${elements}`);
}

const asXml = async ({ get }: World, id: string) =>
  (await get(`Patient/${id}`, { accept: 'application/fhir+xml' })).text;

const clauses: readonly Clause[] = [
  shall('xml-base-1', '2.6.1', 'An element that is present has a value, children or extensions', async (world) => {
    for (const elements of [
      '<active/>',
      '<name/>',
      '<name><family/></name>',
      '<birthDate value=""/>',
      '<name></name>',
    ]) {
      await assertRefused(world, elements);
    }
    const reason =
      '<extension url="http://hl7.org/fhir/StructureDefinition/data-absent-reason"><valueCode value="unknown"/></extension>';
    const { status, json } = await post(world, `<birthDate>${reason}</birthDate>`);
    assert.deepEqual([status, json._birthDate.extension[0].valueCode], [201, 'unknown']);
  }),
  should('xml-base-2', '2.6.1', 'Values are trimmed before they are written', async (world) => {
    const { id } = await world.create({ ...patient(world.unique()), gender: 'female', birthDate: '2000-01-02' });
    const values = [...(await asXml(world, id)).matchAll(/ value="([^"]*)"/g)].map((match) => match[1] ?? '');
    assert.ok(values.length > 4);
    for (const value of values) assert.equal(value, value.trim());
  }),
  should('xml-base-3', '2.6.1', 'Values are trimmed when they are read', async (world) => {
    const { status, json, text } = await post(world, '<gender value=" female "/><birthDate value="\n2000-01-02 "/>');
    assert.equal(status, 201, text);
    assert.deepEqual([json.gender, json.birthDate], ['female', '2000-01-02']);
  }),
  shallNot('xml-base-4', '2.6.1', 'Resources refer to no DTD', async (world) => {
    for (const doctype of [
      '<!DOCTYPE Patient>',
      '<!DOCTYPE Patient SYSTEM "http://example.org/patient.dtd">',
      '<!DOCTYPE Patient [<!ENTITY x SYSTEM "file:///etc/passwd">]>',
    ]) {
      await assertRefused(world, '<active value="true"/>', doctype);
    }
    const { id } = await world.create(patient(world.unique()));
    assert.doesNotMatch(await asXml(world, id), /<!DOCTYPE/);
  }),
  shall('xml-base-5', '2.6.1', 'XML is exchanged in UTF-8', async (world) => {
    const family = 'Žluťoučký 🐎';
    const { json } = await post(
      world,
      `<name><family value="${family}"/></name>`,
      '<?xml version="1.0" encoding="UTF-8"?>',
    );
    assert.equal(json.name[0].family, family);
    assert.match(await asXml(world, json.id), new RegExp(`<family value="${family}"`));
    await assertRefused(world, '<active value="true"/>', '<?xml version="1.0" encoding="ISO-8859-1"?>');
    const { headers } = await world.get(`Patient/${json.id}`, { accept: 'application/fhir+xml' });
    assert.match(headers.get('content-type') ?? '', /^application\/fhir\+xml(?:; charset=utf-8)?$/i);
  }),
  shouldNot('xml-base-6', '2.6.1', 'Other processing instructions are not included', async (world) => {
    const { id } = await world.create(patient(world.unique()));
    const instructions = [...(await asXml(world, id)).matchAll(/<\?(\w+)/g)].map((match) => match[1]);
    assert.ok(instructions.every((name) => name === 'xml'));
  }),
  shallNot(
    'xml-base-7',
    '2.6.1',
    'Other processing instructions are not needed to understand a resource',
    async (world) => {
      const plain = await post(world, '<active value="true"/>');
      const marked = await post(world, '<?order by="name"?><active value="true"/>', '<?xml-stylesheet href="a.css"?>');
      assert.deepEqual([plain.status, marked.status, marked.json.active], [201, 201, plain.json.active]);
    },
  ),
  shall('xml-schema-1', 'schema', 'Exchanged XML is valid by the schemas', async (world) => {
    for (const elements of [
      '<birthDate value="2000-01-02"/><active value="true"/>',
      '<active value="yes"/>',
      '<active value="true"/><active value="false"/>',
      '<nonsense value="x"/>',
      '<gender value="male" system="x"/>',
      'words',
      '<name id="a b"><family value="x"/></name>',
      '<deceasedBoolean value="true"/><deceasedDateTime value="2020"/>',
    ]) {
      await assertRefused(world, elements);
    }
    await assertRefused(world, '<active xmlns="http://example.org" value="true"/>');
    const { id } = await world.create({ active: true, birthDate: '2000-01-02', ...patient(world.unique()) });
    const names = [...(await asXml(world, id)).matchAll(/<(id|meta|active|name|birthDate)[ >]/g)].map(
      (match) => match[1],
    );
    assert.deepEqual(names, ['id', 'meta', 'active', 'name', 'birthDate']);
  }),
  shallNot(
    'xml-schema-2',
    'schema',
    'Exchanged XML names no schema nor the namespace of schema instances',
    async (world) => {
      const { id } = await world.create(patient(world.unique()));
      assert.doesNotMatch(await asXml(world, id), /XMLSchema|schemaLocation/);
      const located =
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://hl7.org/fhir a.xsd"';
      const body = `<Patient xmlns="http://hl7.org/fhir" ${located}><active value="true"/></Patient>`;
      const sent = await world.send('POST', 'Patient', body, { ...xmlType, prefer: 'return=representation' });
      if (sent.status === 201) assert.doesNotMatch(await asXml(world, sent.json.id), /schemaLocation/);
      else assert.equal(sent.status, 400);
    },
  ),
];

export const xml: Page = {
  name: 'xml',
  title: 'XML representation',
  url: 'https://hl7.org/fhir/R4/xml.html',
  clauses,
};
