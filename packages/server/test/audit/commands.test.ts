/**
 * `praxis audit disclosures`, and what commands themselves leave in the ledger.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { runAudited } from '../../src/cli/audited.ts';
import type { CommandContext } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { findCommand, parseInput } from '../../src/cli/parse.ts';
import { sql } from '../../src/database/sql.ts';
import { runCommand } from '../cli/platform.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full, "quoted"', ['acl/*'], [maple, cedar]);
const narrow = await makeApplication(service, 'Narrow', ['acl/pat_s_name_dob_gen'], [maple]);
const caller = await openCaller(service, full, maple);
const elsewhere = await openCaller(service, full, cedar);
const restricted = await openCaller(service, narrow, maple);

for (const as of [caller, elsewhere]) await as.send('PUT', 'Patient/ada', { ...patient('Stone'), id: 'ada' });
await restricted.get('Patient?family=Stone', { 'x-request-id': 'search-1' });
await restricted.get('Patient/ada', { 'x-request-id': 'refused-1' });
await restricted.get('Patient?family=Nobody', { 'x-request-id': 'nothing-1' });
service.clock.advance(60_000);
await caller.get('Patient/ada', { 'x-request-id': 'read-1' });
await elsewhere.get('Patient/ada', { 'x-request-id': 'read-2' });
await service.service.parts.ledger.flush();

/** Runs a command as main.ts does. */
async function run(line: readonly string[], more: Partial<CommandContext> = {}): Promise<void> {
  const known = findCommand(commands, line);
  assert.ok(known);
  const context: CommandContext = {
    config: service.platform.config,
    platform: async () => service.platform,
    print: () => undefined,
    progress: () => undefined,
    interactive: false,
    ...more,
  };
  await runAudited(known.command, context, parseInput(known.command, known.rest));
}

const heading = 'FIRM,TIME,APPLICATION,CALLER,INTERACTION,RESOURCE,SHOWN,ELEMENTS,ENTRIES,REQUEST';
const [searcher, reader] = [narrow, full].map(({ clientId }) => clientId);

async function disclosures(...options: readonly string[]): Promise<string[]> {
  return await shown(false, '--csv', ...options);
}

/**
 * Runs `audit disclosures` of the patient. Subjects are made by the server: their place in a line is what counts.
 * @param interactive whether a person reads it
 */
async function shown(interactive: boolean, ...options: readonly string[]): Promise<string[]> {
  const output: string[] = [];
  await run(['audit', 'disclosures', '--patient', 'Patient/ada', ...options], {
    interactive,
    print: (line) => void output.push(line),
  });
  const rows = await owner.query<{ client_id: string; subject: string }>(
    sql`SELECT client_id, subject::text FROM client`,
  );
  return output.map((text) => rows.reduce((line, row) => line.replaceAll(row.subject, row.client_id), text));
}

const found = `maple,2026-11-21T09:30:00.000Z,Narrow,${searcher},search-type,Patient,1,Patient.birthDate Patient.gender Patient.name,acl/pat_s_name_dob_gen,search-1`;
const read = `maple,2026-11-21T09:31:00.000Z,"Full, ""quoted""",${reader},read,Patient/ada,1,all,acl/*,read-1`;

test('disclosures tell which application saw which elements of a patient, when and why; refusals and misses showed nothing', async () => {
  assert.deepEqual(await disclosures('--firm', 'maple'), [heading, found, read]);
});

/** The heading and rows as a table shows them, one cell each. */
const table = [
  heading.split(','),
  [
    ...['maple', '2026-11-21T09:30:00.000Z', 'Narrow', searcher, 'search-type', 'Patient', '1'],
    ...['Patient.birthDate Patient.gender Patient.name', 'acl/pat_s_name_dob_gen', 'search-1'],
  ],
  [
    ...['maple', '2026-11-21T09:31:00.000Z', 'Full, "quoted"', reader, 'read', 'Patient/ada', '1', 'all', 'acl/*'],
    'read-1',
  ],
];

test('disclosures as a table: columns for people, tabs for another program, nothing quoted', async () => {
  const cells = (lines: readonly string[], between: RegExp) => lines.map((line) => line.split(between));
  assert.deepEqual(cells(await shown(false, '--firm', 'maple'), /\t/), table);
  const lines = await shown(true, '--firm', 'maple');
  assert.deepEqual(cells(lines, / {2,}/), table);
  for (const name of ['APPLICATION', 'INTERACTION', 'SHOWN', 'REQUEST']) {
    const at = lines[0]?.indexOf(name) ?? assert.fail();
    for (const line of lines) assert.match(line.slice(at - 2), /^ {2}\S/, `${name} begins where its heading does`);
  }
  for (const interactive of [true, false]) {
    const none = await shown(interactive, '--firm', 'maple', '--to', '2026-11-21');
    assert.deepEqual(cells(none, interactive ? / {2,}/ : /\t/), [table[0]]);
  }
});

test('disclosures of a period, of all firms, and of a patient that nobody saw', async () => {
  assert.deepEqual(await disclosures('--firm', 'maple', '--from', '2026-11-21T09:30:30Z'), [heading, read]);
  assert.deepEqual(await disclosures('--firm', 'maple', '--to', '2026-11-21T09:30:30Z'), [heading, found]);
  assert.equal((await disclosures()).length, 4);
  const { output } = await runCommand(service.platform, commands, 'audit', 'disclosures', '--patient', 'x', '--csv');
  assert.deepEqual(output, [heading]);
});

test('disclosures refuse what is no patient and no moment', async () => {
  for (const [patientId, from] of [
    ['Observation/1', '2026-11-21'],
    ['ada', 'yesterday'],
  ] as const) {
    const line = ['audit', 'disclosures', '--patient', patientId, '--from', from];
    await assert.rejects(runCommand(service.platform, commands, ...line), /--(?:patient|from) must be/);
  }
});

test('a command leaves a row before it changes anything, in the ledger of the firm as well, and another when it fails', async () => {
  await run(['firm', 'suspend', 'cedar']);
  await assert.rejects(run(['app', 'suspend', 'Nobody']));
  const rows = await owner.query(sql`
    SELECT firm, interaction, id, subject, flow, outcome, reason FROM audit_ledger
    WHERE interaction = 'administer' AND id NOT LIKE 'audit %' ORDER BY epoch, xid, seq`);
  const row = { interaction: 'administer', subject: 'operator', flow: 'command', outcome: 0, reason: null };
  assert.deepEqual(rows, [
    { ...row, firm: 0, id: 'firm suspend cedar --environment sandbox' },
    { ...row, firm: cedar.id, id: 'firm suspend cedar --environment sandbox' },
    { ...row, firm: 0, id: 'app suspend Nobody --environment sandbox' },
    { ...row, firm: 0, id: 'app suspend Nobody --environment sandbox', outcome: 4, reason: 'resource-not-found' },
  ]);
});
