/** Erasing a firm by two operators: who may not, what is refused from the confirmation on, and what stays of it. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { revokeAdministrator } from '../../src/admin/administrators.ts';
import { serviceLedger } from '../../src/audit/audit-row.ts';
import { openHeadFiles } from '../../src/audit/head-files.ts';
import { openSealingKey } from '../../src/audit/seal.ts';
import { openSealingJob } from '../../src/audit/sealing.ts';
import { UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { sql } from '../../src/database/sql.ts';
import { listTablesLeft, openEraser } from '../../src/offboarding/erase-firm.ts';
import { ageOperators, ask, openAdministrator, password, signedIn } from '../admin/world.ts';
import { openSealing } from '../audit/sealing.ts';
import { runCommand } from '../cli/platform.ts';
import { askForUrl, openWorld, pdf, putFile, storedDocument } from '../content/world.ts';
import { clientToken, makeApplication, makeFirm, openCaller, passwordForm, postForm } from '../support/service.ts';

const world = await openWorld({ after });
const { platform, service, maple, cedar, scanner, operator: application, clock, files, database } = world;
const [ada, bob] = [
  await openAdministrator(world, 'ada', 'operator'),
  await openAdministrator(world, 'bob', 'operator'),
];
await ageOperators(world, 'ada', 'bob');
const desk = await openAdministrator(world, 'desk', 'practice', { firm: 'maple' });
const seal = openSealing(world, files.path);
const passwords = files.write('password.txt', `${password}\n`);
const run = (...line: readonly string[]) => runCommand(platform, commands, ...line);
const day = 86_400_000;

const requests = '/environments/sandbox/firms/maple/erasures';
const asked = { reason: 'The practice has closed', password };
type Asker = Pick<typeof ada, 'ask'>;
const confirm = (by: Asker, id: number, body: object = {}) =>
  by.ask('POST', `/erasures/${id}/confirm`, { firm: 'maple', password, ...body });
async function refused(answer: ReturnType<Asker['ask']>): Promise<readonly unknown[]> {
  const { status, json } = await answer;
  return [status, json.code, json.detail];
}

const document = await storedDocument(world.caller, pdf);
const other = await openCaller(world, application, cedar);
await other.send('PUT', 'Patient/stone', { resourceType: 'Patient', id: 'stone', active: true });
const otherDocument = await storedDocument(await openCaller(world, scanner, cedar), pdf);

test('only operators who are signed in and give their password request it, and only of a suspended firm', async () => {
  assert.deepEqual(await refused(desk.ask('POST', requests, asked)), [
    ...[403, 'role-missing', 'firm erase request is for the role operator, not practice'],
  ]);
  const expiresAt = new Date(clock.now() + day).toISOString();
  const { json: token } = await ada.ask('POST', '/me/tokens', { label: 'script', expiresAt });
  assert.deepEqual(await refused(ask(world, token.token, 'POST', requests, asked)), [
    ...[403, 'role-missing', 'firm erase request is not for API tokens: sign in'],
  ]);
  assert.deepEqual(await refused(ada.ask('POST', requests, { reason: 'x' })), [
    400,
    'input-invalid',
    'password is missing',
  ]);
  assert.deepEqual(await refused(ada.ask('POST', requests, { ...asked, password: 'not it' })), [
    ...[422, 'rule-broken', 'password is not that of this operator'],
  ]);
  assert.deepEqual(await refused(ada.ask('POST', requests, { ...asked, operator: 'bob' })), [
    ...[422, 'rule-broken', 'operator is not ada, who is signed in'],
  ]);
  assert.deepEqual(await refused(ada.ask('POST', '/environments/sandbox/firms/nobody/erasures', asked)), [
    ...[404, 'resource-not-found', 'firm nobody does not exist in environment sandbox'],
  ]);
  assert.deepEqual(await refused(ada.ask('POST', requests, asked)), [
    ...[422, 'rule-broken', 'firm maple is active: suspend it first, so that nobody works there any more'],
  ]);
  assert.deepEqual((await ada.ask('GET', '/erasures')).json, { items: [], more: false });
});

test('on the command line an operator is named, and proves to be one', async () => {
  const of = ['firm', 'erase', 'request', 'maple', '--reason', 'x', '--password-file', passwords];
  const usage = (text: string) => (error: unknown) => error instanceof UsageError && error.message === text;
  await assert.rejects(run(...of), usage('--operator is missing: say which operator you are'));
  await assert.rejects(run(...of, '--operator', 'desk'), usage('password is not that of this operator'));
  await assert.rejects(run(...of, '--operator', 'nobody'), usage('password is not that of this operator'));
});

test('the same operator, another firm, an unknown number, a request that ended with the suspension, and an expired one are refused', async () => {
  await ada.ask('POST', '/environments/sandbox/firms/maple/suspend');
  const { json: first } = await ada.ask('POST', requests, asked);
  const { id, state, counts } = first;
  assert.deepEqual([id, state], [1, 'requested']);
  assert.deepEqual([counts.resources, counts.versions, counts.documents, counts.applications], [3, 3, 1, 2]);
  assert.deepEqual(await refused(bob.ask('POST', requests, asked)), [
    ...[409, 'duplicate', 'the erasure of firm maple is requested already: firm erase list shows it'],
  ]);
  assert.deepEqual(await refused(confirm(ada, 1)), [
    ...[422, 'rule-broken', 'ada has requested this erasure: another operator has to confirm it'],
  ]);
  assert.deepEqual(await refused(confirm(bob, 1, { firm: 'cedar' })), [
    422,
    'rule-broken',
    'firm is not that of this erasure: give the prefix of the firm that is to be erased',
  ]);
  assert.deepEqual(await refused(confirm(bob, 99)), [404, 'resource-not-found', 'there is no erasure 99']);
  clock.advance(1);
  const late = await openAdministrator(world, 'late', 'operator');
  assert.deepEqual(await refused(confirm(late, 1)), [
    422,
    'rule-broken',
    'late became an operator after this erasure was requested: one who was an operator before confirms it',
  ]);
  await bob.ask('POST', '/environments/sandbox/firms/maple/resume');
  assert.equal((await ada.ask('GET', '/erasures/1')).json.cancelledBy, 'bob');
  await bob.ask('POST', '/environments/sandbox/firms/maple/suspend');
  assert.deepEqual(await refused(confirm(bob, 1)), [409, 'conflict', 'erasure 1 was cancelled']);
  await ada.ask('POST', requests, asked);
  clock.advance(3 * day);
  assert.deepEqual(await refused(confirm(await signedIn(world, 'bob'), 2)), [
    ...[
      409,
      'conflict',
      `erasure 2 has expired, since nobody confirmed it in time (it ended ${new Date(clock.now()).toISOString()})`,
    ],
  ]);
  await service.jobs.settle();
  const rows = await database.owner.query(sql`SELECT 1 AS row FROM resource WHERE firm = ${maple.id}`);
  assert.equal(rows.length, 3);
});

test('who requested it has to be an operator still', async () => {
  const eve = await openAdministrator(world, 'eve', 'operator');
  await ageOperators(world, 'eve');
  const { json } = await eve.ask('POST', requests, asked);
  await revokeAdministrator(platform.database, 'eve');
  const second = await signedIn(world, 'bob');
  assert.deepEqual(await refused(confirm(second, json.id)), [
    ...[422, 'rule-broken', 'eve, who requested this erasure, is no operator any more: request it anew'],
  ]);
  assert.equal((await second.ask('POST', `/erasures/${json.id}/cancel`)).json.cancelledBy, 'bob');
});

/** That were good before the firm was erased. */
const urls: { upload: string; download: string } = { upload: '', download: '' };

test('confirmed: everybody is refused at the firm from then on, as at one that does not exist', async () => {
  const owner = await signedIn(world, 'ada');
  await owner.ask('POST', '/environments/sandbox/firms/maple/resume');
  const caller = await openCaller(world, application, maple);
  const upload = await askForUrl(await openCaller(world, scanner, maple), 'application/pdf');
  assert.equal((await caller.get('Patient/stone')).status, 200);
  const { json: held } = await caller.get(`DocumentReference/${document}`);
  Object.assign(urls, { upload: upload.url, download: held.content[0].attachment.url });
  await owner.ask('POST', '/environments/sandbox/firms/maple/suspend');
  const before = await refused(caller.get('Patient/stone'));
  const requested = await run(
    ...['firm', 'erase', 'request', 'maple', '--reason', 'Closed', '--operator', 'ada', '--password-file', passwords],
  );
  assert.match(
    requested.output[0] ?? '',
    /^erasure 4 of firm maple in sandbox would remove 3 resources with 3 versions, 1 documents/,
  );
  const confirmed = await run(
    ...['firm', 'erase', 'confirm', '4', 'maple', '--operator', 'bob', '--password-file', passwords],
  );
  assert.deepEqual(confirmed.output, [
    'erasure 4 is confirmed: firm maple in sandbox is closed, and its rows are being removed',
  ]);
  // Before a row is removed.
  assert.deepEqual(await refused(caller.get('Patient/stone')), before);
  assert.equal((await caller.send('PUT', 'Patient/new', { resourceType: 'Patient', id: 'new' })).status, 403);
  assert.equal((await putFile(upload.url, pdf, { 'content-type': 'application/pdf' })).status, 410);
  assert.equal(
    (await postForm(maple.legacyTokenUrl, passwordForm(application, maple), application.legacyKey)).status,
    400,
  );
  assert.equal((await ask(world, undefined, 'POST', '/sessions', { username: 'desk', password })).status, 401);
  for (const line of [
    ['firm', 'show', 'maple'],
    ['firm', 'resume', 'maple'],
    ['export', '--firm', 'maple', '--everything', '--out', path.join(files.path, 'out')],
    ['authorise', 'Operator', 'maple', '--purpose', 'x'],
  ])
    await assert.rejects(run(...line), /firm maple does not exist in environment sandbox/, line.join(' '));
  assert.deepEqual(await refused(confirm(owner, 4)), [
    409,
    'conflict',
    'erasure 4 is confirmed already, and rows are being removed',
  ]);
  assert.deepEqual(await refused(owner.ask('POST', '/erasures/4/cancel')), [
    ...[409, 'conflict', 'erasure 4 is confirmed already, and rows are being removed'],
  ]);
});

test('erased: rows and bytes are gone, others have theirs, and the record tells it', async () => {
  const content = path.join(files.path, 'content');
  const objects = (): number =>
    readdirSync(content, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && !entry.parentPath.endsWith('incoming'),
    ).length;
  // Of an upload that was announced before the firm was closed, and stores its bytes now.
  const name = `${'c'.repeat(16)}/cc/${'c'.repeat(40)}`;
  await database.owner.query(
    sql`INSERT INTO content_discard (firm, object_key, since) VALUES (${maple.id}, ${name}, ${clock.now()})`,
  );
  assert.equal(objects(), 2);
  await service.jobs.settle();
  assert.equal(objects(), 1);
  files.write(path.join('content', name), 'late');
  const owner = await signedIn(world, 'ada');
  const { json: waiting } = await owner.ask('GET', '/erasures/4');
  assert.deepEqual([waiting.state, waiting.tablesLeft], ['confirmed', ['content_discard']]);
  clock.advance(3_600_001);
  await service.jobs.settle();
  assert.equal(objects(), 1);
  const { json } = await owner.ask('GET', '/erasures/4');
  assert.deepEqual([json.state, json.isSigned, json.tablesLeft], ['erased', true, []]);
  const { tables, types, contents } = JSON.parse(json.proof);
  assert.deepEqual([tables.resource, contents, types.DocumentReference], [3, 2, { resources: 1, versions: 1 }]);
  const there = await openCaller(world, application, cedar);
  assert.equal((await there.get('Patient/stone')).json.active, true);
  const { json: shown } = await there.get(`DocumentReference/${otherDocument}`);
  assert.equal((await fetch(shown.content[0].attachment.url)).status, 200);
  assert.equal((await there.get(`DocumentReference/${document}`)).status, 404);
  for (const ledger of [serviceLedger, cedar.id]) await seal(ledger);
  const { exitStatus, output } = await run('audit', 'verify');
  assert.equal(exitStatus, 0, output.join('\n'));
  assert.match(await printed('firm', 'erase', 'list'), /^4\tsandbox\tmaple\terased\tada\t.*\tbob\t/m);
  assert.match(await printed('firm', 'erase', 'show', '4'), /^proof: \{"praxisErasure":1,"id":4,/m);
  assert.ok(existsSync(content));
});

test('who uses a URL of before, or writes for the firm late, leaves no row, no seal and no file', async () => {
  const heads = (): readonly string[] => readdirSync(path.join(files.path, 'audit-heads', String(maple.id)));
  const known = heads();
  assert.equal(known.length, 1);
  assert.equal((await putFile(urls.upload, pdf, { 'content-type': 'application/pdf' })).status, 410);
  assert.equal((await fetch(urls.download)).status, 410);
  await service.parts.ledger.flush();
  service.parts.ledger.touch(maple.id);
  await service.jobs.settle();
  assert.deepEqual(await listTablesLeft(platform.database.forFirm(maple.id), maple.id), []);
  // A process that has written for the firm does not take the end of its ledger for cut off.
  const alarms: unknown[] = [];
  const log = Object.assign(Object.create(platform.log), { error: (...words: unknown[]) => alarms.push(words) });
  const ledger = { takeTouched: () => [maple.id], touch: () => undefined };
  const key = openSealingKey(platform.secrets);
  const sealing = { ...platform, log, ledger, key, heads: openHeadFiles(path.join(files.path, 'audit-heads')) };
  const job = openSealingJob({ ...sealing, pauseMs: 1 });
  await job.run();
  await job.finish();
  assert.deepEqual(alarms, []);
  assert.deepEqual(heads(), known);
  const name = `${'d'.repeat(16)}/dd/${'d'.repeat(40)}`;
  await database.owner.query(
    sql`INSERT INTO content_discard (firm, object_key, since) VALUES (${maple.id}, ${name}, ${clock.now() - 2 * 3_600_000})`,
  );
  files.write(path.join('content', name), 'later than that');
  await openEraser(platform).eraseLate('recent');
  assert.equal(existsSync(path.join(files.path, 'content', name)), false);
  assert.deepEqual(await listTablesLeft(platform.database.forFirm(maple.id), maple.id), []);
});

async function printed(...line: readonly string[]): Promise<string> {
  return (await run(...line)).output.join('\n');
}

test('a firm of the same prefix begins with nothing, and the applications of the one before do not reach it', async () => {
  const again = await makeFirm(world, 'maple');
  const caller = await openCaller(world, application, again);
  assert.equal((await caller.get('Patient/stone')).status, 403);
  const fresh = await makeApplication(world, 'Fresh', ['acl/*'], [again]);
  assert.ok((await clientToken(world, fresh)).length > 0);
  assert.equal((await (await openCaller(world, fresh, again)).get('Patient/stone')).status, 404);
});

test('one operator does not act as two: who has got a password from another one waits, and changes it first', async () => {
  await makeFirm(world, 'oak');
  const first = await signedIn(world, 'ada');
  await first.ask('POST', '/environments/sandbox/firms/oak/suspend');
  const request = async (by: Asker): ReturnType<Asker['ask']> =>
    await by.ask('POST', '/environments/sandbox/firms/oak/erasures', asked);
  const confirmOak = (by: Asker, id: number) => confirm(by, id, { firm: 'oak' });

  const expiresAt = new Date(clock.now() + day).toISOString();
  const { json: token } = await first.ask('POST', '/me/tokens', { label: 'script', expiresAt });
  for (const [method, place, body, what] of [
    ['POST', '/administrators', { username: 'mallory', role: 'operator', password }, 'admin create'],
    ['PUT', '/administrators/bob/password', { password }, 'admin password'],
    ['POST', '/administrators/bob/revoke', undefined, 'admin revoke'],
  ] as const)
    assert.deepEqual(await refused(ask(world, token.token, method, place, body)), [
      ...[403, 'role-missing', `${what} of an operator is not for API tokens: sign in`],
    ]);
  const vendor = { username: 'vendor', role: 'vendor', application: 'Operator' };
  assert.equal((await ask(world, token.token, 'POST', '/administrators', vendor)).status, 201);
  assert.equal((await ask(world, token.token, 'POST', '/administrators/vendor/revoke')).status, 204);

  assert.equal((await first.ask('PUT', '/administrators/bob/password', { password })).status, 200);
  const given =
    'somebody else has set the password of bob: bob changes it by PUT /me/password, and the erasure is requested after that';
  assert.deepEqual(await refused(request(await signedIn(world, 'bob'))), [422, 'rule-broken', given]);
  const { json: one } = await request(first);
  assert.deepEqual(await refused(confirmOak(await signedIn(world, 'bob'), one.id)), [422, 'rule-broken', given]);
  clock.advance(1);
  const changed = await (await signedIn(world, 'bob')).ask('PUT', '/me/password', { current: password, password });
  assert.equal(changed.status, 204);
  const second = await signedIn(world, 'bob');
  assert.deepEqual(await refused(confirmOak(second, one.id)), [
    ...[
      422,
      'rule-broken',
      'bob has changed a password of somebody else after this erasure was requested: request it anew',
    ],
  ]);
  await second.ask('POST', `/erasures/${one.id}/cancel`);
  const { json: two } = await request(first);
  const until = new Date(clock.now() - 1 + 3 * day).toISOString();
  const soon = `somebody else has set a password of bob within three days before the request: request it after ${until}`;
  assert.deepEqual(await refused(confirmOak(second, two.id)), [422, 'rule-broken', soon]);
  await second.ask('POST', `/erasures/${two.id}/cancel`);
  assert.deepEqual(await refused(request(second)), [422, 'rule-broken', soon]);

  clock.advance(3 * day);
  const { json: three } = await request(await signedIn(world, 'ada'));
  // Of the one who requested it as well: else it would be bob who was impersonated.
  await run('admin', 'password', 'ada', '--password-file', passwords);
  assert.match(
    String((await refused(confirmOak(await signedIn(world, 'bob'), three.id)))[2]),
    /^somebody else has set the password of ada: ada changes it/,
  );
  await (await signedIn(world, 'bob')).ask('POST', `/erasures/${three.id}/cancel`);
  await (await signedIn(world, 'ada')).ask('PUT', '/me/password', { current: password, password });
  clock.advance(3 * day);
  const { json: four } = await request(await signedIn(world, 'ada'));
  await (await signedIn(world, 'bob')).ask('PUT', '/me/password', { current: password, password });
  assert.equal((await confirmOak(await signedIn(world, 'bob'), four.id)).json.state, 'confirmed');
});
