/**
 * Who may post batches and transactions, and what their entries tell to those who may not see everything
 * (https://hl7.org/fhir/R4/http.html#transaction).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { appointment, patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { batch, conditionalPost, entry, identified, mrn, post, transaction } from './bundles.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const callerOf = async (acl: readonly string[], firm = maple): Promise<Caller> =>
  await openCaller(
    service,
    await makeApplication(service, acl.join(' ').slice(0, 60) + firm.prefix, acl, [firm]),
    firm,
  );
const full = await callerOf(['acl/*']);
const other = await callerOf(['acl/*'], cedar);
const noBundles = await callerOf(['acl/pat_c', 'acl/pat_r', 'acl/pat_s']);
const restricted = await callerOf(['acl/pat_s_name_dob_gen', 'acl/appmt_c', 'acl/trans_bndl_post']);
const reminders = await callerOf(['acl/trans_bndl_appmt_remind', 'acl/appmt_c', 'acl/pat_c']);

const known = (await full.send('POST', 'Patient', { ...identified('K1', 'Granite'), birthDate: '1980-01-01' })).json.id;
const foreign = (await other.send('POST', 'Patient', identified('F1', 'Cobble'))).json.id;
const send = (caller: Caller, bundle: object): Promise<Answer> => caller.send('POST', '', bundle);
const start = '2026-12-01T10:00:00Z';

async function refusedWithoutTrace(caller: Caller, bundle: object, says: RegExp, status = 403): Promise<Answer> {
  const before = await tenantRows(service.database.owner);
  const answer = await send(caller, bundle);
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.json.issue[0].diagnostics, says);
  assert.deepEqual(await tenantRows(service.database.owner), before);
  return answer;
}

test('a transaction needs an access entry of its own, a batch does not', async () => {
  const answer = await refusedWithoutTrace(
    noBundles,
    transaction(post(patient('Stone'))),
    /^Posting this transaction needs acl\/trans_bndl_post;/,
  );
  assert.equal(answer.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"');
  const alone = await send(noBundles, batch(post(patient('Stone'))));
  assert.equal(alone.json.entry[0].response.status, '201 Created');
});

test('a kind of Bundle opens transactions that carry its type, and no others', async () => {
  await refusedWithoutTrace(reminders, transaction(post(patient('Stone'))), /trans_bndl_post/);
  await refusedWithoutTrace(reminders, transaction(), /trans_bndl_post/);
  const carried = await send(reminders, transaction(post(appointment(`Patient/${known}`, start))));
  assert.equal(carried.status, 200, carried.text);
});

test('every entry needs the access entry it would need alone, before anything else is said about it', async () => {
  const broken = { resourceType: 'Observation', status: 'nonsense' };
  const bundle = transaction(post(appointment(`Patient/${known}`, start)), post(broken));
  const answer = await refusedWithoutTrace(
    restricted,
    bundle,
    /^Bundle\.entry\[1\]: Observation create needs system\/Observation\.c or acl\/\*/,
  );
  assert.deepEqual(answer.json.issue[0].expression, ['Bundle.entry[1]']);
  const requests: readonly [string, string, RegExp][] = [
    ['DELETE', `Patient/${known}`, /delete needs acl\/\*/],
    ['DELETE', `Patient?identifier=${mrn}|K1`, /delete needs acl\/\*/],
    ['GET', `Patient/${known}`, /Patient read needs/],
    ['GET', `Patient/${known}/_history`, /Patient read needs/],
    ['GET', `Patient/${known}/_history/1`, /Patient read needs/],
    ['GET', `Appointment?patient=${known}`, /Appointment search needs/],
    ['GET', `Patient?identifier=${mrn}|K1`, /identifier/],
  ];
  for (const [method, url, says] of requests) {
    await refusedWithoutTrace(restricted, transaction(entry(method, url)), says);
    const [answered] = (await send(restricted, batch(entry(method, url)))).json.entry;
    assert.equal(answered.response.status, '403 Forbidden');
    assert.match(answered.response.outcome.issue[0].diagnostics, /^Bundle\.entry\[0\]: /);
    assert.match(answered.response.outcome.issue[0].diagnostics, says);
    assert.equal(answered.resource, undefined);
  }
});

test('writes that the caller may not do are refused in entries, too', async () => {
  const changes: readonly object[] = [
    entry('PUT', `Patient/${known}`, { ...patient('Stone'), id: known }),
    entry('PUT', `Patient?identifier=${mrn}|K1`, patient('Stone')),
    entry('PATCH', `Patient/${known}`, { resourceType: 'Parameters' }),
    conditionalPost(patient('Stone'), `identifier=${mrn}|K1`),
  ];
  for (const change of changes)
    await refusedWithoutTrace(restricted, transaction(change), /^Bundle\.entry\[0\]: Patient/);
});

test('conditional references find only what the caller may search by', async () => {
  const referring = (reference: string) => transaction(post(appointment(reference, start)));
  for (const value of ['K1', 'missing']) {
    const answer = await refusedWithoutTrace(restricted, referring(`Patient?identifier=${mrn}|${value}`), /identifier/);
    assert.ok(!answer.text.includes(known));
  }
  await refusedWithoutTrace(restricted, referring('Practitioner?name=x'), /Practitioner search needs/);
  const found = await send(restricted, referring('Patient?family=Granite'));
  assert.equal(found.status, 200, found.text);
});

test("another firm's resources are neither found, changed nor told of", async () => {
  const url = `Patient/${foreign}`;
  assert.deepEqual(
    (await send(full, batch(entry('GET', url), entry('GET', 'Patient/never')))).json.entry.map(
      ({ response }: { response: { status: string } }) => response.status,
    ),
    ['404 Not Found', '404 Not Found'],
  );
  const search = (await send(full, batch(entry('GET', `Patient?identifier=${mrn}|F1`)))).json.entry[0].resource;
  assert.equal(search.entry, undefined);
  const reference = `Patient?identifier=${mrn}|F1`;
  await refusedWithoutTrace(full, transaction(post(appointment(reference, start))), /finds no resource/, 412);
  const before = (await other.get(url)).text;
  const changed = await send(full, transaction(entry('DELETE', url), entry('DELETE', `Patient?identifier=${mrn}|F1`)));
  assert.equal(changed.status, 200);
  const created = await send(full, transaction(conditionalPost(identified('F1'), `identifier=${mrn}|F1`)));
  assert.equal(created.json.entry[0].response.status, '201 Created');
  assert.equal((await other.get(url)).text, before);
});

test('what a read, search or conditional create returns passes the field mask', async () => {
  const searched = await send(restricted, transaction(entry('GET', 'Patient?family=Granite')));
  const [row] = searched.json.entry[0].resource.entry;
  assert.deepEqual(Object.keys(row.resource).sort(), ['birthDate', 'id', 'meta', 'name', 'resourceType']);
  const creator = await callerOf(['acl/pat_c', 'acl/pat_s_name_dob_gen', 'acl/trans_bndl_post']);
  for (const bundle of [transaction, batch]) {
    const sent = bundle(conditionalPost(identified('X1', 'Granite'), 'family=Granite'));
    const answer = await creator.send('POST', '', sent, { prefer: 'return=representation' });
    const [found] = answer.json.entry;
    assert.equal(found.response.status, '200 OK');
    assert.deepEqual(Object.keys(found.resource).sort(), ['birthDate', 'id', 'meta', 'name', 'resourceType']);
  }
});

test('nobody posts to the base without both credentials', async () => {
  const body = JSON.stringify(batch(entry('GET', `Patient/${known}`)));
  const answer = await fetch(maple.base, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/fhir+json' },
  });
  assert.equal(answer.status, 401);
});
