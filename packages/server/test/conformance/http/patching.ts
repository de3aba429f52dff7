/** https://hl7.org/fhir/R4/http.html#patch */
import assert from 'node:assert/strict';
import { patient } from '../../support/records.ts';
import type { Answer } from '../../support/service.ts';
import { type Clause, forClients, shall, should } from '../clause.ts';
import type { World } from '../world.ts';

const jsonPatch = { 'content-type': 'application/json-patch+json' };

/** A FHIRPath Patch of one operation. */
function fhirPathPatch(type: string, path: string, value: object): object {
  const part = [{ name: 'type', valueCode: type }, { name: 'path', valueString: path }, value];
  return { resourceType: 'Parameters', parameter: [{ name: 'operation', part }] };
}

function rename({ send }: World, path: string, family: string, headers = {}): Promise<Answer> {
  return send('PATCH', path, [{ op: 'replace', path: '/name/0/family', value: family }], { ...jsonPatch, ...headers });
}

const narrative = (words: string, status = 'generated') => ({
  text: { status, div: `<div xmlns="http://www.w3.org/1999/xhtml"><p>${words}</p></div>` },
});

export const patching: readonly Clause[] = [
  shall(
    'http-patch-1',
    'patch',
    'A patch is a JSON Patch, an XML Patch or a FHIRPath Patch, told by its media type',
    async ({ create, get, send, unique }) => {
      const { id } = await create(patient(unique()));
      const path = `Patient/${id}`;
      const active = [{ op: 'add', path: '/active', value: true }];
      assert.equal((await send('PATCH', path, active, jsonPatch)).status, 200);
      const inactive = fhirPathPatch('replace', 'Patient.active', { name: 'value', valueBoolean: false });
      assert.equal((await send('PATCH', path, inactive)).status, 200);
      assert.equal((await get(path)).json.active, false);
      for (const type of ['text/plain', 'application/merge-patch+json', 'application/xml-patch+xml']) {
        assert.equal((await send('PATCH', path, '{}', { 'content-type': type })).status, 415, type);
      }
    },
  ),
  shall(
    'http-patch-2',
    'patch',
    'The operations of a patch are applied in order to the resource of the server, all or none',
    async ({ create, get, send, unique }) => {
      const { id } = await create({ ...patient(unique()), active: true });
      const good = [
        { op: 'test', path: '/active', value: true },
        { op: 'copy', from: '/name/0', path: '/name/1' },
        { op: 'replace', path: '/name/1/family', value: 'Copy' },
        { op: 'remove', path: '/name/0' },
      ];
      assert.equal((await send('PATCH', `Patient/${id}`, good, jsonPatch)).status, 200);
      const { json } = await get(`Patient/${id}`);
      assert.deepEqual([json.name, json.active], [[{ family: 'Copy' }], true]);
      const bad = [
        { op: 'remove', path: '/name' },
        { op: 'test', path: '/active', value: false },
      ];
      const refused = await send('PATCH', `Patient/${id}`, bad, jsonPatch);
      assert.ok(refused.status >= 400 && refused.status < 500, refused.text);
      assert.deepEqual((await get(`Patient/${id}`)).json, json);
    },
  ),
  shall('http-patch-3', 'patch', 'A patch is refused with If-Match of another version', async (world) => {
    const { id, meta } = await world.create(patient(world.unique()));
    const current = { 'if-match': `W/"${meta.versionId}"` };
    assert.equal((await rename(world, `Patient/${id}`, 'Second', current)).status, 200);
    assert.equal((await rename(world, `Patient/${id}`, 'Third', current)).status, 412);
    assert.equal((await world.get(`Patient/${id}`)).json.name[0].family, 'Second');
  }),
  should('http-patch-4', 'patch', 'Clients patch the version that they know', forClients),
  should(
    'http-patch-5',
    'patch',
    'A patch finds its resource by criteria: none is 404, one is patched, several are 412',
    async (world) => {
      const [none, one, several] = [world.unique(), world.unique(), world.unique()];
      const of = (value: string) => ({ ...patient('Stone'), identifier: [{ system: 'urn:example:mrn', value }] });
      const { id } = await world.create(of(one));
      for (const _ of [1, 2]) await world.create(of(several));
      const by = (value: string) => rename(world, `Patient?identifier=urn:example:mrn|${value}`, 'Patched');
      assert.deepEqual([(await by(none)).status, (await by(one)).status, (await by(several)).status], [404, 200, 412]);
      assert.equal((await world.get(`Patient/${id}`)).json.name[0].family, 'Patched');
    },
  ),
  shall('http-patch-6', 'patch', 'No patch leaves a narrative that says what is no longer so', async (world) => {
    const family = world.unique();
    const { id } = await world.create({ ...patient(family), ...narrative(family) });
    assert.equal((await rename(world, `Patient/${id}`, 'Patched')).status, 200);
    const { json } = await world.get(`Patient/${id}`);
    assert.equal(json.name[0].family, 'Patched');
    assert.equal(JSON.stringify(json).includes(family), false);
    const written = await world.create({ ...patient(family), ...narrative(family, 'additional') });
    const answer = await rename(world, `Patient/${written.id}`, 'Patched');
    const after = await world.get(`Patient/${written.id}`);
    assert.equal(answer.status >= 400 || !after.text.includes(family), true, after.text);
  }),
  shall('http-patch-7', 'patch', 'Namespaces of an XML Patch are handled', {
    notApplicable: 'XML Patch is not offered: 415; CapabilityStatement.patchFormat lists what is',
  }),
];
