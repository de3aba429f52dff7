/** `praxis import`: what is kept beside the resources follows a later version, and what it does not carry out is told. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { importCommands } from '../../src/cli/commands/data/import.ts';
import { sql } from '../../src/database/sql.ts';
import { keepSubscription } from '../../src/practice/subscriptions/store.ts';
import type { Firm } from '../../src/tenancy/firms.ts';
import { openOperatorScope } from '../../src/tenancy/operator.ts';
import { type CommandResult, makeFirm, openTestPlatform, runCommand } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const platform = await openTestPlatform({ after });
const files = openScratchDirectory({ after });
const { database, clock } = platform;

const importAt = (firm: Firm, name: string, resources: readonly object[], ...more: readonly string[]) => {
  const text = resources.map((each) => `${JSON.stringify(each)}\n`).join('');
  return runCommand(platform, importCommands, 'import', files.write(name, text), '--firm', firm.prefix, ...more);
};

const firstWords = ({ output }: CommandResult): string | undefined => output.at(-1)?.split(' (')[0];

const appointment = (status: string, hour: string) => ({
  resourceType: 'Appointment',
  id: 'a',
  status,
  start: `2027-01-04T${hour}:00:00Z`,
  end: `2027-01-04T${hour}:30:00Z`,
  participant: [{ actor: { reference: 'Practitioner/p' }, status: 'accepted' }],
});

test('a later version of an appointment gives back the time of the one before', async () => {
  const firm = await makeFirm(platform, 'booked');
  await importAt(firm, 'first.ndjson', [appointment('booked', '09')]);
  const asFirm = database.forFirm(firm.id);
  await asFirm.query(sql`
    INSERT INTO occupancy (starts, ends, firm, lane, places, actor, owner)
    VALUES (1, 2, ${firm.id}, 0, 1, 'Practitioner/p', 'Appointment/a'), (3, 4, ${firm.id}, 0, 1, 'Practitioner/p', 'Appointment/b')`);
  await importAt(firm, 'second.ndjson', [appointment('cancelled', '10')]);
  const rows = await asFirm.query(sql`SELECT owner FROM occupancy WHERE firm = ${firm.id}`);
  assert.deepEqual(rows, [{ owner: 'Appointment/b' }]);
});

test('a Subscription that is imported over one of an application ends it', async () => {
  const firm = await makeFirm(platform, 'told');
  const scope = await openOperatorScope(database, clock, firm);
  const channel = {
    endpoint: 'https://example.com',
    content: 'empty',
    headers: [],
    maxCount: 1,
    timeoutSeconds: 1,
  } as const;
  const definition = { type: 'Patient', criteria: [], filters: [], ...channel };
  const asked = { id: 's', status: 'requested', definition, entries: ['acl/*'], beginsAnew: true, nowMs: 1 } as const;
  await platform.store.change(scope, keepSubscription(scope, asked));
  const imported = {
    resourceType: 'Subscription',
    id: 's',
    status: 'active',
    reason: 'Import',
    criteria: 'Patient?',
    channel: { type: 'rest-hook', endpoint: 'https://example.com' },
  };
  assert.equal(
    firstWords(await importAt(firm, 'subscription.ndjson', [imported])),
    '1 resources stored at told, 0 refused',
  );
  const states = await database.forFirm(firm.id).query(sql`SELECT id FROM subscription WHERE firm = ${firm.id}`);
  assert.deepEqual(states, []);
  const due = await database.query(sql`SELECT id FROM subscription_due WHERE firm = ${firm.id}`);
  assert.deepEqual(due, []);
});

test('a type that R4 does not have is refused where references are checked, too', async () => {
  const firm = await makeFirm(platform, 'checked');
  const resources = [
    { resourceType: 'Patient', id: 'a' },
    { resourceType: 'Nonsense', id: 'b' },
  ];
  const result = await importAt(firm, 'nonsense.ndjson', resources, '--check-references');
  assert.match(result.progress, /nonsense\.ndjson:2: .*Nonsense/);
  assert.equal(result.exitStatus, 1);
  assert.ok(
    result.output.some((line) => line.startsWith('1 resources stored at checked, 1 refused')),
    result.output.join('\n'),
  );
});

test('entries with conditions are refused, since an import looks at none', async () => {
  const firm = await makeFirm(platform, 'conditions');
  const resource = { resourceType: 'Patient' };
  const bundle = {
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      { resource, request: { method: 'POST', url: 'Patient', ifNoneExist: 'identifier=1' } },
      { resource, request: { method: 'PUT', url: 'Patient?identifier=1' } },
      { resource: { ...resource, id: 'c' }, request: { method: 'PUT', url: 'Patient/c', ifMatch: 'W/"1"' } },
      { resource: { ...resource, id: 'd' }, request: { method: 'PUT', url: 'Patient/d' } },
    ],
  };
  const result = await importAt(firm, 'conditions.ndjson', [bundle]);
  const told = result.progress
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/^.*Bundle\.entry/, 'Bundle.entry'));
  assert.deepEqual(told, [
    'Bundle.entry[0].request.ifNoneExist: conditions are not executed by an import',
    'Bundle.entry[1].request.url: conditions are not executed by an import',
    'Bundle.entry[2].request.ifMatch: conditions are not executed by an import',
  ]);
  assert.equal(firstWords(result), '1 resources stored at conditions, 3 refused');
});
