/**
 * `:below` and `:above` of references, over the strict hierarchies of R4
 * (https://hl7.org/fhir/R4/search.html#recursive, references.html#circular).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
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
const foreign = await callerWith('Foreign', ['acl/*'], cedar);
const visits = await callerWith('Visits', ['acl/enc_s']);
const places = await callerWith('Places', ['acl/enc_s', 'acl/loc_s']);
const payers = await callerWith('Payers', ['acl/org_pay_s', 'acl/pat_s']);

const put = async (type: string, id: string, resource: object, caller = full) => {
  const answer = await caller.send('PUT', `${type}/${id}`, { resourceType: type, ...resource, id });
  assert.ok(answer.status < 300, answer.text);
};
const part = (of: string | undefined) => (of === undefined ? {} : { partOf: { reference: of } });

/** campus > clinic > ward > room; campus > annex */
for (const [id, of] of [
  ['campus', undefined],
  ['clinic', 'campus'],
  ['ward', 'clinic'],
  ['room', 'ward'],
  ['annex', 'campus'],
  ['elsewhere', undefined],
] as const)
  await put('Location', id, part(of && `Location/${of}`));
const payer = (of?: string) => ({
  name: 'Payer',
  type: [{ coding: [{ code: 'pay' }] }],
  ...part(of && `Organization/${of}`),
});
await put('Organization', 'group', payer());
await put('Organization', 'hidden', { name: 'Not a payer', ...part('Organization/group') });
await put('Organization', 'plan', payer('hidden'));
await put('Organization', 'fund', payer('group'));
for (const id of ['group', 'hidden', 'plan', 'fund'])
  await put('Patient', `of-${id}`, patient(id, { managingOrganization: { reference: `Organization/${id}` } }));
await put('Patient', 'p1', patient('Stone'));

const at = (...ids: readonly string[]) => ({
  location: ids.map((id) => ({ location: { reference: id.includes('/') ? id : `Location/${id}` } })),
});
await put('Encounter', 'stay', encounter('Patient/p1', at('campus')));
await put('Encounter', 'visit', encounter('Patient/p1', { ...at('ward'), ...part('Encounter/stay') }));
await put('Encounter', 'check', encounter('Patient/p1', { ...at('room', 'annex'), ...part('Encounter/visit') }));
await put('Encounter', 'other', encounter('Patient/p1', at('elsewhere')));
await put('Encounter', 'absolute', encounter('Patient/p1', at(`${maple.base}/Location/annex`)));
const condition = (of: string) => ({
  subject: { reference: 'Patient/p1' },
  encounter: { reference: `Encounter/${of}` },
});
for (const id of ['stay', 'visit', 'check', 'other']) await put('Condition', `at-${id}`, condition(id));
await put('Appointment', 'booked', appointment('Location/room', '2026-06-01T10:00:00Z'));

const ids = ({ status, json, text }: Answer): string[] => {
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id).sort();
};

test('who may not search the hierarchy is refused, whether it has steps or not', async () => {
  for (const id of ['campus', 'room', 'nowhere']) {
    for (const modifier of ['below', 'above']) {
      const answer = await visits.get(`Encounter?location:${modifier}=${id}`);
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.json.issue[0].diagnostics, /^Location search needs /);
    }
  }
  assert.deepEqual(ids(await visits.get('Encounter?location=campus')), ['stay']);
  assert.deepEqual(ids(await places.get('Encounter?location:below=ward')), ['check', 'visit']);
});

test('rows that the caller may not see are no steps', async () => {
  assert.deepEqual(ids(await full.get('Patient?organization:below=group')), [
    'of-fund',
    'of-group',
    'of-hidden',
    'of-plan',
  ]);
  assert.deepEqual(ids(await payers.get('Patient?organization:below=group')), ['of-fund', 'of-group']);
  assert.deepEqual(ids(await payers.get('Patient?organization:above=plan')), ['of-plan']);
  assert.deepEqual(ids(await full.get('Patient?organization:above=plan')), ['of-group', 'of-hidden', 'of-plan']);
});

test('another firm walks its own', async () => {
  await put('Location', 'closet', part('Location/campus'), foreign);
  await put('Patient', 'p1', patient('Cedar'), foreign);
  await put('Encounter', 'mine', encounter('Patient/p1', at('closet')), foreign);
  assert.deepEqual(ids(await foreign.get('Encounter?location:below=campus')), ['mine']);
  assert.deepEqual(ids(await foreign.get('Encounter?location:below=clinic')), []);
});

test('a resource, what is below it and what is above it', async () => {
  for (const [query, expected] of [
    ['Encounter?location:below=campus', ['absolute', 'check', 'stay', 'visit']],
    ['Encounter?location:below=Location/clinic', ['check', 'visit']],
    [`Encounter?location:below=${maple.base}/Location/annex`, ['absolute', 'check']],
    ['Encounter?location:below=elsewhere', ['other']],
    ['Encounter?location:below=nowhere', []],
    ['Encounter?location:below=clinic,elsewhere', ['check', 'other', 'visit']],
    ['Encounter?location:above=room', ['check', 'stay', 'visit']],
    ['Encounter?location:above=campus', ['stay']],
    ['Location?partof:below=clinic', ['room', 'ward']],
    ['Location?partof:above=clinic', ['annex', 'clinic', 'ward']],
    ['Encounter?part-of:below=stay', ['check', 'visit']],
    ['Condition?encounter:above=check', ['at-check', 'at-stay', 'at-visit']],
    ['Condition?encounter:below=visit', ['at-check', 'at-visit']],
    ['Condition?encounter.location:below=clinic', ['at-check', 'at-visit']],
    ['Patient?_has:Encounter:patient:location:below=clinic', ['p1']],
    ['Appointment?actor:below=clinic', ['booked']],
    ['Encounter?location:below=clinic&_id=visit', ['visit']],
    ['Encounter?_sort=-_id&location:below=campus', ['absolute', 'check', 'stay', 'visit']],
  ] as const) {
    assert.deepEqual(ids(await full.get(query)), expected, query);
  }
  assert.equal((await full.get('Encounter?location:below=campus&_summary=count')).json.total, 4);
});

test('pages make up the whole', async () => {
  const found: string[] = [];
  let url: string | undefined = 'Encounter?location:below=campus&_count=1';
  while (url !== undefined) {
    const answer: Answer = await full.get(url);
    found.push(...ids(answer));
    url = answer.json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  assert.deepEqual(found.toSorted(), ['absolute', 'check', 'stay', 'visit']);
});

test('three hierarchies of care plans are walked each by its own reference', async () => {
  const plan = (more: object) => ({ status: 'active', intent: 'plan', subject: { reference: 'Patient/p1' }, ...more });
  const to = (id: string) => [{ reference: `CarePlan/${id}` }];
  await put('CarePlan', 'c1', plan({}));
  await put('CarePlan', 'c2', plan({ partOf: to('c1') }));
  await put('CarePlan', 'c3', plan({ partOf: to('c2'), replaces: to('c1') }));
  await put('CarePlan', 'c4', plan({ replaces: to('c3') }));
  assert.deepEqual(ids(await full.get('CarePlan?part-of:below=c1')), ['c2', 'c3']);
  assert.deepEqual(ids(await full.get('CarePlan?replaces:below=c1')), ['c3', 'c4']);
  assert.deepEqual(ids(await full.get('CarePlan?based-on:below=c1')), []);
  await put('CarePlan', 'c5', plan({ basedOn: to('c1') }));
  for (const id of ['c2', 'c5'])
    await put('Procedure', `by-${id}`, { status: 'completed', subject: { reference: 'Patient/p1' }, basedOn: to(id) });
  assert.deepEqual(ids(await full.get('CarePlan?based-on:below=c1')), ['c5']);
  // What other types are based on is ordered by parts, though care plans have a reference of that name.
  assert.deepEqual(ids(await full.get('Procedure?based-on:below=c1')), ['by-c2']);
});

test('a circle that should not be ends', async () => {
  await put('Location', 'one', part('Location/two'));
  await put('Location', 'two', part('Location/one'));
  for (const modifier of ['below', 'above'])
    assert.deepEqual(ids(await full.get(`Location?partof:${modifier}=one`)), ['one', 'two']);
});

test('what is too deep or too much is refused', async () => {
  for (let step = 0; step <= 22; step += 1)
    await put('Location', `s${step}`, part(step === 0 ? undefined : `Location/s${step - 1}`));
  const expected = { status: 400, error: 'search-invalid', issue: 'invalid', expression: ['location:below'] };
  const diagnostics = 'location:below follows partof over more than 20 steps';
  assertRefused(await full.get('Encounter?location:below=s0'), { ...expected, diagnostics });
  assert.deepEqual(ids(await full.get('Encounter?location:below=s2')), []);
  const entries = Array.from({ length: 500 }, (_, number) => ({
    resource: { resourceType: 'Location', ...part('Location/elsewhere'), name: `Room ${number}` },
    request: { method: 'POST', url: 'Location' },
  }));
  const made = await full.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry: entries });
  assert.equal(made.status, 200, made.text);
  assertRefused(await full.get('Encounter?location:below=elsewhere'), {
    ...expected,
    diagnostics: 'location:below stands for more than 500 resources: name one further down',
  });
});

test('what has no hierarchy is refused and what has is told', async () => {
  for (const [query, diagnostics] of [
    [
      'Encounter?location:below=Patient/p1',
      'location:below takes an id (23) or a type and id (Location/23) of Location, which have hierarchies',
    ],
    [
      'Encounter?location:below=https://other.example.com/Location/1',
      'location:below takes an id (23) or a type and id (Location/23) of Location, which have hierarchies',
    ],
    [
      'Encounter?subject:below=p1',
      'subject:below has a modifier that subject of Encounter does not take; it takes :missing, :identifier, :Group, :Patient',
    ],
  ] as const) {
    const [name = ''] = query.slice(query.indexOf('?') + 1).split('=');
    assertRefused(await full.get(query), {
      status: 400,
      error: 'search-invalid',
      issue: 'invalid',
      diagnostics,
      expression: [name],
    });
  }
});
