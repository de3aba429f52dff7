/** What `Patient/$everything` sends to the database: one statement for a whole record; else searches of the types that the patient has. */
import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { openRecordedService } from '../support/recorded-service.ts';
import { appointment, encounter, patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../support/service.ts';

const sent: string[] = [];
const service = await openRecordedService({ after }, (_firm, { text }) => sent.push(text));
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const statements = (): number => sent.filter((text) => text.includes('FROM access_epoch e')).length;
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

before(async () => {
  await caller.send('PUT', 'Patient/stone', { ...patient('Stone'), id: 'stone' });
  await caller.send('PUT', 'Patient/alone', { ...patient('Alone'), id: 'alone' });
  for (const day of ['2027-03-01', '2027-03-02'])
    await create('Appointment', appointment('Patient/stone', `${day}T10:00:00Z`));
  await create('Encounter', encounter('Patient/stone'));
});

const record = ['Patient', 'Appointment', 'Appointment', 'Encounter'];

test('a record that fits into a page is one statement', async () => {
  assert.deepEqual(await listed('Patient/stone/$everything'), record);
  assert.deepEqual([statements(), searches()], [1, 0]);
  assert.deepEqual(await listed('Patient/alone/$everything'), ['Patient']);
  assert.deepEqual([statements(), searches()], [1, 0]);
});

const walk = '$everything?_since=2000-01-01T00:00:00Z';

test('a walk takes a search for each type that is there, one for the patient, and one that finds where the page begins', async () => {
  assert.deepEqual(await listed(`Patient/stone/${walk}`), record);
  assert.equal(searches(), 4);
  assert.deepEqual(await listed(`Patient/alone/${walk}`), ['Patient']);
  assert.equal(searches(), 2);
});

test('a record that does not fit is walked, and its pages hold what the whole record has', async () => {
  const { json } = await caller.get('Patient/stone/$everything');
  const whole = json.entry.map(({ fullUrl }: { fullUrl: string }) => fullUrl);
  const found: string[] = [];
  let url: string | undefined = 'Patient/stone/$everything?_count=2';
  for (let page = 0; url !== undefined && page < 5; page += 1) {
    const answer = await caller.get(url);
    assert.equal(answer.status, 200, answer.text);
    for (const { fullUrl } of answer.json.entry) found.push(fullUrl);
    url = answer.json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  assert.deepEqual(found, whole);
});

test('of a patient that is deleted, or was never there, nothing is found', async () => {
  await caller.send('PUT', 'Patient/gone', { ...patient('Gone'), id: 'gone' });
  await caller.send('DELETE', 'Patient/gone');
  for (const id of ['gone', 'never']) assert.equal((await caller.get(`Patient/${id}/$everything`)).status, 404);
});

test('a resource that is new is found by the next request', async () => {
  await create('Encounter', encounter('Patient/alone'));
  assert.deepEqual(await listed('Patient/alone/$everything'), ['Patient', 'Encounter']);
});
