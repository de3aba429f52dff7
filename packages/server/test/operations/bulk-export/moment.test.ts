/** What a bulk export has: everything of one moment, within the rights of whoever fetches it (docs/decisions/0306). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../../src/database/sql.ts';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService, startMs } from '../../support/service.ts';
import { begin, exportAll, fetchAll, fetchLines, finish, observation, put, toKeys } from './exporting.ts';

const service = await openTestService({ after });
const { clock, platform } = service;
const { database } = platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const fullApplication = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const full = await openCaller(service, fullApplication, maple);
const namesApplication = await makeApplication(service, 'Names', ['acl/pat_s_name_dob_gen'], [maple]);
const names = await openCaller(service, namesApplication, maple);
const examsApplication = await makeApplication(service, 'Exams', ['acl/obsv_ef_s'], [maple]);
await setOperatorRows(database, maple, examsApplication.application, {
  obsv_ef: { criteria: [{ parameter: 'category', values: ['exam'] }], elements: ['code', 'category'] },
});
const exams = await openCaller(service, examsApplication, maple);

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
