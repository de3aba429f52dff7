/**
 * Which stored resources break invariants of R4, by the administration API and the command line: page by page, without a
 * value of an element, and of one firm alone.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { openBudget } from '@praxis/fhir';
import { UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { listBrokenInvariants } from '../../src/engine/write/broken-invariants.ts';
import { makeTooCostlyError, requestLimits } from '../../src/limits/budgets.ts';
import { getFirm } from '../../src/tenancy/firms.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { runCommand } from '../cli/platform.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { openAdministrator } from './world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const birch = await makeFirm(service, 'birch');
const importer = await makeApplication(service, 'Importer', ['acl/*'], [maple, cedar, birch], {
  lenientInvariants: true,
});
const caller = await openCaller(service, importer, maple);
const practice = await openAdministrator(service, 'practice', 'practice', { firm: 'maple' });
const stranger = await openAdministrator(service, 'stranger', 'practice', { firm: 'cedar' });
const operator = await openAdministrator(service, 'operator', 'operator');
const path = '/environments/sandbox/firms/maple/broken-invariants';

const contactless = { gender: 'male' };
const reversed = { start: '2026-12-31', end: '2026-01-01' };
const pat1 = "SHALL at least contain a contact's details or a reference to an organization";
const per1 = 'If present, start SHALL have a lower value than end';

async function put(by: Caller, type: string, id: string, more: object): Promise<void> {
  const answer = await by.send('PUT', `${type}/${id}`, { resourceType: type, id, ...more });
  assert.equal(answer.status, 201, answer.text);
}

await put(caller, 'Patient', 'broken', { contact: [contactless], name: [{ family: 'Quill', period: reversed }] });
await put(caller, 'Patient', 'gone', { contact: [contactless] });
await caller.send('DELETE', 'Patient/gone');
await put(caller, 'Patient', 'mended', { contact: [contactless] });
await caller.send('PUT', 'Patient/mended', { resourceType: 'Patient', id: 'mended' });
await put(caller, 'Organization', 'broken', { active: true });
await put(await openCaller(service, importer, cedar), 'Patient', 'elsewhere', { contact: [contactless] });

const ofOrganization = {
  ...{ type: 'Organization', id: 'broken', key: 'org-1', element: 'Organization' },
  words: 'The organization SHALL at least have a name or an identifier, and possibly more than one',
};
const ofPatient = [
  { type: 'Patient', id: 'broken', key: 'pat-1', element: 'Patient.contact[0]', words: pat1 },
  { type: 'Patient', id: 'broken', key: 'per-1', element: 'Patient.name[0].period', words: per1 },
];

test('another practice, and wrong places, are refused', async () => {
  assert.equal((await stranger.ask('POST', path, {})).status, 404);
  for (const [body, detail] of [
    [{ type: 'Patients' }, 'type is a resource type of R4'],
    [{ after: 'Patient' }, 'after is Type/ID, as next of the page before'],
    [{ after: 'Patients/1' }, 'after is Type/ID, as next of the page before'],
    [{ type: 'Patient', after: 'Organization/1' }, 'after is of type Patient'],
  ] as const) {
    const { status, json } = await practice.ask('POST', path, body);
    assert.deepEqual([status, json.code, json.detail], [422, 'rule-broken', detail]);
  }
});

test('the current versions that break an invariant are listed by type and id, with no value of an element', async () => {
  for (const administrator of [practice, operator]) {
    const all = await administrator.ask('POST', path, {});
    assert.deepEqual(
      [all.status, all.json],
      [200, { items: [ofOrganization, ...ofPatient], examined: 3, next: 'Patient/mended' }],
    );
  }
  const last = await practice.ask('POST', path, { after: 'Patient/mended' });
  assert.deepEqual(last.json, { items: [], examined: 0, next: null });
  const ofType = await practice.ask('POST', path, { type: 'Patient' });
  assert.deepEqual(ofType.json, { items: ofPatient, examined: 2, next: 'Patient/mended' });
  const rest = await practice.ask('POST', path, { type: 'Organization', after: 'Organization/broken' });
  assert.deepEqual(rest.json, { items: [], examined: 0, next: null });
});

test('a page looks at 500 resources at most, and ends after the resource that fills it', async () => {
  const many = await openCaller(service, importer, birch);
  const entry = Array.from({ length: 501 }, (_, index) => ({
    request: { method: 'PUT', url: `Patient/p${1_000 + index}` },
    resource: {
      resourceType: 'Patient',
      id: `p${1_000 + index}`,
      ...(index % 2 === 0 ? { contact: [contactless] } : {}),
    },
  }));
  assert.equal((await many.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status, 200);
  for (const id of ['a', 'b', 'c'])
    await put(many, 'Organization', id, {
      name: 'Many',
      extension: Array.from({ length: 600 }, () => ({ url: 'urn:example:period', valuePeriod: reversed })),
    });
  const seen: [rows: number, examined: number, next: string | null][] = [];
  const ids: string[] = [];
  for (let from: string | undefined = undefined; ; ) {
    const body: object = from === undefined ? {} : { after: from };
    const { json } = await operator.ask('POST', '/environments/sandbox/firms/birch/broken-invariants', body);
    seen.push([json.items.length, json.examined, json.next]);
    ids.push(...json.items.map(({ type, id }: { type: string; id: string }) => `${type}/${id}`));
    if (json.next === null) break;
    from = json.next;
  }
  assert.deepEqual(seen, [
    [1_200, 2, 'Organization/b'],
    [600 + 250, 500, 'Patient/p1498'],
    [1, 2, 'Patient/p1500'],
    [0, 0, null],
  ]);
  assert.equal(new Set(ids).size, 254);
});

test('a resource that costs more steps than are left begins the next page; one that costs all is named as not judged', async () => {
  const { database, clock, store } = service.platform;
  const scope = await openOperatorScope(database, clock, await getFirm(database, 'sandbox', 'maple'));
  const open = (steps: number) =>
    openBudget(
      { ...requestLimits, steps },
      { now: () => 0, nextSlice: async () => undefined, errorOf: makeTooCostlyError },
    );
  const all = { type: undefined, after: undefined };
  const enoughForOne = await listBrokenInvariants(store, scope, all, open(12));
  assert.deepEqual(enoughForOne, {
    items: [ofOrganization],
    examined: 1,
    next: { type: 'Organization', id: 'broken' },
  });
  const { items, next } = await listBrokenInvariants(store, scope, all, open(1));
  assert.deepEqual(
    [items.map(({ type, id, key }) => [type, id, key]), next],
    [[['Organization', 'broken', undefined]], { type: 'Organization', id: 'broken' }],
  );
});

test('the command lists all of them, and says how many there are', async () => {
  await assert.rejects(
    runCommand(service.platform, commands, 'invariants', 'broken', 'maple', '--type', 'Patients'),
    UsageError,
  );
  const { output, progress } = await runCommand(service.platform, commands, 'invariants', 'broken', 'maple');
  assert.deepEqual(output, [
    'TYPE\tID\tKEY\tELEMENT\tWORDS',
    ...[ofOrganization, ...ofPatient].map((row) => [row.type, row.id, row.key, row.element, row.words].join('\t')),
  ]);
  assert.equal(progress, '2 of 3 resources break invariants\n');
  const ofMany = await runCommand(service.platform, commands, 'invariants', 'broken', 'birch', '--type', 'Patient');
  assert.equal(ofMany.output.length, 1 + 251);
  assert.equal(ofMany.progress, '251 of 501 resources break invariants\n');
});
