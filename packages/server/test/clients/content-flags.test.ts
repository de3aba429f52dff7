/** What the header Content-flag adds, by real HTTP: never more than the caller may read anyway, and nothing is stored. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { validateResource } from '@praxis/fhir';
import { appointment, patient } from '../support/records.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const caller = await openCaller(service, full, maple);
const atCedar = await openCaller(service, full, cedar);

const extensions = 'https://praxis.health/fhir/StructureDefinition';
const source = { url: `${extensions}/referral-source`, valueCodeableConcept: { text: 'Friend' } };
const referring = {
  url: `${extensions}/practitioner-type`,
  valueCodeableConcept: { coding: [{ code: 'ref' }] },
};
const name = { family: 'Sender', given: ['Sam'] };
const telecom = [{ system: 'phone', value: '555-0123' }];
const contact = [{ relationship: [{ text: 'Referral' }], name, telecom }];
const generalPractitioner = [{ reference: 'Practitioner/sender' }, { reference: 'Practitioner/own' }];

for (const at of [caller, atCedar])
  for (const resource of [
    { resourceType: 'Practitioner', id: 'sender', extension: [referring], name: [name], telecom },
    { resourceType: 'Practitioner', id: 'own', name: [{ family: 'House' }] },
    { ...patient('Stone', { extension: [source], generalPractitioner }), id: 'stone' },
    { ...appointment('Patient/stone', '2026-11-24T15:00:00Z'), id: 'visit' },
  ])
    assert.equal((await at.send('PUT', `${resource['resourceType']}/${resource['id']}`, resource)).status, 201);

const both = { 'content-flag': 'Referral, Universal_Id' };
const application = async (title: string, ...entries: readonly string[]) =>
  await openCaller(service, await makeApplication(service, title, entries, [maple]), maple);

/** The one match of a search. */
async function found(from: Caller, path: string, headers: Readonly<Record<string, string>> = both) {
  const { status, json, text } = await from.get(path, headers);
  assert.equal(status, 200, text);
  assert.equal(json.entry.length, 1);
  return json.entry[0].resource;
}

test('clients content-flag: elements that are hidden stay hidden, whatever flag is sent', async () => {
  const restricted = await application('Names', 'acl/pat_s_name_dob_gen');
  const path = 'Patient?family=Stone';
  assert.deepEqual(await found(restricted, path), await found(restricted, path, {}));
});

test('clients content-flag: who may not read practitioners or patients is told nothing of them', async () => {
  const patients = await application('Patients', 'acl/pat_r', 'acl/pat_s');
  const flagged = await found(patients, 'Patient?family=Stone');
  assert.equal(flagged.contact, undefined);
  const appointments = await application('Appointments', 'acl/appmt_r', 'acl/appmt_s');
  assert.deepEqual(
    await found(appointments, 'Appointment?_id=visit'),
    await found(caller, 'Appointment?_id=visit', {}),
  );
  const some = await application('Without practitioners', 'acl/appmt_r', 'acl/pat_r');
  const { json } = await some.get('Appointment/visit', both);
  assert.deepEqual([json.extension, json.supportingInformation], [[source], undefined]);
});

test('clients content-flag: Referral adds referring practitioners and the source to Patient and Appointment', async () => {
  const referral = { 'content-flag': 'Referral' };
  const { json: plain } = await caller.get('Patient/stone');
  const { json: read } = await caller.get('Patient/stone', referral);
  assert.deepEqual(read, { ...plain, contact });
  assert.deepEqual(await found(caller, 'Patient?family=Stone', referral), read);
  const { json: visit } = await caller.get('Appointment/visit');
  const { json: flagged } = await caller.get('Appointment/visit', referral);
  const supportingInformation = [{ reference: 'Practitioner/sender' }];
  assert.deepEqual(flagged, { ...visit, extension: [source], supportingInformation });
  assert.deepEqual(await found(caller, 'Appointment?_id=visit', referral), flagged);
  assert.deepEqual([...validateResource(read), ...validateResource(flagged)], []);
  assert.deepEqual((await caller.get('Patient/stone')).json, plain);
});

test('clients content-flag: Universal_Id adds a GUID that is the same for ever and of no other firm', async () => {
  const flag = { 'content-flag': 'Universal_Id' };
  const { json } = await caller.get('Patient/stone', flag);
  const [{ system, value }, ...others] = json.identifier;
  assert.deepEqual([system, others], ['urn:ietf:rfc:3986', []]);
  assert.match(value, /^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.deepEqual(validateResource(json), []);
  assert.deepEqual(await found(caller, 'Patient?family=Stone', flag), json);
  const { json: elsewhere } = await atCedar.get('Patient/stone', flag);
  assert.notEqual(elsewhere.identifier[0].value, value);
  const stored = await caller.send('PUT', 'Patient/stone', json);
  assert.equal(stored.status, 200, stored.text);
  assert.deepEqual((await caller.get('Patient/stone', flag)).json.identifier, [{ system, value }]);
});

test('clients content-flag: _elements and _summary leave out what is added, as anything else', async () => {
  for (const query of ['_elements=name', '_summary=text']) {
    const path = `Patient?family=Stone&${query}`;
    assert.deepEqual(await found(caller, path), await found(caller, path, {}), query);
  }
  assert.equal((await caller.send('POST', 'Patient', patient('Brook'))).status, 201);
  for (const query of ['_elements=identifier', '_summary=true', '_summary=data'])
    assert.equal((await found(caller, `Patient?family=Brook&${query}`)).identifier?.length, 1, query);
});
