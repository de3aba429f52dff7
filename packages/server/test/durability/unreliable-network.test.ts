/**
 * Exactly one effect for each key, through a network that loses requests and answers, delays them and delivers requests
 * twice (docs/decisions/0173). The client repeats what it has no answer to, as a careful client does.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { sql } from '../../src/database/sql.ts';
import { patient } from '../support/records.ts';
import { callerOf, clientToken, makeApplication, makeFirm, openTestService } from '../support/service.ts';
import { type Mishap, openUnreliableProxy } from '../support/unreliable-proxy.ts';

const writes = Number(process.env['KEYED_WRITES'] ?? '300');
const clients = 12;
const attemptsMax = 50;

const service = await openTestService({ after }, { PRAXIS_DATABASE_POOL: '16' });
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Full', ['acl/*'], [maple]);

/** A third of all requests meet with something; which, by a linear congruence. */
const mishaps: readonly Mishap[] = ['request-lost', 'answer-lost', 'answer-lost', 'sent-twice', 'sent-twice', 'late'];
const mishapOf = (number: number): Mishap => mishaps[(number * 7 + Math.floor(number / 5) * 3) % 18] ?? 'none';
const proxy = await openUnreliableProxy({ after }, service.origin, mishapOf);
const base = maple.base.replace(service.origin, proxy.origin);
const caller = callerOf({ base }, await clientToken(service, application), application.clientKey);

/** Sends a request until it is answered with something final. */
async function send(method: string, path: string, body: unknown, key: string, more: Record<string, string> = {}) {
  const headers = { 'idempotency-key': `"${key}"`, ...more };
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const answer = await caller.send(method, path, body, headers).catch(() => undefined);
    if (answer !== undefined && answer.status !== 409 && answer.status < 500) return answer;
  }
  return assert.fail(`${key} was not answered`);
}

const patch = { 'content-type': 'application/json-patch+json' };

/** A patient of its own is created, patched and put into a transaction with another one; every step adds one version. */
async function story(number: number): Promise<void> {
  const name = `story-${number}`;
  const created = await send('POST', 'Patient', patient(name), `${name} create`);
  assert.equal(created.status, 201, created.text);
  const { id } = created.json;
  const changes = JSON.stringify([{ op: 'add', path: '/name/-', value: { family: `${name}-also` } }]);
  const patched = await send('PATCH', `Patient/${id}`, changes, `${name} patch`, patch);
  assert.equal(patched.json.name.length, 2, patched.text);
  assert.equal(patched.json.meta.versionId, '2');
  const entry = [{ resource: patient(`${name}-twin`), request: { method: 'POST', url: 'Patient' } }];
  const bundled = await send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry }, `${name} bundle`);
  assert.equal(bundled.status, 200, bundled.text);
}

test(`${writes} writes through an unreliable network have one effect each`, async () => {
  const stories = writes / 3;
  let next = 0;
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (next < stories) await story(next++);
    }),
  );
  const [row] = await service.database.owner.query<{
    versions: number;
    patients: number;
    patched: number;
    keys: number;
  }>(sql`
    SELECT (SELECT count(*)::int FROM resource_version) AS versions, (SELECT count(*)::int FROM resource) AS patients,
      (SELECT count(*)::int FROM resource WHERE vid = 2) AS patched, (SELECT count(*)::int FROM idempotency_key WHERE status IS NOT NULL) AS keys`);
  assert.deepEqual(row, { versions: writes, patients: stories * 2, patched: stories, keys: writes });
  for (const mishap of mishaps) assert.ok(proxy.counts[mishap] > writes / 50, `${mishap}: ${proxy.counts[mishap]}`);
});
