/** Commands that derive from actions: what they refuse, print and note, and an application that is ready for use. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { commandActions } from '../../src/admin/actions/list.ts';
import { runAudited } from '../../src/cli/audited.ts';
import { type CommandContext, UsageError } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { findCommand, parseInput } from '../../src/cli/parse.ts';
import { sql } from '../../src/database/sql.ts';
import { openAdministrator } from '../admin/world.ts';
import { callerOf, clientTokenUrl, makeFirm, openTestService, postForm } from '../support/service.ts';
import { runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const service = await openTestService({ after });
const { platform } = service;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const files = openScratchDirectory({ after });
const run = (...line: readonly string[]) => runCommand(platform, commands, ...line);

const applications = () => platform.database.query(sql`SELECT name FROM application ORDER BY name`);

const refusals: readonly (readonly [line: readonly string[], message: RegExp])[] = [
  [['firm', 'create', 'elm'], /^NAME is missing; usage: praxis firm create PREFIX NAME/],
  [['firm', 'list', 'elm'], /^'elm' is one argument too many; usage: praxis firm list/],
  [['firm', 'list', '--colour'], /^Unknown option '--colour'; usage: praxis firm list/],
  [['firm', 'create', '', 'Elm'], /^PREFIX must be a text of 1 to 63 characters/],
  [['firm', 'suspend', ''], /^FIRM is empty$/],
  [['firm', 'references', 'maple', 'maybe'], /^required\|free must be one of required, free, not 'maybe'$/],
  [['app', 'create', 'Sync'], /^--acl is missing: /],
  [['app', 'set', 'Sync', 'totalOfPage'], /^totalOfPage must be SETTING=true or SETTING=false$/],
  [['key', 'issue', 'Sync', '--flow', 'both'], /^--flow must be one of legacy, client, not 'both'$/],
  [['authorise', 'Sync', 'maple', '--until', '2027-02-29'], /^--until must be a date that exists/],
  [['calendar', 'set', 'maple', files.write('no.json', '{')], /no\.json is not JSON: /],
  [['calendar', 'set', 'maple', '/does/not/exist'], /^FILE \/does\/not\/exist cannot be read$/],
  [['calendar', 'set', 'maple', files.write('list.json', '[]')], /^FILE must be a JSON object$/],
  [['calendar', 'set', 'maple', files.write('one.json', '{}'), '--version', 'x'], /^--version must be a whole number/],
  [
    ['client', 'jwks', 'Sync', 'c', '--remove', '--uri', 'https://example.com'],
    /^give one of --file, --uri and --remove$/,
  ],
];

test('a wrong command line is told which argument or option is wrong, before anything is changed', async () => {
  for (const [line, message] of refusals) {
    await assert.rejects(run(...line), (error) => {
      assert.ok(error instanceof UsageError, `${line.join(' ')}: ${error}`);
      assert.match(error.message, message);
      return true;
    });
  }
  assert.deepEqual(await applications(), []);
});

test('an application that a firm cannot authorise is not made at all', async () => {
  await assert.rejects(
    run('app', 'create', 'Sync', '--firm', 'maple', '--firm', 'elm', '--acl', 'acl/pat_r'),
    /firm elm/,
  );
  await assert.rejects(run('app', 'create', 'Sync', '--firm', 'maple', '--acl', 'acl/nothing'), /acl\/nothing/);
  assert.deepEqual(await applications(), []);
});

test('an application of firms can call each of them at once, and its credentials are printed once', async () => {
  const made = await run('app', 'create', 'Sync', '--firm', 'maple', '--firm', 'cedar', '--acl', 'acl/pat_r acl/pat_s');
  const places = made.output.slice(0, 4).map((line) => line.replace(/http:\/\/[^/]+/, service.origin));
  assert.deepEqual(places, [
    'application Sync in sandbox with 2 entries',
    `FHIR base: ${maple.base}`,
    `FHIR base: ${cedar.base}`,
    `token endpoint: ${clientTokenUrl(service)}`,
  ]);
  assert.match(made.progress, /cannot be shown again/);
  const { client_id = '', client_secret = '', 'x-api-key': key = '' } = fieldsOf(made.output);
  const form = { grant_type: 'client_credentials', client_id, client_secret };
  const { json } = await postForm(clientTokenUrl(service), form, key);
  for (const firm of [maple, cedar])
    assert.equal((await callerOf(firm, json.access_token, key).get('Patient')).status, 200);
  const shown = await run('authorisation', 'show', 'Sync', 'maple', '--json');
  assert.equal(JSON.parse(shown.output.join('\n')).purpose, 'Treatment and operations');
  const alone = await run('app', 'create', 'Alone', '--acl', 'acl/pat_r');
  assert.deepEqual(alone, { output: ['application Alone in sandbox with 1 entries'], progress: '', exitStatus: 0 });
});

/** `name: value` lines. */
function fieldsOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => line.split(/: (.*)/).slice(0, 2)));
}

test('the same by HTTP: one answer with all of it, in the ledger of each firm and without a secret', async () => {
  const operator = await openAdministrator(service, 'root', 'operator');
  const body = { name: 'Portal', acl: ['acl/pat_r'], firms: ['maple'], purpose: 'Recall' };
  const { status, json } = await operator.ask('POST', '/environments/sandbox/applications', body);
  assert.equal(status, 201);
  assert.deepEqual([json.baseUrls, json.tokenUrl], [[maple.base], clientTokenUrl(service)]);
  assert.deepEqual(
    [json.clientSecret, json.apiKey].map((secret: string) => /^[\w-]{43}$/.test(secret)),
    [true, true],
  );
  await service.service.parts.ledger.flush();
  const rows = await service.database.owner.query<{ firm: number; text: string }>(
    sql`SELECT firm, e::text AS text FROM audit_ledger e WHERE id = 'app create sandbox'`,
  );
  assert.deepEqual(
    rows.map(({ firm }) => firm),
    [0, maple.id],
  );
  for (const { text } of rows) assert.ok(!text.includes(json.apiKey) && !text.includes(json.clientSecret));
});

/** Runs a command as main.ts does. */
async function runNoted(...line: readonly string[]): Promise<void> {
  const known = findCommand(commands, line) ?? assert.fail(line.join(' '));
  const context: CommandContext = {
    config: platform.config,
    platform: async () => platform,
    print: () => undefined,
    progress: () => undefined,
    interactive: false,
  };
  await runAudited(known.command, context, parseInput(known.command, known.rest));
}

test('a command stands in the ledger of each firm that its options name; the spelling of before is noted as that of today', async () => {
  await runNoted('app', 'create', 'Noted', '--acl', 'acl/pat_r', '--firm', 'maple', '--firm', 'cedar');
  await runNoted('authorize', 'Noted', 'cedar');
  const rows = await service.database.owner.query(
    sql`SELECT firm, id FROM audit_ledger WHERE flow = 'command' AND id LIKE '%Noted%' ORDER BY epoch, xid, seq`,
  );
  const made = 'app create Noted --environment sandbox --firm maple --firm cedar';
  const authorised = 'authorise Noted cedar --environment sandbox';
  assert.deepEqual(rows, [
    ...[0, maple.id, cedar.id].map((firm) => ({ firm, id: made })),
    ...[0, cedar.id].map((firm) => ({ firm, id: authorised })),
  ]);
});

test('lists are shown as a table, as CSV and as the JSON of the administration API', async () => {
  assert.deepEqual((await run('firm', 'list')).output, [
    'FIRM\tNAME\tTIME ZONE\tSTATE',
    'cedar\tFirm cedar\tAmerica/New_York\tactive',
    'maple\tFirm maple\tAmerica/New_York\tactive',
  ]);
  assert.equal((await run('firm', 'list', '--csv')).output[1], 'cedar,Firm cedar,America/New_York,active');
  const { items, more } = JSON.parse((await run('firm', 'list', '--json')).output.join('\n'));
  assert.deepEqual([items[0].requiresReferences, items.length, more], [false, 2, false]);
});

test('every action has a command with its summary, and every column of a table is one of its answer', () => {
  for (const action of commandActions) {
    const command = commands.find(({ name }) => name === action.name);
    assert.ok(command?.summary.startsWith(action.name === 'authorisation rows' ? 'Show or replace' : action.summary));
    for (const column of action.command?.columns ?? []) {
      const { output } = action;
      if (typeof column === 'string')
        assert.ok(output.kind === 'list' && column in output.shape, `${action.name}: ${column}`);
    }
  }
});
