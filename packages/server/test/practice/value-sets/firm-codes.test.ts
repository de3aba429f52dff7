/**
 * The codes that a firm keeps, in writes over HTTP: what is not in use is refused where it is new, with nothing changed, and
 * stays where it was; who may not read the set is told no codes; a firm without sets takes everything.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { practiceExtensions } from '@praxis/fhir';
import { retireCode, setValueSet } from '../../../src/practice/value-sets/edit-value-sets.ts';
import { codeSystemUrl, firmValueSets } from '../../../src/practice/value-sets/table.ts';
import { setOperatorRows } from '../../../src/tenancy/authorisations.ts';
import type { Firm } from '../../../src/tenancy/firms.ts';
import { appointment } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';
import { editorOf } from '../calendars/world.ts';
import { governedExamples, withCode } from './governed-examples.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const bare = await makeFirm(service, 'bare');
// An example has a cancellation reason without a cancellation (app-4).
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar, bare], { lenientInvariants: true });
const booking = await makeApplication(service, 'Booking', ['acl/appmt_c'], [maple, cedar]);
const caller = await openCaller(service, full, maple);

const own = 'https://praxis.health/fhir/CodeSystem/appointment-type';

async function keep(firm: Firm, id: string, ...codes: readonly string[]) {
  const document = { codes: codes.map((code) => ({ code, display: `Display of ${code}` })) };
  return await setValueSet(await editorOf(service.platform, firm), id, document, undefined);
}

await keep(maple, 'appointment-type', 'NEW', 'FOLLOWUP', 'OLD');
await keep(cedar, 'appointment-type', 'CEDAR');
await keep(maple, 'reportable-reason', 'WORK');

const start = '2026-11-24T15:00:00Z';
const typed = (coding: object, more: object = {}) =>
  appointment('Patient/p1', start, { appointmentType: { coding: [coding] }, ...more });

async function assertNothingChanged(work: () => Promise<Answer>): Promise<Answer> {
  const rows = async () => (await tenantRows(service.database.owner))['resource'];
  const before = await rows();
  const answer = await work();
  assert.deepEqual(await rows(), before);
  return answer;
}

test('who may not read ValueSet is told the element and the set, and no codes; the same at firms with other codes', async () => {
  const texts: string[] = [];
  for (const firm of [maple, cedar]) {
    const blind = await openCaller(service, booking, firm);
    const answer = await assertNothingChanged(() => blind.send('POST', 'Appointment', typed({ code: 'NONE' })));
    assertRefused(answer, {
      status: 422,
      error: 'rule-broken',
      issue: 'code-invalid',
      diagnostics:
        'Appointment.appointmentType has no code of ValueSet/appointment-type, which the practice keeps: acl/val_set_r lets an application read the set',
      expression: ['Appointment.appointmentType'],
    });
    texts.push(answer.text);
  }
  assert.equal(texts[0], texts[1]);
});

test('a code that is not in use is refused with codes that would do, all elements at once', async () => {
  const more = { reasonCode: [{ coding: [{ code: 'WORK' }] }, { coding: [{ code: 'PLAY' }] }] };
  const answer = await assertNothingChanged(() => caller.send('POST', 'Appointment', typed({ code: 'NONE' }, more)));
  const refusal = { error: 'rule-broken', issue: 'code-invalid' };
  assertRefused(answer, {
    ...refusal,
    status: 422,
    diagnostics:
      'Appointment.appointmentType has no code of ValueSet/appointment-type, which the practice keeps: use NEW (Display of NEW), FOLLOWUP (Display of FOLLOWUP) or OLD (Display of OLD)',
    expression: ['Appointment.appointmentType'],
    more: [
      {
        ...refusal,
        diagnostics:
          'Appointment.reasonCode[1] has no code of ValueSet/reportable-reason, which the practice keeps: use WORK (Display of WORK)',
        expression: ['Appointment.reasonCode[1]'],
      },
    ],
  });
});

test('a code of another system is none, where the set is required; where it is extensible it is', async () => {
  const strange = typed({ system: 'http://example.org/types', code: 'NEW' });
  assert.equal((await caller.send('POST', 'Appointment', strange)).status, 422);
  const reasons = (system: string) => typed({ code: 'NEW' }, { reasonCode: [{ coding: [{ system, code: 'PLAY' }] }] });
  assert.equal((await caller.send('POST', 'Appointment', reasons('http://snomed.info/sct'))).status, 201);
  const ownReason = reasons('https://praxis.health/fhir/CodeSystem/reportable-reason');
  assert.equal((await caller.send('POST', 'Appointment', ownReason)).status, 422);
});

test('a code that the firm keeps under another system is taken under that one alone', async () => {
  const sources = 'http://example.org/sources';
  const document = { codes: [{ code: 'WEB', display: 'Web site', system: sources }] };
  await setValueSet(await editorOf(service.platform, cedar), 'referral-source', document, undefined);
  const atCedar = await openCaller(service, full, cedar);
  const from = (system: string) =>
    atCedar.send('POST', 'Patient', {
      resourceType: 'Patient',
      extension: [
        { url: practiceExtensions.referralSource, valueCodeableConcept: { coding: [{ system, code: 'WEB' }] } },
      ],
    });
  assert.equal((await from(sources)).status, 201);
  assert.equal((await from(codeSystemUrl('referral-source'))).status, 422);
});

test('codes in use are taken with their system or without, beside others, and words without a code are', async () => {
  for (const appointmentType of [
    { coding: [{ code: 'NEW' }] },
    { coding: [{ system: own, code: 'NEW' }] },
    { coding: [{ system: 'http://example.org/types', code: 'X' }, { code: 'FOLLOWUP' }] },
    { text: 'as agreed' },
  ]) {
    const answer = await caller.send('POST', 'Appointment', appointment('Patient/p1', start, { appointmentType }));
    assert.equal(answer.status, 201, answer.text);
  }
});

test('a firm that keeps no sets takes everything', async () => {
  const elsewhere = await openCaller(service, full, bare);
  assert.equal((await elsewhere.send('POST', 'Appointment', typed({ code: 'NONE' }))).status, 201);
});

test('a retired code stays where it is, and is refused where it is new', async () => {
  await caller.send('PUT', 'Appointment/kept', { ...typed({ code: 'OLD' }), id: 'kept' });
  await caller.send('PUT', 'Appointment/other', { ...typed({ code: 'NEW' }), id: 'other' });
  await retireCode(await editorOf(service.platform, maple), 'appointment-type', { code: 'OLD' });
  const { json: kept } = await caller.get('Appointment/kept');
  const put = await caller.send('PUT', 'Appointment/kept', { ...kept, description: 'Changed' });
  assert.equal(put.status, 200, put.text);
  const patch = (id: string, op: object) =>
    caller.send('PATCH', `Appointment/${id}`, [op], { 'content-type': 'application/json-patch+json' });
  assert.equal((await patch('kept', { op: 'replace', path: '/description', value: 'Again' })).status, 200);
  const retired =
    'Appointment.appointmentType has a code that was retired from ValueSet/appointment-type, which the practice keeps: use NEW (Display of NEW) or FOLLOWUP (Display of FOLLOWUP)';
  const path = '/appointmentType/coding/0/code';
  for (const answer of [
    await assertNothingChanged(() => caller.send('POST', 'Appointment', typed({ code: 'OLD' }))),
    await assertNothingChanged(() => patch('other', { op: 'replace', path, value: 'OLD' })),
  ]) {
    assert.equal(answer.status, 422);
    assert.equal(answer.json.issue[0].diagnostics, retired);
  }
  assert.equal((await patch('kept', { op: 'replace', path, value: 'NEW' })).status, 200);
  assert.equal((await patch('kept', { op: 'replace', path, value: 'OLD' })).status, 422);
});

test('in a batch the entry is refused, in a transaction everything', async () => {
  const entry = (resource: object) => ({ request: { method: 'POST', url: 'Appointment' }, resource });
  const bundle = (type: string) => ({
    resourceType: 'Bundle',
    type,
    entry: [entry(typed({ code: 'NEW' })), entry(typed({ code: 'NONE' }))],
  });
  const batch = await caller.send('POST', '', bundle('batch'));
  const statuses = batch.json.entry.map(({ response }: { response: { status: string } }) =>
    response.status.slice(0, 3),
  );
  assert.deepEqual(statuses, ['201', '422']);
  const transaction = await assertNothingChanged(() => caller.send('POST', '', bundle('transaction')));
  assert.equal(transaction.status, 422);
  assert.match(transaction.json.issue[0].diagnostics, /appointmentType has no code of ValueSet\/appointment-type/);
});

test('a transaction that changes the set is judged by the set as it is then', async () => {
  await keep(maple, 'recall-type', 'FIRST');
  const { json: valueSet } = await caller.get('ValueSet/recall-type');
  const [{ system, concept }] = valueSet.compose.include;
  const include = [{ system, concept: [...concept, { code: 'SECOND', display: 'Second' }] }];
  const task = {
    resourceType: 'Task',
    status: 'requested',
    intent: 'order',
    reasonCode: { coding: [{ code: 'SECOND' }] },
  };
  const put = {
    request: { method: 'PUT', url: 'ValueSet/recall-type' },
    resource: { ...valueSet, compose: { include } },
  };
  const post = { request: { method: 'POST', url: 'Task' }, resource: task };
  const transaction = (...entry: readonly object[]) => ({ resourceType: 'Bundle', type: 'transaction', entry });
  assert.equal((await caller.send('POST', '', transaction(post, post))).status, 422);
  const answer = await caller.send('POST', '', transaction(put, post, post));
  // R4 stores what is POSTed before what is PUT (https://hl7.org/fhir/R4/http.html#trules).
  assert.equal(answer.status, 422, answer.text);
  assert.equal((await caller.send('POST', '', transaction(put))).status, 200);
  assert.equal((await caller.send('POST', '', transaction(post, post))).status, 200);
});

test('$cancel takes a reason in use only', async () => {
  await keep(maple, 'appointment-cancellation-reason', 'WEATHER');
  const cancel = async (id: string, code: string) =>
    await caller.send('POST', `Appointment/${id}/$cancel`, {
      resourceType: 'Parameters',
      parameter: [{ name: 'reason', valueCodeableConcept: { coding: [{ code }] } }],
    });
  const { json } = await caller.send('POST', 'Appointment', typed({ code: 'NEW' }));
  const refused = await assertNothingChanged(() => cancel(json.id, 'WHIM'));
  assert.equal(refused.status, 422, refused.text);
  assert.match(
    refused.json.issue[0].diagnostics,
    /^Appointment.cancelationReason has no code of ValueSet\/appointment-can/,
  );
  const taken = await cancel(json.id, 'WEATHER');
  assert.equal(taken.status, 200, taken.text);
});

test('$validate says so: an error for a create and an update, a warning otherwise; a stored code is nothing new', async () => {
  await caller.send('PUT', 'Appointment/stored', { ...typed({ code: 'NONE' }), id: 'stored' });
  const issues = async (path: string, resource: object) =>
    (await caller.send('POST', path, resource)).json.issue
      .filter(({ code }: { code: string }) => code === 'code-invalid')
      .map(({ severity }: { severity: string }) => severity);
  assert.deepEqual(await issues('Appointment/$validate?mode=create', typed({ code: 'NONE' })), ['error']);
  assert.deepEqual(await issues('Appointment/$validate', typed({ code: 'NONE' })), ['warning']);
  assert.deepEqual(await issues('Appointment/$validate?mode=create', typed({ code: 'NEW' })), []);
  const update = (code: string) =>
    issues('Appointment/stored/$validate?mode=update', { ...typed({ code }), id: 'stored' });
  assert.deepEqual(await update('NONE'), []);
  assert.deepEqual(await update('OTHER'), ['error']);
});

test('a record that is brought along under its own id keeps its codes', async () => {
  const answer = await caller.send('PUT', 'Appointment/copy', { ...typed({ code: 'NONE' }), id: 'copy' });
  assert.equal(answer.status, 201, answer.text);
});

test('who may not read an element cannot find out by patching it which retired code it has', async () => {
  const application = await makeApplication(service, 'Blind', ['acl/appmt_u', 'acl/appmt_r'], [maple]);
  const rows = { appmt: { elements: ['description'] } };
  await setOperatorRows(service.database.runtime, maple, application.application, rows, 'test');
  const blind = await openCaller(service, application, maple);
  await caller.send('PUT', 'Appointment/hidden', { ...typed({ code: 'OLD' }), id: 'hidden' });
  const answers: string[] = [];
  for (const code of ['OLD', 'NONE', 'NEW']) {
    const op = { op: 'add', path: '/appointmentType', value: { coding: [{ code }] } };
    const type = { 'content-type': 'application/json-patch+json' };
    const answer = await assertNothingChanged(() => blind.send('PATCH', 'Appointment/hidden', [op], type));
    assert.equal(answer.status, 403, answer.text);
    answers.push(answer.text);
  }
  assert.deepEqual(new Set(answers).size, 1);
});

/** Sets that the tests above keep. */
const codeInUse: Readonly<Record<string, string>> = {
  'appointment-type': 'NEW',
  'reportable-reason': 'WORK',
  'recall-type': 'FIRST',
  'appointment-cancellation-reason': 'WEATHER',
};

test('every governed element of every set is judged, where its example has it', async () => {
  for (const set of firmValueSets.filter(({ id }) => codeInUse[id] === undefined)) await keep(maple, set.id, 'GOOD');
  for (const set of firmValueSets)
    for (const { expression } of set.governs) {
      const example = governedExamples[expression];
      assert.ok(example !== undefined, `no example of ${expression}`);
      const good = codeInUse[set.id] ?? 'GOOD';
      const taken = await caller.send('POST', example.resourceType, withCode(example, good));
      assert.equal(taken.status, 201, `${expression}: ${taken.text}`);
      const refused = await caller.send('POST', example.resourceType, withCode(example, 'BAD'));
      assert.equal(refused.status, 422, `${expression}: ${refused.text}`);
      const [issue, ...more] = refused.json.issue;
      assert.deepEqual(more, []);
      assert.match(issue.diagnostics, new RegExp(`has no code of ValueSet/${set.id}, which the practice keeps: use `));
    }
});
