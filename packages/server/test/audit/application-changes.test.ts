/**
 * Changes of an application as a whole, in the ledgers of the firms where it may act: what changes what may be done at a
 * practice is told to the practice, by whichever way it was done.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { serviceLedger } from '../../src/audit/audit-row.ts';
import { runAudited } from '../../src/cli/audited.ts';
import type { CommandContext } from '../../src/cli/command.ts';
import { commands } from '../../src/cli/commands.ts';
import { findCommand, parseInput } from '../../src/cli/parse.ts';
import { sql } from '../../src/database/sql.ts';
import { addClientSecret } from '../../src/oauth/client-auth/client-secrets.ts';
import { authorise, revokeAuthorisation, suspendAuthorisation } from '../../src/tenancy/authorisations.ts';
import { openAdministrator } from '../admin/world.ts';
import { makeApplication, makeFirm, openCaller, openTestService, startMs } from '../support/service.ts';

const service = await openTestService({ after });
const { owner } = service.database;
const { database, clock, secrets } = service.platform;
const [maple, paused, ended, past, cedar] = [
  await makeFirm(service, 'maple'),
  await makeFirm(service, 'paused'),
  await makeFirm(service, 'ended'),
  await makeFirm(service, 'past'),
  await makeFirm(service, 'cedar'),
];
const scheduler = await makeApplication(service, 'Scheduler', ['acl/*'], [maple, paused, ended]);
await makeApplication(service, 'Bystander', ['acl/*'], [cedar]);
await suspendAuthorisation(database, paused, scheduler.application);
await revokeAuthorisation(database, ended, scheduler.application);
await authorise(
  database,
  clock,
  past,
  scheduler.application,
  { purpose: 'Test', expiresAtMs: startMs + 1 },
  entryProblem,
);
service.clock.advance(1);
const operator = await openAdministrator(service, 'root', 'operator');
const reader = await openCaller(service, scheduler, maple);
const concerned = [maple.id, paused.id];

let seen = 0;

/** The rows of administration since the last call: what was done, and in which ledgers that stands. */
async function noted(): Promise<
  readonly { readonly id: string; readonly reason: string | null; readonly firms: readonly number[] }[]
> {
  await service.service.parts.ledger.flush();
  const rows = await owner.query<{ id: string; reason: string | null; firms: number[]; last: number }>(sql`
    SELECT id, reason, array_agg(firm ORDER BY firm) AS firms, max(seq) AS last FROM audit_ledger
    WHERE interaction = 'administer' AND seq > ${seen} GROUP BY id, reason ORDER BY min(seq)`);
  seen = Math.max(seen, ...rows.map(({ last }) => last));
  return rows.map(({ last: _, ...row }) => row);
}

await noted();

const secret = await addClientSecret(database, secrets, scheduler.application, scheduler.clientId);
const client = `clients/${scheduler.clientId}`;

/** By the administration API and, where it can be done so, by a command. */
const changes: readonly (readonly [
  name: string,
  method: string,
  path: string,
  body: object | undefined,
  command: readonly string[],
])[] = [
  ['app acl', 'PUT', 'acl', { acl: ['acl/*', 'acl/pat_r'] }, ['Scheduler', '--acl', 'acl/*']],
  ['app set', 'PUT', 'settings', { settings: {} }, []],
  ['app suspend', 'POST', 'suspend', undefined, ['Scheduler']],
  ['app resume', 'POST', 'resume', undefined, ['Scheduler']],
  ['key issue', 'POST', 'keys', { flow: 'client', label: 'second' }, []],
  [
    'key revoke',
    'POST',
    `keys/${scheduler.clientKeyId}/revoke`,
    undefined,
    ['Scheduler', String(scheduler.legacyKeyId)],
  ],
  ['client retire-secret', 'POST', `${client}/secrets/${secret.id}/retire`, {}, []],
  ['client revoke', 'POST', `${client}/revoke`, undefined, []],
];

/** Runs a command as main.ts does. */
async function run(...line: readonly string[]): Promise<void> {
  const known = findCommand(commands, line) ?? assert.fail(line.join(' '));
  const context: CommandContext = {
    config: service.platform.config,
    platform: async () => service.platform,
    print: () => undefined,
    progress: () => undefined,
    interactive: false,
  };
  await runAudited(known.command, context, parseInput(known.command, known.rest));
}

const application = '/environments/sandbox/applications/Scheduler';

test('a change that fails, and one that is refused, is of no concern to firms', async () => {
  assert.equal((await operator.ask('PUT', `${application}/acl`, { acl: ['acl/none'] })).status, 422);
  assert.equal((await operator.ask('POST', `${application}/keys/999999/revoke`)).status, 404);
  assert.equal((await operator.ask('PUT', '/environments/sandbox/applications/Nobody/acl', { acl: [] })).status, 404);
  const vendor = await openAdministrator(service, 'vendor', 'vendor', { application: 'Scheduler' });
  assert.equal((await vendor.ask('POST', `${application}/suspend`)).status, 403);
  await assert.rejects(run('key', 'revoke', 'Scheduler', '999999'));
  const rows = await noted();
  assert.ok(rows.length >= 8);
  for (const { id, firms } of rows)
    assert.ok(
      firms.every((firm) => firm === serviceLedger),
      id,
    );
});

test('who only looks leaves nothing in the ledgers of firms', async () => {
  assert.equal((await operator.ask('GET', `${application}/keys`)).status, 200);
  await run('key', 'list', 'Scheduler');
  await run('app', 'settings', 'Scheduler');
  assert.deepEqual(await noted(), [
    { id: 'key list Scheduler --environment sandbox', reason: null, firms: [serviceLedger] },
    { id: 'app settings Scheduler --environment sandbox', reason: null, firms: [serviceLedger] },
  ]);
});

test('the practice finds a change by the vendor as AuditEvent', async () => {
  const vendor = await openAdministrator(service, 'maker', 'vendor', { application: 'Scheduler' });
  assert.equal((await vendor.ask('PUT', `${application}/settings`, { settings: {} })).status, 204);
  const { json } = await reader.get('AuditEvent?type=http://dicom.nema.org/resources/ontology/DCM|110113');
  assert.equal(json.total, 1);
  const [{ resource }] = json.entry;
  assert.equal(resource.subtype[0].code, '110129');
  assert.equal(resource.agent[0].altId, 'maker');
  assert.deepEqual(resource.entity[0].detail[0], { type: 'about', valueString: 'app set sandbox Scheduler' });
  await noted();
});

for (const [name, method, path, body, command] of changes) {
  test(`${name} stands in the ledger of each firm that authorises the application, and in no other`, async () => {
    const answer = await operator.ask(method, `${application}/${path}`, body);
    assert.ok(answer.status < 300, answer.text);
    const [row, ...others] = await noted();
    assert.ok(row?.id.startsWith(`${name} sandbox Scheduler`), row?.id);
    assert.deepEqual(row?.firms, [serviceLedger, ...concerned]);
    assert.deepEqual(others, []);
    if (command.length === 0) return;
    await run(...name.split(' '), ...command);
    const [byCommand, ...rest] = await noted();
    assert.ok(byCommand?.id.startsWith(`${name} Scheduler`), byCommand?.id);
    assert.deepEqual(byCommand?.firms, [serviceLedger, ...concerned]);
    assert.deepEqual(rest, []);
  });
}

test('what concerns one firm stays there', async () => {
  await run('authorization', 'suspend', 'Scheduler', 'maple');
  assert.deepEqual(await noted(), [
    {
      id: 'authorisation suspend Scheduler maple --environment sandbox',
      reason: null,
      firms: [serviceLedger, maple.id],
    },
  ]);
});
