/**
 * `praxis legacy …`: what operators see and set, and that bad input is refused and changes nothing.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { sql } from '../../src/database/sql.ts';
import { brownOutsMax } from '../../src/oauth/legacy/sunset-administration.ts';
import { createApplication } from '../../src/tenancy/applications.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { encounter, patient } from '../support/records.ts';
import {
  type Answer,
  callerOf,
  clientTokenUrl,
  legacyToken,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';
import { runCommand } from './platform.ts';

const service = await openTestService({ after }, { PRAXIS_BASE_URL: 'https://api.example.com' });
const { platform } = service;
const page = 'https://example.com/migrate';
const run = (...line: readonly string[]) => runCommand(platform, commands, 'legacy', ...line);

async function termsOf(): Promise<unknown> {
  return await platform.database.query(sql`
    SELECT (SELECT json_agg(s) FROM legacy_sunset s) AS sunsets, (SELECT json_agg(b) FROM legacy_brown_out b) AS brown_outs`);
}

const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const vendor = await makeApplication(service, 'Reminders, "nightly"', ['acl/*'], [maple, cedar]);
await makeApplication(service, '=Idle', ['acl/pat_r'], [cedar]);

const times = ['--from', '2026-12-01T10:00:00Z', '--until', '2026-12-01T11:00:00Z'];
const set = ['sunset', 'set', '--link', page];
const refusals: readonly (readonly [line: readonly string[], message: RegExp])[] = [
  [['sunset', 'set'], /--link is missing/],
  [['sunset', 'set', '--link', 'example.com'], /link must be an absolute http or https URL/],
  [['sunset', 'set', '--link', 'javascript:alert(1)'], /link must be/],
  [['sunset', 'set', '--link', 'https://example.com/a b'], /link must be/],
  [['sunset', 'set', '--link', 'https://example.com/>; rel="x"'], /link must be/],
  [['sunset', 'set', '--link', 'https://example.com/\r\nx: y'], /link must be/],
  [['sunset', 'set', '--link', 'https://user:pass@example.com/'], /link must be/],
  [['sunset', 'set', '--link', `${page}/${'x'.repeat(500)}`], /link must be/],
  [[...set, '--sunset', '2026-02-30'], /--sunset must be a date that exists/],
  [[...set, '--deprecated', 'soon'], /--deprecated must be a date that exists/],
  [[...set, '--deprecated', '2027-01-02', '--sunset', '2027-01-01'], /sunset must not be before deprecated/],
  [[...set, '--firm', 'nowhere'], /firm nowhere does not exist in environment sandbox/],
  [[...set, '--environment', 'moon'], /environment moon does not exist/],
  [[...set, '--application', 'Nobody'], /application Nobody does not exist in environment sandbox/],
  [[...set, '--environment', 'training', '--firm', 'maple'], /firm maple does not exist in environment training/],
  [['sunset', 'clear'], /no sunset is set for exactly this scope/],
  [['brown-out', 'add', ...times.slice(0, 2)], /--until is missing/],
  [['brown-out', 'add', ...times.slice(0, 2), '--until', '2026-12-01T10:00:00Z'], /until must be after from/],
  [['brown-out', 'add', '--from', '2026-11-20', '--until', '2026-11-21T09:30:00Z'], /until has passed/],
  [['brown-out', 'add', '--from', '2026-12-01', '--until', '2026-12-08T00:00:01Z'], /at most 7 days/],
  [['brown-out', 'remove', '1'], /environment sandbox has no brown-out 1/],
  [['brown-out', 'remove', 'all'], /brownOut is a number that its list shows/],
  [['report', '--format', 'xml'], /--format must be one of table, csv, json, not 'xml'/],
  [['migrate', 'Nobody'], /application Nobody does not exist/],
];

for (const [line, message] of refusals) {
  test(`praxis legacy ${line.join(' ').slice(0, 90)} is refused`, async () => {
    const before = await termsOf();
    await assert.rejects(run(...line), (error) => {
      assert.ok(error instanceof PraxisError || error instanceof UsageError, String(error));
      assert.match(error.message, message);
      return true;
    });
    assert.deepEqual(await termsOf(), before);
  });
}

test('what is announced is listed, replaced and taken back, each scope by itself', async () => {
  const show = async () => (await run('sunset', 'show')).output.slice(1);
  const until = ['--deprecated', '2026-06-24', '--sunset', '2027-06-30T12:00:00+02:00'];
  assert.deepEqual((await run(...set, ...until)).output, [
    'the legacy flow is deprecated for all applications in sandbox; it ends at 2027-06-30T10:00:00Z',
  ]);
  assert.deepEqual((await run(...set, '--firm', 'maple', '--application', vendor.application.name)).output, [
    `the legacy flow is deprecated for ${vendor.application.name} at maple in sandbox; no end is announced`,
  ]);
  await run(...set, '--firm', 'maple', '--sunset', '2027-01-01');
  await run(...set, '--firm', 'maple', '--sunset', '2027-02-01');
  const wide = `(all)\t(all)\t2026-06-24T00:00:00Z\t2027-06-30T10:00:00Z\t${page}`;
  assert.deepEqual(await show(), [
    wide,
    `maple\t(all)\t2026-11-21T09:30:00Z\t2027-02-01T00:00:00Z\t${page}`,
    `maple\t${vendor.application.name}\t2026-11-21T09:30:00Z\t\t${page}`,
  ]);
  assert.deepEqual((await run('sunset', 'show', '--environment', 'prod')).output.length, 1);
  await run('sunset', 'clear', '--firm', 'maple');
  await run('sunset', 'clear', '--firm', 'maple', '--application', vendor.application.name);
  assert.deepEqual(await show(), [wide]);
  await run('sunset', 'clear');
});

test('brown-outs are listed with their state, and their number is bounded', async () => {
  const added = await run('brown-out', 'add', ...times, '--firm', 'maple');
  assert.match(
    added.output[0] ?? '',
    /^brown-out \d+ for all applications at maple in sandbox from 2026-12-01T10:00:00Z until 2026-12-01T11:00:00Z$/,
  );
  await run('brown-out', 'add', '--from', '2026-11-21T09:30:00Z', '--until', '2026-11-21T09:31:00Z', '--firm', 'cedar');
  const list = async () => (await run('brown-out', 'list')).output.slice(1).map((line) => line.split('\t'));
  const states = async () => (await list()).map(([, firm, , , , state]) => `${firm} ${state}`);
  assert.deepEqual(await states(), ['cedar running', 'maple planned']);
  service.clock.advance(60_000);
  assert.deepEqual(await states(), ['cedar over', 'maple planned']);
  for (let count = 1; count < brownOutsMax; count += 1) await run('brown-out', 'add', ...times);
  await assert.rejects(run('brown-out', 'add', ...times), /has 200 brown-outs that are not over/);
  await assert.rejects(
    run('brown-out', 'remove', (await list())[0]?.[0] ?? '', '--environment', 'prod'),
    /environment prod has no brown-out/,
  );
  for (const [id = ''] of await list()) await run('brown-out', 'remove', id);
  assert.deepEqual(await list(), []);
});

test('the report shows who uses the flow and who does not, as a table, CSV and JSON', async () => {
  const { legacyUse } = service.service.parts;
  const legacy = callerOf(maple, await legacyToken(vendor, maple), vendor.legacyKey);
  for (let calls = 0; calls < 3; calls += 1) await legacy.get('Patient', { 'user-agent': 'Reminder/1' });
  service.clock.advance(7 * 86_400_000);
  const later = callerOf(maple, await legacyToken(vendor, maple), vendor.legacyKey);
  await later.get('Patient', { 'user-agent': 'Reminder/2' });
  await legacyUse.flush();
  const name = vendor.application.name;
  assert.deepEqual((await run('report')).output, [
    'FIRM\tAPPLICATION\tPROGRAM\tLAST USE\tCALLS 7 DAYS\tCALLS 30 DAYS\tTOKENS 7 DAYS\tTOKENS 30 DAYS\tREFUSED 30 DAYS',
    `maple\t${name}\tReminder\t2026-11-28 09:31\t1\t4\t0\t0\t0`,
    `maple\t${name}\tnode\t2026-11-28 09:31\t0\t0\t1\t2\t0`,
    'cedar\t=Idle\t\tnever\t0\t0\t0\t0\t0',
    `cedar\t${name}\t\tnever\t0\t0\t0\t0\t0`,
    '',
    'firms without use: cedar',
    'applications without use: =Idle',
  ]);
  assert.deepEqual((await run('report', '--format', 'csv')).output.slice(1), [
    'maple,"Reminders, ""nightly""",Reminder,2026-11-28T09:31:00.000Z,1,4,0,0,0',
    'maple,"Reminders, ""nightly""",node,2026-11-28T09:31:00.000Z,0,0,1,2,0',
    "cedar,'=Idle,,,0,0,0,0,0",
    'cedar,"Reminders, ""nightly""",,,0,0,0,0,0',
  ]);
  const json = JSON.parse((await run('report', '--format', 'json')).output.join('\n'));
  assert.deepEqual(
    { ...json, use: json.use.slice(1, 3) },
    {
      environment: 'sandbox',
      at: '2026-11-28T09:31:00.000Z',
      use: [
        {
          firm: 'maple',
          application: name,
          agent: 'node',
          lastUsedAt: '2026-11-28T09:31:00.000Z',
          calls7Days: 0,
          calls30Days: 0,
          tokens7Days: 1,
          tokens30Days: 2,
          refused30Days: 0,
        },
        {
          firm: 'cedar',
          application: '=Idle',
          agent: null,
          lastUsedAt: null,
          calls7Days: 0,
          calls30Days: 0,
          tokens7Days: 0,
          tokens30Days: 0,
          refused30Days: 0,
        },
      ],
      firmsWithoutUse: ['cedar'],
      applicationsWithoutUse: ['=Idle'],
    },
  );
  service.clock.advance(31 * 86_400_000);
  const [, used] = (await run('report')).output;
  assert.equal(used, `maple\t${name}\tReminder\t2026-11-28 09:31\t0\t0\t0\t0\t0`, 'the last use stays');
  const training = (await run('report', '--environment', 'training')).output;
  assert.deepEqual(training.slice(1), ['', 'firms without use: none', 'applications without use: none']);
});

test('an application that migrates gets a token with the same rights: both answer the same', async () => {
  const { database, clock } = platform;
  const acl = ['acl/enc_s', 'acl/pat_s_name_dob_gen', 'acl/appmt_c'];
  const draft = { environment: 'sandbox', name: 'Old', acl };
  const application = await createApplication(database, draft, entryProblem);
  for (const firm of [maple, cedar])
    await authorise(
      database,
      clock,
      firm,
      application,
      { acl: acl.slice(0, firm === maple ? 2 : 1), purpose: 'Test' },
      entryProblem,
    );
  const key = (await runCommand(platform, commands, 'key', 'issue', 'Old', '--flow', 'legacy')).output;
  const issued = new Map<string, Record<string, string>>();
  for (const firm of [maple, cedar]) {
    const { output } = await runCommand(platform, commands, 'account', 'issue', 'Old', firm.prefix);
    issued.set(firm.prefix, fields(output));
  }
  const { output, progress } = await run('migrate', 'Old');
  assert.deepEqual(output.slice(0, 3), [
    'token endpoint: https://api.example.com/auth/realms/sandbox/protocol/openid-connect/token',
    `acl: ${acl.toSorted().join(' ')}`,
    'firms: cedar maple',
  ]);
  assert.match(progress, /cannot be shown again/);
  const { client_id = '', client_secret = '', 'x-api-key': clientKey = '' } = fields(output);
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  const clientToken = (await postForm(clientTokenUrl(service), form, clientKey)).json.access_token;
  const full = callerOf(maple, await legacyToken(vendor, maple), vendor.legacyKey);
  await full.send('PUT', 'Patient/one', { ...patient('Stone'), id: 'one', telecom: [{ system: 'phone', value: '5' }] });
  await full.send('PUT', 'Encounter/e', { ...encounter('one'), id: 'e' });
  const requests = [
    'Patient',
    'Patient?family=Stone',
    'Patient?phone=5',
    'Patient/one',
    'Encounter',
    'Encounter?_include=Encounter:subject',
    'Encounter/e',
    'Appointment',
    'Patient?_summary=count',
    'Patient/_history',
    'Practitioner',
    'metadata',
  ];
  const statuses = new Set<number>();
  for (const firm of [maple, cedar]) {
    const account = issued.get(firm.prefix) ?? {};
    const login = { grant_type: 'password', username: account['username'] ?? '', password: account['password'] ?? '' };
    const legacyKey = fields(key)['x-api-key'] ?? '';
    const token = (await postForm(firm.legacyTokenUrl, login, legacyKey)).json.access_token;
    for (const request of requests) {
      const [before, now] = [
        await callerOf(firm, token, legacyKey).get(request),
        await callerOf(firm, clientToken, clientKey).get(request),
      ];
      statuses.add(before.status);
      assert.deepEqual(comparable(now), comparable(before), `${firm.prefix} ${request}`);
    }
  }
  assert.deepEqual([...statuses].sort(), [200, 403]);
  await assert.rejects(run('migrate', 'Old'), /already has a client and an API key of the client flow/);
  await runCommand(platform, commands, 'client', 'revoke', 'Old', client_id);
  const again = fields((await run('migrate', 'Old')).output);
  assert.deepEqual(
    Object.keys(again).filter((name) => !['token endpoint', 'acl', 'firms'].includes(name)),
    ['client_id', 'client_secret'],
  );
});

/** `name: value` lines. */
function fields(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => line.split(/: (.*)/).slice(0, 2)));
}

/** Status and body, without the ids that each Bundle has of its own. */
function comparable({ status, text, json }: Answer): object {
  if (json?.resourceType !== 'Bundle') return { status, text };
  const { id, meta, ...bundle } = json;
  return { status, bundle };
}
