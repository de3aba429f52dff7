/** $export: everything of a firm as files of one moment, within the rights of whoever fetches them (docs/decisions/0306). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { sql } from '../../src/database/sql.ts';
import { authorise, setOperatorRows } from '../../src/tenancy/authorisations.ts';
import { patient } from '../support/records.ts';
import { assertRefused, insufficientScope } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  postForm,
  startMs,
} from '../support/service.ts';

const service = await openTestService({ after });
const { clock, platform } = service;
const { database } = platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const fullApplication = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const full = await openCaller(service, fullApplication, maple);
const fullAtCedar = await openCaller(service, fullApplication, cedar);
const otherFull = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [maple]), maple);
const namesApplication = await makeApplication(service, 'Names', ['acl/pat_s_name_dob_gen'], [maple]);
const names = await openCaller(service, namesApplication, maple);
const examsApplication = await makeApplication(service, 'Exams', ['acl/obsv_ef_s'], [maple]);
await setOperatorRows(database, maple, examsApplication.application, {
  obsv_ef: { criteria: [{ parameter: 'category', values: ['exam'] }], elements: ['code', 'category'] },
});
const exams = await openCaller(service, examsApplication, maple);
const readerOnly = await openCaller(service, await makeApplication(service, 'Reader', ['acl/pat_r'], [maple]), maple);

const respondAsync = { prefer: 'respond-async' };

interface ListedFile {
  readonly type: string;
  readonly url: string;
  readonly count: number;
}

interface Manifest {
  readonly transactionTime: string;
  readonly request: string;
  readonly requiresAccessToken: boolean;
  readonly output: readonly ListedFile[];
  readonly deleted?: readonly ListedFile[];
  readonly error: readonly ListedFile[];
}

/** A line of a file. */
interface Line {
  readonly resourceType: string;
  readonly id: string;
  readonly meta: { readonly versionId: string };
  readonly telecom?: unknown;
  readonly entry?: unknown;
}

async function put(caller: Caller, type: string, id: string, resource: Record<string, unknown>): Promise<void> {
  const answer = await caller.send('PUT', `${type}/${id}`, { ...resource, resourceType: type, id });
  assert.ok(answer.status < 300, answer.text);
}

function observation(category: string, subject: string, code = 'a'): Record<string, unknown> {
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { text: code },
    category: [{ coding: [{ code: category }] }],
    subject: { reference: `Patient/${subject}` },
  };
}

/** The URL that tells how far an export is. */
async function begin(caller: Caller, path = '$export'): Promise<string> {
  const answer = await caller.get(path, respondAsync);
  assert.equal(answer.status, 202, answer.text);
  assert.equal(answer.text, '');
  return answer.headers.get('content-location') ?? '';
}

async function finish(caller: Caller, status: string): Promise<Manifest> {
  for (;;) {
    const answer = await caller.get(status);
    if (answer.status === 200) return answer.json;
    assert.equal(answer.status, 202, answer.text);
    assert.equal(answer.headers.get('retry-after'), '1');
    assert.match(answer.headers.get('x-progress') ?? '', /^\d+ files planned$/);
  }
}

async function fetchLines(caller: Caller, { url }: ListedFile): Promise<readonly Line[]> {
  const answer = await caller.get(url, { accept: 'application/fhir+ndjson' });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+ndjson; charset=utf-8');
  return answer.text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

async function fetchAll(caller: Caller, { output }: Manifest): Promise<readonly Line[]> {
  const resources: Line[] = [];
  for (const file of output) {
    const lines = await fetchLines(caller, file);
    assert.equal(lines.length, file.count);
    assert.ok(lines.every(({ resourceType }) => resourceType === file.type));
    resources.push(...lines);
  }
  return resources;
}

async function exportAll(caller: Caller, path?: string): Promise<readonly Line[]> {
  return await fetchAll(caller, await finish(caller, await begin(caller, path)));
}

const toKeys = (resources: readonly Line[]): readonly string[] =>
  resources.map(({ resourceType, id, meta }) => `${resourceType}/${id}/${meta.versionId}`).toSorted();

const refused = (answer: Answer, status: number, error: string, issue: string, diagnostics: string, place: string) =>
  assertRefused(answer, { status, error, issue, diagnostics, expression: [place] });

const unknownExport = (answer: Answer) =>
  refused(
    answer,
    404,
    'resource-not-found',
    'not-found',
    'The application has no such export at this firm, or it has expired: begin another one',
    'job',
  );

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
      '_typeFilter=Patient%3Factive%3Dtrue',
      '_typeFilter is not supported: leave it out, or have it ignored by Prefer: handling=lenient',
      '_typeFilter',
    ],
    [
      'organizeOutputBy=Patient',
      'organizeOutputBy is not supported: leave it out, or have it ignored by Prefer: handling=lenient',
      'organizeOutputBy',
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
  const answer = await full.get('$export?_typeFilter=Patient%3Factive%3Dtrue&_type=Patient', lenient);
  assert.equal(answer.status, 202, answer.text);
  assert.equal((await full.send('DELETE', answer.headers.get('content-location') ?? '')).status, 202);
});

test('an export has the rows and elements that a search shows, and the whole manifest is as the guide says', async () => {
  await put(full, 'Patient', 'ann', patient('Ann', { telecom: [{ system: 'phone', value: '555-0100' }] }));
  await put(full, 'Patient', 'ben', patient('Ben'));
  await put(full, 'Practitioner', 'doc', { name: [{ family: 'Doc' }] });
  await put(full, 'Observation', 'exam', observation('exam', 'ann'));
  await put(full, 'Observation', 'lab', observation('laboratory', 'ben'));
  await put(full, 'Patient', 'gone', patient('Gone'));
  assert.equal((await full.send('DELETE', 'Patient/gone')).status, 204);
  const status = await begin(full, '$export?_type=Patient,Observation');
  const id = new URL(status).searchParams.get('job');
  assert.equal(status, `${maple.base}/$export-status?job=${id}`);
  const answer = await full.get(status);
  assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8');
  assert.equal(answer.headers.get('expires'), new Date(startMs + 86_400_000).toUTCString());
  const url = (number: number): string => `${maple.base}/$export-file?job=${id}&file=${number}`;
  assert.deepEqual(answer.json, {
    transactionTime: new Date(startMs - 600_000).toISOString(),
    request: `${maple.base}/$export?_type=Patient,Observation`,
    requiresAccessToken: true,
    output: [
      { type: 'Observation', url: url(1), count: 2 },
      { type: 'Patient', url: url(2), count: 2 },
    ],
    error: [],
  });
  const resources = await fetchAll(full, answer.json);
  assert.deepEqual(toKeys(resources), ['Observation/exam/1', 'Observation/lab/1', 'Patient/ann/1', 'Patient/ben/1']);
  for (const resource of resources)
    assert.deepEqual(resource, (await full.get(`${resource.resourceType}/${resource.id}`)).json);
  const masked = await exportAll(names);
  const searched = await names.get('Patient?_count=100');
  assert.deepEqual(
    masked,
    searched.json.entry.map(({ resource }: { resource: object }) => resource),
  );
  assert.ok(masked.every((each) => each.telecom === undefined));
  assert.deepEqual(toKeys(await exportAll(exams)), ['Observation/exam/1']);
  const some = await exportAll(full, '$export?_type=Patient&_elements=birthDate');
  assert.deepEqual(Object.keys(some[0] ?? {}).toSorted(), ['id', 'meta', 'resourceType']);
});

test('Patient/$export has patients and what refers to one', async () => {
  await put(full, 'Appointment', 'nobody', {
    status: 'proposed',
    participant: [{ actor: { reference: 'Practitioner/doc' }, status: 'accepted' }],
  });
  const exported = toKeys(await exportAll(full, 'Patient/$export'));
  assert.deepEqual(exported, ['Observation/exam/1', 'Observation/lab/1', 'Patient/ann/1', 'Patient/ben/1']);
  const all = toKeys(await exportAll(full));
  assert.ok(all.includes('Appointment/nobody/1') && all.includes('Practitioner/doc/1'));
});

test('all files are of one moment, whatever is written before they are planned and fetched', async () => {
  const expected = toKeys(await exportAll(full, '$export?_type=Patient'));
  const status = await begin(full, '$export?_type=Patient');
  clock.advance(1_000);
  await put(full, 'Patient', 'ann', patient('Changed'));
  await put(full, 'Patient', 'new', patient('New'));
  assert.equal((await full.send('DELETE', 'Patient/ben')).status, 204);
  const manifest = await finish(full, status);
  assert.deepEqual(toKeys(await fetchAll(full, manifest)), expected);
  await put(full, 'Patient', 'ann', patient('Changed again'));
  assert.deepEqual(toKeys(await fetchAll(full, manifest)), expected);
  assert.deepEqual(await finish(full, status), manifest);
});

test('a transaction that is under way is no part of the moment, also where it has an earlier time', async () => {
  const status = await service.database.owner.transaction(undefined, async (tx) => {
    await tx.query(sql`
      INSERT INTO resource_version (lu, xid, seq, firm, vid, epoch, application, rtype, method, id, content)
      SELECT ${startMs}, pg_current_xact_id(), nextval('resource_order'), firm, 1, epoch, application, rtype, method, 'slow', content
      FROM resource_version WHERE firm = ${maple.id} AND id = 'ann' AND vid = 1`);
    return await begin(full, '$export?_type=Patient');
  });
  const keys = toKeys(await fetchAll(full, await finish(full, status)));
  assert.ok(keys.includes('Patient/ann/3') && !keys.some((key) => key.startsWith('Patient/slow')), keys.join());
  await service.database.owner.query(sql`DELETE FROM resource_version WHERE firm = ${maple.id} AND id = 'slow'`);
});

test('with _since there is what was updated and deleted since then, and who did not see it is not told', async () => {
  const since = new Date(startMs + 500).toISOString();
  const manifest = await finish(full, await begin(full, `$export?_type=Patient&_since=${since}`));
  assert.deepEqual(toKeys(await fetchAll(full, manifest)), ['Patient/ann/3', 'Patient/new/1']);
  assert.deepEqual(
    manifest.deleted?.map(({ type, count }) => ({ type, count })),
    [{ type: 'Bundle', count: 1 }],
  );
  const [file] = manifest.deleted ?? [];
  assert.ok(file !== undefined);
  assert.deepEqual(await fetchLines(full, file), [
    { resourceType: 'Bundle', type: 'transaction', entry: [{ request: { method: 'DELETE', url: 'Patient/ben' } }] },
  ]);
  clock.advance(1_000);
  for (const id of ['exam', 'lab']) assert.equal((await full.send('DELETE', `Observation/${id}`)).status, 204);
  const told = await finish(exams, await begin(exams, `$export?_since=${since}`));
  const [deletions] = told.deleted ?? [];
  assert.ok(deletions !== undefined);
  const [bundle] = await fetchLines(exams, deletions);
  assert.deepEqual(bundle?.entry, [{ request: { method: 'DELETE', url: 'Observation/exam' } }]);
  assert.deepEqual(told.output, []);
});

test('with _since what has left the rows of the caller is told as gone, and what never was there is not', async () => {
  await put(full, 'Observation', 'moves', observation('exam', 'ann'));
  await put(full, 'Observation', 'hidden', observation('laboratory', 'ann'));
  clock.advance(1_000);
  const since = new Date(clock.now()).toISOString();
  await put(full, 'Observation', 'moves', observation('laboratory', 'ann'));
  await put(full, 'Observation', 'hidden', observation('laboratory', 'ann', 'b'));
  await put(full, 'Observation', 'comes', observation('exam', 'ann'));
  clock.advance(1_000);
  assert.equal((await full.send('DELETE', 'Observation/moves')).status, 204);
  const manifest = await finish(exams, await begin(exams, `$export?_since=${since}`));
  assert.deepEqual(toKeys(await fetchAll(exams, manifest)), ['Observation/comes/1']);
  const [file] = manifest.deleted ?? [];
  assert.ok(file !== undefined);
  const [bundle] = await fetchLines(exams, file);
  assert.deepEqual(bundle?.entry, [{ request: { method: 'DELETE', url: 'Observation/moves' } }]);
});

test('an export is of its application, firm and rights, for a day, until it is removed', async () => {
  const status = await begin(full, '$export?_type=Patient');
  const manifest = await finish(full, status);
  const [file] = manifest.output;
  assert.ok(file !== undefined);
  const at = (base: string, url: string): string => url.replace(maple.base, base);
  for (const url of [status, file.url]) {
    unknownExport(await otherFull.get(url));
    unknownExport(await fullAtCedar.get(at(cedar.base, url)));
    unknownExport(await names.get(url));
  }
  unknownExport(await otherFull.send('DELETE', status));
  const nowhere = 'The export has no file 99: the manifest lists its files';
  refused(
    await full.get(file.url.replace('file=1', 'file=99')),
    404,
    'resource-not-found',
    'not-found',
    nowhere,
    'file',
  );
  for (const accept of ['*/*', 'application/fhir+json', 'application/fhir+ndjson']) {
    const answer = await full.get(file.url, { accept });
    assert.equal(answer.headers.get('content-type'), 'application/fhir+ndjson; charset=utf-8');
    assert.equal(answer.headers.get('link'), null);
  }
  clock.advance(86_400_000);
  unknownExport(await (await openCaller(service, fullApplication, maple)).get(status));
  const later = await openCaller(service, fullApplication, maple);
  const next = await begin(later, '$export?_type=Patient');
  assert.deepEqual(await later.send('DELETE', next).then(({ status: code, text }) => [code, text]), [202, '']);
  unknownExport(await later.get(next));
  unknownExport(await later.send('DELETE', next));
  const left = await service.database.owner.query(sql`SELECT id FROM bulk_export WHERE firm = ${maple.id}`);
  assert.deepEqual(left, [], 'what has expired was removed with the next one');
});

test('narrower rights end the export before the next byte', async () => {
  const application = await makeApplication(service, 'Changing', ['acl/*'], [maple]);
  const changing = await openCaller(service, application, maple);
  const status = await begin(changing, '$export?_type=Patient');
  const manifest = await finish(changing, status);
  const [file] = manifest.output;
  assert.ok(file !== undefined && (await changing.get(file.url)).status === 200);
  const ended = (answer: Answer) =>
    refused(
      answer,
      410,
      'export-ended',
      'expired',
      'The rights of the token differ from those that the export was begun under: fetch it with a token of the same scope, or begin another one',
      'job',
    );
  const form = { ...clientForm(application), scope: 'acl/pat_s' };
  const { json } = await postForm(clientTokenUrl(service), form, application.clientKey);
  const narrow = callerOf(maple, json.access_token, application.clientKey);
  ended(await narrow.get(file.url));
  await authorise(
    database,
    clock,
    maple,
    application.application,
    { acl: ['acl/pat_s'], purpose: 'Less' },
    entryProblem,
  );
  ended(await changing.get(file.url));
  ended(await changing.get(status));
});

test('of more than ten exports of an application the oldest goes', async () => {
  const many = await openCaller(service, await makeApplication(service, 'Many', ['acl/*'], [maple]), maple);
  const begun: string[] = [];
  for (let count = 1; count <= 11; count += 1) {
    begun.push(await begin(many, '$export?_type=Patient'));
    clock.advance(1);
  }
  unknownExport(await many.get(begun[0] ?? ''));
  for (const status of begun.slice(1)) assert.equal((await many.get(status)).status, 200);
});

test('what several requests plan at the same time is planned once', async () => {
  const caller = await openCaller(service, fullApplication, maple);
  const status = await begin(caller);
  const answers = await Promise.all(Array.from({ length: 8 }, () => caller.get(status)));
  const others = answers.map((answer) => answer.status).filter((code) => code !== 200 && code !== 202);
  assert.deepEqual(others, []);
  const manifest = await finish(caller, status);
  const keys = toKeys(await fetchAll(caller, manifest));
  assert.deepEqual(keys, [...new Set(keys)]);
  assert.deepEqual(keys, toKeys(await exportAll(caller)));
});

test('a file ends by what is shown in it, whatever lies between', async () => {
  const many = await makeFirm(service, 'many');
  const owner = await openCaller(service, await makeApplication(service, 'Owner', ['acl/*'], [many]), many);
  await put(owner, 'Observation', 'first', observation('exam', 'x'));
  // Made here: to write them would take a minute.
  await service.database.owner.query(sql`
    WITH made AS (
      INSERT INTO resource (rid, lu, firm, vid, rtype, id, content)
      SELECT nextval('resource_order'), r.lu, r.firm, 1, r.rtype, 'made-' || n, replace(r.content, '"first"', '"made-' || n || '"')
      FROM resource r, generate_series(1, 4500) n WHERE r.firm = ${many.id} AND r.id = 'first' RETURNING *)
    INSERT INTO resource_version (lu, xid, seq, firm, vid, epoch, application, rtype, method, id, content)
    SELECT lu, pg_current_xact_id(), rid, firm, 1, (SELECT epoch FROM order_epoch), 0, rtype, 'c',
      id, CASE WHEN right(id, 1) = '7' THEN content ELSE replace(content, '"exam"', '"laboratory"') END FROM made`);
  const all = await finish(owner, await begin(owner, '$export?_type=Observation'));
  assert.deepEqual(
    all.output.map(({ count }) => count),
    [2000, 2000, 501],
  );
  const application = await makeApplication(service, 'Exams of many', ['acl/obsv_ef_s'], [many]);
  await setOperatorRows(database, many, application.application, {
    obsv_ef: { criteria: [{ parameter: 'category', values: ['exam'] }], elements: ['code', 'category'] },
  });
  const some = await openCaller(service, application, many);
  const shown = await finish(some, await begin(some));
  assert.deepEqual(
    shown.output.map(({ count }) => count),
    [451],
  );
  assert.equal(new Set(toKeys(await fetchAll(some, shown))).size, 451);
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

test('each file is in the ledger with its patients', async () => {
  const audited = await openCaller(service, await makeApplication(service, 'Audited', ['acl/*'], [maple]), maple);
  await exportAll(audited, '$export?_type=Patient');
  await service.service.parts.ledger.flush();
  const rows = await service.database.owner.query<{ shown: number; patients: string }>(sql`
    SELECT a.shown, a.patients FROM audit_ledger a JOIN application p ON p.id = a.application
    WHERE p.name = 'Audited' AND a.interaction = '$export-file' AND a.shown > 0`);
  assert.deepEqual(
    rows.map(({ shown, patients }) => ({ shown, patients: patients.split(' ').toSorted() })),
    [{ shown: 2, patients: ['ann', 'new'] }],
  );
});
