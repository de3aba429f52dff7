/** $export: who may begin one, and what may be asked for. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { insufficientScope } from '../../support/refusals.ts';
import { callerOf, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { refused, respondAsync } from './exporting.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const fullApplication = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const full = await openCaller(service, fullApplication, maple);
const namesApplication = await makeApplication(service, 'Names', ['acl/pat_s_name_dob_gen'], [maple]);
const names = await openCaller(service, namesApplication, maple);
const examsApplication = await makeApplication(service, 'Exams', ['acl/obsv_ef_s'], [maple]);
await setOperatorRows(service.platform.database, maple, examsApplication.application, {
  obsv_ef: { criteria: [{ parameter: 'category', values: ['exam'] }], elements: ['code', 'category'] },
});
const readerOnly = await openCaller(service, await makeApplication(service, 'Reader', ['acl/pat_r'], [maple]), maple);

test('denials: no credentials, another firm, no search on any type, a type that may not be searched', async () => {
  assert.equal((await fetch(`${maple.base}/$export`, { headers: respondAsync })).status, 401);
  const token = names.headers.authorization?.slice(7) ?? '';
  assert.equal((await callerOf(cedar, token, namesApplication.clientKey).get('$export', respondAsync)).status, 403);
  for (const path of ['$export', 'Patient/$export', '$export-status?job=x', '$export-file?job=x&file=1']) {
    const answer = await readerOnly.get(path, respondAsync);
    assert.equal(answer.status, 403, path);
    assert.equal(answer.headers.get('www-authenticate'), insufficientScope);
  }
  const type = await names.get('$export?_type=Patient,Observation', respondAsync);
  assert.equal(type.status, 403);
  assert.match(type.json.issue[0].diagnostics, /Observation/);
});

test('wrong requests are precise refusals, and nothing is begun', async () => {
  refused(
    await full.get('$export'),
    400,
    'header-invalid',
    'value',
    'A bulk export is answered later: send Prefer: respond-async',
    'Prefer',
  );
  const refusals: readonly (readonly [query: string, diagnostics: string, expression: string])[] = [
    ['_type=Patience', '_type names "Patience": it takes names of resource types of R4, separated by commas', '_type'],
    ['_type=AuditEvent', '_type takes no AuditEvent: what the service notes itself is not exported', '_type'],
    ['_since=yesterday', '_since takes a date or an instant such as 2026-11-21T09:30:00Z', '_since'],
    ['_elements=a-b', '_elements names "a-b": it takes names of top-level elements, separated by commas', '_elements'],
    ['_outputFormat=csv', '_outputFormat takes application/fhir+ndjson, application/ndjson, ndjson', '_outputFormat'],
    [
      'organizeOutputBy=Patient',
      'organizeOutputBy is not supported: leave it out, or have it ignored by Prefer: handling=lenient',
      'organizeOutputBy',
    ],
    [
      'includeAssociatedData=LatestProvenanceResources',
      'includeAssociatedData is not supported: leave it out, or have it ignored by Prefer: handling=lenient',
      'includeAssociatedData',
    ],
    [
      'allowPartialManifests=true',
      'allowPartialManifests is not supported: leave it out, or have it ignored by Prefer: handling=lenient',
      'allowPartialManifests',
    ],
  ];
  for (const [query, diagnostics, expression] of refusals) {
    refused(
      await full.get(`$export?${query}`, respondAsync),
      400,
      'operation-parameter-invalid',
      'invalid',
      diagnostics,
      expression,
    );
  }
  assert.equal((await full.get('$export?name=x', respondAsync)).status, 400);
  const atPatient = await full.get('Patient/$export?_type=Practitioner', respondAsync);
  assert.match(atPatient.json.issue[0].diagnostics, /types of which resources belong to patients/);
  refused(
    await full.get('$export-status?job=1'),
    400,
    'operation-parameter-invalid',
    'invalid',
    'job takes the id in Content-Location of $export',
    'job',
  );
  for (const [method, path, allow] of [
    ['PUT', '$export', 'GET, POST'],
    ['POST', '$export-status', 'DELETE, GET'],
    ['DELETE', '$export-file', 'GET, HEAD'],
  ] as const) {
    const answer = await full.send(method, path, {});
    assert.equal(answer.status, 405, path);
    assert.equal(answer.headers.get('allow'), allow);
  }
  assert.deepEqual(await service.database.owner.query(sql`SELECT id FROM bulk_export`), []);
  const lenient = { prefer: 'respond-async, handling=lenient' };
  const answer = await full.get('$export?organizeOutputBy=Patient&_type=Patient', lenient);
  assert.equal(answer.status, 202, answer.text);
  assert.equal((await full.send('DELETE', answer.headers.get('content-location') ?? '')).status, 202);
});

test('whom a resource belongs to is not told to those who may not search by it', async () => {
  const caller = await openCaller(service, examsApplication, maple);
  for (const path of ['Patient/$export', 'Patient/$export?_type=Observation'])
    assert.equal((await caller.get(path, respondAsync)).status, 403, path);
});

test('an export is not asked for in a Bundle', async () => {
  const entry = ['$export', '$export-status?job=x', '$export-file?job=x&file=1'].map((url) => ({
    request: { method: 'GET', url },
  }));
  const caller = await openCaller(service, fullApplication, maple);
  const { json } = await caller.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
  const refusals = json.entry.map(
    ({ response }: { response: { status: string; outcome: ReturnType<JSON['parse']> } }) => [
      response.status.slice(0, 3),
      response.outcome.issue[0].diagnostics,
    ],
  );
  assert.deepEqual(
    refusals,
    ['export', 'export-status', 'export-file'].map((name, at) => [
      '405',
      `Bundle.entry[${at}]: $${name} is not asked in a Bundle: send it by itself`,
    ]),
  );
});
