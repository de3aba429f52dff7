/** `praxis clock repair`: what a wrong clock has left behind is taken back. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { readFloor } from '../../src/storage/completeness.ts';
import { startNode, urlOf } from '../support/nodes.ts';
import { patient } from '../support/records.ts';
import {
  answerOf,
  callerOf,
  clientForm,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';
import { runPraxis } from './praxis-process.ts';

const secretKey = Buffer.alloc(32, 7).toString('base64url');
const service = await openTestService({ after }, { PRAXIS_SECRET_KEY: secretKey });
const { owner, connections } = service.database;
const settings = {
  DATABASE_URL: urlOf(connections.owner),
  PRAXIS_RUNTIME_DATABASE_URL: urlOf(connections.runtime),
  PRAXIS_SECRET_KEY: secretKey,
};

test('a floor in the future refuses writes and readiness until it is repaired', async () => {
  const firm = await makeFirm(service, 'maple');
  const application = await makeApplication(service, 'Everything', ['acl/*'], [firm]);
  const node = await startNode(service.database, secretKey);
  after(() => node.stop());
  const tokenUrl = `${node.origin}/auth/realms/sandbox/protocol/openid-connect/token`;
  const { json } = await postForm(tokenUrl, clientForm(application), application.clientKey);
  const base = `${node.origin}/sandbox/firm/maple/pm/fhir/v2`;
  const caller = callerOf({ base }, json.access_token, application.clientKey);
  const future = Date.now() + 400 * 86_400_000;
  await owner.query(sql`UPDATE completeness SET floor = ${future}::bigint, settled = ${future - 1}::bigint`);

  assert.equal((await caller.send('POST', 'Patient', patient('Stone'))).status, 503);
  const notReady = await answerOf(await fetch(`${node.origin}/health/ready`));
  assert.equal(notReady.status, 503);
  assert.match(notReady.json.problems[0], /^Searches were said to be complete .* praxis clock repair ends it$/);
  assert.match((await runPraxis(settings, 'clock', 'show')).stdout, /floor {4}20\d\d-/);

  const repaired = await runPraxis(settings, 'clock', 'repair');
  assert.equal(repaired.status, 0, repaired.stderr);
  assert.match(repaired.stdout, /^the floor was 345\d{5} s in the future; now it is 20\d\d-[^ ]+Z\n$/);
  assert.ok((await readFloor(service.database.runtime)) < Date.now());
  assert.equal((await caller.send('POST', 'Patient', patient('Stone'))).status, 201);
  assert.equal((await fetch(`${node.origin}/health/ready`)).status, 200);
  const again = await runPraxis(settings, 'clock', 'repair');
  assert.equal(again.stdout, 'nothing to repair: the floor is not in the future\n');
});
