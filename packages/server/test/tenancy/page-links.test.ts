/**
 * Page links are sealed: a cursor works for the firm, the application, the rights and the search it was made for, and for
 * nothing else (docs/integrate/contract.md#fhir; docs/decisions/0037).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { authorise, revokeAuthorisation } from '../../src/tenancy/authorisations.ts';
import { patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  callerOf,
  clientForm,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  postForm,
  type TestApplication,
  type TestFirm,
} from '../support/service.ts';

const service = await openTestService({ after });
const { database, clock } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const trainingMaple = await makeFirm(service, 'maple', 'training');
const acl = ['acl/pat_c', 'acl/pat_r', 'acl/pat_s', 'acl/prac_s'];
const vendor = await makeApplication(service, 'Vendor', acl, [maple, cedar]);
const other = await makeApplication(service, 'Other', acl, [maple]);
const training = await makeApplication(service, 'Vendor', acl, [trainingMaple]);

const atMaple = await openCaller(service, vendor, maple);
const atCedar = await openCaller(service, vendor, cedar);
const inTraining = await openCaller(service, training, trainingMaple);
for (const caller of [atMaple, atCedar, inTraining])
  for (const family of ['Ash', 'Birch', 'Stone'])
    assert.equal((await caller.send('POST', 'Patient', patient(family))).status, 201);

const search = 'Patient?_sort=family&_count=1';

async function cursorOf(caller: Caller, query = search): Promise<string> {
  const { json, text } = await caller.get(query);
  const next = json.link.find(({ relation }: { relation: string }) => relation === 'next');
  assert.ok(next, text);
  return new URL(next.url).searchParams.get('_cursor') ?? '';
}

const cursor = await cursorOf(atMaple);

function follow(caller: Caller, sealed: string, query = search): Promise<Answer> {
  return caller.get(`${query}&_cursor=${sealed}`);
}

function assertRefusedCursor(answer: Answer, name: string): void {
  assert.equal(answer.status, 400, `${name}: ${answer.text}`);
  assert.equal(answer.json.issue[0].details.coding[0].code, 'cursor-invalid', name);
  assert.deepEqual(answer.json.issue[0].expression, ['_cursor']);
  assert.ok(!/Ash|Birch|Stone/.test(answer.text), name);
}

async function scopedCaller(application: TestApplication, firm: TestFirm, scope: string): Promise<Caller> {
  const { json } = await postForm(
    clientTokenUrl(service),
    { ...clientForm(application), scope },
    application.clientKey,
  );
  return callerOf(firm, json.access_token, application.clientKey);
}

test('a cursor of one firm is refused at the other, and in another environment', async () => {
  assertRefusedCursor(await follow(atCedar, cursor), 'cedar');
  assertRefusedCursor(await follow(inTraining, cursor), 'training');
  assertRefusedCursor(await follow(atMaple, await cursorOf(atCedar)), 'from cedar');
});

test('a cursor of one application is refused for another with the same rights', async () => {
  assertRefusedCursor(await follow(await openCaller(service, other, maple), cursor), 'other application');
});

test('a cursor is refused for a token of other rights', async () => {
  const less = await scopedCaller(vendor, maple, 'acl/pat_s');
  assertRefusedCursor(await follow(less, cursor), 'a token for less');
  assertRefusedCursor(await follow(atMaple, await cursorOf(less)), 'a token for more');
});

test('a cursor is refused for another search, type or order; the size of the page may differ', async () => {
  assertRefusedCursor(await follow(atMaple, cursor, 'Patient?_sort=-family&_count=1'), 'order');
  assertRefusedCursor(await follow(atMaple, cursor, 'Patient?_count=1'), 'no order');
  assertRefusedCursor(await follow(atMaple, cursor, 'Patient?_sort=family&_count=1&gender:missing=true'), 'criteria');
  assertRefusedCursor(await follow(atMaple, cursor, 'Practitioner?_sort=family&_count=1'), 'type');
  assert.equal((await follow(atMaple, cursor, 'Patient?_sort=family&_count=2')).status, 200);
});

test('a cursor that was altered is refused, whichever character', async () => {
  for (let at = 0; at < cursor.length; at += 7) {
    const altered = cursor.slice(0, at) + (cursor[at] === 'A' ? 'B' : 'A') + cursor.slice(at + 1);
    assertRefusedCursor(await follow(atMaple, altered), `character ${at}`);
  }
  for (const text of [
    '',
    'x',
    cursor.slice(0, -4),
    `${cursor}AAAA`,
    cursor.replace('.', ''),
    'e30',
    '1.e30',
    '../etc',
  ]) {
    const answer = await follow(atMaple, encodeURIComponent(text));
    assert.equal(answer.status, 400, JSON.stringify(text));
  }
});

test('a cursor tells nothing: no value, no number of a row', () => {
  const plain = Buffer.from(cursor.split('.')[1] ?? '', 'base64url').toString('latin1');
  assert.ok(!/Ash|ash|Birch|Stone|Patient/.test(plain + cursor));
});

test('every page is authorised anew: a cursor outlives no right', async () => {
  const walker = await makeApplication(service, 'Walker', acl, [maple]);
  const caller = await openCaller(service, walker, maple);
  const sealed = await cursorOf(caller);
  assert.equal((await follow(caller, sealed)).status, 200);
  const terms = { purpose: 'Less', acl: ['acl/pat_r', 'acl/pat_s'] };
  await authorise(database, clock, maple, walker.application, terms, entryProblem);
  assertRefusedCursor(await follow(caller, sealed), 'after the firm authorised less');
  await authorise(database, clock, maple, walker.application, { purpose: 'Test' }, entryProblem);
  assert.equal((await follow(caller, sealed)).status, 200, 'the same rights again');
  await revokeAuthorisation(database, maple, walker.application);
  const refused = await follow(caller, sealed);
  assert.equal(refused.status, 403);
  assert.equal(refused.json.issue[0].details.coding[0].code, 'firm-forbidden');
});

test('the pages of a walk are the whole, and of one firm', async () => {
  const families: string[] = [];
  let url: string | undefined = `${maple.base}/${search}`;
  while (url !== undefined) {
    const { json }: Answer = await atMaple.get(url);
    for (const { fullUrl, resource } of json.entry) {
      assert.ok(fullUrl.startsWith(`${maple.base}/`));
      families.push(resource.name[0].family);
    }
    url = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
    assert.ok(families.length <= 3);
  }
  assert.deepEqual(families, ['Ash', 'Birch', 'Stone']);
});

test('both flows of an application have the same rights, so a walk may change its token', async () => {
  const legacy = callerOf(maple, await legacyToken(vendor, maple), vendor.legacyKey);
  assert.equal((await follow(legacy, cursor)).status, 200);
});
