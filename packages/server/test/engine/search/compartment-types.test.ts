/**
 * Search of a whole compartment, `GET Patient/1/*` (https://hl7.org/fhir/R4/http.html#vsearch): who finds what, by which
 * parameters, page by page, and what is refused.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { compartments } from '@praxis/fhir';
import { listCompartmentTypes } from '../../../src/engine/search/compartment.ts';
import { batch, entry } from '../../bundle/bundles.ts';
import { appointment, encounter, patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const callerWith = async (name: string, acl: readonly string[], firm = maple): Promise<Caller> =>
  openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const full = await callerWith('Full', ['acl/*']);
const twin = await callerWith('Twin', ['acl/*']);
const foreign = await callerWith('Foreign', ['acl/*'], cedar);
const names = await callerWith('Names', ['acl/pat_s_name_dob_gen']);
const narrow = await callerWith('Narrow', [
  'acl/pat_s_name_dob_gen',
  'acl/enc_s',
  'acl/serv_req_s',
  'acl/lab_type_path',
]);
const places = await callerWith('Places', ['acl/loc_s']);
const reader = await callerWith('Reader', ['acl/pat_r']);
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const tagged = { meta: { tag: [{ system: 'urn:t', code: 'x' }] } };
const stone = { reference: 'Patient/stone' };
const order = (code: string) => ({
  resourceType: 'ServiceRequest',
  status: 'active',
  intent: 'order',
  category: [{ coding: [{ code }] }],
  subject: stone,
});

const put = async (id: string, resource: Readonly<Record<string, unknown>>) => {
  const answer = await full.send('PUT', `${resource.resourceType}/${id}`, { ...resource, id });
  assert.equal(answer.status, 201, answer.text);
};
const joined = { link: [{ other: stone, type: 'seealso' }] };
await put('stone', patient('Stone', { ...tagged, telecom: [{ system: 'phone', value: '555' }] }));
await put('cobble', patient('Cobble', joined));
await put('quarry', { resourceType: 'Practitioner', name: [{ family: 'Quarry' }] });
await put('aunt', { resourceType: 'RelatedPerson', patient: stone });
await put('pump', { resourceType: 'Device', patient: stone });
const individuals = [{ individual: { reference: 'Practitioner/quarry' } }];
await put('visit', encounter('Patient/stone', { ...tagged, participant: individuals }));
await put('other-visit', encounter('Patient/cobble'));
await put('booked', appointment('Patient/stone', '2026-06-01T10:00:00Z'));
await put('lab', order('PATHOLOGY'));
await put('scan', order('RADIOLOGY'));
const active = {
  coding: [{ system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' }],
};
const patientIs = { patient: { reference: 'Patient/cobble' }, asserter: stone };
await put('told', { resourceType: 'AllergyIntolerance', clinicalStatus: active, ...patientIs, ...tagged });
const seen = { encounter: { reference: 'Encounter/visit' }, device: { reference: 'Device/pump' } };
await put('pulse', { resourceType: 'Observation', status: 'final', code: { text: 'Pulse' }, subject: stone, ...seen });
await put('elsewhere', { resourceType: 'Location', name: 'Elsewhere' });

interface Entry {
  readonly fullUrl: string;
  readonly search: { readonly mode: string };
}

/** `Type/id` of each match. */
function found({ status, json, text }: Answer): string[] {
  assert.equal(status, 200, text);
  assert.equal(json.type, 'searchset');
  return (json.entry ?? [])
    .filter(({ search }: Entry) => search.mode === 'match')
    .map(({ fullUrl }: Entry) => fullUrl.slice(maple.base.length + 1));
}

const linkOf = ({ json }: Answer, relation: string): string | undefined =>
  json.link.find((link: { relation: string }) => link.relation === relation)?.url;

const ofStone = [
  'AllergyIntolerance/told',
  'Appointment/booked',
  'Encounter/visit',
  'Observation/pulse',
  'Patient/stone',
  'Patient/cobble',
  'RelatedPerson/aunt',
  'ServiceRequest/lab',
  'ServiceRequest/scan',
];

test('who may search none of the types is refused, whatever else is asked', async () => {
  for (const caller of [reader, places]) {
    for (const query of ['', '?_type=Encounter', '?_type=Nonsense', '?nonsense=1', '?_cursor=x']) {
      const answer = await caller.get(`Patient/stone/*${query}`);
      assert.equal(answer.status, 403, query);
      assert.equal(answer.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"');
    }
  }
  const refused = await narrow.get('Patient/stone/*?_type=Observation,Appointment');
  assert.equal(refused.status, 403);
  assert.match(refused.json.issue[0].diagnostics, /^Observation search needs /);
  assert.equal((await fetch(`${maple.base}/Patient/stone/*`)).status, 401);
});

test('types, rows and elements that may not be searched are left out', async () => {
  const answer = await narrow.get('Patient/stone/*');
  // Not the patient whose link leads there: the link is not among the elements that may be read.
  assert.deepEqual(found(answer), ['Encounter/visit', 'Patient/stone', 'ServiceRequest/lab']);
  assert.equal(answer.json.total, 3);
  assert.doesNotMatch(answer.text, /"555"|RADIOLOGY|cobble/);
  const [said] = (await names.get('Patient/stone/*')).json.entry.slice(-1);
  assert.deepEqual(
    [said.search.mode, said.resource.issue[0].diagnostics],
    ['outcome', 'Searched are only the types that the application may search: Patient'],
  );
  const strict = await names.get('Patient/stone/*?_type=Patient,Observation', { prefer: 'handling=strict' });
  assert.deepEqual([strict.status, strict.json.issue[0].code], [403, 'forbidden']);
  assert.match(strict.json.issue[0].diagnostics, /^Observation search needs /);
  assert.deepEqual(found(await names.get('Patient/stone/*')), ['Patient/stone']);
  assert.deepEqual(found(await names.get('Patient/stone/*?_type=Patient,Observation')), ['Patient/stone']);
  assert.equal(
    linkOf(await names.get('Patient/stone/*?_type=Patient,Observation'), 'self'),
    `${maple.base}/Patient/stone/*?_type=Patient`,
  );
  assert.equal((await names.get('Patient/stone/*?_summary=count')).json.total, 1);
});

test('what may not be read is neither searched by nor led by', async () => {
  const hidden = await names.get('Patient/stone/*?_type=Patient&phone=555');
  assert.equal(hidden.status, 403);
  // A practitioner is of no compartment that lists patients by what the caller may read.
  const led = await names.get('Practitioner/quarry/*');
  assert.equal(led.status, 403);
  assert.match(led.json.issue[0].diagnostics, /general-practitioner/);
});

test('another firm finds its own, which is nothing', async () => {
  for (const query of ['', '?_type=Patient,Encounter', '?_id=stone', '?_summary=count']) {
    const { status, json } = await foreign.get(`Patient/stone/*${query}`);
    assert.deepEqual([status, json.total, json.entry], [200, 0, undefined], query);
  }
});

test('the compartment of each owner that R4 defines is found whole', async () => {
  for (const [owner, expected] of [
    ['Patient/stone', ofStone],
    ['Patient/never', []],
    ['Encounter/visit', ['Encounter/visit', 'Observation/pulse']],
    ['Practitioner/quarry', ['Encounter/visit', 'Practitioner/quarry']],
    ['Device/pump', ['Device/pump', 'Observation/pulse']],
    ['RelatedPerson/aunt', ['RelatedPerson/aunt']],
  ] as const) {
    const answer = await full.get(`${owner}/*`);
    assert.deepEqual(found(answer), expected, owner);
    assert.equal(answer.json.total, expected.length);
    assert.equal(linkOf(answer, 'self'), `${maple.base}/${owner}/*`);
  }
});

test('it is what the searches of its types find', async () => {
  for (const owner of ['Patient/stone', 'Encounter/visit', 'Practitioner/quarry', 'Device/pump']) {
    // The audit ledger is searched by its own type alone (docs/decisions/0156).
    const types = listCompartmentTypes(owner.split('/')[0] ?? '').filter((type) => type !== 'AuditEvent');
    const each: string[] = [];
    for (const type of types) each.push(...found(await full.get(`${owner}/${type}`)));
    assert.deepEqual(found(await full.get(`${owner}/*`)), each, owner);
  }
  assert.deepEqual([...compartments.keys()], ['Device', 'Encounter', 'Patient', 'Practitioner', 'RelatedPerson']);
});

test('parameters and types narrow it, by GET, by form and in a batch', async () => {
  for (const [query, expected] of [
    ['_tag=urn:t|x', ['AllergyIntolerance/told', 'Encounter/visit', 'Patient/stone']],
    ['_id=visit,elsewhere,other-visit', ['Encounter/visit']],
    ['_type=Encounter,Observation', ['Encounter/visit', 'Observation/pulse']],
    ['_type=Encounter,Observation&status=final', ['Observation/pulse']],
    ['_type=Patient&_sort=-family', ['Patient/stone', 'Patient/cobble']],
    ['_tag=urn:t|x&_sort=-_id', ['Encounter/visit', 'AllergyIntolerance/told', 'Patient/stone']],
  ] as const) {
    assert.deepEqual(found(await full.get(`Patient/stone/*?${query}`)), expected, query);
    const posted = await full.send('POST', 'Patient/stone/*/_search', query, form);
    assert.deepEqual(found(posted), expected, query);
  }
  assert.deepEqual(found(await full.get('Patient/stone/%2A?_tag=urn:t|x')).length, 3);
  const answer = await full.send('POST', '', batch(entry('GET', 'Patient/stone/*?_type=Encounter')));
  assert.equal(answer.json.entry[0].resource.entry[0].resource.id, 'visit');
});

test('pages of every size make up the whole, while others write', async () => {
  let late = 0;
  for (const count of [1, 2, 3, 5, 50]) {
    const pages: string[] = [];
    let url: string | undefined = `Patient/stone/*?_count=${count}`;
    for (let page = 0; url !== undefined; page++) {
      const answer = await full.get(url);
      if (page > 0) assert.ok(url.startsWith(`${maple.base}/Patient/stone/*?`), url);
      pages.push(...found(answer));
      url = linkOf(answer, 'next');
      late += 1;
      await put(`a${late}`, { resourceType: 'Account', status: 'active', subject: [{ reference: 'Patient/cobble' }] });
    }
    assert.deepEqual(pages, ofStone, `by ${count}`);
  }
});

test('a page link serves its caller and its compartment alone', async () => {
  const next = linkOf(await full.get('Patient/stone/*?_type=Encounter,Patient&_count=1'), 'next') ?? '';
  const cursor = new URL(next).searchParams.get('_cursor');
  const query = `_type=Encounter,Patient&_cursor=${cursor}`;
  for (const asked of [
    foreign.get(`Patient/stone/*?${query}`),
    twin.get(`Patient/stone/*?${query}`),
    narrow.get(`Patient/stone/*?${query}`),
    full.get(`Patient/cobble/*?${query}`),
    full.get(`?${query}`),
    full.get(`Patient/stone/*?_type=Encounter&_cursor=${cursor}`),
  ]) {
    const { status, json } = await asked;
    assert.deepEqual([status, json.issue[0].details.coding[0].code], [400, 'cursor-invalid']);
  }
});

test('what it does not take is refused', async () => {
  for (const [query, diagnostics] of [
    ['_type=Location', '_type names Location, which is not in the compartment of Patient in FHIR R4'],
    [
      '_type=Nonsense',
      '_type names "Nonsense": it takes names of resource types with an endpoint, separated by commas: Patient,Encounter',
    ],
    [
      '_type=AuditEvent',
      '_type names AuditEvent, of which only what was imported could be found so: the audit ledger is searched by itself, GET …/Patient/stone/AuditEvent?…',
    ],
    ['page=2', 'page is served where one type is searched: follow next links here'],
  ] as const) {
    const [expression = ''] = query.split('=');
    const expected = { status: 400, error: 'search-invalid', issue: 'invalid', diagnostics, expression: [expression] };
    assertRefused(await full.get(`Patient/stone/*?${query}`), expected);
  }
  for (const path of [
    'Location/elsewhere/*',
    'Patient/*',
    '*',
    'Patient/stone/**',
    'Patient/stone/*/x',
    'Nonsense/1/*',
  ])
    assert.equal((await full.get(path)).status, 404, path);
  for (const [method, path, allow] of [
    ['POST', 'Patient/stone/*', 'GET, HEAD'],
    ['DELETE', 'Patient/stone/*', 'GET, HEAD'],
    ['GET', 'Patient/stone/*/_search', 'POST'],
  ] as const) {
    const { status, headers } = await full.send(method, path);
    assert.deepEqual([status, headers.get('allow')], [405, allow], path);
  }
});
