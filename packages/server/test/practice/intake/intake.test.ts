/**
 * Writes that wait until the practice accepts them, over HTTP: nothing changes before, staff decide element by element, and
 * the application learns what came of it (docs/decisions/0197).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { validateResource } from '@praxis/fhir';
import { sql } from '../../../src/database/sql.ts';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import { ask, openAdministrator } from '../../admin/world.ts';
import { assertRefused } from '../../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const firms = [maple, cedar];
const everything = await makeApplication(service, 'All', ['acl/*'], firms);
const portalScopes = ['Coverage', 'Condition', 'MedicationStatement', 'Task'].map((type) => `system/${type}.crus`);
const portalApplication = await makeApplication(service, 'Portal', portalScopes, firms);
const posting = await makeApplication(service, 'Posting', ['acl/cov_c', 'acl/cov_s'], [maple]);
const tasks = await makeApplication(service, 'Tasks', ['acl/tsk_r', 'acl/tsk_s'], [maple]);
const patcher = await makeApplication(service, 'Patcher', ['acl/cov_u', 'acl/cov_r', 'acl/tsk_r'], [maple]);
await setOperatorRows(service.platform.database, maple, patcher.application, {
  cov: { elements: ['status', 'period'] },
});
const operator = await openCaller(service, everything, maple);
const portal = await openCaller(service, portalApplication, maple);
const poster = await openCaller(service, posting, maple);
const writing = await makeApplication(service, 'Task writer', ['system/Task.rus'], [maple]);
const taskWriter = await openCaller(service, writing, maple);
const taskReader = await openCaller(service, tasks, maple);
const half = await openCaller(service, patcher, maple);
const portalAtCedar = await openCaller(service, portalApplication, cedar);
const desk = await openAdministrator(service, 'desk', 'practice', { firm: 'maple' });
const admin = '/environments/sandbox/firms/maple';

const reconciliationSystem = 'https://praxis.health/fhir/sid/reconciliation';
const jsonPatch = { 'content-type': 'application/json-patch+json' };

function coverage(more: object = {}): Record<string, unknown> {
  return {
    resourceType: 'Coverage',
    status: 'active',
    subscriberId: 'S-SECRET',
    beneficiary: { reference: 'Patient/p1' },
    period: { start: '2026-01-01' },
    payor: [{ reference: 'Organization/o1' }],
    ...more,
  };
}

let coverages = 0;
/** A coverage that is there, put by the operator before the practice wanted to accept anything. */
async function stored(more: object = {}): Promise<string> {
  coverages += 1;
  const id = `c${coverages}`;
  await desk.ask('DELETE', `${admin}/intake-rules/Coverage/*`);
  assert.equal((await operator.send('PUT', `Coverage/${id}`, coverage({ id, ...more }))).status, 201);
  await require('Coverage');
  return id;
}

async function require(type: string, application = '*'): Promise<void> {
  const answer = await desk.ask('PUT', `${admin}/intake-rules/${type}/${application}`);
  assert.equal(answer.status, 204, answer.text);
}

/** The reconciliation id of a write that waits. */
function waiting(answer: Answer): string {
  assert.equal(answer.status, 202, answer.text);
  const task = answer.headers.get('location')?.slice(`${maple.base}/Task/`.length) ?? '';
  const [issue] = answer.json.issue;
  assert.equal(issue.extension[0].valueString, task);
  assert.equal(issue.severity, 'information');
  return task;
}

const decide = (task: string, body: object): Promise<Answer> => desk.ask('PUT', `${admin}/intake/${task}`, body);
const show = (task: string): Promise<Answer> => desk.ask('POST', `${admin}/intake/${task}`);

async function decided(task: string, body: object, status: string): Promise<Answer['json']> {
  const answer = await decide(task, body);
  assert.deepEqual([answer.status, answer.json.status], [200, status], answer.text);
  return answer.json;
}

/** What `$reconciliation` answers, without its frame. */
async function outcome(caller: Caller, task: string): Promise<object> {
  const { status, json, text } = await caller.get(`$reconciliation?id=${task}`);
  assert.equal(status, 200, text);
  const fields: Record<string, string | undefined> = {};
  const facts: Record<string, string> = {};
  for (const { name, part, valueCode, valueReference } of json.parameter) {
    if (name === 'field') fields[part[0].valueString] = part[1]?.valueCode;
    else facts[name] = valueCode ?? valueReference.reference;
  }
  return { ...facts, fields };
}

test('denials: who may set rules and decide, and about what', async (t) => {
  const stranger = await openAdministrator(service, 'stranger', 'practice', { firm: 'cedar' });
  const vendor = await openAdministrator(service, 'vendor', 'vendor', { application: 'Portal' });
  await require('Coverage');
  const task = waiting(await portal.send('POST', 'Coverage', coverage()));
  const before = await tenantRows(owner);
  const ways: readonly (readonly [method: string, path: string, body?: object])[] = [
    ['GET', '/intake-rules'],
    ['PUT', '/intake-rules/Condition/*'],
    ['DELETE', '/intake-rules/Coverage/*'],
    ['GET', '/intake'],
    ['POST', `/intake/${task}`],
    ['PUT', `/intake/${task}`, { rest: 'accept' }],
  ];
  for (const [method, path, body] of ways) {
    await t.test(`${method} ${path}`, async () => {
      assert.equal((await ask(service, undefined, method, `${admin}${path}`, body)).status, 401);
      assert.equal((await stranger.ask(method, `${admin}${path}`, body)).status, 404);
      assert.equal((await vendor.ask(method, `${admin}${path}`, body)).status, 403);
    });
  }
  const asCedar = await stranger.ask('PUT', `/environments/sandbox/firms/cedar/intake/${task}`, { rest: 'accept' });
  assert.equal(asCedar.status, 404, 'of another firm');
  const wrong: readonly (readonly [path: string, body: object | undefined, status: number])[] = [
    ['/intake/nothing', { rest: 'accept' }, 404],
    [`/intake/${task}`, {}, 400],
    [`/intake/${task}`, { accept: ['order'] }, 400],
    [`/intake/${task}`, { accept: ['status'], reject: ['status'] }, 400],
    [`/intake/${task}`, { rest: 'perhaps' }, 400],
    [`/intake/${task}`, { accept: ['status'], edit: { period: 7 }, rest: 'accept' }, 400],
    [`/intake/${task}`, { reject: ['status'], rest: 'accept' }, 400],
    ['/intake-rules/Patient/*', undefined, 404],
    ['/intake-rules/Coverage/Nobody', undefined, 404],
  ];
  for (const [path, body, status] of wrong) {
    const answer = await desk.ask('PUT', `${admin}${path}`, body);
    assert.equal(answer.status, status, `${path} ${JSON.stringify(body)}: ${answer.text}`);
  }
  assert.deepEqual(await tenantRows(owner), before);
});

test('denials: a write that would be refused is refused as ever, and makes no Task', async () => {
  const id = await stored();
  await require('Condition');
  const before = await tenantRows(owner);
  const refusals: readonly (readonly [Promise<Answer>, number])[] = [
    [poster.send('PUT', `Coverage/${id}`, coverage({ id })), 403],
    [poster.send('POST', 'Condition', { resourceType: 'Condition', subject: { reference: 'Patient/p1' } }), 403],
    [portal.send('POST', 'Coverage', { ...coverage(), status: 'nonsense' }), 400],
    [portal.send('PUT', 'Coverage/unknown', coverage({ id: 'unknown' })), 404],
    [portal.send('PUT', `Coverage/${id}`, coverage({ id }), { 'if-match': 'W/"9"' }), 412],
    [half.send('PATCH', `Coverage/${id}`, [{ op: 'replace', path: '/subscriberId', value: 'x' }], jsonPatch), 403],
    [half.send('PATCH', `Coverage/${id}`, [{ op: 'test', path: '/subscriberId', value: 'S-SECRET' }], jsonPatch), 403],
  ];
  for (const [answer, status] of refusals) assert.equal((await answer).status, status, (await answer).text);
  assert.deepEqual(await tenantRows(owner), before);
});

test('a new coverage waits; nobody finds it; staff accept it, and it is the primary one', async () => {
  await require('Coverage');
  const answer = await portal.send('POST', 'Coverage', coverage());
  const task = waiting(answer);
  assert.equal(
    answer.json.issue[0].diagnostics,
    `Coverage waits for the practice to accept it; its reconciliation id is ${task}: $reconciliation?id=${task} or Task/${task} tells what came of it`,
  );
  const polled = `Coverage?reconciliationId=${task}`;
  assert.equal((await portal.get(polled)).json.total, 0);
  const made = (await portal.get(`Task/${task}`)).json;
  assert.deepEqual(validateResource(made, { type: 'Task' }), []);
  assert.equal(made.status, 'requested');
  assert.deepEqual(made.for, { reference: 'Patient/p1' });
  assert.deepEqual(
    made.input.map((each: { valueString: string }) => each.valueString),
    ['beneficiary', 'payor', 'period', 'status', 'subscriberId'].map((field) => `Coverage.${field}`),
  );
  assert.ok(!JSON.stringify(made).includes('S-SECRET'), 'a Task holds no values');
  const shown = (await show(task)).json;
  assert.deepEqual(
    { ...shown, fields: shown.fields.find((each: { field: string }) => each.field === 'subscriberId') },
    {
      ...{ task, application: 'Portal', type: 'Coverage', resource: null, version: null, status: 'requested' },
      proposedAt: new Date(service.clock.now()).toISOString(),
      fields: {
        ...{ field: 'subscriberId', change: 'set', decision: null, overtaken: false },
        values: { proposed: 'S-SECRET' },
      },
    },
  );
  const listed = (await desk.ask('GET', `${admin}/intake`)).json.items;
  assert.ok(listed.some((each: { task: string }) => each.task === task));
  const { resource } = await decided(task, { rest: 'accept' }, 'accepted');
  const found = (await portal.get(polled)).json;
  assert.equal(found.total, 1);
  const [{ resource: stored }] = found.entry;
  assert.equal(`Coverage/${stored.id}`, resource);
  const { id: _id, meta, ...content } = stored;
  assert.equal(meta.versionId, '1');
  assert.deepEqual(content, {
    ...coverage(),
    order: 1,
    identifier: [{ system: reconciliationSystem, value: task }],
  });
  assert.deepEqual(await outcome(portal, task), {
    ...{ status: 'accepted', resource },
    fields: Object.fromEntries(
      ['beneficiary', 'payor', 'period', 'status', 'subscriberId'].map((each) => [`Coverage.${each}`, 'accepted']),
    ),
  });
  const done = (await portal.get(`Task/${task}`)).json;
  assert.deepEqual(validateResource(done, { type: 'Task' }), []);
  assert.deepEqual(done.output.at(-1).valueReference, { reference: resource });
  assert.equal((await decide(task, { rest: 'reject' })).status, 422, 'decided once');
});

test('where staff reject the order of a new coverage, it has none', async () => {
  await require('Coverage');
  const task = waiting(await portal.send('POST', 'Coverage', coverage({ order: 2 })));
  const { resource } = await decided(task, { reject: ['order'], rest: 'accept' }, 'completed');
  assert.equal((await portal.get(resource)).json.order, undefined);
});

test('the ledger says who proposed it, by which entry, and who decided', async () => {
  await require('Coverage');
  const task = waiting(await poster.send('POST', 'Coverage', coverage()));
  await decided(task, { rest: 'accept' }, 'accepted');
  const { entry } = (await operator.get(`AuditEvent?entity=Task/${task}&_sort=-date`)).json;
  const [after, made] = entry.map((each: object) => JSON.stringify(each));
  assert.ok(made.includes('acl/cov_c') && !made.includes('acl/*'), made);
  assert.ok(after.includes('desk on behalf of Posting'), after);
});

test('an update is decided element by element, over several sittings; what is rejected stays', async () => {
  const id = await stored();
  const changed = coverage({ id, status: 'cancelled', period: { start: '2026-02-01' }, dependent: '2' });
  const task = waiting(await portal.send('PUT', `Coverage/${id}`, changed));
  const fields = (await show(task)).json.fields.map((each: { field: string }) => each.field);
  assert.deepEqual(fields, ['dependent', 'period', 'status'], 'what differs');
  await decided(task, { accept: ['status'] }, 'in-progress');
  assert.equal((await portal.get(`Coverage/${id}`)).json.meta.versionId, '1', 'nothing before all is decided');
  await decided(task, { reject: ['dependent'] }, 'in-progress');
  assert.deepEqual(await outcome(portal, task), {
    ...{ status: 'in-progress', resource: `Coverage/${id}` },
    fields: { 'Coverage.dependent': 'rejected', 'Coverage.period': undefined, 'Coverage.status': 'accepted' },
  });
  await decided(task, { edit: { period: { start: '2026-03-01' } } }, 'completed');
  const { meta, ...content } = (await portal.get(`Coverage/${id}`)).json;
  assert.equal(meta.versionId, '2');
  assert.deepEqual(content, {
    ...coverage({ id, status: 'cancelled', period: { start: '2026-03-01' } }),
    identifier: [{ system: reconciliationSystem, value: task }],
  });
  // The read above leaves its row of the same moment whenever it is flushed.
  const [event] = (await operator.get(`AuditEvent?entity=Coverage/${id}&action=U&_sort=-date&_count=1`)).json.entry;
  assert.match(JSON.stringify(event), /desk on behalf of Portal/);
});

test('a rejected proposal changes nothing; the application reads so', async () => {
  const id = await stored();
  const task = waiting(await portal.send('PUT', `Coverage/${id}`, coverage({ id, status: 'cancelled' })));
  await decided(task, { rest: 'reject' }, 'rejected');
  assert.equal((await portal.get(`Coverage/${id}`)).json.meta.versionId, '1');
  assert.deepEqual(await outcome(portal, task), {
    ...{ status: 'rejected', resource: `Coverage/${id}` },
    fields: { 'Coverage.status': 'rejected' },
  });
});

test('what others have changed meanwhile is shown and not overwritten unless staff have seen it', async () => {
  const id = await stored();
  const task = waiting(
    await portal.send('PUT', `Coverage/${id}`, coverage({ id, status: 'cancelled', dependent: '2' })),
  );
  await desk.ask('DELETE', `${admin}/intake-rules/Coverage/*`);
  const newer = coverage({ id, status: 'draft', order: 3 });
  assert.equal((await operator.send('PUT', `Coverage/${id}`, newer)).status, 200);
  await require('Coverage');
  const { fields, version } = (await show(task)).json;
  assert.equal(version, 2);
  assert.deepEqual(
    fields.map(({ field, overtaken, values }: Record<string, unknown>) => ({ field, overtaken, values })),
    [
      { field: 'dependent', overtaken: false, values: { proposed: '2' } },
      { field: 'status', overtaken: true, values: { base: 'active', current: 'draft', proposed: 'cancelled' } },
    ],
  );
  const before = await tenantRows(owner);
  for (const seen of [{}, { version: 1 }]) {
    const refused = await decide(task, { rest: 'accept', ...seen });
    assert.equal(refused.status, 409, refused.text);
    assert.match(refused.text, /Coverage\.status was changed by others since it was proposed/);
  }
  assert.deepEqual(await tenantRows(owner), before);
  await decided(task, { rest: 'accept', version: 2 }, 'accepted');
  const { status, order, dependent } = (await portal.get(`Coverage/${id}`)).json;
  assert.deepEqual({ status, order, dependent }, { status: 'cancelled', order: 3, dependent: '2' }, 'the rest is kept');
});

test('tags are overtaken by other tags, not by another version alone', async () => {
  const id = await stored();
  const meta = { tag: [{ system: 'urn:example:tags', code: 'portal' }] };
  const task = waiting(await portal.send('PUT', `Coverage/${id}`, coverage({ id, meta })));
  await desk.ask('DELETE', `${admin}/intake-rules/Coverage/*`);
  assert.equal((await operator.send('PUT', `Coverage/${id}`, coverage({ id, status: 'draft' }))).status, 200);
  await require('Coverage');
  assert.deepEqual((await show(task)).json.fields, [
    { field: 'meta', change: 'set', decision: null, overtaken: false, values: { proposed: meta } },
  ]);
  await decided(task, { rest: 'accept' }, 'accepted');
  const { json } = await portal.get(`Coverage/${id}`);
  assert.deepEqual([json.meta.versionId, json.meta.tag, json.status], ['3', meta.tag, 'draft']);
});

/** The race is lost by a few milliseconds. */
const decidingRounds = 20;

test('of several who decide at once one does', async () => {
  await require('Coverage');
  for (let round = 0; round < decidingRounds; round += 1) {
    const task = waiting(await portal.send('POST', 'Coverage', coverage()));
    const answers = await Promise.all(['accept', 'reject', 'accept', 'reject'].map((rest) => decide(task, { rest })));
    assert.equal(answers.filter(({ status }) => status === 200).length, 1, answers.map(({ text }) => text).join('\n'));
    const { total } = (await portal.get(`Coverage?reconciliationId=${task}`)).json;
    assert.equal(total, answers.find(({ status }) => status === 200)?.json.status === 'accepted' ? 1 : 0);
  }
});

test('a patch proposes what it names, and tells nothing of what is hidden', async () => {
  const id = await stored();
  const patch = [{ op: 'replace', path: '/status', value: 'active' }];
  const task = waiting(await half.send('PATCH', `Coverage/${id}`, patch, jsonPatch));
  const seen = (await half.get(`Task/${task}`)).json;
  assert.deepEqual(
    seen.input.map((each: { valueString: string }) => each.valueString),
    ['Coverage.status'],
    'whether or not it differs',
  );
  assert.equal(seen.for, undefined, 'it may not read whose coverage it is');
  await decided(task, { rest: 'accept' }, 'accepted');
});

test('leaks: others read no values in Tasks, and learn nothing of proposals that are not theirs', async () => {
  await require('Coverage');
  const task = waiting(await portal.send('POST', 'Coverage', coverage({ subscriberId: 'S-SECRET' })));
  for (const path of [`Task/${task}`, `Task/${task}/_history`, 'Task?patient=p1', '$changes?_type=Task']) {
    const answer = await taskReader.get(path);
    assert.equal(answer.status, 200, answer.text);
    assert.ok(!answer.text.includes('S-SECRET'), path);
  }
  const unknown = (await poster.get('$reconciliation?id=unknown')).text;
  for (const caller of [poster, taskReader, operator, portalAtCedar]) {
    const refused = await caller.get(`$reconciliation?id=${task}`);
    assert.deepEqual([refused.status, refused.text], [404, unknown]);
  }
  assert.equal((await poster.get(`Task/${task}`)).status, 403);
  assert.equal((await portalAtCedar.get(`Task/${task}`)).status, 404);
});

test('an application without any right on Tasks learns what came of its own', async () => {
  await require('Coverage');
  const task = waiting(await poster.send('POST', 'Coverage', coverage()));
  const { resource } = await decided(task, { rest: 'accept' }, 'accepted');
  assert.equal((await poster.get(`Coverage?reconciliationId=${task}`)).json.entry[0].resource.id, resource.slice(9));
  assert.equal(((await outcome(poster, task)) as { status: string }).status, 'accepted');
});

test('rules are for all applications or for one, and end', async () => {
  await desk.ask('DELETE', `${admin}/intake-rules/Coverage/*`);
  await require('Coverage', 'Posting');
  assert.deepEqual((await desk.ask('GET', `${admin}/intake-rules`)).json.items, [
    { type: 'Condition', application: '*' },
    { type: 'Coverage', application: 'Posting' },
  ]);
  assert.equal((await portal.send('POST', 'Coverage', coverage())).status, 201);
  waiting(await poster.send('POST', 'Coverage', coverage()));
  assert.equal((await desk.ask('DELETE', `${admin}/intake-rules/Coverage/Posting`)).status, 204);
  assert.equal((await desk.ask('DELETE', `${admin}/intake-rules/Coverage/Posting`)).status, 404);
  assert.equal((await poster.send('POST', 'Coverage', coverage())).status, 201);
  assert.equal((await portalAtCedar.send('POST', 'Coverage', coverage())).status, 201, 'a rule of one firm');
});

test('the application takes a proposal back; nothing can be decided then', async () => {
  await require('MedicationStatement');
  const statement = {
    resourceType: 'MedicationStatement',
    status: 'active',
    medicationCodeableConcept: { text: 'Timolol' },
    subject: { reference: 'Patient/p1' },
  };
  const task = waiting(await portal.send('POST', 'MedicationStatement', statement));
  const patch = [{ op: 'replace', path: '/status', value: 'cancelled' }];
  const foreign = await taskWriter.send('PATCH', `Task/${task}`, patch, jsonPatch);
  assertRefused(foreign, {
    status: 422,
    error: 'rule-broken',
    issue: 'business-rule',
    diagnostics:
      'Task.status: only the application that made the proposal can withdraw it, and only the practice can decide it',
    expression: ['Task.status'],
  });
  const cancelled = await portal.send('PATCH', `Task/${task}`, patch, jsonPatch);
  assert.equal(cancelled.status, 200, cancelled.text);
  const forged = [{ op: 'replace', path: '/status', value: 'accepted' }];
  assert.equal((await portal.send('PATCH', `Task/${task}`, forged, jsonPatch)).status, 422);
  const refused = await decide(task, { rest: 'accept' });
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /is cancelled: it is closed/);
  const listed = (await desk.ask('GET', `${admin}/intake`)).json.items;
  assert.ok(!listed.some((each: { task: string }) => each.task === task));
  assert.equal((await portal.get('MedicationStatement')).json.total, 0);
});

test('an application may let 10,000 writes wait; what it takes back makes room', async () => {
  await require('Coverage');
  const task = waiting(await portal.send('POST', 'Coverage', coverage()));
  await owner.query(sql`
    INSERT INTO intake_proposal (proposed_at, firm, application, base, rtype, task, proposed)
    SELECT p.proposed_at, p.firm, p.application, 0, p.rtype, 'filler-' || n, '{}'
    FROM intake_proposal p, generate_series(1, 10000 - (SELECT count(*)::int FROM intake_proposal w
      WHERE w.firm = p.firm AND w.application = p.application AND NOT w.closed)) n WHERE p.task = ${task}`);
  const before = await tenantRows(owner);
  const refused = await portal.send('POST', 'Coverage', coverage());
  assert.equal(refused.status, 422, refused.text);
  assert.match(refused.text, /10000 writes of the application wait for the practice/);
  assert.deepEqual(await tenantRows(owner), before);
  waiting(await poster.send('POST', 'Coverage', coverage()));
  const patch = [{ op: 'replace', path: '/status', value: 'cancelled' }];
  assert.equal((await portal.send('PATCH', `Task/${task}`, patch, jsonPatch)).status, 200);
  waiting(await portal.send('POST', 'Coverage', coverage()));
  await owner.query(sql`DELETE FROM intake_proposal WHERE task LIKE 'filler-%'`);
});

test('Idempotency-Key, Prefer, conditional writes and Bundles', async () => {
  await require('Coverage');
  const headers = { 'idempotency-key': '"cov-1"' };
  const first = await portal.send('POST', 'Coverage', coverage(), headers);
  const again = await portal.send('POST', 'Coverage', coverage(), headers);
  assert.equal(waiting(first), waiting(again));
  assert.equal(again.headers.get('idempotent-replayed'), 'true');
  const minimal = await portal.send('POST', 'Coverage', coverage(), { prefer: 'return=minimal' });
  assert.deepEqual([minimal.status, minimal.text], [202, '']);
  const id = await stored({ identifier: [{ system: 'urn:x', value: 'known' }] });
  const kept = await portal.send('POST', 'Coverage', coverage(), { 'if-none-exist': 'identifier=urn:x|known' });
  assert.equal(kept.status, 200, 'what is there is found as ever');
  waiting(await portal.send('PUT', 'Coverage?identifier=urn:x|known', coverage({ id, status: 'draft' })));
  const same = await portal.send(
    'PUT',
    `Coverage/${id}`,
    coverage({ id, identifier: [{ system: 'urn:x', value: 'known' }] }),
  );
  assert.deepEqual([same.status, same.json.meta.versionId], [200, '1'], 'nothing to decide about');
  const entry = { resource: coverage(), request: { method: 'POST', url: 'Coverage' } };
  const bundle = (type: string): object => ({ resourceType: 'Bundle', type, entry: [entry] });
  const batch = (await operator.send('POST', '', bundle('batch'))).json.entry[0].response;
  assert.equal(batch.status, '202 Accepted');
  assert.match(batch.location, /\/Task\//);
  const before = await tenantRows(owner);
  const whole = await operator.send('POST', '', bundle('transaction'));
  assert.equal(whole.status, 422, whole.text);
  assert.match(whole.text, /cannot be part of a transaction: send it by itself or in a batch/);
  assert.deepEqual(await tenantRows(owner), before);
});
