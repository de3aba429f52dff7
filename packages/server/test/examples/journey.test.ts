/**
 * The example journey (examples/journey): a patient's way through a synthetic practice, by each token flow, as an integrator
 * would copy it.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Credentials, connect } from '@praxis/client';
import { takeJourney } from '../../../../examples/journey/journey.ts';
import { loadPractice } from '../../src/cli/sandbox/practice.ts';
import { toDayStart } from '../../src/synthetic/zoned-time.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Journey', ['acl/*'], [maple]);
await loadPractice(service.platform, maple, { seed: 'journey', patients: 5, todayMs: toDayStart(service.clock.now()) });
await service.service.jobs.settle();
const caller = await openCaller(service, application, maple);

const flows: Readonly<Record<string, Credentials>> = {
  'client credentials': {
    flow: 'client-credentials',
    apiKey: application.clientKey,
    clientId: application.clientId,
    clientSecret: application.clientSecret,
  },
  'password grant': {
    flow: 'password',
    apiKey: application.legacyKey,
    ...(application.accounts.get('maple') ?? assert.fail('no account at maple')),
  },
};

for (const [flow, credentials] of Object.entries(flows)) {
  test(`the journey by ${flow} leaves what it says`, async () => {
    const said: string[] = [];
    const made = await takeJourney(connect({ base: maple.base, credentials }), (line) => said.push(line));
    assert.equal(said.length, 8);
    const appointment = (await caller.get(`Appointment/${made.appointment}`)).json;
    assert.equal(appointment.status, 'fulfilled');
    assert.equal(appointment.participant[0].actor.reference, `Patient/${made.patient}`);
    const encounter = (await caller.get(`Encounter/${made.encounter}`)).json;
    assert.deepEqual(
      [encounter.status, encounter.appointment[0].reference, encounter.subject.reference],
      ['finished', `Appointment/${made.appointment}`, `Patient/${made.patient}`],
    );
    const charge = (await caller.get(`ChargeItem/${made.charge}`)).json;
    assert.deepEqual([charge.status, charge.context.reference], ['billable', `Encounter/${made.encounter}`]);
    const documents = (await caller.get(`DocumentReference?patient=${made.patient}`)).json;
    assert.deepEqual([documents.total, documents.entry[0].resource.id], [1, made.document]);
    const recall = (await caller.get(`Task/${made.recall}`)).json;
    assert.deepEqual([recall.status, recall.for.reference], ['ready', `Patient/${made.patient}`]);
  });
}

const program = fileURLToPath(new URL('../../../../examples/journey/main.ts', import.meta.url));

test('npm run journey takes it by both flows, with what stands in sandbox.json', async () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'praxis-journey-'));
  after(() => rmSync(directory, { recursive: true }));
  const { clientKey: apiKey, clientId, clientSecret, legacyKey } = application;
  const { username = '', password = '' } = application.accounts.get('maple') ?? {};
  const sandbox = {
    origin: service.origin,
    environment: 'sandbox',
    product: 'pm',
    realm: 'sandbox',
    firms: ['maple'],
    applications: [
      {
        name: 'Full access',
        client: { apiKey, clientId, clientSecret },
        legacy: { maple: { apiKey: legacyKey, username, password } },
      },
    ],
  };
  writeFileSync(path.join(directory, 'sandbox.json'), JSON.stringify(sandbox));
  const env = { ...process.env, PRAXIS_DATA_DIR: directory };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env });
  const lines = stdout.trimEnd().split('\n');
  assert.equal(lines.length, 18);
  assert.deepEqual([lines[0], lines[9]], ['client credentials at maple', 'password grant at maple']);
  assert.match(lines[17] ?? '', /^ {2}to be called back: Task\//);
});
