/**
 * Charges over HTTP: an application gives the id of a transaction to one ChargeItem, whoever writes at the same moment; staff
 * see what came from where (docs/decisions/0196).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { commands } from '../../../src/cli/commands.ts';
import { ask, openAdministrator } from '../../admin/world.ts';
import { runCommand } from '../../cli/platform.ts';
import { assertRefused } from '../../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const everything = await makeApplication(service, 'All', ['acl/*'], [maple, cedar]);
const biller = await makeApplication(service, 'Biller', ['system/ChargeItem.crus'], [maple, cedar]);
const posting = await makeApplication(service, 'Posting', ['acl/chrg_item_c'], [maple]);
const operator = await openCaller(service, everything, maple);
const billing = await openCaller(service, biller, maple);
const blind = await openCaller(service, posting, maple);
const elsewhere = await openCaller(service, biller, cedar);

const transactionSystem = 'https://praxis.health/fhir/sid/transaction';
const unitCost = 'https://praxis.health/fhir/StructureDefinition/unit-cost';

function charge(transaction: string | undefined, more: object = {}): object {
  return {
    resourceType: 'ChargeItem',
    ...(transaction === undefined ? {} : { identifier: [{ system: transactionSystem, value: transaction }] }),
    status: 'billable',
    code: { coding: [{ system: 'http://www.ama-assn.org/go/cpt', code: '92014' }] },
    subject: { reference: 'Patient/p1' },
    ...more,
  };
}

function money(url: string, value: number, currency = 'USD'): object {
  return { extension: [{ url, valueMoney: { value, currency } }] };
}

function duplicate(diagnostics: string): Parameters<typeof assertRefused>[1] {
  return { status: 409, error: 'duplicate', issue: 'duplicate', diagnostics, expression: ['ChargeItem.identifier'] };
}

const unnamed =
  'A charge with this id of the transaction was recorded before. Nothing was stored. A correction needs a new id';

function named(reference: string): string {
  return unnamed.replace('before.', `before: it is ${reference}.`);
}

test('an id of a transaction that was used before is refused, and the first is named to those who may see it', async () => {
  const first = await billing.send('POST', 'ChargeItem', charge('t1'));
  assert.equal(first.status, 201, first.text);
  const before = await tenantRows(owner);
  const again = await billing.send('POST', 'ChargeItem', charge('t1', { note: [{ text: 'again' }] }));
  const reference = `ChargeItem/${first.json.id}`;
  assert.equal(again.status, 409, again.text);
  const [issue, ...more] = again.json.issue;
  assert.deepEqual(more, []);
  assert.equal(issue.diagnostics, named(reference));
  assert.deepEqual(issue.expression, ['ChargeItem.identifier']);
  assert.equal(issue.extension[0].valueReference.reference, reference);
  assert.deepEqual(await tenantRows(owner), before);
});

test('those who may not see the first are told no more than that there is one', async () => {
  assert.equal((await blind.send('POST', 'ChargeItem', charge('b1'))).status, 201);
  assertRefused(await blind.send('POST', 'ChargeItem', charge('b1')), duplicate(unnamed));
});

test('the ids of other applications and of other firms are their own', async () => {
  assert.equal((await blind.send('POST', 'ChargeItem', charge('t1'))).status, 201);
  assert.equal((await operator.send('POST', 'ChargeItem', charge('t1'))).status, 201);
  assert.equal((await elsewhere.send('POST', 'ChargeItem', charge('t1'))).status, 201);
});

test('of 64 at once one is stored, and all others are told which', async () => {
  const answers = await Promise.all(
    Array.from({ length: 64 }, () => billing.send('POST', 'ChargeItem', charge('race'))),
  );
  const made = answers.filter(({ status }) => status === 201);
  assert.equal(made.length, 1);
  for (const answer of answers.filter(({ status }) => status !== 201))
    assert.equal(answer.json.issue[0].diagnostics, named(`ChargeItem/${made[0]?.json.id}`));
  assert.equal((await billing.get(`ChargeItem?identifier=${transactionSystem}|race`)).json.total, 1);
});

test('an update cannot take the id of another charge, whoever makes it; it keeps its own, and may take a free one', async () => {
  const one = (await billing.send('POST', 'ChargeItem', charge('u1'))).json;
  const two = (await billing.send('POST', 'ChargeItem', charge('u2'))).json;
  const before = await tenantRows(owner);
  for (const caller of [billing, operator]) {
    const stolen = await caller.send('PUT', `ChargeItem/${two.id}`, { ...charge('u1'), id: two.id });
    assert.equal(stolen.json.issue[0].diagnostics, named(`ChargeItem/${one.id}`));
    const patched = await caller.send(
      'PATCH',
      `ChargeItem/${two.id}`,
      [{ op: 'replace', path: '/identifier/0/value', value: 'u1' }],
      { 'content-type': 'application/json-patch+json' },
    );
    assert.equal(patched.status, 409, patched.text);
  }
  assert.deepEqual(await tenantRows(owner), before);
  const same = { ...charge('u2', { note: [{ text: 'more' }] }), id: two.id };
  assert.equal((await billing.send('PUT', `ChargeItem/${two.id}`, same)).status, 200);
  assert.equal((await billing.send('PUT', `ChargeItem/${two.id}`, { ...charge('u3'), id: two.id })).status, 200);
  assert.equal((await billing.send('POST', 'ChargeItem', charge('u2'))).status, 201, 'its id is free again');
  assert.equal((await billing.send('POST', 'ChargeItem', charge('u3'))).status, 409);
});

test('a withdrawn charge keeps its id; one that was deleted gives it back', async () => {
  const { id } = (await billing.send('POST', 'ChargeItem', charge('w1'))).json;
  const withdrawn = { ...charge('w1', { status: 'entered-in-error' }), id };
  assert.equal((await billing.send('PUT', `ChargeItem/${id}`, withdrawn)).status, 200);
  assert.equal((await billing.send('POST', 'ChargeItem', charge('w1'))).status, 409);
  assert.equal((await operator.send('DELETE', `ChargeItem/${id}`)).status, 204);
  assert.equal((await billing.send('POST', 'ChargeItem', charge('w1'))).status, 201);
});

test('in a transaction a repeated id undoes all; a batch refuses the entry', async () => {
  const entry = (value: string): object => ({
    resource: charge(value),
    request: { method: 'POST', url: 'ChargeItem' },
  });
  const bundle = (type: string, entries: readonly object[]): object => ({
    resourceType: 'Bundle',
    type,
    entry: entries,
  });
  const before = await tenantRows(owner);
  const whole = await operator.send('POST', '', bundle('transaction', [entry('x1'), entry('x2'), entry('x1')]));
  assert.equal(whole.status, 409, whole.text);
  assert.deepEqual(await tenantRows(owner), before);
  const batch = await operator.send('POST', '', bundle('batch', [entry('x1'), entry('x2'), entry('x1')]));
  assert.deepEqual(
    batch.json.entry.map((each: { response: { status: string } }) => each.response.status),
    ['201 Created', '201 Created', '409 Conflict'],
  );
  const fine = await operator.send('POST', '', bundle('transaction', [entry('x3'), entry('x4')]));
  assert.equal(fine.status, 200, fine.text);
});

test('the same Idempotency-Key gets the first answer, not a duplicate', async () => {
  const headers = { 'idempotency-key': '"charge-1"' };
  const first = await billing.send('POST', 'ChargeItem', charge('i1'), headers);
  const second = await billing.send('POST', 'ChargeItem', charge('i1'), headers);
  assert.deepEqual([first.status, second.status, second.json], [201, 201, first.json]);
  assert.equal(second.headers.get('idempotent-replayed'), 'true');
});

test('what contradicts itself is refused by the element', async () => {
  const price = { priceOverride: { value: 30, currency: 'USD' } };
  const refused = async (body: object, element: string, problem: RegExp): Promise<void> => {
    const answer = await billing.send('POST', 'ChargeItem', body);
    assert.equal(answer.status, 422, answer.text);
    assert.deepEqual(answer.json.issue[0].expression, [`ChargeItem.${element}`]);
    assert.match(answer.json.issue[0].diagnostics, problem);
  };
  const two = { quantity: { value: 2 } };
  await refused(charge('m1', { ...money(unitCost, 12.5), ...two, ...price }), 'priceOverride', /unit cost × quantity/);
  await refused(charge('m1', { ...money(unitCost, 15, 'EUR'), ...two, ...price }), 'priceOverride', /same currency/);
  const both = ['a', 'b'].map((value) => ({ system: transactionSystem, value }));
  await refused(charge(undefined, { identifier: both }), 'identifier', /has 2 ids of the system/);
  await refused(charge('l'.repeat(101)), 'identifier', /longer than 100 characters/);
  const agreed = charge('m1', { ...money(unitCost, 15), ...two, ...price });
  assert.equal((await billing.send('POST', 'ChargeItem', agreed)).status, 201);
});

test('staff list what came from where, and only their own firm', async (t) => {
  const desk = await openAdministrator(service, 'desk', 'practice', { firm: 'maple' });
  const path = '/environments/sandbox/firms/maple/charges';
  await t.test('denials', async () => {
    assert.equal((await ask(service, undefined, 'POST', path, {})).status, 401);
    const stranger = await openAdministrator(service, 'stranger', 'practice', { firm: 'cedar' });
    assert.equal((await stranger.ask('POST', path, {})).status, 404);
    const vendor = await openAdministrator(service, 'vendor', 'vendor', { application: 'Biller' });
    assert.equal((await vendor.ask('POST', path, {})).status, 403);
    assert.equal((await desk.ask('POST', path, { application: 'Nobody' })).status, 404);
  });
  service.clock.advance(60_000);
  const priced = { ...money(unitCost, 12.25), quantity: { value: 3 }, subject: { reference: 'Patient/p2' } };
  const made = (await billing.send('POST', 'ChargeItem', charge('s1', priced))).json;
  const row = {
    id: made.id,
    received: new Date(service.clock.now()).toISOString(),
    application: 'Biller',
    transaction: 's1',
    status: 'billable',
    patient: 'Patient/p2',
    code: '92014',
    quantity: '3',
    unitCost: '12.25',
    amount: '36.75',
    currency: 'USD',
  };
  const list = async (body: object): Promise<Answer['json']> => (await desk.ask('POST', path, body)).json;
  assert.deepEqual(await list({ patient: 'Patient/p2' }), { items: [row], more: false });
  assert.deepEqual(await list({ transaction: 's1', application: 'Biller', status: 'billable' }), {
    items: [row],
    more: false,
  });
  assert.deepEqual(await list({ from: row.received }), { items: [row], more: false });
  assert.deepEqual((await list({ to: row.received, application: 'Posting' })).items.length, 2);
  assert.deepEqual((await list({ status: 'billed' })).items, []);
  for (const text of ['p.', 'p', '2', '(', 'p2|x', '.*', '%', 'xPatient/p2', 'p2/_history/1'])
    assert.deepEqual(await list({ patient: text }), { items: [], more: false }, 'a patient is no pattern');
  assert.deepEqual((await list({})).items[0], row, 'newest first');
  const { output } = await runCommand(service.platform, commands, 'charges', 'list', 'maple', '--transaction', 's1');
  const line = [made.id, '2026-11-21 09:31', 'Biller', 's1', 'billable', 'Patient/p2', '92014', '3', '36.75 USD'];
  assert.equal(output[1], line.join('\t'));
});
