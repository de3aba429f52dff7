/** $changes: who may follow which changes, and what they are told (docs/decisions/0170, 0171). */
import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { issueApiKey } from '../../src/oauth/client-auth/api-keys.ts';
import { raiseOrderEpoch } from '../../src/storage/order-epoch.ts';
import { authorise, setOperatorRows } from '../../src/tenancy/authorisations.ts';
import { type Following, nextOf, openFollowing, type ToldEntry, untilTold } from '../support/follower.ts';
import { patient } from '../support/records.ts';
import { assertRefused, insufficientScope } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  callerOf,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

const service = await openTestService({ after });
const { clock } = service;
const { database } = service.platform;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const fullApplication = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const full = await openCaller(service, fullApplication, maple);
const fullAtCedar = await openCaller(service, fullApplication, cedar);
const otherFull = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [maple]), maple);
const namesApplication = await makeApplication(service, 'Names', ['acl/pat_s_name_dob_gen', 'acl/enc_s'], [maple]);
const names = await openCaller(service, namesApplication, maple);
const examsApplication = await makeApplication(service, 'Exams', ['acl/obsv_ef_s'], [maple]);
await setOperatorRows(database, maple, examsApplication.application, {
  obsv_ef: { criteria: [{ parameter: 'category', values: ['exam'] }], elements: ['code', 'category'] },
});
const exams = await openCaller(service, examsApplication, maple);
const readerOnly = await openCaller(service, await makeApplication(service, 'Reader', ['acl/pat_r'], [maple]), maple);

function observation(category: string, code = 'a'): Record<string, unknown> {
  return {
    resourceType: 'Observation',
    status: 'final',
    code: { text: code },
    category: [{ coding: [{ code: category }] }],
  };
}

async function put(caller: Caller, type: string, id: string, resource: Record<string, unknown>): Promise<void> {
  const answer = await caller.send('PUT', `${type}/${id}`, { ...resource, resourceType: type, id });
  assert.ok(answer.status < 300, answer.text);
}

/** What a page tells, in short: `POST Patient/1/1`. */
function told(entries: readonly ToldEntry[] = []): string[] {
  return entries.map(
    ({ request, response, fullUrl }) =>
      `${request.method} ${fullUrl.split('/fhir/v2/')[1]} ${response.etag.replaceAll(/[W/"]/g, '')}`,
  );
}

async function readAll(following: Following): Promise<readonly ToldEntry[]> {
  await untilTold(service.database.owner);
  return await following.read();
}

/** A page once all that was written can be told. */
async function follow(caller: Caller, path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
  await untilTold(service.database.owner);
  const answer = await caller.get(path, headers);
  assert.equal(answer.status, 200, answer.text);
  return answer;
}

test('denials: no credentials, another firm, no search on any type, a type that may not be searched', async () => {
  assert.equal((await fetch(`${maple.base}/$changes`)).status, 401);
  const token = names.headers.authorization?.slice(7) ?? '';
  assert.equal((await callerOf(cedar, token, namesApplication.clientKey).get('$changes')).status, 403);
  const refused = await readerOnly.get('$changes');
  assert.equal(refused.status, 403);
  assert.equal(refused.headers.get('www-authenticate'), insufficientScope);
  const type = await names.get('$changes?_type=Patient,Observation');
  assert.equal(type.status, 403);
  assert.match(type.json.issue[0].diagnostics, /Observation/);
});

test('wrong parameters are precise refusals', async () => {
  const refusals: readonly (readonly [query: string, diagnostics: string, expression: string])[] = [
    [
      'since=yesterday',
      'since takes what a next link holds, or a date or an instant such as 2026-11-21T09:30:00Z',
      'since',
    ],
    ['_type=Patience', '_type names "Patience": it takes names of resource types of R4, separated by commas', '_type'],
    ['_type=AuditEvent', '_type takes no AuditEvent: what the service notes itself is not in the feed', '_type'],
    ['_count=0', '_count takes an integer from 1; 500 at most are told on a page', '_count'],
    ['_wait=-1', '_wait takes seconds from 0 to 30', '_wait'],
  ];
  for (const [query, diagnostics, expression] of refusals) {
    assertRefused(await full.get(`$changes?${query}`), {
      status: 400,
      error: 'operation-parameter-invalid',
      issue: 'invalid',
      diagnostics,
      expression: [expression],
    });
  }
  assert.equal((await full.get('$changes?name=x')).status, 400);
});

test('a place belongs to its firm, application, rights and types, and is not to be altered', async () => {
  const next = nextOf(await full.get('$changes'));
  const cursor = new URL(next).searchParams.get('since') ?? '';
  const invalid = {
    status: 400,
    error: 'cursor-invalid',
    issue: 'value',
    diagnostics:
      'since belongs to another feed or caller, or was altered: follow the next links unchanged, or start again without since',
    expression: ['since'],
  };
  const altered = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`;
  assertRefused(await full.get(`$changes?since=${altered}`), invalid);
  for (const caller of [otherFull, fullAtCedar, names])
    assertRefused(await caller.get(`$changes?since=${cursor}`), invalid);
  assertRefused(await full.get(`$changes?since=${cursor}&_type=Patient`), {
    status: 400,
    error: 'operation-parameter-invalid',
    issue: 'invalid',
    diagnostics: '_type differs from that of the feed that since continues, which has no _type',
    expression: ['_type'],
  });
  const application = await makeApplication(service, 'Changing', ['acl/*'], [maple]);
  const changing = await openCaller(service, application, maple);
  const before = nextOf(await changing.get('$changes'));
  await authorise(
    database,
    clock,
    maple,
    application.application,
    { purpose: 'Less', acl: ['acl/pat_s'] },
    entryProblem,
  );
  assertRefused(await changing.get(before), {
    status: 410,
    error: 'feed-ended',
    issue: 'expired',
    diagnostics:
      'The rights of the application at the practice have changed since this position in the feed: discard the copy and start again without since',
    expression: ['since'],
  });
  assert.equal((await changing.get('$changes')).status, 200);
});

test('a first copy is what there is; then come creations, changes and deletions, in their order', async () => {
  await put(full, 'Patient', 'one', patient('Stone'));
  await put(full, 'Patient', 'one', patient('Stones'));
  await put(full, 'Patient', 'gone', patient('Gone'));
  await full.send('DELETE', 'Patient/gone');
  const following = openFollowing(full, '$changes?_type=Patient&_count=1');
  assert.deepEqual(told(await readAll(following)), ['POST Patient/one 2']);
  await put(full, 'Patient', 'two', patient('Two'));
  await put(full, 'Patient', 'one', patient('Stone'));
  await full.send('DELETE', 'Patient/two');
  await put(full, 'Patient', 'two', patient('Again'));
  assert.deepEqual(told(await readAll(following)), [
    'POST Patient/two 1',
    'PUT Patient/one 3',
    'DELETE Patient/two 2',
    'POST Patient/two 3',
  ]);
  assert.deepEqual(await readAll(following), []);
});

test('a page is a history whose links are absolute, with whole entries', async () => {
  await put(full, 'Location', 'room', { name: 'Room' });
  const answer = await follow(full, '$changes?_type=Location');
  const { id, ...bundle } = answer.json;
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(bundle, {
    resourceType: 'Bundle',
    meta: { lastUpdated: '2026-11-21T09:30:00.000Z' },
    type: 'history',
    link: [
      { relation: 'self', url: `${maple.base}/$changes?_type=Location&_count=100` },
      { relation: 'next', url: nextOf(answer) },
    ],
    entry: [
      {
        fullUrl: `${maple.base}/Location/room`,
        resource: (await full.get('Location/room')).json,
        request: { method: 'POST', url: 'Location' },
        response: { status: '201', etag: 'W/"1"', lastModified: '2026-11-21T09:30:00.000Z' },
      },
    ],
  });
});

test('elements are masked as in searches', async () => {
  const following = openFollowing(names, '$changes?_type=Patient');
  await put(full, 'Patient', 'masked', patient('Masked', { telecom: [{ system: 'phone', value: '555' }] }));
  const entries = await readAll(following);
  const resource = entries.find(({ fullUrl }) => fullUrl.endsWith('/masked'))?.resource;
  const [found] = (await names.get('Patient?name=Masked')).json.entry;
  assert.deepEqual(resource, found.resource);
  assert.equal(JSON.stringify(resource).includes('555'), false);
});

test('rows that come into sight are created, rows that leave it are deleted, and others are not told of', async () => {
  await put(full, 'Observation', 'always', observation('exam'));
  await put(full, 'Observation', 'never', observation('survey'));
  const following = openFollowing(exams, '$changes');
  assert.deepEqual(told(await readAll(following)), ['POST Observation/always 1']);
  await put(full, 'Observation', 'never', observation('survey', 'b'));
  await put(full, 'Observation', 'comes', observation('survey'));
  await full.send('DELETE', 'Observation/never');
  assert.deepEqual(await readAll(following), []);
  await put(full, 'Observation', 'comes', observation('exam', 'b'));
  await put(full, 'Observation', 'always', observation('survey'));
  await put(full, 'Observation', 'always', observation('survey', 'b'));
  await full.send('DELETE', 'Observation/comes');
  const entries = await readAll(following);
  // Version 2 of `comes` has been replaced, and these entries do not reach histories: it came and went.
  assert.deepEqual(told(entries), ['DELETE Observation/always 2', 'DELETE Observation/comes 3']);
  assert.ok(entries.every(({ resource }) => resource === undefined));
});

test('how many hidden changes went by does not show: pages are filled up past them', async () => {
  const following = openFollowing(exams, '$changes?_count=1');
  await readAll(following);
  const entry = Array.from({ length: 150 }, (_, index) => ({
    resource: observation('survey', `hidden ${index}`),
    request: { method: 'POST', url: 'Observation' },
  }));
  const sent = await full.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
  assert.equal(sent.status, 200, sent.text);
  await put(full, 'Observation', 'behind', observation('exam'));
  await untilTold(service.database.owner);
  assert.deepEqual(told(await following.readPage()), ['POST Observation/behind 1']);
});

test('some elements of all rows and all elements of some: each row is masked as it is covered', async () => {
  const acl = ['acl/pat_s_name_dob_gen', 'system/Patient.s?gender=female'];
  const both = await openCaller(service, await makeApplication(service, 'Both', acl, [maple]), maple);
  const following = openFollowing(both, '$changes?_type=Patient');
  await readAll(following);
  const active = { active: true };
  await put(full, 'Patient', 'both', patient('Both', { gender: 'female', ...active }));
  await put(full, 'Patient', 'both', patient('Both', { gender: 'male', ...active }));
  await full.send('DELETE', 'Patient/both');
  // Two versions have been replaced, and these entries do not reach histories.
  assert.deepEqual(told(await readAll(following)), ['DELETE Patient/both 3']);
  await put(full, 'Patient', 'both', patient('Both', { gender: 'female', ...active }));
  const [shown] = await readAll(following);
  assert.equal(JSON.stringify(shown?.resource).includes('"active":true'), true);
  await put(full, 'Patient', 'both', patient('Both', { gender: 'male', ...active }));
  const [masked] = await readAll(following);
  assert.deepEqual(masked?.request, { method: 'PUT', url: 'Patient/both' });
  assert.equal(JSON.stringify(masked?.resource).includes('active'), false);
});

test('since a moment: what changed since then, deletions too, and nothing that was replaced', async () => {
  clock.advance(60_000);
  const since = new Date(clock.now()).toISOString();
  await put(full, 'Device', 'd', { status: 'active' });
  await put(full, 'Device', 'd', { status: 'inactive' });
  await put(full, 'Device', 'e', { status: 'active' });
  await full.send('DELETE', 'Device/e');
  const following = openFollowing(full, `$changes?since=${since}&_type=Device`);
  assert.deepEqual(told(await readAll(following)), ['PUT Device/d 2', 'DELETE Device/e 2']);
});

test('lines: a resource each, a deletion as a history of its own', async () => {
  const next = nextOf(await follow(full, '$changes?_type=Device'));
  await put(full, 'Device', 'f', { status: 'active' });
  await full.send('DELETE', 'Device/f');
  const answer = await follow(full, next, { accept: 'application/fhir+ndjson' });
  assert.equal(answer.headers.get('content-type'), 'application/fhir+ndjson; charset=utf-8');
  assert.match(answer.headers.get('link') ?? '', /rel="next"/);
  const lines = answer.text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    lines.map(({ resourceType, entry }) => [resourceType, entry?.map(({ request }: { request: object }) => request)]),
    [
      ['Device', undefined],
      ['Bundle', [{ method: 'DELETE', url: 'Device/f' }]],
    ],
  );
});

test('a waiting follower is answered when something comes, by Prefer or by _wait', async () => {
  for (const [path, headers] of [
    ['', { prefer: 'wait=30' }],
    ['&_wait=30', {}],
  ] as const) {
    const next = nextOf(await follow(full, '$changes?_type=Basic'));
    const waiting = full.get(`${next}${path}`, headers);
    await put(full, 'Basic', `b${path.length}`, { code: { text: 'x' } });
    assert.deepEqual(told((await waiting).json.entry), [`POST Basic/b${path.length} 1`]);
  }
});

test('the place outlives a rotation of keys and a new order epoch', async () => {
  const next = nextOf(await follow(full, '$changes?_type=Group'));
  await raiseOrderEpoch(service.database.owner);
  await put(full, 'Group', 'g', { type: 'person', actual: true });
  const { secrets } = service.platform;
  const key = await issueApiKey(database, secrets, fullApplication.application, 'client', 'new');
  const renewed = await openCaller(service, { ...fullApplication, clientKey: key.apiKey }, maple);
  assert.deepEqual(told((await follow(renewed, next)).json.entry), ['POST Group/g 1']);
});

test('those who wait are answered when the service stops', async (t) => {
  const stopping = await openTestService(t);
  const firm = await makeFirm(stopping, 'maple');
  const caller = await openCaller(stopping, await makeApplication(stopping, 'Full', ['acl/*'], [firm]), firm);
  const countListeners = () => getEventListeners(stopping.service.parts.stopping, 'abort').length;
  const before = countListeners();
  const waiting = caller.get('$changes?_wait=30');
  while (countListeners() === before) await delay(1);
  await stopping.service.drain();
  const { status, json } = await waiting;
  assert.deepEqual([status, json.entry], [200, undefined]);
});
