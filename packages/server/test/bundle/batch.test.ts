/**
 * Batches: entries that succeed or fail each for itself (https://hl7.org/fhir/R4/http.html#brules).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { encounter, patient } from '../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { batch, conditionalPost, entry, identified, mrn, post, urn } from './bundles.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const send = async (bundle: object, headers = {}): Promise<Answer> => {
  const answer = await full.send('POST', '', bundle, headers);
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.type, 'batch-response');
  return answer;
};
const statuses = ({ json }: Answer): string[] =>
  json.entry.map(({ response }: { response: { status: string } }) => response.status);

test('one entry that fails does not change what becomes of the others', async () => {
  const answer = await send(
    batch(
      post({ ...patient('Stone'), gender: 'none' }),
      post(identified('B1')),
      entry('GET', 'Patient/none'),
      { resource: patient('Stone') },
      entry('POST', 'Nothing', patient('Stone')),
      entry('PUT', 'Patient/b', { ...patient('Stone'), id: 'b' }),
      entry('PUT', 'Patient/b2', { ...patient('Stone'), id: 'b2' }, { ifMatch: 'W/"3"' }),
      entry('DELETE', 'Patient/none'),
      entry('GET', `Patient?identifier=${mrn}|B1`),
    ),
  );
  assert.deepEqual(statuses(answer), [
    '400 Bad Request',
    '201 Created',
    '404 Not Found',
    '400 Bad Request',
    '404 Not Found',
    '201 Created',
    '412 Precondition Failed',
    '204 No Content',
    '200 OK',
  ]);
  const { entry: answered } = answer.json;
  assert.deepEqual(answered[0].response.outcome.issue[0].expression, ['Bundle.entry[0].resource.gender']);
  assert.match(answered[2].response.outcome.issue[0].diagnostics, /^Bundle\.entry\[2\]: Patient\/none is not known/);
  assert.equal(answered[8].resource.total, 1, 'reads come last');
  assert.deepEqual(Object.keys(answered[1]), ['response']);
  assert.equal((await full.get('Patient/b')).status, 200);
  assert.equal((await full.get('Patient/b2')).status, 404);
});

test('an entry is answered as the same request alone', async () => {
  const created = (await full.send('POST', 'Patient', identified('A1'))).json;
  const url = `Patient/${created.id}`;
  const { json } = await send(
    batch(
      entry('GET', url),
      entry('GET', `${maple.base}/${url}`),
      entry('GET', `/${url}/_history/1`),
      entry('GET', `${url}/_history`),
      entry('GET', `${url}?_elements=id`),
      entry('GET', url, undefined, { ifModifiedSince: '2026-12-31T00:00:00Z' }),
    ),
  );
  const alone = (await full.get(url)).json;
  const facts = { etag: 'W/"1"', lastModified: '2026-11-21T09:30:00.000Z' };
  const whole = { fullUrl: `${maple.base}/${url}`, resource: alone, response: { status: '200 OK', ...facts } };
  assert.deepEqual(json.entry.slice(0, 3), [whole, whole, whole]);
  assert.equal(json.entry[3].resource.type, 'history');
  assert.equal(json.entry[3].fullUrl, undefined);
  assert.deepEqual(json.entry[4].resource, (await full.get(`${url}?_elements=id`)).json);
  assert.deepEqual(json.entry[5], { response: { status: '304 Not Modified', ...facts } });
});

test('entries that refer to each other, and conditional references, are for transactions', async () => {
  const answer = await send(
    batch(
      post(patient('Stone'), urn(1)),
      post(encounter(urn(1)), urn(2)),
      post(encounter(`Patient?identifier=${mrn}|B1`)),
    ),
  );
  assert.deepEqual(statuses(answer), ['201 Created', '400 Bad Request', '400 Bad Request']);
  assert.match(answer.json.entry[1].response.outcome.issue[0].diagnostics, /as a transaction$/);
  assert.match(answer.json.entry[2].response.outcome.issue[0].diagnostics, /in a transaction only/);
});

test('conditional creates in one batch see each other', async () => {
  const conditional = conditionalPost(identified('E1'), `identifier=${mrn}|E1`);
  assert.deepEqual(statuses(await send(batch(conditional, conditional))), ['201 Created', '200 OK']);
});

test('rights that changed since they were remembered are read again before anything is done', async () => {
  const acl = ['acl/pat_c', 'acl/pat_r'];
  const { application, ...made } = await makeApplication(service, 'Growing', acl, [maple]);
  const grow = (entries: readonly string[]) =>
    authorise(
      service.platform.database,
      service.clock,
      maple,
      application,
      { purpose: 'Test', acl: entries },
      entryProblem,
    );
  await grow(['acl/pat_r']);
  const caller = await openCaller(service, { application, ...made }, maple);
  const sent = batch(entry('GET', 'Patient/b'), post(patient('Stone')));
  const before = await caller.send('POST', '', sent);
  assert.deepEqual(statuses(before), ['200 OK', '403 Forbidden']);
  await grow(acl);
  assert.deepEqual(statuses(await caller.send('POST', '', sent)), ['200 OK', '201 Created']);
  await grow(['acl/pat_c']);
  const rows = await tenantRows(service.database.owner);
  const revoked = await caller.send('POST', '', batch(entry('GET', 'Patient/b')));
  assert.deepEqual(statuses(revoked), ['403 Forbidden']);
  assert.deepEqual(await tenantRows(service.database.owner), rows);
});

// One of them alone would wait for longer than the test may take.
test('an entry waits for nothing: $changes answers at once in a batch', { timeout: 25_000 }, async () => {
  const caller = await openCaller(service, await makeApplication(service, 'Follower', ['acl/*'], [maple]), maple);
  const later = entry('GET', '$changes?since=2030-01-01&_wait=30');
  assert.deepEqual(statuses(await caller.send('POST', '', batch(later, later))), ['200 OK', '200 OK']);
});
