/**
 * Bulk exports and imports as practice, vendor and operator see them: how far each is, and its end. Nobody sees what is another's, and
 * nothing shows what was asked for.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { finishRun, holdRun, isTakenOver, noteRange } from '../../src/cli/importing/runs.ts';
import { sql } from '../../src/database/sql.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { begin, finish } from '../operations/bulk-export/exporting.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openAdministrator, signedIn } from './world.ts';

const service = await openTestService({ after });
const { platform } = service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
await makeFirm(service, 'elm');
const mine = await makeApplication(service, 'Mine', ['acl/*'], [maple, cedar]);
const theirs = await makeApplication(service, 'Theirs', ['acl/*'], [maple]);
const caller = await openCaller(service, mine, maple);

const operator = await openAdministrator(service, 'operator', 'operator');
const practice = await openAdministrator(service, 'of-maple', 'practice', { firm: 'maple' });
const stranger = await openAdministrator(service, 'of-cedar', 'practice', { firm: 'cedar' });
const vendor = await openAdministrator(service, 'of-mine', 'vendor', { application: 'Mine' });
const otherVendor = await openAdministrator(service, 'of-theirs', 'vendor', { application: 'Theirs' });

const ofMaple = '/environments/sandbox/firms/maple';
const ofMine = '/environments/sandbox/applications/Mine';
const ofTheirs = '/environments/sandbox/applications/Theirs';

const jobOf = (status: string): string => new URL(status).searchParams.get('job') ?? '';

test('an export is seen and ended by its practice, its vendor and the operator alone', async () => {
  const { json: stored } = await caller.send('POST', 'Patient', patient('Ann'));
  const status = await begin(caller, '$export?_type=Patient&_typeFilter=Patient%3Fidentifier%3Dsecret-number');
  const id = jobOf(status);
  const unknown = 'There is no such export, or it has expired';
  for (const [by, path, detail] of [
    [stranger, `${ofMaple}/exports/${id}`, 'firm maple does not exist in environment sandbox'],
    [stranger, `/environments/sandbox/firms/cedar/exports/${id}`, unknown],
    [otherVendor, `${ofMine}/firms/maple/exports/${id}`, 'application Mine does not exist in environment sandbox'],
    [otherVendor, `${ofTheirs}/firms/maple/exports/${id}`, unknown],
    [vendor, `${ofMine}/firms/cedar/exports/${id}`, unknown],
    [vendor, `${ofMine}/firms/elm/exports/${id}`, 'firm elm has not authorised Mine'],
    [vendor, `${ofMine}/firms/nowhere/exports/${id}`, 'firm nowhere has not authorised Mine'],
    [practice, `${ofMaple}/exports/nothing`, 'export is an id that its list shows'],
  ] as const) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await by.ask(method, path);
      assert.deepEqual([answer.status, answer.json.detail], [404, detail], `${method} ${path}`);
    }
  }
  assert.deepEqual((await otherVendor.ask('GET', `${ofTheirs}/exports`)).json, { items: [], more: false });
  const planning = {
    id,
    application: 'Mine',
    level: 'system',
    state: 'planning',
    created: '2026-11-21T09:30:00.000Z',
    since: null,
    expires: '2026-11-22T09:30:00.000Z',
    types: 1,
    typesDone: 0,
    files: 0,
  };
  const { transactionTime, ...seen } = (await practice.ask('GET', `${ofMaple}/exports/${id}`)).json;
  assert.deepEqual(seen, planning);
  const manifest = await finish(caller, status);
  assert.equal(transactionTime, manifest.transactionTime);
  const complete = { ...planning, transactionTime, state: 'complete', typesDone: 1, files: manifest.output.length };
  for (const [by, path] of [
    [practice, `${ofMaple}/exports`],
    [operator, `${ofMaple}/exports`],
    [vendor, `${ofMine}/firms/maple/exports`],
  ] as const) {
    const { json, text } = await by.ask('GET', path);
    assert.deepEqual(json, { items: [complete], more: false });
    for (const asked of ['secret-number', stored.id]) assert.ok(!text.includes(asked));
  }
  const withFirm = { items: [{ firm: 'maple', ...complete }], more: false };
  assert.deepEqual((await vendor.ask('GET', `${ofMine}/exports`)).json, withFirm);
  assert.deepEqual((await operator.ask('GET', '/environments/sandbox/exports')).json, withFirm);
  assert.equal((await caller.get(status)).status, 200);
  assert.equal((await practice.ask('DELETE', `${ofMaple}/exports/${id}`)).status, 204);
  assert.equal((await caller.get(status)).status, 404);
  assert.equal((await practice.ask('DELETE', `${ofMaple}/exports/${id}`)).status, 404);
});

test('an import tells how far it is, and ends where the practice says so', async () => {
  const scope = await openOperatorScope(platform.database, platform.clock, maple);
  const run = await holdRun(platform, scope, { fingerprint: Buffer.alloc(32, 1), files: 2, bytes: 100 }, false);
  const counts = { stored: 7, skipped: 2, refused: 1, problems: [], notes: {} };
  const note = (from: number, to: number) => {
    const range = { file: 0, from: { byte: from, entry: 0 }, to: { byte: to, entry: 0 }, toLine: 2 };
    return platform.store.change(scope, [sql`SELECT ${noteRange(scope, run, range, counts)}`]);
  };
  await note(0, 30);
  await note(30, 40);
  const path = `${ofMaple}/imports/${run.id}`;
  for (const [by, at, detail] of [
    [stranger, path, 'firm maple does not exist in environment sandbox'],
    [stranger, `/environments/sandbox/firms/cedar/imports/${run.id}`, 'There is no such import, or it has ended'],
    [practice, `${ofMaple}/imports/nothing`, 'import is an id that its list shows'],
  ] as const) {
    for (const method of ['GET', 'DELETE']) {
      const answer = await by.ask(method, at);
      assert.deepEqual([answer.status, answer.json.detail], [404, detail], `${method} ${at}`);
    }
  }
  assert.equal((await vendor.ask('GET', path)).status, 403);
  const begun = new Date(run.begunMs).toISOString();
  const unfinished = {
    id: run.id,
    state: 'unfinished',
    begun,
    finished: null,
    files: 2,
    bytes: 100,
    bytesDone: 40,
    stored: 14,
    skipped: 4,
    refused: 2,
  };
  assert.deepEqual((await practice.ask('GET', path)).json, unfinished);
  assert.deepEqual((await operator.ask('GET', '/environments/sandbox/imports')).json.items, [
    { firm: 'maple', ...unfinished },
  ]);
  assert.equal((await practice.ask('DELETE', path)).status, 204);
  await assert.rejects(note(40, 50), isTakenOver);
  await finishRun(platform, scope, run);
  const finished = new Date(platform.clock.now()).toISOString();
  const cancelled = { ...unfinished, state: 'cancelled', finished, bytesDone: null };
  assert.deepEqual((await practice.ask('GET', `${ofMaple}/imports`)).json, { items: [cancelled], more: false });
  assert.equal((await practice.ask('DELETE', path)).status, 404);

  const next = await holdRun(platform, scope, { fingerprint: Buffer.alloc(32, 1), files: 2, bytes: 100 }, false);
  assert.notEqual(next.id, run.id);
  await finishRun(platform, scope, next);
  const [newest] = (await practice.ask('GET', `${ofMaple}/imports`)).json.items.filter(
    (each: { id: string }) => each.id === next.id,
  );
  assert.deepEqual([newest.state, newest.bytesDone, newest.stored], ['finished', 100, 0]);
});

test('a vendor ends an export of its own, and one whose time is over is not listed', async () => {
  const kept = await begin(caller, '$export?_type=Patient');
  const others = await begin(await openCaller(service, theirs, maple), '$export?_type=Patient');
  const path = `${ofMine}/firms/maple/exports/${jobOf(kept)}`;
  assert.equal((await vendor.ask('GET', path)).json.state, 'planning');
  assert.equal((await vendor.ask('DELETE', path)).status, 204);
  assert.equal((await caller.get(kept)).status, 404);
  const listed = async () =>
    (await (await signedIn(service, 'operator')).ask('GET', `${ofMaple}/exports`)).json.items.map(
      (each: { id: string }) => each.id,
    );
  assert.deepEqual(await listed(), [jobOf(others)]);
  service.clock.advance(86_400_000);
  assert.deepEqual(await listed(), []);
});
