/**
 * $everything: the whole record, and only of it what the caller may see
 * (https://hl7.org/fhir/R4/patient-operation-everything.html).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
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
const visits = await callerWith('Visits', ['acl/pat_s_name_dob_gen', 'acl/enc_s']);
const noSearch = await callerWith('No search', ['acl/pat_r']);

const create = async (caller: Caller, resource: object): Promise<string> => {
  const answer = await caller.send('POST', (resource as { resourceType: string }).resourceType, resource);
  assert.equal(answer.status, 201, answer.text);
  return `${answer.json.resourceType}/${answer.json.id}`;
};
const organization = await create(full, { resourceType: 'Organization', name: 'Granite Health' });
const practitioner = await create(full, { resourceType: 'Practitioner', name: [{ family: 'Quarry' }] });
const role = await create(full, {
  resourceType: 'PractitionerRole',
  practitioner: { reference: practitioner },
  organization: { reference: organization },
});
const stone = await create(
  full,
  patient('Stone', { birthDate: '1980-01-01', telecom: [{ system: 'phone', value: '555-0100' }] }),
);
const cobble = await create(full, patient('Cobble', { generalPractitioner: [{ reference: practitioner }] }));
const visit = await create(
  full,
  encounter(stone, {
    period: { start: '2026-03-01T10:00:00Z', end: '2026-03-01T10:30:00Z' },
    participant: [{ individual: { reference: role } }],
  }),
);
const booked = await create(full, appointment(stone, '2026-06-01T10:00:00Z'));
const observation = await create(full, {
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'Weight' },
  subject: { reference: stone },
  encounter: { reference: visit },
  effectiveDateTime: '2026-03-01',
});
const cobbleVisit = await create(full, encounter(cobble));

const modes = (answer: Answer): string[] =>
  (answer.json.entry ?? []).map(
    (each: { resource: { resourceType: string; id: string }; search: { mode: string } }) =>
      `${each.search.mode} ${each.resource.resourceType}/${each.resource.id}`,
  );
const matches = (answer: Answer): string[] => modes(answer).filter((each) => each.startsWith('match'));
const asMatches = (...references: string[]): string[] => references.map((reference) => `match ${reference}`);

/** All pages, by their next links. */
async function pages(caller: Caller, path: string): Promise<Answer[]> {
  const all: Answer[] = [];
  for (let url: string | undefined = path; url !== undefined; ) {
    const answer: Answer = await caller.get(url);
    assert.equal(answer.status, 200, answer.text);
    all.push(answer);
    assert.ok(all.length < 50);
    url = answer.json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  return all;
}

test('denials: without a search entry for patients nothing is said, also not whether the patient exists', async () => {
  for (const path of [`${stone}/$everything`, 'Patient/never/$everything', 'Patient/$everything']) {
    const answer = await noSearch.get(path);
    assert.equal(answer.status, 403);
    assert.ok(!answer.text.includes('Stone'));
  }
  assert.equal((await names.get(`${visit}/$everything`)).status, 403);
});

test('denials: types without a search entry are left out, and what is hidden of a patient stays hidden', async () => {
  const answer = await names.get(`${stone}/$everything`);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(modes(answer), asMatches(stone));
  assert.deepEqual(Object.keys(answer.json.entry[0].resource).sort(), [
    'birthDate',
    'id',
    'meta',
    'name',
    'resourceType',
  ]);
  assert.deepEqual(modes(await visits.get(`${stone}/$everything`)), asMatches(stone, visit));
});

test('denials: asking for a type that may not be seen finds nothing of it', async () => {
  const answer = await names.get(`${stone}/$everything?_type=Observation,Practitioner,Encounter`);
  assert.deepEqual([answer.status, answer.json.entry, answer.json.total], [200, undefined, 0]);
});

test('denials: another firm learns nothing', async () => {
  const own = await foreign.get(`${stone}/$everything`);
  const never = await foreign.get('Patient/never/$everything');
  assert.equal(own.status, 404);
  assert.equal(own.text.replaceAll(stone, ''), never.text.replaceAll('Patient/never', ''));
  assert.deepEqual(modes(await foreign.get('Patient/$everything')), []);
});

test('denials: a page link is of its caller, its firm and its request', async () => {
  const [first] = await pages(full, `${stone}/$everything?_count=2`);
  const next = first?.json.link[1].url;
  assert.ok(next.startsWith(`${maple.base}/${stone}/$everything?_count=2&_cursor=`));
  const query = next.slice(next.indexOf('?'));
  assert.equal((await names.get(next)).status, 400);
  assert.equal((await full.get(`${cobble}/$everything${query}`)).status, 400);
  assert.equal(
    (await full.get(`${stone}/$everything${query}&_type=Patient`)).json.issue[0].details.coding[0].code,
    'cursor-invalid',
  );
  assert.equal((await full.get(`${stone}/$everything?_cursor=abc`)).status, 400);
});

test('everything of a patient: the compartment as matches, what supports it as includes, nothing twice', async () => {
  const answer = await full.get(`${stone}/$everything`);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(modes(answer), [
    ...asMatches(stone, booked, visit, observation),
    `include ${role}`,
    `include ${practitioner}`,
    `include ${organization}`,
  ]);
  assert.equal(answer.json.type, 'searchset');
  assert.equal(answer.json.total, 4);
  assert.equal(answer.json.entry[0].fullUrl, `${maple.base}/${stone}`);
  assert.deepEqual(answer.json.link, [{ relation: 'self', url: `${maple.base}/${stone}/$everything?_count=500` }]);
});

test('pages put together are the whole, whatever their size', async () => {
  for (const count of [1, 2, 3, 4]) {
    const all = await pages(full, `${stone}/$everything?_count=${count}`);
    assert.deepEqual(all.flatMap(matches), asMatches(stone, booked, visit, observation));
    assert.equal(all.length, Math.ceil(4 / count));
    assert.ok(all.every((page) => matches(page).length <= count));
  }
});

test('of all patients: each with its own record, in pages', async () => {
  const whole = await pages(full, 'Patient/$everything');
  const found = whole.flatMap(matches).sort();
  assert.deepEqual(found, asMatches(stone, booked, visit, observation, cobble, cobbleVisit).sort());
  const small = await pages(full, 'Patient/$everything?_count=2');
  assert.deepEqual(small.flatMap(matches).sort(), found);
});

test('start and end are about care, _since about the record, _type about what is returned', async () => {
  const ask = async (query: string) => matches(await full.get(`${stone}/$everything?${query}`));
  assert.deepEqual(await ask('start=2026-04-01'), asMatches(stone, booked));
  assert.deepEqual(await ask('end=2026-04-01'), asMatches(stone, visit, observation));
  assert.deepEqual(await ask('_type=Encounter,Observation'), asMatches(visit, observation));
  service.clock.advance(60_000);
  const since = new Date(service.clock.now() - 30_000).toISOString();
  assert.deepEqual(modes(await full.get(`${stone}/$everything?_since=${since}`)), []);
  const late = await create(full, encounter(stone));
  assert.deepEqual(modes(await full.get(`${stone}/$everything?_since=${since}`)), asMatches(late));
  assert.equal((await full.get(`${stone}/$everything?_type=Nonsense`)).status, 400);
});

test('everything of an encounter: what belongs to it, with the patient', async () => {
  const answer = await full.get(`${visit}/$everything`);
  assert.deepEqual(matches(answer), asMatches(visit, observation));
  assert.ok(modes(answer).includes(`include ${stone}`));
  assert.equal((await full.get('Encounter/never/$everything')).status, 404);
});
