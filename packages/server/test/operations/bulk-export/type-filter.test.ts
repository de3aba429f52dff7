/** `_typeFilter`: of a type, what searches find among the versions of the moment (docs/decisions/0313). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { patient } from '../../support/records.ts';
import { insufficientScope } from '../../support/refusals.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import {
  begin,
  exportAll,
  fetchAll,
  fetchLines,
  finish,
  observation,
  put,
  refused,
  respondAsync,
  toKeys,
} from './exporting.ts';

const service = await openTestService({ after });
const { clock } = service;
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const names = await openCaller(
  service,
  await makeApplication(service, 'Names', ['acl/pat_s_name_dob_gen'], [maple]),
  maple,
);
const examsApplication = await makeApplication(service, 'Exams', ['acl/obsv_ef_s'], [maple]);
await setOperatorRows(service.platform.database, maple, examsApplication.application, {
  obsv_ef: { criteria: [{ parameter: 'category', values: ['exam'] }], elements: ['code', 'category'] },
});
const exams = await openCaller(service, examsApplication, maple);

const path = (...filters: readonly string[]): string =>
  `$export?${filters.map((filter) => `_typeFilter=${encodeURIComponent(filter)}`).join('&')}`;

const exportFiltered = async (caller: Caller, ...filters: readonly string[]): Promise<readonly string[]> =>
  toKeys(await exportAll(caller, `${path(...filters)}&_type=Observation,Patient`)).map((key) =>
    key.slice(0, key.lastIndexOf('/')),
  );

test('denials: a filter by what the caller may not search by, and of a type that it may not', async () => {
  const hidden = await names.get(path('Patient?telecom=555-0100'), respondAsync);
  assert.equal(hidden.status, 403);
  assert.equal(hidden.headers.get('www-authenticate'), insufficientScope);
  assert.match(hidden.json.issue[0].diagnostics, /telecom/);
  const date = await exams.get(path('Observation?date=2026'), respondAsync);
  assert.equal(date.status, 403);
});

test('wrong filters are precise refusals', async () => {
  const refusals: readonly (readonly [filter: string, diagnostics: string])[] = [
    ['Patient', '_typeFilter takes searches of one type, for instance MedicationRequest?status=active'],
    ['?name=x', '_typeFilter takes searches of one type, for instance MedicationRequest?status=active'],
    ['Patient?_sort=name', '_typeFilter has _sort: it takes search parameters alone, none about the result'],
    [
      'Observation?_include=Observation:subject',
      '_typeFilter has _include: it takes search parameters alone, none about the result',
    ],
    [
      'Observation?subject:Patient.name=x',
      '_typeFilter follows references to other resources: it is asked of the versions of one moment, so it takes conditions on the resource alone',
    ],
    [
      'Patient?_has:Observation:subject:code=x',
      '_typeFilter follows references to other resources: it is asked of the versions of one moment, so it takes conditions on the resource alone',
    ],
    [
      'Patient?_content=x',
      '_typeFilter asks by _content, which needs the index of what is stored: it is asked of the versions of one moment, so it takes conditions on the resource alone',
    ],
    [
      'Patience?name=x',
      '_typeFilter searches "Patience", which is none of the types that are exported: leave it out, or have it ignored by Prefer: handling=lenient',
    ],
  ];
  for (const [filter, diagnostics] of refusals) {
    const answer = await full.get(path(filter), respondAsync);
    refused(answer, 400, 'operation-parameter-invalid', 'invalid', diagnostics, '_typeFilter');
  }
  const unknown = await full.get(path('Patient?shoe=43'), respondAsync);
  assert.equal(unknown.status, 400);
  assert.match(unknown.json.issue[0].diagnostics, /^shoe is not a search parameter of Patient/);
  const many = await full.get(`$export?_typeFilter=${Array(51).fill('Patient%3Fname%3Dx').join()}`, respondAsync);
  assert.equal(many.json.issue[0].diagnostics, '_typeFilter has 51 searches; at most 50 are taken');
});

test('what is ignored on wish is told by a file of the manifest', async () => {
  const lenient = { prefer: 'respond-async, handling=lenient' };
  const answer = await full.get(`${path('Patience?name=x')}&_type=Patient&_until=2026-01-01`, lenient);
  assert.equal(answer.status, 202, answer.text);
  const { error } = await finish(full, answer.headers.get('content-location') ?? '');
  const [file] = error;
  assert.deepEqual(error, [{ type: 'OperationOutcome', url: file?.url, count: 2 }]);
  assert.ok(file !== undefined);
  const told = await fetchLines(full, file);
  assert.deepEqual(
    told,
    [
      '_until is not supported, and was ignored',
      '_typeFilter searches "Patience", which is none of the types that are exported, and was ignored',
    ].map((diagnostics) => ({
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'warning', code: 'not-supported', diagnostics }],
    })),
  );
});

test('a type has what one of its searches finds, and other types have everything', async () => {
  await put(full, 'Patient', 'ann', patient('Ann', { gender: 'female', birthDate: '1980-05-01' }));
  await put(full, 'Patient', 'ben', patient('Ben', { gender: 'male', birthDate: '1990-05-01' }));
  await put(full, 'Patient', 'cay', patient('Cay', { birthDate: '2000-05-01' }));
  await put(full, 'Observation', 'exam', observation('exam', 'ann'));
  await put(full, 'Observation', 'lab', observation('laboratory', 'ben'));
  const all = ['Observation/exam', 'Observation/lab'];
  assert.deepEqual(await exportFiltered(full, 'Patient?gender=female'), [...all, 'Patient/ann']);
  assert.deepEqual(await exportFiltered(full, 'Patient?gender:missing=true', 'Patient?birthdate=lt1985'), [
    ...all,
    'Patient/ann',
    'Patient/cay',
  ]);
  assert.deepEqual(await exportFiltered(full, 'Patient?gender=female&birthdate=gt1985'), all);
  const both = ['Patient?name=ben', 'Observation?category=exam,survey&subject=Patient/ann'];
  const expected = ['Observation/exam', 'Patient/ben'];
  assert.deepEqual(await exportFiltered(full, ...both), expected);
  assert.deepEqual(
    await exportFiltered(full, both.join()),
    expected,
    'separated by commas, as guides up to 2.0 have it',
  );
  assert.deepEqual(await exportFiltered(full, 'Patient?_filter=name eq ann or name eq cay', 'Observation?_id=lab'), [
    'Observation/lab',
    'Patient/ann',
    'Patient/cay',
  ]);
  assert.deepEqual(toKeys(await exportAll(names, path('Patient?gender:not=male'))), ['Patient/ann/1', 'Patient/cay/1']);
  assert.deepEqual(toKeys(await exportAll(exams, path('Observation?code:missing=false'))), ['Observation/exam/1']);
  assert.deepEqual(toKeys(await exportAll(full, `Patient/${path('Patient?name=ann', 'Observation?_id=x')}`)), [
    'Patient/ann/1',
  ]);
});

test('a filter is asked of the versions of the moment, and what no longer meets it has gone', async () => {
  const status = await begin(full, `${path('Patient?gender=female')}&_type=Patient`);
  clock.advance(1_000);
  const since = new Date(clock.now()).toISOString();
  await put(full, 'Patient', 'ann', patient('Ann', { gender: 'other' }));
  await put(full, 'Patient', 'ben', patient('Ben', { gender: 'female' }));
  await put(full, 'Patient', 'cay', patient('Cay', { gender: 'male' }));
  assert.deepEqual(toKeys(await fetchAll(full, await finish(full, status))), ['Patient/ann/1']);
  const later = await finish(full, await begin(full, `${path('Patient?gender=female')}&_type=Patient&_since=${since}`));
  assert.deepEqual(toKeys(await fetchAll(full, later)), ['Patient/ben/2']);
  const [file] = later.deleted ?? [];
  assert.ok(file !== undefined);
  const [bundle] = await fetchLines(full, file);
  assert.deepEqual(bundle?.entry, [{ request: { method: 'DELETE', url: 'Patient/ann' } }]);
});
