/**
 * Who may change but not read is told the same of two resources that differ in what they hide: rules that go by several
 * elements (a choice, contained resources, lists with extensions, places in calendars) are no way to ask for one of them.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { keepCalendar, plainCalendar, putPlaces } from '../../practice/calendars/world.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after }, { PRAXIS_BODY_BYTES_MAX: '200000' });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const acl = ['acl/pat_u', 'system/Observation.u', 'system/Location.u', 'acl/appmt_u', 'acl/trans_bndl_post'];
const blind = await openCaller(service, await makeApplication(service, 'Blind', acl, [maple]), maple);
const jsonPatch = { 'content-type': 'application/json-patch+json' };

await putPlaces(full, ['12'], ['3']);
await keepCalendar(service.platform, maple, plainCalendar);

const to = (reference: string) => ({ reference });
const practice = { resourceType: 'Organization', id: 'o', name: 'Hidden' };
const weight = { status: 'final', code: { text: 'Weight' } };
const doctor = [{ actor: to('Practitioner/12'), status: 'accepted' }];
const sick = [{ actor: to('Patient/x'), status: 'accepted' }];

interface Pair {
  readonly name: string;
  readonly type: string;
  /** Elements of the two resources: what they differ in may not be read. */
  readonly hidden: readonly [object, object];
  readonly patch: readonly object[];
  readonly status: number;
}

const set = (path: string, value: unknown): object => ({ op: 'add', path, value });

const pairs: readonly Pair[] = [
  {
    name: 'an invariant that goes by a hidden value (obs-6)',
    type: 'Observation',
    hidden: [{ ...weight, valueString: 'x' }, weight],
    patch: [set('/dataAbsentReason', { text: 'refused' })],
    status: 403,
  },
  {
    name: 'an invariant that goes by hidden components (obs-7)',
    type: 'Observation',
    hidden: [
      { ...weight, valueString: 'x', component: [{ code: { text: 'Other' } }] },
      { ...weight, valueString: 'x' },
    ],
    patch: [set('/code', { text: 'Other' })],
    status: 403,
  },
  {
    name: 'a choice that has another type',
    type: 'Patient',
    hidden: [{ deceasedDateTime: '2020-01-01' }, {}],
    patch: [set('/deceasedBoolean', false)],
    status: 403,
  },
  {
    name: 'a choice that has the same type',
    type: 'Patient',
    hidden: [{ multipleBirthInteger: 2 }, { multipleBirthBoolean: true }],
    patch: [set('/multipleBirthInteger', 1)],
    status: 403,
  },
  {
    name: 'a value that is one of many types',
    type: 'Observation',
    hidden: [
      { ...weight, valueQuantity: { value: 1 } },
      { ...weight, valueString: 'x' },
    ],
    patch: [set('/valueString', 'y')],
    status: 403,
  },
  {
    name: 'extensions of a hidden value',
    type: 'Patient',
    hidden: [{ birthDate: '1970-01-01' }, {}],
    patch: [set('/_birthDate', { id: 'x' })],
    status: 403,
  },
  {
    name: 'contained resources that something refers to',
    type: 'Patient',
    hidden: [{ contained: [practice], managingOrganization: to('#o') }, {}],
    patch: [set('/contained', [{ ...practice, id: 'p' }])],
    status: 403,
  },
  {
    name: 'a reference to a contained resource that may be there',
    type: 'Patient',
    hidden: [{ contained: [practice], managingOrganization: to('#o') }, {}],
    patch: [set('/managingOrganization', to('#o'))],
    status: 403,
  },
  {
    name: 'a narrative that links to a contained resource',
    type: 'Patient',
    hidden: [{ contained: [practice], managingOrganization: to('#o') }, {}],
    patch: [
      set('/text', {
        status: 'generated',
        div: '<div xmlns="http://www.w3.org/1999/xhtml"><a href=\'#o\'>x</a></div>',
      }),
    ],
    status: 403,
  },
  {
    name: 'the only reference to a contained resource',
    type: 'Patient',
    hidden: [{ contained: [practice], managingOrganization: to('#o') }, {}],
    patch: [set('/managingOrganization', to('Organization/1'))],
    status: 200,
  },
  {
    name: 'the only reference to a contained resource that refers to another',
    type: 'Patient',
    hidden: [
      {
        contained: [
          { ...practice, partOf: to('#p') },
          { ...practice, id: 'p' },
        ],
        managingOrganization: to('#o'),
      },
      {},
    ],
    patch: [set('/managingOrganization', to('Organization/1'))],
    status: 200,
  },
  {
    name: 'participants of a booked appointment',
    type: 'Appointment',
    hidden: [
      { status: 'booked', start: '2026-11-23T14:00:00Z', end: '2026-11-23T14:30:00Z', participant: sick },
      { status: 'cancelled', start: '2026-11-23T15:00:00Z', end: '2026-11-23T15:30:00Z', participant: sick },
    ],
    patch: [set('/participant', doctor)],
    status: 403,
  },
  {
    name: 'the start of a cancelled appointment',
    type: 'Appointment',
    hidden: [
      { status: 'cancelled', start: '2026-11-23T14:00:00Z', end: '2026-11-23T14:30:00Z', participant: doctor },
      { status: 'cancelled', start: '2026-11-23T14:00:00Z', end: '2026-11-23T14:30:00Z', participant: sick },
    ],
    patch: [set('/start', '2026-11-23T13:00:00Z')],
    status: 403,
  },
  {
    name: 'a list of values beside which another number of extensions stands',
    type: 'Location',
    hidden: [{ name: 'x', alias: ['a', 'b'], _alias: [null, { id: 'b' }] }, { name: 'x' }],
    patch: [set('/alias', ['c'])],
    status: 403,
  },
  {
    name: 'a list of objects that is set as a whole, which stands alone',
    type: 'Patient',
    hidden: [{ telecom: [{ system: 'phone', value: '555-0100' }] }, {}],
    patch: [set('/telecom', [{ system: 'phone', value: '555-0101' }])],
    status: 200,
  },
];

async function answersOf(caller: Caller, { type, hidden, patch }: Pair, ask: typeof patched) {
  const told: object[] = [];
  for (const elements of hidden) {
    // By PUT under a new id, as what is brought along from elsewhere: in any state.
    const id = `told-${++made}`;
    const { status: isMade, text: whole } = await full.send('PUT', `${type}/${id}`, {
      resourceType: type,
      id,
      ...elements,
    });
    assert.equal(isMade, 201, whole);
    const { status, text } = await ask(caller, `${type}/${id}`, patch);
    told.push({ status, text: text.replaceAll(id, 'ID').replace(/^\{"resourceType":"Bundle","id":"[^"]*"/, '') });
  }
  return told;
}
let made = 0;

const patched = (caller: Caller, path: string, patch: readonly object[]) =>
  caller.send('PATCH', path, patch, jsonPatch);

/** As the only entry of a batch or transaction. */
const inBundle = (type: string) => (caller: Caller, url: string, patch: readonly object[]) => {
  const data = Buffer.from(JSON.stringify(patch)).toString('base64');
  const resource = { resourceType: 'Binary', contentType: jsonPatch['content-type'], data };
  const entry = [{ request: { method: 'PATCH', url }, resource }];
  return caller.send('POST', '', { resourceType: 'Bundle', type, entry });
};

for (const pair of pairs) {
  test(`told alike: ${pair.name}`, async () => {
    const [one, other] = await answersOf(blind, pair, patched);
    assert.deepEqual(one, other);
    assert.deepEqual({ ...one, text: '' }, { status: pair.status, text: '' });
    const [inOne, inOther] = await answersOf(blind, pair, inBundle('transaction'));
    assert.deepEqual(inOne, inOther);
  });
}

test('those who read everything are told which rule their change breaks', async () => {
  const [choice, , , , , fragment] = pairs;
  for (const pair of [choice, fragment]) {
    assert.ok(pair !== undefined);
    const [one, other] = await answersOf(full, pair, patched);
    assert.notDeepEqual(one, other);
  }
});

test('a contained resource goes with the only reference to it where the caller does not see it; it is refused where it does', async () => {
  const elements = { contained: [practice], managingOrganization: to('#o') };
  const { json } = await full.send('POST', 'Patient', { resourceType: 'Patient', ...elements });
  const change = [set('/managingOrganization', to('Organization/1'))];
  const refused = await patched(full, `Patient/${json.id}`, change);
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.json.issue[0].diagnostics, /dom-3/);
  assert.equal((await patched(blind, `Patient/${json.id}`, change)).status, 200);
  const now = await full.get(`Patient/${json.id}`);
  assert.deepEqual([now.json.contained, now.json.managingOrganization], [undefined, to('Organization/1')]);
});

test('copies that double a value end before they fill the memory', async () => {
  const { json } = await full.send('POST', 'Patient', { resourceType: 'Patient' });
  const extension = { url: 'urn:x', extension: [{ url: 'urn:y', valueString: 'x'.repeat(100) }] };
  const double = { op: 'copy', from: '/extension/0', path: '/extension/0/extension/-' };
  const patch = [set('/extension', [extension]), ...Array.from({ length: 40 }, () => double)];
  const answer = await patched(full, `Patient/${json.id}`, patch);
  assert.equal(answer.status, 422, answer.text);
  assert.match(answer.json.issue[0].diagnostics, /^Operation \d+ copies more than 1048576 characters in all$/);
  assert.equal((await full.get(`Patient/${json.id}`)).json.meta.versionId, '1');
});

test('patches do not make a resource larger than a body may be; what is as large already may shrink', async () => {
  const { json } = await full.send('POST', 'Patient', { resourceType: 'Patient' });
  const name = (length: number) => [set('/name', [{ text: 'x'.repeat(length) }])];
  assert.equal((await patched(full, `Patient/${json.id}`, name(150_000))).status, 200);
  const again = [{ op: 'copy', from: '/name/0/text', path: '/name/0/family' }];
  const refused = await patched(full, `Patient/${json.id}`, again);
  assert.equal(refused.status, 413, refused.text);
  assert.equal(
    refused.json.issue[0].diagnostics,
    'The patch makes the resource larger than 200000 bytes, the limit of a body',
  );
  assert.equal((await patched(full, `Patient/${json.id}`, name(10))).status, 200);
});
