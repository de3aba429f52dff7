/** Content that nothing holds goes after a day, bytes that nothing names with it; and all that stays can be verified. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { contentCommands } from '../../src/cli/commands/data/content.ts';
import { sql } from '../../src/database/sql.ts';
import { looseMax } from '../../src/practice/documents/upload-url.ts';
import { decide } from '../../src/practice/intake/deciding.ts';
import { addIntakeRule, findWaitingProposals, removeIntakeRule } from '../../src/practice/intake/store.ts';
import { runCommand } from '../cli/platform.ts';
import { editorOf } from '../practice/calendars/world.ts';
import { openRequestBudget } from '../support/request-budget.ts';
import { openS3Server } from '../support/s3-server.ts';
import { openCaller } from '../support/service.ts';
import { askForUrl, documentOf, linkOf, openWorld, pdf, putFile, storedDocument, uploaded } from './world.ts';

const world = await openWorld({ after });
const { clock, files, service, database } = world;
let { caller, full } = world;
const hour = 3_600_000;
const root = path.join(files.path, 'content');

/** Time passes, and tokens with it. */
async function later(ms: number): Promise<void> {
  clock.advance(ms);
  caller = await openCaller(world, world.scanner, world.maple);
  full = await openCaller(world, world.operator, world.maple);
}

function stored(): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.parentPath.endsWith('incoming'))
    .map((entry) => path.join(entry.parentPath, entry.name));
}

async function rows(): Promise<object> {
  const [counts] = await database.owner.query<object>(sql`
    SELECT (SELECT count(*)::int FROM document_content) AS contents, (SELECT count(*)::int FROM content_discard) AS discards`);
  return counts ?? {};
}

test('what no resource holds is removed a day after its URL was asked for, what one holds is kept', async () => {
  const kept = await storedDocument(caller, pdf);
  const loose = await uploaded(caller, Buffer.concat([pdf, Buffer.from('loose')]));
  await askForUrl(caller);
  assert.deepEqual([await rows(), stored().length], [{ contents: 3, discards: 0 }, 2]);
  await later(24 * hour);
  await service.jobs.settle();
  assert.deepEqual([await rows(), stored().length], [{ contents: 3, discards: 0 }, 2]);
  await later(1);
  await service.jobs.settle();
  assert.deepEqual([await rows(), stored().length], [{ contents: 1, discards: 0 }, 1]);
  assert.equal((await fetch(await linkOf(caller, kept))).status, 200);
  assert.equal((await caller.send('POST', 'DocumentReference', documentOf(loose.attachment))).status, 422);
});

test('bytes that were stored for nothing, and files that never came in whole, are removed after an hour', async () => {
  const before = stored();
  const { url } = await askForUrl(caller, 'application/pdf');
  const answers = await Promise.all([1, 2, 3].map((at) => putFile(url, Buffer.concat([pdf, Buffer.from([at])]))));
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 410, 410]);
  // Who comes when another has got the place already is refused before anything is stored.
  const made = stored().length - before.length;
  assert([1, 2, 3].includes(made), `${made} of 3 were stored`);
  const partial = path.join(root, 'incoming', 'left-behind');
  writeFileSync(partial, 'half of a');
  utimesSync(partial, clock.now() / 1000, clock.now() / 1000);
  await later(hour);
  await service.jobs.settle();
  assert.deepEqual(
    [stored().length, readdirSync(path.join(root, 'incoming'))],
    [before.length + made, ['left-behind']],
  );
  await later(1);
  await service.jobs.settle();
  assert.deepEqual([stored().length, readdirSync(path.join(root, 'incoming'))], [before.length + 1, []]);
});

test('what a proposal names waits with it for the practice, and is held by what comes of it', async () => {
  const { store, scope } = await editorOf(world.platform, world.maple);
  await addIntakeRule(store, scope, { type: 'Coverage', application: undefined });
  const card = await uploaded(full, Buffer.concat([pdf, Buffer.from('card')]));
  const coverage = (value: string) => ({
    resourceType: 'Coverage',
    status: 'active',
    beneficiary: { reference: 'Patient/stone' },
    payor: [{ display: 'Payer' }],
    identifier: [{ system: 'card', value }],
  });
  const unknown = coverage('urn:praxis:content:00000000-0000-4000-8000-000000000000');
  assert.equal((await full.send('POST', 'Coverage', unknown)).status, 422);
  assert.equal((await full.send('POST', 'Coverage', coverage(card.attachment))).status, 202);
  await later(25 * hour);
  await service.jobs.settle();
  const [proposal] = await findWaitingProposals(store, scope, 10);
  const decider = {
    store,
    scope,
    clock,
    baseUrl: world.maple.base,
    budget: openRequestBudget(),
    username: 'desk',
    flow: 'session',
  };
  await decide(decider, proposal?.task ?? '', { rest: 'accept' });
  await removeIntakeRule(store, scope, { type: 'Coverage', application: undefined });
  const found = await full.get('Coverage?beneficiary=Patient/stone');
  const read = await full.get(`Coverage/${found.json.entry[0].resource.id}`);
  assert.equal((await fetch(read.json.identifier[0].value)).status, 200);
});

/** Where the content of a document lies. */
async function fileOf(id: string): Promise<string> {
  const [row] = await database.owner.query<{ name: string }>(sql`
    SELECT object_key AS name FROM document_content JOIN content_holder ON content = id WHERE holder = ${`DocumentReference/${id}`}`);
  return path.join(root, row?.name ?? assert.fail(id));
}

test('an application has so many uploads that no resource holds, and not one more', async () => {
  const { id } = world.scanner.application;
  await database.owner.query(sql`
    INSERT INTO document_content (firm, id, application, created, expires, size_max)
    SELECT ${world.maple.id}, 'made-' || n, ${id}, ${clock.now()}::bigint, ${clock.now()}::bigint, 1
    FROM generate_series(1, ${looseMax}::int - (SELECT count(*)::int FROM document_content WHERE application = ${id} AND NOT held)) AS n`);
  const answer = await caller.send('POST', 'Binary', { resourceType: 'Binary' });
  assert.equal(answer.status, 409);
  assert.equal(
    answer.json.issue[0].diagnostics,
    '1000 uploads of this application wait for a resource that holds them: name them in resources; others are removed a day after they were asked for',
  );
  assert.equal((await full.send('POST', 'Binary', { resourceType: 'Binary' })).status, 201);
  await later(24 * hour + 1);
  await service.jobs.settle();
  assert.equal((await caller.send('POST', 'Binary', { resourceType: 'Binary' })).status, 201);
});

test('praxis content verify finds what is missing and what was altered, and a download does not pass it on', async () => {
  const ids = [await storedDocument(caller, Buffer.concat([pdf, Buffer.from('a')]))];
  ids.push(await storedDocument(caller, Buffer.concat([pdf, Buffer.alloc(300_000, 'b')])));
  const verify = () => runCommand(world.platform, contentCommands, 'content', 'verify', '--firm', 'maple');
  const sound = await verify();
  assert.match(sound.output[0] ?? '', /^firm maple: 4 files, [\d,]+ bytes, all as they were uploaded$/);
  assert.equal(sound.exitStatus, 0);
  const [missing = '', altered = ''] = await Promise.all(ids.map(fileOf));
  rmSync(missing);
  writeFileSync(altered, Buffer.concat([pdf, Buffer.alloc(300_000, 'c')]));
  const broken = await verify();
  assert.equal(broken.exitStatus, 1);
  assert.equal(broken.output.filter((line) => /cannot be read: ENOENT/.test(line)).length, 1);
  assert.equal(broken.output.filter((line) => /has another hash$/.test(line)).length, 1);
  assert.match(broken.output.at(-1) ?? '', /2 of them missing or altered$/);
  const outcomes = await Promise.all(
    ids.map(async (id) => {
      const answer = await fetch(await linkOf(caller, id));
      return answer.status === 200
        ? await answer.arrayBuffer().then(
            () => 'all',
            () => 'cut off',
          )
        : answer.status;
    }),
  );
  assert.deepEqual(outcomes.toSorted(), [500, 'cut off']);
});

test('the whole way with S3: nothing stays on this machine, and an outage leaves the URL good', async (t) => {
  const s3 = await openS3Server(t);
  const remote = await openWorld(t, {
    PRAXIS_S3_BUCKET: s3.bucket,
    PRAXIS_S3_ENDPOINT: s3.endpoint,
    PRAXIS_S3_REGION: s3.region,
    PRAXIS_S3_ACCESS_KEY_ID: s3.accessKeyId,
    PRAXIS_S3_SECRET_ACCESS_KEY: s3.secretAccessKey,
  });
  const offered = await askForUrl(remote.caller, 'application/pdf');
  s3.failing = 3;
  const refused = await putFile(offered.url, pdf);
  assert.equal(refused.status, 503);
  assert.equal(refused.json.issue[0].diagnostics, 'The file could not be stored: PUT it again, the URL is still good');
  assert.equal((await putFile(offered.url, pdf)).status, 200);
  const made = await remote.caller.send('POST', 'DocumentReference', documentOf(offered.attachment));
  const link = await linkOf(remote.caller, made.json.id);
  assert.deepEqual(Buffer.from(await (await fetch(link)).arrayBuffer()), pdf);
  const part = await fetch(link, { headers: { range: 'bytes=1-4' } });
  assert.equal(await part.text(), pdf.subarray(1, 5).toString());
  assert.deepEqual([...s3.objects.values()], [pdf]);
  assert.deepEqual(readdirSync(path.join(remote.files.path, 'content'), { recursive: true }), ['incoming']);
  await uploaded(remote.caller, Buffer.concat([pdf, Buffer.from('loose')]));
  remote.clock.advance(25 * hour);
  await remote.service.jobs.settle();
  assert.deepEqual([...s3.objects.values()], [pdf]);
});
