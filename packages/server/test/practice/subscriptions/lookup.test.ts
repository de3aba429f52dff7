// Subscriptions are found by a value that they name: whatever they ask, they are told what a search finds, and nothing else.
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../../support/service.ts';
import {
  openReceiver,
  openSubscriptionService,
  type Receiver,
  settle,
  statusOf,
  subscribe,
  topicBase,
} from './world.ts';

const service = await openSubscriptionService({ after });
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);

const mrn = 'http://example.org/mrn';
await caller.send('PUT', 'Practitioner/doctor', { resourceType: 'Practitioner', id: 'doctor' });

/** What criteria may name, and where they name no value as a whole. */
const criteria: readonly string[] = [
  `Patient?identifier=${mrn}|7`,
  'Patient?identifier=7',
  `Patient?identifier=${mrn}|`,
  'Patient?identifier=|7',
  'Patient?gender=male,other',
  'Patient?gender:not=male',
  'Patient?gender=female&birthdate=ge1980-01-01',
  'Patient?birthdate=ge1980-01-01&active=true',
  'Patient?general-practitioner=Practitioner/doctor',
  'Patient?general-practitioner=doctor',
  `Patient?general-practitioner=${maple.base}/Practitioner/doctor`,
  'Patient?general-practitioner=Practitioner/nobody,Practitioner/doctor',
  'Patient?_id=known,other',
  'Patient?family:exact=Stone',
  'Patient?general-practitioner:missing=true',
  'Patient',
];

const identified = (system: string | undefined, value: string) => ({
  identifier: [{ ...(system === undefined ? {} : { system }), value }],
});
const written: readonly (readonly [id: string, body: object])[] = [
  ['known', patient('Stone', { gender: 'male', birthDate: '1980-01-01' })],
  ['mrn', patient('Rock', { ...identified(mrn, '7'), gender: 'female', birthDate: '1979-12-31' })],
  ['plain', patient('Rock', { ...identified(undefined, '7'), gender: 'other', active: true })],
  ['another', patient('Stone', { ...identified(mrn, '8'), gender: 'female', birthDate: '1990-01-01', active: true })],
  ['kept', patient('Slate', { generalPractitioner: [{ reference: 'Practitioner/doctor' }] })],
  ['whole', patient('Slate', { generalPractitioner: [{ reference: `${maple.base}/Practitioner/doctor` }] })],
  [
    'elsewhere',
    patient('Slate', { generalPractitioner: [{ reference: 'https://example.org/fhir/Practitioner/doctor' }] }),
  ],
];

test('criteria of R4 are told of what their search finds, however they are looked up', async () => {
  const receivers: { criteria: string; receiver: Receiver }[] = [];
  for (const each of criteria) {
    const receiver = await openReceiver({ after });
    await subscribe(service, caller, each, receiver.url);
    receivers.push({ criteria: each, receiver });
  }
  for (const [id, body] of written) {
    const before = receivers.map(({ receiver }) => receiver.received.length);
    const { status, text } = await caller.send('PUT', `Patient/${id}`, { ...body, id });
    assert.equal(status, 201, text);
    await settle(service);
    for (const [at, { criteria: asked, receiver }] of receivers.entries()) {
      const { json } = await caller.get(`${asked}${asked.includes('?') ? '&' : '?'}_count=100`);
      const isFound = (json.entry ?? []).some(({ resource }: { resource: { id: string } }) => resource.id === id);
      assert.equal(receiver.received.length - (before[at] ?? 0), isFound ? 1 : 0, `${asked}, ${id}`);
    }
  }
});

test('a topic tells who has named a value of a resource that loses it, or gets it', async () => {
  const receiver = await openReceiver({ after });
  const full = { payload: 'application/fhir+json', content: 'full-resource' };
  const filters = ['Patient?general-practitioner=Practitioner/doctor', 'Patient?active=true'];
  await subscribe(service, caller, `${topicBase}/patient-changed`, receiver.url, { ...full, filters });
  const doctors = { generalPractitioner: [{ reference: 'Practitioner/doctor' }] };
  for (const more of [{ active: true }, { ...doctors, active: true }, { ...doctors, active: false }, doctors, {}]) {
    await caller.send('PUT', 'Patient/moving', { ...patient('Moving', more), id: 'moving' });
    await settle(service);
  }
  const told = receiver.received.slice(1);
  assert.deepEqual(
    told.flatMap(({ json }) => json.entry.slice(1).map(({ request }: { request: object }) => request)),
    [
      { method: 'POST', url: 'Patient' },
      { method: 'DELETE', url: 'Patient/moving' },
    ],
  );
  assert.deepEqual(
    told.map((each) => statusOf(each)['events-since-subscription-start']),
    ['1', '2'],
  );
});
