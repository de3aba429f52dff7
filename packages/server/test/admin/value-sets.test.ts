/**
 * Value sets by the administration API and the command line: what is wrong is refused and nothing is changed; other firms'
 * sets are none; what is set is served as a ValueSet, and no code is ever lost.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { commands } from '../../src/cli/commands.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { keepCalendar, plainCalendar, putPlaces } from '../practice/calendars/world.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';
import { openAdministrator } from './world.ts';

const service = await openTestService({ after });
const { platform } = service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const caller = await openCaller(service, full, maple);
await putPlaces(caller, ['12'], ['3']);
const practice = await openAdministrator(service, 'practice', 'practice', { firm: 'maple' });
const stranger = await openAdministrator(service, 'stranger', 'practice', { firm: 'cedar' });
const all = '/environments/sandbox/firms/maple/value-sets';
const reasons = `${all}/appointment-cancellation-reason`;
const system = 'https://praxis.health/fhir/CodeSystem/appointment-cancellation-reason';

const listed = (...codes: readonly string[]) => codes.map((code) => ({ code, display: `Display of ${code}` }));
const kept = (...codes: readonly string[]) => listed(...codes).map((each) => ({ system, ...each }));

const changing = async (): Promise<unknown> => (await tenantRows(service.database.owner))['resource'];

const created = await practice.ask('PUT', reasons, { valueSet: { codes: listed('PATIENT', 'WEATHER') } });

test('what is set is told, and served as a ValueSet', async () => {
  assert.deepEqual(
    [created.status, created.json],
    [
      200,
      {
        valueSet: 'appointment-cancellation-reason',
        title: 'Reasons to cancel an appointment',
        url: 'https://praxis.health/fhir/ValueSet/appointment-cancellation-reason',
        governs: ['Appointment.cancelationReason'],
        version: 1,
        active: true,
        codes: kept('PATIENT', 'WEATHER'),
        retired: [],
      },
    ],
  );
  const { json } = await caller.get('ValueSet/appointment-cancellation-reason');
  assert.deepEqual(json, {
    resourceType: 'ValueSet',
    id: 'appointment-cancellation-reason',
    meta: { versionId: '1', lastUpdated: json.meta.lastUpdated },
    name: 'AppointmentCancellationReason',
    title: 'Reasons to cancel an appointment',
    url: 'https://praxis.health/fhir/ValueSet/appointment-cancellation-reason',
    status: 'active',
    compose: { include: [{ system, concept: listed('PATIENT', 'WEATHER') }] },
  });
  for (const query of [
    'name=AppointmentCancellationReason',
    `url=${json.url}`,
    'name:exact=AppointmentCancellationReason',
  ])
    assert.deepEqual((await caller.get(`ValueSet?${query}`)).json.entry[0].resource, json, query);
  const reader = await openCaller(service, await makeApplication(service, 'Reader', ['acl/val_set_r'], [maple]), maple);
  assert.deepEqual((await reader.get('ValueSet/appointment-cancellation-reason')).json, json);
  assert.equal((await reader.get('ValueSet?name=x')).status, 403);
});

const refused: readonly (readonly [path: string, body: object, status: number, code: string, detail: RegExp])[] = [
  [reasons, {}, 400, 'input-invalid', /^valueSet is missing/],
  [reasons, { valueSet: {}, version: 1 }, 400, 'input-invalid', /^codes must be a list of 1 to 500 items/],
  [reasons, { valueSet: { codes: [] }, version: 1 }, 400, 'input-invalid', /^codes must be a list of 1 to 500/],
  [reasons, { valueSet: { codes: [{ code: 'A' }] }, version: 1 }, 400, 'input-invalid', /^codes\[0\].display must be/],
  [
    reasons,
    { valueSet: { codes: [{ code: ' A', display: 'A' }] }, version: 1 },
    400,
    'input-invalid',
    /^codes\[0\].code must be a code: no spaces/,
  ],
  [
    reasons,
    { valueSet: { codes: listed('A'), more: 1 }, version: 1 },
    400,
    'input-invalid',
    /has more, which is none of/,
  ],
  [
    reasons,
    { valueSet: { codes: listed('A', 'B', 'A') }, version: 1 },
    422,
    'rule-broken',
    /^codes\[2\].code occurs twice/,
  ],
  [
    reasons,
    { valueSet: { codes: listed('A') } },
    412,
    'precondition-failed',
    /^version is missing: there is a value set/,
  ],
  [reasons, { valueSet: { codes: listed('A') }, version: 7 }, 412, 'precondition-failed', /it is at version 1/],
  [`${all}/recall-type`, { valueSet: { codes: listed('A') }, version: 1 }, 412, 'precondition-failed', /none yet/],
  [`${all}/colours`, { valueSet: { codes: listed('A') } }, 404, 'resource-not-found', /^The value sets of a firm are /],
];

for (const [path, body, status, code, detail] of refused) {
  test(`refused: ${detail.source}`, async () => {
    const before = await changing();
    const answer = await practice.ask('PUT', path, body);
    assert.deepEqual([answer.status, answer.json.code], [status, code], answer.text);
    assert.match(answer.json.errors?.[0].detail ?? answer.json.detail, detail);
    assert.deepEqual(await changing(), before);
  });
}

test('the value sets of another firm are those of one that does not exist', async () => {
  for (const [method, path, body] of [
    ['GET', all],
    ['GET', reasons],
    ['PUT', reasons, { valueSet: { codes: listed('A') }, version: 1 }],
    ['POST', `${reasons}/retire`, { code: 'PATIENT' }],
  ] as const) {
    const without = (text: string) => text.replaceAll('maple', 'nowhere').replace(/"requestId":"[^"]*"/, '');
    const theirs = await stranger.ask(method, path, body);
    const none = await stranger.ask(method, path.replace('maple', 'nowhere'), body);
    assert.deepEqual([theirs.status, without(theirs.text)], [404, without(none.text)], `${method} ${path}`);
  }
  const own = await stranger.ask('GET', reasons.replace('maple', 'cedar'));
  assert.deepEqual([own.json.version, own.json.codes, own.json.retired], [null, [], []]);
  assert.equal(
    (await (await openCaller(service, full, cedar)).get('ValueSet/appointment-cancellation-reason')).status,
    404,
  );
});

test('what is left out or retired stays in the set, and comes back when it is set again', async () => {
  const states = async (method: string, path: string, body: object) => {
    const { status, json, text } = await practice.ask(method, path, body);
    assert.equal(status, 200, text);
    return [
      json.version,
      json.codes.map(({ code }: { code: string }) => code),
      json.retired.map(({ code }: { code: string }) => code),
    ];
  };
  const path = `${all}/referral-source`;
  const set = (version: number | undefined, ...codes: readonly string[]) =>
    states('PUT', path, { valueSet: { codes: listed(...codes) }, ...(version === undefined ? {} : { version }) });
  assert.deepEqual(await set(undefined, 'A', 'B', 'C'), [1, ['A', 'B', 'C'], []]);
  assert.deepEqual(await states('POST', `${path}/retire`, { code: 'B' }), [2, ['A', 'C'], ['B']]);
  assert.deepEqual(await set(2, 'C', 'D'), [3, ['C', 'D'], ['A', 'B']]);
  const { json } = await caller.get('ValueSet/referral-source/$expand');
  assert.deepEqual(
    json.expansion.contains.map(({ code }: { code: string }) => code),
    ['C', 'D'],
  );
  const isIn = async (code: string) =>
    (await caller.get(`ValueSet/referral-source/$validate-code?code=${code}`)).json.parameter[0].valueBoolean;
  assert.deepEqual([await isIn('C'), await isIn('A')], [true, false]);
  assert.deepEqual(await set(3, 'A', 'C', 'D'), [4, ['A', 'C', 'D'], ['B']]);
  const versions = await caller.get('ValueSet/referral-source/_history');
  assert.equal(versions.json.total, 4);
});

test('a code that is not in use, or the last one, cannot be retired', async () => {
  await practice.ask('PUT', `${all}/recall-action`, { valueSet: { codes: listed('CALL') } });
  for (const [path, code, status, detail] of [
    [`${all}/recall-action`, 'LETTER', 422, /^code is not a code in use$/],
    [`${all}/recall-action`, 'CALL', 422, /^code is the last one in use/],
    [`${all}/encounter-type`, 'OFFICE', 404, /^The firm does not keep encounter-type/],
  ] as const) {
    const answer = await practice.ask('POST', `${path}/retire`, { code });
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.json.errors?.[0].detail ?? answer.json.detail, detail);
  }
});

test('without codes a set begins with those that it is known for; with active false nothing is judged by it', async () => {
  const path = `${all}/cost-to-beneficiary-type`;
  const begun = await practice.ask('PUT', path, { valueSet: {} });
  assert.deepEqual(
    begun.json.codes.map(({ code }: { code: string }) => code),
    [
      'COPAY_AMOUNT',
      'COINSURANCE_PERCENTAGE',
      'DEDUCTIBLE',
      'OUT_OF_POCKET',
      'REMAINING_DEDUCTIBLE',
      'REMAINING_OUT_OF_POCKET',
    ],
  );
  const coverage = {
    ...{ resourceType: 'Coverage', status: 'active', beneficiary: { reference: 'Patient/1' } },
    payor: [{ display: 'Payer' }],
    costToBeneficiary: [{ type: { coding: [{ code: 'FEE' }] }, valueMoney: { value: 1, currency: 'USD' } }],
  };
  assert.equal((await caller.send('POST', 'Coverage', coverage)).status, 422);
  const ended = await practice.ask('PUT', path, { valueSet: { active: false }, version: 1 });
  assert.deepEqual([ended.json.active, ended.json.codes.length], [false, 6]);
  assert.equal((await caller.send('POST', 'Coverage', coverage)).status, 201);
});

test('of several who change one version, one does', async () => {
  const change = () => practice.ask('PUT', reasons, { valueSet: { codes: listed('PATIENT', 'WEATHER') }, version: 1 });
  const attempts = await Promise.all(Array.from({ length: 6 }, change));
  assert.deepEqual(attempts.map(({ status }) => status).sort(), [200, 412, 412, 412, 412, 412]);
});

test('no plain write takes a code away, changes the URL or deletes the set', async () => {
  const path = 'ValueSet/appointment-cancellation-reason';
  const { json } = await caller.get(path);
  const include = [{ system, concept: listed('PATIENT') }];
  for (const [changed, detail] of [
    [{ compose: { include } }, /never loses a code/],
    [{ url: 'http://example.org/set' }, /has the URL https:\/\/praxis.health/],
    [{ compose: { include: [{ system }] } }, /lists codes one by one/],
  ] as const) {
    const answer = await caller.send('PUT', path, { ...json, ...changed });
    assert.equal(answer.status, 422, answer.text);
    assert.match(answer.json.issue[0].diagnostics, detail);
  }
  assert.equal((await caller.send('DELETE', path)).status, 422);
  const exclude = [{ system, concept: listed('WEATHER') }];
  assert.equal((await caller.send('PUT', path, { ...json, compose: { include, exclude } })).status, 200);
  assert.deepEqual((await practice.ask('GET', reasons)).json.retired, kept('WEATHER'));
});

test('a calendar offers what is in use, and what it offers cannot be retired', async () => {
  await practice.ask('PUT', `${all}/appointment-type`, { valueSet: { codes: listed('NEW', 'OTHER') } });
  const calendars = '/environments/sandbox/firms/maple/calendars';
  const strange = await practice.ask('PUT', calendars, { calendar: plainCalendar });
  assert.equal(strange.status, 422);
  assert.match(strange.text, /it offers FOLLOWUP, not in use in ValueSet\/appointment-type: in use are NEW, OTHER/);
  const valueSet = { codes: listed('NEW', 'FOLLOWUP', 'OTHER') };
  assert.equal((await practice.ask('PUT', `${all}/appointment-type`, { valueSet, version: 1 })).status, 200);
  await keepCalendar(platform, maple, plainCalendar);
  const retired = await practice.ask('POST', `${all}/appointment-type/retire`, { code: 'FOLLOWUP' });
  assert.equal(retired.status, 422);
  assert.match(retired.text, /calendar 1 offers FOLLOWUP, not in use/);
  assert.equal((await practice.ask('POST', `${all}/appointment-type/retire`, { code: 'OTHER' })).status, 200);
});

test('the command line does the same', async () => {
  const files = openScratchDirectory({ after });
  const run = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await runCommand(platform, commands, ...words)).output;
  const file = files.write('types.json', JSON.stringify({ codes: listed('OFFICE', 'VIDEO') }));
  assert.deepEqual(await run('value-set', 'set', 'maple', 'encounter-type', file), ['encounter-type at version 1']);
  assert.deepEqual(await run('value-set', 'retire', 'maple', 'encounter-type', 'VIDEO'), [
    'encounter-type at version 2',
  ]);
  const shown = (await run('value-set', 'show', 'maple', 'encounter-type')).map((line) => line.split('\t').slice(0, 3));
  assert.deepEqual(shown, [
    ['CODE', 'STATE', 'DISPLAY'],
    ['OFFICE', 'in use', 'Display of OFFICE'],
    ['VIDEO', 'retired', 'Display of VIDEO'],
  ]);
  const rows = (await run('value-set', 'list', 'maple')).map((line) => line.split('\t'));
  assert.equal(rows.length, 18);
  assert.deepEqual(
    rows.find(([id]) => id === 'encounter-type'),
    ['encounter-type', '2', 'active', '1', '1', 'Visit types'],
  );
  assert.deepEqual(
    rows.find(([id]) => id === 'task-type'),
    ['task-type', '-', 'not kept', '0', '0', 'Task types'],
  );
});
