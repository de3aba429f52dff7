/** What administrators do and try is in the audit ledger: changes before they are made, refusals, and nothing of secrets. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { serviceLedger } from '../../src/audit/audit-row.ts';
import { sql } from '../../src/database/sql.ts';
import { makeApplication, makeFirm, openTestService } from '../support/service.ts';
import { ask, openAdministrator, password } from './world.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
await makeApplication(service, 'Scheduler', ['acl/pat_r'], [maple]);
const practice = await openAdministrator(service, 'desk', 'practice', { firm: 'maple' });

interface Noted {
  readonly id: string;
  readonly subject: string | null;
  readonly flow: string | null;
  readonly reason: string | null;
  readonly times: number | null;
}

/** Rows of administration in a ledger since the last call, oldest first. */
const seen = new Map<number, number>();
async function notedIn(firm: number): Promise<Noted[]> {
  await service.service.parts.ledger.flush();
  const rows = await service.database.owner.query<Noted & { readonly seq: number }>(sql`
    SELECT seq, id, subject, flow, reason, times FROM audit_ledger
    WHERE firm = ${firm} AND interaction = 'administer' AND seq > ${seen.get(firm) ?? 0} ORDER BY seq`);
  seen.set(firm, rows.at(-1)?.seq ?? seen.get(firm) ?? 0);
  return rows.map(({ seq: _, ...row }) => row);
}

const bySession = { subject: 'desk', flow: 'session', reason: null, times: null };

test('signing in is noted, wrong passwords without what was typed, a flood of them as one', async () => {
  assert.deepEqual(await notedIn(serviceLedger), [{ ...bySession, id: 'sign-in' }]);
  const typed = { username: 'my-secret-by-mistake', password: 'my-secret-by-mistake' };
  await Promise.all([1, 2, 3].map(() => ask(service, undefined, 'POST', '/sessions', typed)));
  const nobody = { subject: null, flow: null };
  const noted = await notedIn(serviceLedger);
  assert.equal(
    noted.reduce((sum, { times }) => sum + (times ?? 1), 0),
    3,
  );
  for (const { times: _, ...row } of noted)
    assert.deepEqual(row, { ...nobody, id: 'sign-in', reason: 'credentials-invalid' });
  assert.equal((await ask(service, 'pxa_none', 'GET', '/environments/sandbox/firms/maple')).status, 401);
  assert.deepEqual(await notedIn(serviceLedger), [
    { ...nobody, id: 'authenticate sandbox maple', reason: 'credentials-invalid', times: null },
  ]);
});

test('a change is noted for the service and the firm, a failed one twice, a refusal once, a read not at all', async () => {
  const path = '/environments/sandbox/firms/maple/authorisations/Scheduler';
  assert.equal((await practice.ask('GET', path)).status, 200);
  assert.deepEqual(await notedIn(serviceLedger), []);
  assert.equal((await practice.ask('PUT', path, { purpose: 'Recall' })).status, 200);
  const change = { ...bySession, id: 'authorise sandbox maple Scheduler' };
  assert.deepEqual(await notedIn(serviceLedger), [change]);
  assert.deepEqual(await notedIn(maple.id), [change]);
  assert.equal((await practice.ask('PUT', path, { purpose: 'Recall', acl: ['acl/*'] })).status, 422);
  const failed = [change, { ...change, reason: 'rule-broken' }];
  assert.deepEqual(await notedIn(serviceLedger), failed);
  assert.deepEqual(await notedIn(maple.id), failed);
  const elsewhere = '/environments/sandbox/firms/cedar/authorisations/Scheduler';
  assert.equal((await practice.ask('PUT', elsewhere, { purpose: 'Recall' })).status, 404);
  assert.equal((await practice.ask('POST', '/environments', { name: 'x', realm: 'x' })).status, 403);
  assert.deepEqual(await notedIn(serviceLedger), [
    { ...bySession, id: 'authorise sandbox cedar Scheduler', reason: 'resource-not-found' },
    { ...bySession, id: 'environment create', reason: 'role-missing' },
  ]);
  assert.deepEqual(await notedIn(maple.id), []);
});

test('no password and no token is in any ledger', async () => {
  await practice.ask('PUT', '/me/password', { current: password, password: 'copper lantern over 9 hills' });
  assert.equal((await notedIn(serviceLedger)).length, 1);
  const [row] = await service.database.owner.query<{ text: string }>(
    sql`SELECT string_agg(e::text, '') AS text FROM audit_ledger e`,
  );
  for (const secret of [password, 'copper lantern', practice.token, 'my-secret-by-mistake'])
    assert.ok(!row?.text.includes(secret));
});
