/**
 * Two nodes, one of which has a wrong wall clock for a while (docs/decisions/0245): nobody's writes are refused.
 * Slow: two nodes run side by side for some seconds.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { readFloor } from '../../src/storage/completeness.ts';
import { startNode } from '../support/nodes.ts';
import { patient } from '../support/records.ts';
import {
  answerOf,
  type Caller,
  callerOf,
  clientForm,
  makeApplication,
  makeFirm,
  openTestService,
  postForm,
} from '../support/service.ts';

const dayMs = 86_400_000;
const secretKey = Buffer.alloc(32, 7).toString('base64url');
const directory = mkdtempSync(path.join(os.tmpdir(), 'praxis-wrong-clock-'));
after(() => rmSync(directory, { recursive: true, force: true }));
const clockFile = path.join(directory, 'ahead-ms');
writeFileSync(clockFile, '0');

const service = await openTestService({ after }, { PRAXIS_SECRET_KEY: secretKey });
const firm = await makeFirm(service, 'maple', 'sandbox', 'UTC');
const application = await makeApplication(service, 'Everything', ['acl/*'], [firm]);
const preload = new URL('../support/wrong-clock.mjs', import.meta.url).href;
const settings = { PRAXIS_COMPLETE_LAG_MS: '3000' };
const wrong = await startNode(service.database, secretKey, {
  ...settings,
  NODE_OPTIONS: `--import=${preload}`,
  WRONG_CLOCK_FILE: clockFile,
});
after(() => wrong.stop());
const right = await startNode(service.database, secretKey, settings);
after(() => right.stop());

async function callerAt(origin: string): Promise<Caller> {
  const tokenUrl = `${origin}/auth/realms/sandbox/protocol/openid-connect/token`;
  const { json } = await postForm(tokenUrl, clientForm(application), application.clientKey);
  return callerOf({ base: `${origin}/sandbox/firm/maple/pm/fhir/v2` }, json.access_token, application.clientKey);
}

const there = await callerAt(right.origin);
const here = await callerAt(wrong.origin);

async function assertWrites(caller: Caller, where: string): Promise<void> {
  const answer = await caller.send('POST', 'Patient', patient('Stone'));
  assert.equal(answer.status, 201, `${where}: ${answer.text}`);
  const aheadMs = Date.parse(answer.json.meta.lastUpdated) - Date.now();
  assert.ok(Math.abs(aheadMs) < dayMs / 2, `${where} writes at ${answer.json.meta.lastUpdated}`);
}

async function readiness(origin: string) {
  const { status, json } = await answerOf(await fetch(`${origin}/health/ready`));
  return { status, json };
}

/** Both nodes write again and again for a while. */
async function assertWritesFor(ms: number): Promise<void> {
  for (const endMs = performance.now() + ms; performance.now() < endMs; await delay(100)) {
    await assertWrites(there, 'the node with the right clock');
    await assertWrites(here, 'the node with the wrong clock');
  }
}

for (const [words, aheadMs, forMs] of [
  ['10 minutes ahead for 3 s', 600_000, 3_000],
  ['400 days ahead for 1 s', 400 * dayMs, 1_000],
  ['400 days behind for 1 s', -400 * dayMs, 1_000],
] as const) {
  test(`a wall clock ${words} refuses no write of any node, then or later, and the node says that it is off`, async () => {
    writeFileSync(clockFile, String(aheadMs));
    await assertWritesFor(forMs);
    const { status, json } = await readiness(wrong.origin);
    assert.equal(status, 503);
    assert.match(
      json.problems[0],
      aheadMs > 0 ? /^This node's clock is \d+ s ahead$/ : /^This node's clock is \d+ s behind$/,
    );
    assert.deepEqual(await readiness(right.origin), { status: 200, json: { status: 'ok' } });
    writeFileSync(clockFile, '0');
    assert.deepEqual(await readiness(wrong.origin), { status: 200, json: { status: 'ok' } });
    await assertWritesFor(2_500); // the floor is set each second
    const floorMs = await readFloor(service.database.runtime);
    assert.ok(floorMs < Date.now(), `the floor is at ${new Date(floorMs).toISOString()}`);
  });
}
