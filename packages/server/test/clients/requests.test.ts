/** How existing clients write requests and read answers, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { exchange, request } from '../support/raw-http.ts';
import { appointment, patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const caller = await openCaller(service, full, maple);

/** Stores a resource under its id. */
async function put(resource: Readonly<Record<string, unknown>>): Promise<void> {
  const answer = await caller.send('PUT', `${resource['resourceType']}/${resource['id']}`, resource);
  assert.equal(answer.status, 201, answer.text);
}

/** Ids that a search finds, sorted. */
async function found(path: string): Promise<string[]> {
  const { status, json, text } = await request(`${maple.base}/${path}`, { headers: caller.headers });
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id).sort();
}

await put({ ...patient('Smith & Sons'), id: 'p1', birthDate: '1961-07-03', identifier: [{ value: 'MM|59' }] });
await put({ ...patient('Müller Lüdenscheidt'), id: 'p2', generalPractitioner: [{ reference: 'Practitioner/123' }] });
await put({ resourceType: 'Location', id: 'room', name: 'Front room' });
const participant = ['Patient/p1', 'Practitioner/123', 'Location/room'].map((reference) => ({
  actor: { reference },
  status: 'accepted',
}));
await put(appointment('', '2026-11-24T15:00:00.1234567Z', { id: 'a1', participant }));
await put(appointment('Patient/p2', '2026-11-26T15:00:00Z', { id: 'a2' }));

test('clients headers: a GET may carry a Content-Type, of a form or of FHIR', async () => {
  for (const type of [
    'application/x-www-form-urlencoded',
    'application/fhir+json',
    'application/json',
    'text/plain',
    '',
  ]) {
    const headers = { ...caller.headers, 'content-type': type };
    assert.equal((await request(`${maple.base}/Patient/p1`, { headers })).status, 200);
    assert.equal((await request(`${maple.base}/Patient?_id=p1`, { headers })).json.total, 1);
  }
});

test('clients headers: Accept may be */*, a list, or missing', async () => {
  const accepts = ['*/*', 'application/json, text/plain, */*', 'text/html, */*;q=0.8', 'application/*', undefined];
  for (const accept of accepts) {
    const headers = { ...caller.headers, ...(accept === undefined ? {} : { accept }) };
    const answer = await request(`${maple.base}/Patient/p1`, { headers });
    assert.equal(answer.status, 200);
    assert.match(answer.headers.get('content-type') ?? '', /^application\/(?:fhir\+)?json; charset=utf-8$/);
  }
});

test('clients headers: names of headers are read in any case', async () => {
  const head = [
    `GET ${new URL(maple.base).pathname}/Patient/p1 HTTP/1.1`,
    `HOST: ${new URL(service.origin).host}`,
    `AUTHORIZATION: ${caller.headers['authorization']?.replace('Bearer', 'bearer')}`,
    `X-Api-KEY: ${full.clientKey}`,
    'connection: close',
  ];
  assert.equal((await exchange(service.origin, `${head.join('\r\n')}\r\n\r\n`)).status, 200);
});

test('clients location: after a create the id stands before /_history/, and the body is the resource', async () => {
  const answer = await caller.send('POST', 'Patient', patient('New'));
  const location = answer.headers.get('location') ?? '';
  const id = location.split('/_history/')[0]?.split('/').at(-1);
  assert.equal(answer.json.id, id);
  assert.deepEqual(answer.json.name, [{ family: 'New' }]);
  assert.equal((await caller.get(location)).json.id, id);
});

test('clients location: for an application set so, the id is the last path segment as well', async () => {
  const settings = { unversionedLocation: true };
  const application = await makeApplication(service, 'Short locations', ['acl/*'], [maple], settings);
  const short = await openCaller(service, application, maple);
  const answer = await short.send('POST', 'Patient', patient('New'));
  const location = answer.headers.get('location') ?? '';
  assert.equal(location, `${maple.base}/Patient/${answer.json.id}`);
  assert.equal(location.split('/').at(-1), answer.json.id);
  assert.equal(location.split('/_history/')[0]?.split('/').at(-1), answer.json.id);
  assert.equal(answer.headers.get('etag'), 'W/"1"');
  assert.equal((await short.get(location)).json.id, answer.json.id);
});

test('clients values: spaces, accents and & may arrive half encoded', async () => {
  assert.deepEqual(await found('Patient?family=Smith%20&%20Sons'), ['p1']);
  assert.deepEqual(await found('Patient?family=Smith+%26+Sons&birthdate=1961-07-03'), ['p1']);
  assert.deepEqual(await found('Patient?family=Smith+&+Sons&birthdate=1961-07-03'), ['p1']);
  assert.deepEqual(await found('Patient?family=M%C3%BCller'), ['p2']);
  assert.deepEqual(await found('Patient?family=muller+ludenscheidt'), ['p2']);
});

test('clients values: | { } : , may arrive unencoded', async () => {
  assert.deepEqual(await found('Patient?identifier=MM\\|59'), ['p1']);
  assert.deepEqual(await found('Patient?gender=http://hl7.org/fhir/administrative-gender|male'), []);
  assert.deepEqual(await found('Patient?family={x},Smith'), ['p1']);
});

test('clients values: two-sided ranges are the same parameter twice', async () => {
  assert.deepEqual(await found('Appointment?date=ge2026-11-24&date=le2026-11-25'), ['a1']);
  assert.deepEqual(await found('Appointment?date=ge2026-11-24T00:00:00Z&date=lt2026-11-27T00:00:00Z'), ['a1', 'a2']);
  assert.deepEqual(await found('Patient?_lastUpdated=ge2026-11-21&_lastUpdated=lt2026-11-22&_id=p1'), ['p1']);
});

test('clients values: seconds may have fractions of 3 to 7 digits', async () => {
  for (const fraction of ['000', '0000', '00000', '000000', '0000000']) {
    const range = `date=ge2026-11-24T15:00:00.${fraction}Z&date=lt2026-11-26T15:00:00.${fraction}Z`;
    assert.deepEqual(await found(`Appointment?${range}`), ['a1'], fraction);
  }
  assert.deepEqual(await found('Appointment?date=eq2026-11-24T15:00:00.1234567Z'), ['a1']);
});

test('clients values: references are searched by bare id and by Type/id', async () => {
  for (const value of ['p1', 'Patient/p1', `${maple.base}/Patient/p1`]) {
    assert.deepEqual(await found(`Appointment?patient=${value}`), ['a1'], value);
  }
  assert.deepEqual(await found('Appointment?practitioner=123'), ['a1']);
  assert.deepEqual(await found('Appointment?location=Location/room'), ['a1']);
  assert.deepEqual(await found('Patient?general-practitioner=123'), ['p2']);
});

test('clients links: fullUrl is absolute and dereferenced as given', async () => {
  const { json } = await caller.get('Appointment?_id=a1');
  const [{ fullUrl, resource }] = json.entry;
  assert.equal(fullUrl, `${maple.base}/Appointment/a1`);
  assert.deepEqual((await caller.get(fullUrl)).json, resource);
});

test('clients links: practitioner and location are told by /Practitioner/ and /Location/ in absolute references', async () => {
  const settings = { absoluteReferences: true };
  const application = await makeApplication(service, 'Absolute', ['acl/*'], [maple], settings);
  const { json } = await (await openCaller(service, application, maple)).get('Appointment/a1');
  const references: string[] = json.participant.map(({ actor }: { actor: { reference: string } }) => actor.reference);
  assert.deepEqual(
    references.filter((reference) => reference.includes('/Practitioner/') || reference.includes('/Location/')),
    [`${maple.base}/Practitioner/123`, `${maple.base}/Location/room`],
  );
  const [, , room = ''] = references;
  assert.equal((await caller.get(room)).json.name, 'Front room');
});

const slotType = [{ coding: [{ code: 'CHECKUP' }] }];
for (const [id, start, status] of [
  ['s1', '2026-11-23T17:20:00Z', 'free'],
  ['s2', '2026-11-24T17:45:00Z', 'busy'],
  ['s3', '2026-11-30T17:20:00Z', 'free'],
] as const) {
  const schedule = { reference: 'Schedule/1' };
  const [appointmentType] = slotType;
  await put({
    resourceType: 'Slot',
    id,
    schedule,
    status,
    start,
    end: start.replace(/\d\d:00Z/, '59:00Z'),
    appointmentType,
  });
}

test('clients slots: asked for by appointment-type and date, one value or a pair', async () => {
  assert.deepEqual(await found('Slot?appointment-type=CHECKUP&date=2026-11-23'), ['s1']);
  assert.deepEqual(await found('Slot?appointment-type=CHECKUP&date=ge2026-11-23&date=le2026-11-27'), ['s1', 's2']);
  assert.deepEqual(await found('Slot?appointment-type=OTHER&date=2026-11-23'), []);
});

test('clients slots: asked for by start and status', async () => {
  const range = 'start=ge2026-11-23T00:00:00Z&start=lt2026-12-01T00:00:00Z';
  assert.deepEqual(await found(`Slot?${range}&status=free`), ['s1', 's3']);
});

test('clients put: an Appointment with only its status is refused with "use PATCH", and nothing is changed', async () => {
  const before = (await caller.get('Appointment/a1')).json;
  const sent = { resourceType: 'Appointment', id: 'a1', status: 'cancelled' };
  const answer = await caller.send('PUT', 'Appointment/a1', sent);
  assertRefused(answer, {
    status: 400,
    error: 'resource-invalid',
    issue: 'required',
    diagnostics:
      'Appointment.participant: participant is required (cardinality 1..*). PUT replaces the whole resource: to change some elements only, use PATCH',
    expression: ['Appointment.participant'],
  });
  assert.match(answer.text.slice(0, 300), /use PATCH/);
  assert.deepEqual((await caller.get('Appointment/a1')).json, before);
  const cancel = [{ op: 'replace', path: '/status', value: 'cancelled' }];
  const type = { 'content-type': 'application/json-patch+json' };
  const patched = await caller.send('PATCH', 'Appointment/a1', cancel, type);
  assert.deepEqual(patched.json, { ...before, status: 'cancelled', meta: { ...before.meta, versionId: '2' } });
});

test('clients put: a Patient with only its telecom and no id is refused with "use PATCH"', async () => {
  const before = (await caller.get('Patient/p1')).json;
  const sent = { resourceType: 'Patient', telecom: [{ system: 'phone', value: '555-0100' }] };
  assertRefused(await caller.send('PUT', 'Patient/p1', sent), {
    status: 400,
    error: 'resource-id-mismatch',
    issue: 'invalid',
    diagnostics:
      'id is missing: the body of an update carries the id of the path. PUT replaces the whole resource: to change some elements only, use PATCH',
    expression: ['id'],
  });
  assert.deepEqual((await caller.get('Patient/p1')).json, before);
});

test('clients put: a valid Patient with few elements replaces the whole, as R4 says; the version before stays readable', async () => {
  await put({ ...patient('Reed'), id: 'p3', gender: 'female' });
  const before = (await caller.get('Patient/p3')).json;
  const sent = { resourceType: 'Patient', id: 'p3', telecom: [{ system: 'phone', value: '555-0100' }] };
  const answer = await caller.send('PUT', 'Patient/p3', sent);
  assert.deepEqual([answer.status, answer.json.name, answer.json.telecom], [200, undefined, sent.telecom]);
  assert.deepEqual((await caller.get('Patient/p3/_history/1')).json, before);
});
