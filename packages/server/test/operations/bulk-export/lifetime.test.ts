/** Files of a bulk export: whose they are, how long they can be fetched, where they end, and what the ledger says of them. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../../src/admin/entry-problem.ts';
import { sql } from '../../../src/database/sql.ts';
import { authorise, setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { patient } from '../../support/records.ts';
import {
  type Answer,
  callerOf,
  clientForm,
  clientTokenUrl,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  postForm,
} from '../../support/service.ts';
import { begin, exportAll, fetchAll, finish, observation, put, refused, toKeys, unknownExport } from './exporting.ts';

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

for (const id of ['ann', 'new']) await put(full, 'Patient', id, patient(id));

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
