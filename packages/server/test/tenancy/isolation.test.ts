/**
 * Two firms with the same ids, the same search values and different secrets: over every interaction and every kind of
 * search parameter, nobody at one firm sees, finds, counts, changes or learns anything of the other.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import {
  type Answer,
  type Caller,
  callerOf,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestFirm,
} from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const atBoth = await makeApplication(service, 'At both', ['acl/*'], [maple, cedar]);
const atMaple = await makeApplication(service, 'At maple', ['acl/*'], [maple]);

/** What must never be seen at the other firm. */
const secretOf = (firm: TestFirm): string => `Secret-of-${firm.prefix}`;

/** Resources of every kind of search parameter; they differ between the firms in `secret` alone. */
function resources(secret: string): readonly Readonly<Record<string, unknown>>[] {
  return [
    {
      resourceType: 'Patient',
      id: 'one',
      active: true,
      identifier: [{ system: 'urn:example:mrn', value: '4711' }],
      name: [{ family: 'Stone', given: ['Ada'], text: secret }],
      gender: 'female',
      birthDate: '1970-01-02',
      telecom: [{ system: 'phone', value: '555-0100' }],
      generalPractitioner: [{ reference: 'Practitioner/one', display: secret }],
    },
    { resourceType: 'Practitioner', id: 'one', name: [{ family: 'Reed', text: secret }] },
    {
      resourceType: 'Observation',
      id: 'one',
      status: 'final',
      code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }], text: secret },
      subject: { reference: 'Patient/one', identifier: { system: 'urn:example:mrn', value: '4711' } },
      effectiveDateTime: '2026-11-20T10:00:00Z',
      valueQuantity: { value: 72.5, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
    },
    {
      resourceType: 'RiskAssessment',
      id: 'one',
      status: 'final',
      subject: { reference: 'Patient/one' },
      prediction: [{ probabilityDecimal: 0.25, rationale: secret }],
    },
    { resourceType: 'ValueSet', id: 'one', url: 'http://example.com/ValueSet/one', status: 'active', title: secret },
  ];
}

/** Type and search; each finds the one resource of the type at each firm. */
const searches: readonly string[] = [
  'Patient',
  'Patient?_id=one',
  'Patient?_lastUpdated=ge2000-01-01',
  'Patient?family=Stone',
  'Patient?family:exact=Stone',
  'Patient?name:contains=ton',
  'Patient?identifier=urn:example:mrn|4711',
  'Patient?identifier=4711',
  'Patient?gender=female',
  'Patient?gender:not=male',
  'Patient?active=true',
  'Patient?phone=555-0100',
  'Patient?birthdate=1970-01-02',
  'Patient?birthdate=ge1970&birthdate=lt1971',
  'Patient?general-practitioner=Practitioner/one',
  'Patient?general-practitioner=one',
  'Patient?general-practitioner:missing=false',
  'Patient?organization:missing=true',
  'Patient?_sort=-birthdate,family',
  'Patient?_sort=-_lastUpdated&_count=1',
  'Patient?family=Stone,Reed&gender=female,male&_total=accurate',
  'Practitioner?name=Reed',
  'Observation?subject=Patient/one',
  'Observation?subject:Patient=one',
  'Observation?patient=one',
  'Observation?subject:identifier=urn:example:mrn|4711',
  'Observation?code=http://loinc.org|29463-7',
  'Observation?date=2026-11-20',
  'Observation?value-quantity=gt70|http://unitsofmeasure.org|kg',
  'Observation?value-quantity=72.5',
  'RiskAssessment?probability=0.25',
  'RiskAssessment?probability=lt0.5',
  'ValueSet?url=http://example.com/ValueSet/one',
  'ValueSet?url:missing=false',
];

const callers: { readonly name: string; readonly firm: TestFirm; readonly other: TestFirm; readonly caller: Caller }[] =
  [];
for (const [firm, other] of [
  [maple, cedar],
  [cedar, maple],
] as const) {
  const caller = await openCaller(service, atBoth, firm);
  for (const resource of resources(secretOf(firm))) {
    const { status, text } = await caller.send('PUT', `${resource['resourceType']}/${resource['id']}`, resource);
    assert.equal(status, 201, text);
  }
  callers.push({ name: `one application at both, at ${firm.prefix}`, firm, other, caller });
  callers.push({
    name: `its legacy token at ${firm.prefix}`,
    firm,
    other,
    caller: callerOf(firm, await legacyToken(atBoth, firm), atBoth.legacyKey),
  });
}
callers.push({
  name: 'an application at maple alone',
  firm: maple,
  other: cedar,
  caller: await openCaller(service, atMaple, maple),
});
const cedarCaller = await openCaller(service, atBoth, cedar);

/** Two more versions at cedar, so that the firms differ in versions, too. */
for (const language of ['en', 'fr']) {
  const changed = await cedarCaller.send('PUT', 'Patient/one', { ...resources(secretOf(cedar))[0], language });
  assert.equal(changed.status, 200);
}

/** Nothing of the other firm is in the answer: neither its secret nor its path. */
function assertNothingOf(other: TestFirm, answer: Answer, name: string): void {
  const all = `${answer.text}${[...answer.headers].flat().join('\n')}`;
  assert.ok(!all.includes(secretOf(other)), `${name}: ${all}`);
  assert.ok(!all.includes(`/firm/${other.prefix}/`), `${name}: ${all}`);
}

test('searches by every kind of parameter find the own resource alone, by GET and by POST', async () => {
  for (const { name, firm, other, caller } of callers) {
    for (const search of searches) {
      const [type = '', query = ''] = search.split('?');
      const form = { 'content-type': 'application/x-www-form-urlencoded' };
      const answers = [await caller.get(search), await caller.send('POST', `${type}/_search`, query, form)];
      for (const answer of answers) {
        assert.equal(answer.status, 200, `${name}: ${search}: ${answer.text}`);
        assert.equal(answer.json.total, 1, `${name}: ${search}`);
        assert.deepEqual(
          answer.json.entry.map(({ fullUrl }: { fullUrl: string }) => fullUrl),
          [`${firm.base}/${type}/one`],
        );
        assert.ok(answer.text.includes(secretOf(firm)), search);
        assertNothingOf(other, answer, `${name}: ${search}`);
      }
      const counted = await caller.get(`${search}${query === '' ? '?' : '&'}_summary=count`);
      assert.equal(counted.json.total, 1, `${name}: ${search}`);
    }
  }
});

test('the secret of the other firm cannot be searched for', async () => {
  for (const { name, other, caller } of callers) {
    const secret = secretOf(other);
    for (const search of [
      `Patient?name=${secret}`,
      `Patient?name:contains=${secret.slice(3)}`,
      `Observation?code:text=${secret}`,
      `Practitioner?name=${secret}`,
      `ValueSet?title=${secret}`,
    ]) {
      const answer = await caller.get(search);
      if (answer.status === 400) continue; // a modifier that is not served
      assert.equal(answer.json.total, 0, `${name}: ${search}`);
    }
  }
});

test('read, vread and history are of the own firm', async () => {
  for (const { name, firm, other, caller } of callers) {
    const versions = firm === cedar ? 3 : 1;
    for (const { resourceType } of resources('')) {
      for (const path of [
        `${resourceType}/one`,
        `${resourceType}/one/_history/1`,
        `${resourceType}/one/_history`,
        `${resourceType}/_history`,
        '_history',
        `?_type=${resourceType}`,
        '?_id=one',
      ]) {
        const answer = await caller.get(path);
        assert.equal(answer.status, 200, `${name}: ${path}`);
        assert.ok(answer.text.includes(secretOf(firm)));
        assertNothingOf(other, answer, `${name}: ${path}`);
      }
    }
    const history = await caller.get('Patient/one/_history');
    assert.equal(history.json.entry.length, versions, name);
    for (const version of [2, 3]) {
      assert.equal(
        (await caller.get(`Patient/one/_history/${version}`)).status,
        version <= versions ? 200 : 404,
        `${name}: ${version}`,
      );
    }
  }
});

test('an ETag of one firm says nothing at the other', async () => {
  const mapleCaller = callers[0]?.caller;
  assert.ok(mapleCaller);
  assert.equal((await mapleCaller.get('Patient/one')).headers.get('etag'), 'W/"1"');
  assert.equal((await cedarCaller.get('Patient/one')).headers.get('etag'), 'W/"3"');
  assert.equal((await mapleCaller.get('Patient/one', { 'if-none-match': 'W/"3"' })).status, 200);
  assert.equal((await cedarCaller.get('Patient/one', { 'if-none-match': 'W/"3"' })).status, 304);
  const before = await tenantRows(service.database.owner);
  const body = { ...resources('x')[0] };
  assert.equal((await mapleCaller.send('PUT', 'Patient/one', body, { 'if-match': 'W/"3"' })).status, 412);
  assert.equal((await mapleCaller.send('DELETE', 'Patient/one', undefined, { 'if-match': 'W/"3"' })).status, 412);
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('a reference to the other firm is a foreign URL here: it resolves to nothing of ours', async () => {
  const caller = callers[0]?.caller;
  assert.ok(caller);
  const foreign = `${cedar.base}/Patient/one`;
  const stored = await caller.send('PUT', 'Observation/foreign', {
    resourceType: 'Observation',
    id: 'foreign',
    status: 'final',
    code: { text: 'x' },
    subject: { reference: foreign },
  });
  assert.equal(stored.status, 201, stored.text);
  const ids = async (at: Caller, search: string): Promise<string[]> =>
    ((await at.get(search)).json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
  assert.deepEqual(await ids(caller, 'Observation?subject=Patient/one'), ['one']);
  assert.deepEqual(await ids(caller, `Observation?subject=${maple.base}/Patient/one`), ['one']);
  assert.deepEqual(await ids(caller, `Observation?subject=${foreign}`), ['foreign']);
  assert.deepEqual(await ids(cedarCaller, `Observation?subject=${foreign}`), ['one']);
  assert.equal((await cedarCaller.get('Observation/foreign')).status, 404);
  assert.equal((await caller.send('DELETE', 'Observation/foreign')).status, 204);
});

test('a legacy token opens its firm alone, though the application is open at both', async () => {
  const token = await legacyToken(atBoth, maple);
  const elsewhere = callerOf(cedar, token, atBoth.legacyKey);
  const before = await tenantRows(service.database.owner);
  const body = resources('Intruder')[0];
  for (const answer of [
    await elsewhere.get('Patient/one'),
    await elsewhere.get('Patient'),
    await elsewhere.get('Patient/one/_history'),
    await elsewhere.send('PUT', 'Patient/one', body),
    await elsewhere.send('POST', 'Patient', body),
    await elsewhere.send('DELETE', 'Patient/one'),
  ]) {
    assert.equal(answer.status, 403);
    assert.equal(answer.json.issue[0].details.coding[0].code, 'firm-forbidden');
    assertNothingOf(cedar, answer, 'legacy token elsewhere');
  }
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('writes and deletes at one firm leave the other as it was', async () => {
  const caller = callers[0]?.caller;
  assert.ok(caller);
  const before = await cedarCaller.get('Patient/one');
  const found = await cedarCaller.get('Patient?family=Stone');
  assert.equal(
    (await caller.send('PUT', 'Patient/one', { ...resources(secretOf(maple))[0], gender: 'male' })).status,
    200,
  );
  assert.equal((await caller.send('DELETE', 'Patient/one')).status, 204);
  assert.equal((await caller.get('Patient/one')).status, 410);
  assert.equal((await caller.get('Patient?family=Stone')).json.total, 0);
  const after = await cedarCaller.get('Patient/one');
  assert.equal(after.text, before.text);
  assert.equal(after.headers.get('etag'), before.headers.get('etag'));
  assert.deepEqual((await cedarCaller.get('Patient?family=Stone')).json.entry, found.json.entry);
});

test('an id that exists only at the other firm is not known here, deleted or not', async () => {
  const created = await cedarCaller.send('POST', 'Patient', { ...resources(secretOf(cedar))[0] });
  const { id } = created.json;
  const mapleCaller = callers.at(-1)?.caller;
  assert.ok(mapleCaller);
  const answers = async (): Promise<string[]> =>
    Promise.all(
      [`Patient/${id}`, `Patient/${id}/_history`, `Patient/${id}/_history/1`].map(async (path) => {
        const { status, json } = await mapleCaller.get(path);
        return `${status} ${json.issue[0].diagnostics}`.replaceAll(id, 'ID');
      }),
    );
  const existing = await answers();
  assert.ok(
    existing.every((answer) => answer.startsWith('404 ')),
    existing.join('\n'),
  );
  assert.equal((await cedarCaller.send('DELETE', `Patient/${id}`)).status, 204);
  assert.deepEqual(await answers(), existing);
});
