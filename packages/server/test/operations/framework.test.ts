/**
 * How operations are reached, and what is said to those who call them wrongly
 * (https://hl7.org/fhir/R4/operations.html#executing).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operations } from '../../src/practice/features.ts';
import { batch, entry, transaction } from '../bundle/bundles.ts';
import { patient } from '../support/records.ts';
import { assertRefused, insufficientScope } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const nothing = await openCaller(service, await makeApplication(service, 'None', ['acl/appmt_r'], [maple]), maple);
const id = (await full.send('POST', 'Patient', patient('Stone'))).json.id;
const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });

test('an unknown operation is 404 and says which ones there are', async () => {
  const answer = await full.get(`Patient/${id}/$nonsense`);
  assert.equal(answer.status, 404);
  assert.equal(answer.json.issue[0].details.coding[0].code, 'operation-unknown');
  assert.match(
    answer.json.issue[0].diagnostics,
    /^\$nonsense is not an operation of this path\. Supported here: .*\$everything/,
  );
});

test('an operation of another type is unknown; at another level it is 405', async () => {
  assert.equal((await full.get('Practitioner/x/$everything')).status, 404);
  assertRefused(await full.get('Encounter/$everything'), {
    status: 405,
    error: 'method-not-allowed',
    issue: 'not-supported',
    diagnostics: '$everything is not asked of this path but of /Encounter/{id}/$everything',
    allow: '',
  });
  assert.equal((await full.get('$everything')).status, 405);
});

test('methods: what changes nothing answers GET and POST, nothing answers PUT', async () => {
  const answer = await full.send('PUT', `Patient/${id}/$everything`, parameters());
  assert.equal(answer.status, 405);
  assert.equal(answer.headers.get('allow'), 'GET, HEAD, POST');
  assert.equal((await full.send('HEAD', `Patient/${id}/$everything`)).status, 200);
});

test('paths that mean nothing are 404 without credentials being read', async () => {
  for (const path of ['$', '$Upper', 'Patient/$everything/x', 'Patient//$everything', `Patient/${id}/_history/$meta`]) {
    const answer = await fetch(`${maple.base}/${path}`);
    assert.equal(answer.status, 404, path);
  }
  assert.equal((await fetch(`${maple.base}/Patient/${id}/$everything`)).status, 401);
  assert.equal((await full.get('Nonsense/$everything')).status, 404);
});

test('a dollar sign may be percent-encoded', async () => {
  assert.equal((await full.get(`Patient/${id}/%24everything`)).status, 200);
});

test('access is settled before parameters are looked at', async () => {
  const answer = await nothing.send('POST', `Patient/${id}/$everything?nonsense=1`, '{', {
    'content-type': 'text/plain',
  });
  assert.equal(answer.status, 403);
  assert.equal(answer.headers.get('www-authenticate'), insufficientScope);
});

const refusals: readonly (readonly [what: string, query: string, body: unknown, says: RegExp])[] = [
  ['an unknown name', '?nonsense=1', undefined, /^nonsense is no parameter of the operation; it takes start, end, /],
  ['an unknown name in a body', '', parameters({ name: 'other', valueString: 'x' }), /^other is no parameter/],
  ['an out-parameter', '', parameters({ name: 'return', valueString: 'x' }), /^return is no parameter/],
  [
    'a repeated parameter',
    '?start=2020-01-01&start=2020-01-02',
    undefined,
    /^start occurs 2 times: at most 1 is taken/,
  ],
  [
    'one in the query and one in the body',
    '?start=2020-01-01',
    parameters({ name: 'start', valueDate: '2020-01-01' }),
    /^start occurs 2 times/,
  ],
  ['a malformed date', '?start=yesterday', undefined, /^start takes a value of type date, such as 2026-11-21$/],
  ['a malformed integer', '?_count=1.5', undefined, /^_count takes a value of type integer, such as 10$/],
  [
    'another type',
    '',
    parameters({ name: 'start', valueBoolean: true }),
    /^start takes valueDate, such as 2026-11-21$/,
  ],
  ['a resource for a value', '', parameters({ name: 'start', resource: patient('X') }), /^start takes date/],
  ['a parameter without a value', '', parameters({ name: 'start' }), /./],
];

for (const [what, query, body, says] of refusals) {
  test(`400 names the parameter: ${what}`, async () => {
    const path = `Patient/${id}/$everything${query}`;
    const answer = body === undefined ? await full.get(path) : await full.send('POST', path, body);
    assert.equal(answer.status, 400, answer.text);
    assert.match(answer.json.issue[0].diagnostics, says);
  });
}

test('a body that is no Parameters resource is 400', async () => {
  const answer = await full.send('POST', `Patient/${id}/$everything`, patient('Stone'));
  assert.equal(answer.status, 400);
  assert.match(answer.json.issue[0].diagnostics, /^resourceType must be Parameters/);
  assert.equal((await full.send('POST', `Patient/${id}/$everything`, '[1]')).status, 400);
});

test('a POST without a body is one without parameters', async () => {
  const answer = await full.send('POST', `Patient/${id}/$everything`);
  assert.equal(answer.status, 200, answer.text);
});

test('values of near types are taken where their text is right', async () => {
  const body = parameters({ name: '_type', valueString: 'Patient' }, { name: '_count', valuePositiveInt: 5 });
  assert.equal((await full.send('POST', `Patient/${id}/$everything`, body)).status, 200);
});

test('the CapabilityStatement lists each operation where it is asked', async () => {
  const [rest] = (await full.get('metadata')).json.rest;
  for (const { name, url, levels, types } of operations) {
    if (levels.includes('system'))
      assert.ok(
        rest.operation.some((each: { name: string }) => each.name === name),
        name,
      );
    for (const { type, operation = [] } of rest.resource) {
      const isListed = operation.some((each: { definition: string }) => each.definition === url);
      const isExpected = levels.some((level) => level !== 'system') && (types === 'all' || types.includes(type));
      assert.equal(isListed, isExpected, `${type} ${name}`);
    }
  }
});

test('operations are entries of batches and transactions', async () => {
  const url = `Patient/${id}/$everything?_type=Patient`;
  for (const bundle of [batch, transaction]) {
    const got = await full.send('POST', '', bundle(entry('GET', url)));
    assert.equal(got.status, 200, got.text);
    const [answered] = got.json.entry;
    assert.equal(answered.response.status, '200 OK');
    assert.equal(answered.fullUrl, undefined);
    assert.equal(answered.resource.entry[0].resource.id, id);
    const posted = await full.send(
      'POST',
      '',
      bundle(entry('POST', url, parameters({ name: '_count', valueInteger: 1 }))),
    );
    assert.equal(posted.json.entry[0].resource?.total, 1, posted.text);
  }
  const mixed = await full.send('POST', '', batch(entry('GET', 'Patient/$nonsense'), entry('GET', `Patient/${id}`)));
  assert.deepEqual(
    mixed.json.entry.map(({ response }: { response: { status: string } }) => response.status),
    ['404 Not Found', '200 OK'],
  );
});

test('an entry for an operation needs what the operation needs', async () => {
  const [answered] = (await nothing.send('POST', '', batch(entry('GET', `Patient/${id}/$everything`)))).json.entry;
  assert.equal(answered.response.status, '403 Forbidden');
  assert.equal(answered.resource, undefined);
});
