/**
 * `praxis audit disclosures`, and what commands themselves leave in the ledger.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { runAudited } from '../../src/cli/audited.ts';
import type { CommandContext } from '../../src/cli/command.ts';
import { auditCommands } from '../../src/cli/commands/audit.ts';
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

const heading = 'FIRM,TIME,APPLICATION,CALLER,INTERACTION,RESOURCE,SHOWN,ELEMENTS,ENTRIES,REQUEST';
const [searcher, reader] = [narrow, full].map(({ clientId }) => clientId);

/** Subjects are made by the server: their place in a line is what counts. */
async function disclosures(...options: readonly string[]): Promise<string[]> {
  const line = ['audit', 'disclosures', '--patient', 'Patient/ada', '--csv', ...options];
  const { output, exitStatus } = await runCommand(service.platform, auditCommands, ...line);
  assert.equal(exitStatus, 0);
  const rows = await owner.query<{ client_id: string; subject: string }>(
    sql`SELECT client_id, subject::text FROM client`,
  );
  return output.map((text) => rows.reduce((shown, row) => shown.replaceAll(row.subject, row.client_id), text));
}

const found = `maple,2026-11-21T09:30:00.000Z,Narrow,${searcher},search-type,Patient,1,Patient.birthDate Patient.gender Patient.name,acl/pat_s_name_dob_gen,search-1`;
const read = `maple,2026-11-21T09:31:00.000Z,"Full, ""quoted""",${reader},read,Patient/ada,1,all,acl/*,read-1`;

test('disclosures tell which application saw which elements of a patient, when and why; refusals and misses showed nothing', async () => {
  assert.deepEqual(await disclosures('--firm', 'maple'), [heading, found, read]);
});

test('disclosures of a period, of all firms, and of a patient that nobody saw', async () => {
  assert.deepEqual(await disclosures('--firm', 'maple', '--from', '2026-11-21T09:30:30Z'), [heading, read]);
  assert.deepEqual(await disclosures('--firm', 'maple', '--to', '2026-11-21T09:30:30Z'), [heading, found]);
  assert.equal((await disclosures()).length, 4);
  const { output } = await runCommand(
    service.platform,
    auditCommands,
    'audit',
    'disclosures',
    '--patient',
    'x',
    '--csv',
  );
  assert.deepEqual(output, [heading]);
});

test('disclosures refuse what is no patient and no moment', async () => {
  for (const [patientId, from] of [
    ['Observation/1', '2026-11-21'],
    ['ada', 'yesterday'],
  ] as const) {
    const line = ['audit', 'disclosures', '--patient', patientId, '--from', from];
    await assert.rejects(runCommand(service.platform, auditCommands, ...line), /--(?:patient|from) must be/);
  }
});

/** Runs a command as main.ts does. */
async function runNoted(...line: readonly string[]): Promise<void> {
  const known = findCommand(commands, line);
  assert.ok(known);
  const context: CommandContext = {
    config: service.platform.config,
    platform: async () => service.platform,
    print: () => undefined,
    progress: () => undefined,
    interactive: false,
  };
  await runAudited(known.command, context, parseInput(known.command, known.rest));
}

test('a command leaves a row before it changes anything, in the ledger of the firm as well, and another when it fails', async () => {
  await runNoted('firm', 'suspend', 'cedar');
  await assert.rejects(runNoted('app', 'suspend', 'Nobody'));
  const rows = await owner.query(sql`
    SELECT firm, interaction, id, subject, flow, outcome, reason FROM audit_event WHERE interaction = 'administer' ORDER BY epoch, xid, seq`);
  const row = { interaction: 'administer', subject: 'operator', flow: 'command', outcome: 0, reason: null };
  assert.deepEqual(rows, [
    { ...row, firm: 0, id: 'firm suspend cedar --environment sandbox' },
    { ...row, firm: cedar.id, id: 'firm suspend cedar --environment sandbox' },
    { ...row, firm: 0, id: 'app suspend Nobody --environment sandbox' },
    { ...row, firm: 0, id: 'app suspend Nobody --environment sandbox', outcome: 4, reason: 'resource-not-found' },
  ]);
});
