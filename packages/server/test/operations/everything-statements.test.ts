/** What `Patient/$everything` sends to the database: searches of the types that the patient has, and none of the sixty others. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openRecordedService } from '../support/recorded-service.ts';
import { appointment, encounter, patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../support/service.ts';

const sent: string[] = [];
const service = await openRecordedService({ after }, (_firm, { text }) => sent.push(text));
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const searches = (): number => sent.filter((text) => text.includes('page AS MATERIALIZED')).length;

const listed = async (path: string): Promise<readonly string[]> => {
  sent.length = 0;
  const { status, json, text } = await caller.get(path);
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(({ resource }: { resource: { resourceType: string } }) => resource.resourceType);
};

async function create(type: string, resource: object): Promise<void> {
  const { status, text } = await caller.send('POST', type, resource);
  assert.equal(status, 201, text);
}

test('a patient with two types takes a search for each, one for the patient, and one that finds where the page begins', async () => {
  await caller.send('PUT', 'Patient/stone', { ...patient('Stone'), id: 'stone' });
  await caller.send('PUT', 'Patient/alone', { ...patient('Alone'), id: 'alone' });
  for (const day of ['2027-03-01', '2027-03-02'])
    await create('Appointment', appointment('Patient/stone', `${day}T10:00:00Z`));
  await create('Encounter', encounter('Patient/stone'));

  assert.deepEqual(await listed('Patient/stone/$everything'), ['Patient', 'Appointment', 'Appointment', 'Encounter']);
  assert.equal(searches(), 4);

  assert.deepEqual(await listed('Patient/alone/$everything'), ['Patient']);
  assert.equal(searches(), 2);
});

test('a resource that is new is found by the next request', async () => {
  await create('Encounter', encounter('Patient/alone'));
  assert.deepEqual(await listed('Patient/alone/$everything'), ['Patient', 'Encounter']);
});
