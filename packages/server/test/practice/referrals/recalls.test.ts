/**
 * Recalls over HTTP: Tasks that are due within a period, reached by `tsk_pmrecall` and by rows of that kind alone
 * (docs/decisions/0198).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';
import { tenantRows } from '../../support/tenant-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const operator = await openCaller(service, await makeApplication(service, 'All', ['acl/*'], [maple]), maple);
const reader = ['acl/tsk_pmrecall_r', 'acl/tsk_pmrecall_s'];
const readingApplication = await makeApplication(service, 'Reading', reader, [maple]);
const reading = await openCaller(service, readingApplication, maple);
const scopes = ['system/Task.crus?code=PMRECALL'];
const planningApplication = await makeApplication(service, 'Planning', scopes, [maple]);
const planning = await openCaller(service, planningApplication, maple);

function recall(more: object = {}, code = 'PMRECALL'): Record<string, unknown> {
  return {
    resourceType: 'Task',
    status: 'ready',
    intent: 'unknown',
    code: { coding: [{ system: 'https://example.org/task-type', code }] },
    for: { reference: 'Patient/p1' },
    restriction: { period: { start: '2026-11-01', end: '2026-11-20' } },
    ...more,
  };
}

test('denials: a token for recalls makes, changes and sees recalls alone', async () => {
  const other = (await operator.send('POST', 'Task', recall({}, 'CALLBACK'))).json;
  const known = (await operator.send('POST', 'Task', recall())).json;
  const before = await tenantRows(service.database.owner);
  assert.equal((await reading.send('POST', 'Task', recall())).status, 403);
  assert.equal((await planning.send('POST', 'Task', recall({}, 'CALLBACK'))).status, 403);
  assert.equal((await planning.send('PUT', `Task/${other.id}`, recall({ id: other.id }))).status, 404);
  const away = recall({ id: known.id }, 'CALLBACK');
  assert.equal((await planning.send('PUT', `Task/${known.id}`, away)).status, 403);
  for (const caller of [reading, planning]) assert.equal((await caller.get(`Task/${other.id}`)).status, 404);
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('a recall without a period is stored as R4 allows, and found by no due date', async () => {
  const { id } = (
    await planning.send('POST', 'Task', recall({ restriction: undefined, for: { reference: 'Patient/p3' } }))
  ).json;
  const searched = async (more: string): Promise<readonly string[]> => {
    const { json } = await planning.get(`Task?patient=p3${more}`);
    return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
  };
  assert.deepEqual(await searched(''), [id]);
  assert.deepEqual(await searched('&restriction=ge1900-01-01'), []);
  assert.deepEqual(await searched('&restriction:missing=true'), [id]);
});

test('an overdue recall stays ready, and is found by its due date; it is scheduled and closed', async () => {
  const { id } = (await planning.send('POST', 'Task', recall({ for: { reference: 'Patient/p2' } }))).json;
  service.clock.advance(90 * 86_400_000);
  const later = await openCaller(service, planningApplication, maple);
  const readLater = await openCaller(service, readingApplication, maple);
  const due = 'Task?code=PMRECALL&status=ready&patient=p2&restriction=lt2027-01-01';
  for (const caller of [readLater, later]) {
    const found = (await caller.get(due)).json;
    assert.deepEqual([found.total, found.entry[0].resource.id], [1, id]);
  }
  assert.equal((await readLater.get(due.replace('lt2027', 'lt2026'))).json.total, 0);
  for (const status of ['in-progress', 'ready', 'in-progress', 'completed']) {
    const answer = await later.send('PUT', `Task/${id}`, recall({ id, status, for: { reference: 'Patient/p2' } }));
    assert.equal(answer.status, 200, answer.text);
  }
  const reopened = await later.send('PUT', `Task/${id}`, recall({ id }));
  assert.equal(reopened.status, 422, 'closed by the application for good');
});
