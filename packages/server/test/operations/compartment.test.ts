/**
 * Searches inside a compartment (https://hl7.org/fhir/R4/http.html#vsearch, compartmentdefinition.html).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { compartments, getSearchParameters } from '@praxis/fhir';
import { batch, entry } from '../bundle/bundles.ts';
import { appointment, encounter, patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const callerWith = async (name: string, acl: readonly string[], firm = maple): Promise<Caller> =>
  openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const full = await callerWith('Full', ['acl/*']);
const foreign = await callerWith('Foreign', ['acl/*'], cedar);
const names = await callerWith('Names', ['acl/pat_s_name_dob_gen']);

const put = async (id: string, resource: Readonly<Record<string, unknown>>) => {
  const answer = await full.send('PUT', `${resource.resourceType}/${id}`, { ...resource, id });
  assert.equal(answer.status, 201, answer.text);
};
await put('stone', patient('Stone'));
await put('cobble', patient('Cobble', { link: [{ other: { reference: 'Patient/stone' }, type: 'seealso' }] }));
await put('quarry', { resourceType: 'Practitioner', name: [{ family: 'Quarry' }] });
await put('visit', encounter('Patient/stone', { participant: [{ individual: { reference: 'Practitioner/quarry' } }] }));
await put('other-visit', encounter('Patient/cobble'));
await put('booked', appointment('Patient/stone', '2026-06-01T10:00:00Z'));
// In the patient's compartment twice over, and once by what the patient did.
await put('asserted', {
  resourceType: 'AllergyIntolerance',
  clinicalStatus: {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
  },
  patient: { reference: 'Patient/stone' },
  asserter: { reference: 'Patient/stone' },
});
await put('told', {
  resourceType: 'AllergyIntolerance',
  clinicalStatus: {
    coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
  },
  patient: { reference: 'Patient/cobble' },
  asserter: { reference: 'Patient/stone' },
});

const ids = (answer: Answer): string[] => {
  assert.equal(answer.status, 200, answer.text);
  return (answer.json.entry ?? []).map((each: { resource: { id: string } }) => each.resource.id).sort();
};

test('denials: a search inside a compartment needs what the search needs', async () => {
  assert.equal((await names.get('Patient/stone/Encounter')).status, 403);
  const hidden = await names.get('Patient/stone/Patient');
  assert.equal(hidden.status, 403, 'link is not among the elements that may be read');
  assert.deepEqual(ids(await foreign.get('Patient/stone/Encounter')), []);
  assert.deepEqual(ids(await foreign.get('Patient/stone/Patient')), []);
  assert.equal((await fetch(`${maple.base}/Patient/stone/Encounter`)).status, 401);
});

test('one of the parameters that R4 lists has to lead to the owner', async () => {
  assert.deepEqual(ids(await full.get('Patient/stone/Encounter')), ['visit']);
  assert.deepEqual(ids(await full.get('Patient/stone/AllergyIntolerance')), ['asserted', 'told']);
  assert.deepEqual(ids(await full.get('Patient/cobble/AllergyIntolerance')), ['told']);
  assert.deepEqual(ids(await full.get('Practitioner/quarry/Encounter')), ['visit']);
  assert.deepEqual(ids(await full.get('Patient/never/Encounter')), []);
});

test('the owner is in its own compartment', async () => {
  assert.deepEqual(ids(await full.get('Encounter/visit/Encounter')), ['visit']);
  assert.deepEqual(ids(await full.get('Patient/stone/Patient')), ['cobble', 'stone']);
  assert.deepEqual(ids(await full.get('Practitioner/quarry/Practitioner')), ['quarry']);
});

test('parameters narrow it, links stay inside it, by GET, by form and in a batch', async () => {
  const first = await full.get('Patient/stone/AllergyIntolerance?_count=1&patient=Patient/stone,Patient/cobble');
  const next = first.json.link.find(({ relation }: { relation: string }) => relation === 'next').url;
  assert.ok(next.startsWith(`${maple.base}/Patient/stone/AllergyIntolerance?`));
  assert.deepEqual([...ids(first), ...ids(await full.get(next))].sort(), ['asserted', 'told']);
  const elsewhere = next.replace('/Patient/stone/', '/Patient/cobble/');
  assert.equal((await full.get(elsewhere)).json.issue[0].details.coding[0].code, 'cursor-invalid');
  assert.deepEqual(ids(await full.get('Patient/stone/AllergyIntolerance?patient=Patient/cobble')), ['told']);
  const form = await full.send('POST', 'Patient/stone/AllergyIntolerance/_search', 'patient=Patient/cobble', {
    'content-type': 'application/x-www-form-urlencoded',
  });
  assert.deepEqual(ids(form), ['told']);
  const [inBatch] = (await full.send('POST', '', batch(entry('GET', 'Patient/stone/Encounter')))).json.entry;
  assert.equal(inBatch.resource.entry[0].resource.id, 'visit');
});

test('what is in no compartment, or owns none, is 404; methods are 405', async () => {
  const answer = await full.get('Patient/stone/Location');
  assert.equal(answer.status, 404);
  assert.equal(answer.json.issue[0].diagnostics, 'Location is not in the compartment of Patient in FHIR R4');
  for (const path of ['Location/x/Patient', 'Patient/stone/Encounter/visit', 'Patient/stone/Encounter/_search/x']) {
    assert.equal((await full.get(path)).status, 404, path);
  }
  assert.equal((await full.send('POST', 'Patient/stone/Encounter', encounter('Patient/stone'))).status, 405);
});

test('the CapabilityStatement names the compartments', async () => {
  const [rest] = (await full.get('metadata')).json.rest;
  const ids = ['device', 'encounter', 'patient', 'practitioner', 'relatedPerson'];
  assert.deepEqual(
    rest.compartment,
    ids.map((id) => `http://hl7.org/fhir/CompartmentDefinition/${id}`),
  );
});

test("every parameter of R4's compartments is one that its type is searched by", () => {
  assert.deepEqual([...compartments.keys()], ['Device', 'Encounter', 'Patient', 'Practitioner', 'RelatedPerson']);
  for (const [owner, types] of compartments) {
    for (const [type, codes] of types) {
      for (const code of codes) {
        assert.equal(getSearchParameters(type).get(code)?.type, 'reference', `${owner}: ${type}.${code}`);
      }
    }
  }
});
