/**
 * Calendars and holidays by the administration API and the command line: what is wrong is refused with the element, and
 * nothing is changed; other firms' calendars are none.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { commands } from '../../../src/cli/commands.ts';
import { openAdministrator } from '../../admin/world.ts';
import { runCommand } from '../../cli/platform.ts';
import { openScratchDirectory } from '../../cli/scratch-directory.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';
import { keepCalendar, plainCalendar, put, putPlaces } from './world.ts';

const service = await openTestService({ after });
const { platform } = service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const caller = await openCaller(service, full, maple);
await putPlaces(caller, ['12', '13'], ['3']);
await putPlaces(await openCaller(service, full, cedar), ['77'], ['8']);
await put(caller, {
  ...{ resourceType: 'Location', id: 'mars' },
  extension: [{ url: 'http://hl7.org/fhir/StructureDefinition/timezone', valueCode: 'Mars/Olympus' }],
});
await keepCalendar(platform, maple, plainCalendar);
const practice = await openAdministrator(service, 'practice', 'practice', { firm: 'maple' });
const stranger = await openAdministrator(service, 'stranger', 'practice', { firm: 'cedar' });
const path = '/environments/sandbox/firms/maple/calendars';
const other = { ...plainCalendar, practitioner: '13' };

const refused: readonly (readonly [body: object, status: number, code: string, field: string, detail: RegExp])[] = [
  [{}, 400, 'input-invalid', 'calendar', /^calendar is missing/],
  [{ calendar: [] }, 400, 'input-invalid', 'calendar', /^calendar must be a JSON object/],
  [
    { calendar: { ...other, weekly: [{ days: ['mon'], from: '9', to: '10:00' }] } },
    400,
    'input-invalid',
    'weekly[0].from',
    /^weekly\[0\].from must be a time of day/,
  ],
  [
    { calendar: { ...other, weekly: [...plainWeekly(), ...plainWeekly()] } },
    422,
    'rule-broken',
    'weekly[1]',
    /^weekly\[1\] overlaps weekly\[0\] on mon 09:00-12:00: /,
  ],
  [
    { calendar: { ...other, practitioner: '77' } },
    422,
    'rule-broken',
    'practitioner',
    /^practitioner names Practitioner\/77, which is not stored at the firm: create it first$/,
  ],
  [
    { calendar: { ...other, location: 'nowhere' } },
    422,
    'rule-broken',
    'location',
    /^location names Location\/nowhere, /,
  ],
  [{ calendar: { ...other, schedule: 'none' } }, 422, 'rule-broken', 'schedule', /^schedule names Schedule\/none, /],
  [
    { calendar: { ...other, appointmentTypes: [{ code: 'NEW', minutes: 30, needs: [{ anyOf: ['Device/x'] }] }] } },
    422,
    'rule-broken',
    'appointmentTypes.needs',
    /^appointmentTypes.needs names Device\/x, /,
  ],
  [
    { calendar: { ...other, location: 'mars' } },
    422,
    'rule-broken',
    'location',
    /^location names a time zone that is none: /,
  ],
  [
    { calendar: other, version: 1 },
    412,
    'precondition-failed',
    'version',
    /^version 1 of the calendar is not the current one: there is none yet: leave version out$/,
  ],
  [
    { calendar: plainCalendar, version: 2 },
    412,
    'precondition-failed',
    'version',
    /^version 2 of the calendar is not the current one: it is at version 1: /,
  ],
];

function plainWeekly(): readonly object[] {
  return [{ days: ['mon'], from: '09:00', to: '12:00' }];
}

for (const [body, status, code, field, detail] of refused) {
  test(`refused: ${detail.source}`, async () => {
    // What a job does after a change of calendars is no effect of the refused request.
    await service.service.jobs.settle();
    const before = await changing();
    const answer = await practice.ask('PUT', path, body);
    assert.deepEqual(
      [answer.status, answer.json.code, answer.json.errors[0].field],
      [status, code, field],
      answer.text,
    );
    assert.match(answer.json.errors[0].detail ?? answer.json.detail, detail);
    assert.deepEqual(await changing(), before);
  });
}

/** Tables that a calendar writes to. */
async function changing(): Promise<object> {
  const rows = await tenantRows(service.database.owner);
  return Object.fromEntries(
    Object.entries(rows).filter(([name]) => /calendar|holiday|bookable|occupancy|resource/.test(name)),
  );
}

test('the calendars of another firm are those of one that does not exist', async () => {
  for (const [method, target, body] of [
    ['GET', path],
    ['GET', `${path}/1`],
    ['GET', `${path}/1/versions`],
    ['DELETE', `${path}/1`],
    ['PUT', path, { calendar: plainCalendar, version: 1 }],
    ['GET', '/environments/sandbox/firms/maple/holidays'],
    ['PUT', '/environments/sandbox/firms/maple/holidays/*', { holidays: { holidays: [] } }],
  ] as const) {
    const theirs = await stranger.ask(method, target, body);
    const none = await stranger.ask(method, target.replace('maple', 'nowhere'), body);
    assert.equal(theirs.status, 404, `${method} ${target}`);
    assert.equal(
      theirs.text.replaceAll('maple', 'nowhere').replace(/"requestId":"[^"]*"/, ''),
      none.text.replace(/"requestId":"[^"]*"/, ''),
    );
  }
  const own = await stranger.ask('GET', '/environments/sandbox/firms/cedar/calendars/1');
  assert.deepEqual([own.status, own.json.detail], [404, 'No calendar has the number 1']);
  const listed = await stranger.ask('GET', '/environments/sandbox/firms/cedar/calendars');
  assert.deepEqual(listed.json, { items: [], more: false });
});

test('holidays: unknown places, versions and what is no list are refused', async () => {
  const all = '/environments/sandbox/firms/maple/holidays';
  const holidays = { holidays: [{ yearly: '12-25' }] };
  for (const [target, body, status, code] of [
    [`${all}/nowhere`, { holidays }, 422, 'rule-broken'],
    [`${all}/a%20b`, { holidays }, 404, 'resource-not-found'],
    [`${all}/%00`, { holidays }, 404, undefined],
    [`${all}/3`, { holidays, version: 3 }, 412, 'precondition-failed'],
    [`${all}/3`, { holidays: { holidays: [{ yearly: '13-01' }] } }, 400, 'input-invalid'],
  ] as const) {
    const answer = await practice.ask('PUT', target, body);
    assert.equal(answer.status, status, answer.text);
    if (code !== undefined) assert.equal(answer.json.code, code);
  }
  assert.equal((await practice.ask('GET', `${all}/3`)).status, 404);
});

test('of several who change one version, one does', async () => {
  const attempts = await Promise.all(
    Array.from({ length: 6 }, () => practice.ask('PUT', path, { calendar: plainCalendar, version: 1 })),
  );
  assert.deepEqual(attempts.map(({ status }) => status).sort(), [200, 412, 412, 412, 412, 412]);
});

test('the command line does the same', async () => {
  const files = openScratchDirectory({ after });
  const run = async (...words: readonly string[]): Promise<readonly string[]> =>
    (await runCommand(platform, commands, ...words)).output;
  const file = files.write('calendar.json', JSON.stringify(other));
  assert.deepEqual(await run('calendar', 'set', 'maple', file), ['calendar 2 at version 1']);
  assert.deepEqual(await run('calendar', 'set', 'maple', file, '--version', '1'), ['calendar 2 at version 2']);
  assert.deepEqual(JSON.parse((await run('calendar', 'show', 'maple', '2')).join('\n')), other);
  assert.deepEqual(await run('calendar', 'remove', 'maple', '2'), ['calendar 2 has ended']);
  assert.equal((await run('calendar', 'history', 'maple', '2')).length, 4);
  const list = files.write('holidays.json', JSON.stringify({ holidays: [{ date: '2026-11-26' }] }));
  assert.deepEqual(await run('holidays', 'set', 'maple', list, '--location', '3'), ['holidays at version 1']);
  assert.deepEqual(JSON.parse((await run('holidays', 'show', 'maple', '--location', '3')).join('\n')), {
    holidays: [{ date: '2026-11-26' }],
  });
});
