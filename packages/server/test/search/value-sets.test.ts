/**
 * `:in`, `:not-in`, `:above` and `:below` of tokens, by the terminology of R4 and by the firm's own value sets and code
 * systems, as far as the caller may search those. Also who may search by words and by age.
 * https://hl7.org/fhir/R4/search.html#token
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple, cedar]);
const restricted = await makeApplication(service, 'Restricted', ['acl/pat_s_name_dob_gen', 'acl/enc_s'], [maple]);

const local = 'http://acme.org/fhir/CodeSystem/visits';
const actCode = 'http://terminology.hl7.org/CodeSystem/v3-ActCode';
const visit = (id: string, system: string, code: string) => ({
  resourceType: 'Encounter',
  id,
  status: 'finished',
  class: { system, code },
});
const records = [
  {
    resourceType: 'CodeSystem',
    id: 'visits',
    url: local,
    status: 'active',
    content: 'complete',
    hierarchyMeaning: 'is-a',
    concept: [{ code: 'visit', concept: [{ code: 'home', concept: [{ code: 'night' }] }, { code: 'office' }] }],
  },
  {
    resourceType: 'ValueSet',
    id: 'outside',
    url: 'http://acme.org/fhir/ValueSet/outside',
    status: 'active',
    compose: {
      include: [
        { system: local, filter: [{ property: 'concept', op: 'is-a', value: 'home' }] },
        { system: actCode, concept: [{ code: 'EMER' }] },
      ],
    },
  },
  visit('night', local, 'night'),
  visit('home', local, 'home'),
  visit('office', local, 'office'),
  visit('emergency', actCode, 'EMER'),
  visit('ambulatory', actCode, 'AMB'),
  { resourceType: 'Patient', id: 'anna', name: [{ family: 'Stone' }], gender: 'female', birthDate: '1970-05-01' },
];
const full = await openCaller(service, operator, maple);
for (const record of records) {
  const answer = await full.send('PUT', `${record.resourceType}/${record.id}`, record);
  assert.equal(answer.status, 201, answer.text);
}

async function refusal(caller: typeof full, path: string): Promise<readonly [number, string]> {
  const answer = await caller.send('GET', path);
  return [answer.status, answer.json.issue?.[0]?.diagnostics];
}

const unknownSet = 'names a value set that is not known here, or not to this caller';
const unknownSystem = 'names a code system whose codes are not known here, or not to this caller';

test('who may not search value sets does not learn from them, and other firms do not have them', async () => {
  const few = await openCaller(service, restricted, maple);
  const neighbour = await openCaller(service, operator, cedar);
  for (const caller of [few, neighbour]) {
    for (const name of [
      'http://acme.org/fhir/ValueSet/outside',
      'http://acme.org/fhir/ValueSet/none',
      'ValueSet/outside',
    ]) {
      assert.deepEqual(await refusal(caller, `Encounter?class:in=${name}`), [400, `class:in ${unknownSet}`]);
    }
    assert.deepEqual(await refusal(caller, `Encounter?class:below=${local}|home`), [
      400,
      `class:below ${unknownSystem}`,
    ]);
    assert.deepEqual(await refusal(caller, 'Encounter?class:below=http://none.org|home'), [
      400,
      `class:below ${unknownSystem}`,
    ]);
  }
});

test('words and ages need the right to read every element', async () => {
  const few = await openCaller(service, restricted, maple);
  for (const [query, code] of [
    ['_content=stone', '_content'],
    ['_content=nobody', '_content'],
    ['_text=stone', '_text'],
    ['age=56', 'age'],
    ['_filter=_content+eq+stone', '_content'],
  ] as const) {
    const [status, diagnostics] = await refusal(few, `Patient?${query}`);
    assert.equal(status, 403, query);
    assert.ok(diagnostics.startsWith(`Patient search by ${code}`), diagnostics);
  }
  assert.deepEqual(await idsOf('Patient?_content=stone'), ['anna']);
  assert.deepEqual(await idsOf('Patient?age=56'), ['anna']);
  assert.deepEqual(await idsOf('Patient?age=57'), []);
});

async function idsOf(path: string): Promise<readonly string[]> {
  const answer = await full.send('GET', path);
  assert.equal(answer.status, 200, `${path}: ${answer.text}`);
  return (answer.json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id).toSorted();
}

const found: readonly (readonly [query: string, ids: readonly string[]])[] = [
  ['class:in=http://acme.org/fhir/ValueSet/outside', ['emergency', 'home', 'night']],
  ['class:in=ValueSet/outside', ['emergency', 'home', 'night']],
  [`class:in=${maple.base}/ValueSet/outside`, ['emergency', 'home', 'night']],
  ['class:not-in=http://acme.org/fhir/ValueSet/outside', ['ambulatory', 'office']],
  ['class:in=http://terminology.hl7.org/ValueSet/v3-ActEncounterCode', ['ambulatory', 'emergency']],
  [`class:below=${local}|home`, ['home', 'night']],
  [`class:below=${local}|visit`, ['home', 'night', 'office']],
  [`class:below=${local}|home,${local}|office`, ['home', 'night', 'office']],
  [`class:above=${local}|night`, ['home', 'night']],
  [`class:above=${local}|office`, ['office']],
  // Elements of type code: their system is that of their value set.
  ['status:in=http://hl7.org/fhir/ValueSet/encounter-status', ['ambulatory', 'emergency', 'home', 'night', 'office']],
  ['status:below=http://hl7.org/fhir/encounter-status|planned', []],
];

for (const [query, ids] of found) {
  test(`Encounter?${query}`, async () => assert.deepEqual(await idsOf(`Encounter?${query}`), ids));
}

test('values that name no value set and no concept say what would be right', async () => {
  for (const [query, diagnostics] of [
    ['class:in=', 'class:in has no value: it takes the URL of a value set'],
    ['class:in=http://none.org', `class:in ${unknownSet}`],
    ['class:below=home', 'class:below takes system|code: the hierarchy of a code is that of its system'],
    [`class:below=${local}|`, 'class:below takes system|code: the hierarchy of a code is that of its system'],
    [`class:above=${local}|nothing`, 'class:above names a code that its code system does not have'],
  ] as const) {
    assert.deepEqual(await refusal(full, `Encounter?${query}`), [400, diagnostics]);
  }
  const many = Array.from({ length: 51 }, (_, index) => `http://none.org/${index}`).join();
  assert.deepEqual(await refusal(full, `Encounter?class:in=${many}`), [
    400,
    'class:in is one of more than 50 value sets and concepts',
  ]);
});
