/**
 * Search parameters that a firm defines (https://hl7.org/fhir/R4/searchparameter.html): who may use them, when they may be
 * searched by, and that everything is found by them, whenever it was stored.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

const service = await openTestService({ after });
const { jobs } = service.service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [cedar]), cedar);
const narrow = await openCaller(
  service,
  await makeApplication(service, 'Narrow', ['acl/pat_s_name_dob_gen'], [maple]),
  maple,
);

const shoeUrl = 'https://example.org/fhir/StructureDefinition/shoe-size';
const shoe = (size: number) => ({ extension: [{ url: shoeUrl, valueQuantity: { value: size, unit: 'EU' } }] });

const parameter = (code: string, more: Readonly<Record<string, unknown>> = {}) => ({
  resourceType: 'SearchParameter',
  url: `https://example.org/fhir/SearchParameter/${code}`,
  name: code.replaceAll('-', '_'),
  status: 'active',
  description: `What ${code} is`,
  code,
  base: ['Patient'],
  type: 'quantity',
  expression: `Patient.extension('${shoeUrl}').value`,
  ...more,
});

const found = ({ status, json, text }: Answer): string[] => {
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id).sort();
};

for (let index = 1; index <= 12; index += 1) {
  const answer = await full.send('PUT', `Patient/old${index}`, {
    ...patient(`Old${index}`, shoe(30 + index)),
    id: `old${index}`,
  });
  assert.equal(answer.status, 201, answer.text);
}

const unservable: readonly [name: string, more: Readonly<Record<string, unknown>>, element: string, rule: RegExp][] = [
  [
    'a code of R4',
    { code: 'birthdate' },
    'code',
    /is taken: Patient has birthdate of http:\/\/hl7\.org\/fhir\/SearchParameter/,
  ],
  ['a code that begins with _', { code: '_shoe' }, 'code', /1 to 64 letters/],
  ['a code that names a result parameter', { code: 'page' }, 'code', /1 to 64 letters/],
  ['a special parameter', { type: 'special' }, 'type', /is special; number, date/],
  ['no expression', { expression: undefined }, 'expression', /is missing/],
  [
    'an element that is not there',
    { expression: 'Patient.shoe' },
    'expression',
    /cannot be evaluated on Patient: Unknown element shoe/,
  ],
  [
    'syntax beyond the subset',
    { expression: 'Patient.name.select(given)' },
    'expression',
    /cannot be evaluated on Patient/,
  ],
  [
    'a type that its kind does not search',
    { type: 'date', expression: 'Patient.name' },
    'expression',
    /selects HumanName of Patient; a date parameter searches date/,
  ],
  [
    'an expression of another type',
    { expression: 'Encounter.status', type: 'token' },
    'expression',
    /selects nothing of Patient/,
  ],
  [
    'elements of many types after each other',
    { expression: `Patient${'.extension.value'.repeat(9)}` },
    'expression',
    /too often/,
  ],
  [
    'an expression that is too long',
    { expression: `Patient.name${' | Patient.name'.repeat(70)}`, type: 'string' },
    'expression',
    /1000 characters/,
  ],
  [
    'a composite of one part',
    {
      type: 'composite',
      component: [{ definition: 'http://hl7.org/fhir/SearchParameter/individual-gender', expression: 'gender' }],
    },
    'component',
    /twice at least/,
  ],
  [
    'a composite of an unknown part',
    {
      type: 'composite',
      expression: 'Patient',
      component: [
        { definition: 'urn:x', expression: 'gender' },
        { definition: 'urn:y', expression: 'active' },
      ],
    },
    'component[0].definition',
    /no parameter of R4/,
  ],
];

for (const [name, more, element, rule] of unservable) {
  test(`an active SearchParameter with ${name} is refused; as a draft it is stored`, async () => {
    const answer = await full.send('POST', 'SearchParameter', parameter('shoe', more));
    assert.equal(answer.status, 422, answer.text);
    const [issue] = answer.json.issue;
    assert.equal(issue.code, 'not-supported');
    assert.deepEqual(issue.expression, [`SearchParameter.${element}`]);
    assert.match(issue.diagnostics, rule);
    const draft = await full.send('POST', 'SearchParameter', parameter('shoe', { ...more, status: 'draft' }));
    assert.equal(draft.status, 201, draft.text);
  });
}

const standing = async (id: string): Promise<Record<string, unknown> | undefined> => {
  const { status, json, text } = await full.get(`SearchParameter/${id}/$status`);
  if (status === 404) return undefined;
  assert.equal(status, 200, text);
  const parts = json.parameter.map(({ part }: { part: Record<string, unknown>[] }) =>
    Object.fromEntries(part.map(({ name, ...value }) => [name, Object.values(value)[0]])),
  );
  return parts.at(-1);
};

const define = async (id: string, resource: Readonly<Record<string, unknown>>): Promise<void> => {
  const { status, text } = await full.send('PUT', `SearchParameter/${id}`, { ...resource, id });
  assert.ok(status === 201 || status === 200, text);
};

/** The codes that the metadata of a type list. */
async function advertised(caller: Caller, type: string): Promise<string[]> {
  const { json } = await caller.get('metadata');
  const entry = json.rest[0].resource.find((resource: { type: string }) => resource.type === type);
  return entry.searchParam.map(({ name }: { name: string }) => name);
}

/** How many index rows of the firm's own parameters there are. */
async function ownRows(): Promise<number> {
  const [row] = await service.database.owner.query<{ total: number }>(sql`
    SELECT count(*)::int AS total FROM index_number
    WHERE param = ANY (SELECT DISTINCT param FROM index_number EXCEPT SELECT unnest(${standard}::int[]))`);
  return row?.total ?? 0;
}
const standard = (
  await service.database.owner.query<{ param: number }>(sql`SELECT DISTINCT param FROM index_number`)
).map(({ param }) => param);

test('it is searched by and advertised once what was stored before is indexed, not earlier', async () => {
  assertRefused(await full.get('Patient?shoe-size=gt35'), {
    status: 400,
    error: 'search-invalid',
    issue: 'invalid',
    diagnostics:
      'shoe-size is not a search parameter of Patient; metadata lists those that are (Prefer: handling=lenient ignores unknown ones)',
    expression: ['shoe-size'],
  });
  await define('shoe', parameter('shoe-size'));
  await jobs.settle();
  assert.deepEqual(found(await full.get('Patient?shoe-size=gt40')), ['old11', 'old12']);
  assert.deepEqual(found(await full.get('Patient?shoe-size=gt40&_sort=-shoe-size&_count=1')), ['old12']);
  assert.equal((await full.get('Patient?shoe-size:missing=true&_summary=count')).json.total, 0);
  assert.ok((await advertised(full, 'Patient')).includes('shoe-size'));
  assert.deepEqual(await standing('shoe'), {
    url: 'https://example.org/fhir/SearchParameter/shoe-size',
    resource: 'shoe',
    state: 'active',
    percent: 100,
  });
});

test('what is written afterwards is found by it, and what is changed is found as changed', async () => {
  await full.send('PUT', 'Patient/new', { ...patient('New', shoe(50)), id: 'new' });
  assert.deepEqual(found(await full.get('Patient?shoe-size=50')), ['new']);
  await full.send('PUT', 'Patient/new', { ...patient('New', shoe(20)), id: 'new' });
  assert.deepEqual(found(await full.get('Patient?shoe-size=50')), []);
  assert.deepEqual(found(await full.get('Patient?shoe-size=lt30')), ['new']);
  const entry = { resource: patient('Bundled', shoe(51)), request: { method: 'POST', url: 'Patient' } };
  const bundle = { resourceType: 'Bundle', type: 'transaction', entry: [entry] };
  assert.equal((await full.send('POST', '', bundle)).status, 200);
  assert.equal(found(await full.get('Patient?shoe-size=51')).length, 1);
});

test('another firm has neither the parameter nor its status, and nobody learns of it without credentials', async () => {
  assert.equal((await other.get('Patient?shoe-size=gt35')).status, 400);
  assert.equal((await other.get('SearchParameter/shoe/$status')).status, 404);
  assert.deepEqual((await other.get('SearchParameter/$status')).json, { resourceType: 'Parameters' });
  assert.ok(!(await advertised(other, 'Patient')).includes('shoe-size'));
  const open = await fetch(`${maple.base}/metadata`);
  assert.ok(!(await open.text()).includes('shoe-size'));
  assert.equal(
    (await fetch(`${maple.base}/metadata`, { headers: { authorization: 'Bearer x', 'x-api-key': 'y' } })).status,
    200,
  );
});

test('who may not read every element that it touches may not search, sort, chain or include by it, nor see it', async () => {
  const needs = /needs acl\//;
  for (const query of [
    'Patient?shoe-size=gt35',
    'Patient?_sort=shoe-size',
    'Patient?shoe-size:missing=false',
    'Patient?_filter=shoe-size gt 35',
  ]) {
    const answer = await narrow.get(query);
    assert.equal(answer.status, 403, `${query}: ${answer.text}`);
    assert.match(answer.json.issue[0].diagnostics, needs);
  }
  assert.ok(!(await advertised(narrow, 'Patient')).includes('shoe-size'));
  assert.equal((await narrow.get('SearchParameter/$status')).status, 403);
  assert.equal((await narrow.get('SearchParameter/shoe/$status')).status, 403);
});

test('chains, reverse chains, includes and filters follow it', async () => {
  const buddyUrl = 'https://example.org/fhir/StructureDefinition/buddy';
  const buddy = (reference: string) => ({ extension: [{ url: buddyUrl, valueReference: { reference } }] });
  await full.send('PUT', 'Patient/pal', { ...patient('Pal', buddy('Patient/old3')), id: 'pal' });
  await define(
    'buddy',
    parameter('buddy', {
      type: 'reference',
      expression: `Patient.extension('${buddyUrl}').value`,
      target: ['Patient'],
    }),
  );
  await jobs.settle();
  assert.deepEqual(found(await full.get('Patient?buddy=Patient/old3')), ['pal']);
  assert.deepEqual(found(await full.get('Patient?buddy.shoe-size=33')), ['pal']);
  assert.deepEqual(found(await full.get('Patient?_has:Patient:buddy:family=Pal')), ['old3']);
  assert.deepEqual(found(await full.get('Patient?_id=pal&_include=Patient:buddy')), ['old3', 'pal']);
  assert.deepEqual(found(await full.get('Patient?_id=old3&_revinclude=Patient:buddy')), ['old3', 'pal']);
  assert.deepEqual(found(await full.get('Patient?_id=pal&_include=*')), ['old3', 'pal']);
  assert.deepEqual(found(await full.get('Patient?_filter=buddy.shoe-size eq 33')), ['pal']);
  assert.deepEqual(found(await full.get('Patient?_has:Patient:buddy:_id=pal&shoe-size=33')), ['old3']);
});

test('a changed definition replaces the one before it in one step, and leaves no rows of it', async () => {
  const before = await ownRows();
  await define(
    'shoe',
    parameter('shoe-size', { expression: 'Patient.multipleBirth', type: 'number', status: 'active' }),
  );
  await jobs.settle();
  assert.deepEqual(found(await full.get('Patient?shoe-size=33')), []);
  assert.ok((await ownRows()) < before);
  await define('shoe', parameter('shoe-size'));
  await jobs.settle();
  assert.deepEqual(found(await full.get('Patient?shoe-size=33')), ['old3']);
  assert.equal(await ownRows(), before);
});

test('of two definitions of one code the first counts; the second follows when the first is gone', async () => {
  await define('second', parameter('shoe-size', { url: 'urn:second' }));
  await jobs.settle();
  const refused = await standing('second');
  assert.equal(refused?.['state'], 'refused');
  assert.equal(refused?.['reason'], 'Patient has shoe-size of SearchParameter/shoe already');
  await define('shoe', parameter('shoe-size', { status: 'retired' }));
  await jobs.settle();
  assert.equal((await standing('second'))?.['state'], 'active');
  assert.equal(await standing('shoe'), undefined);
  assert.deepEqual(found(await full.get('Patient?shoe-size=33')), ['old3']);
});

test('a deleted one cannot be searched by, is not advertised, and leaves nothing', async () => {
  await full.send('DELETE', 'SearchParameter/second');
  await jobs.settle();
  assert.equal((await full.get('Patient?shoe-size=33')).status, 400);
  assert.ok(!(await advertised(full, 'Patient')).includes('shoe-size'));
  assert.equal(await ownRows(), 0);
  assert.deepEqual(
    (await service.database.owner.query(sql`SELECT url FROM firm_search_parameter`)).map((row) => row),
    [{ url: 'https://example.org/fhir/SearchParameter/buddy' }],
  );
});
