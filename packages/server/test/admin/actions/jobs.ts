/** Jobs that have failed for a firm. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { noteJobFailure } from '../../../src/jobs/job-failures.ts';
import type { Asking } from './asking.ts';

export function testJobs({ service, maple, operator, practice, now, act }: Asking): void {
  test('operator and practice see which jobs have failed, and an operator lets one begin anew', async () => {
    const failure = { reason: 'test', nowMs: service.clock.now() };
    await noteJobFailure(service.platform.database, 'waiting-list', maple.id, failure);
    const firm = ['sandbox', 'maple'];
    const retry = new Date(Date.parse(now) + 10_000).toISOString();
    const items = [{ job: 'waiting-list', failures: 1, reason: 'test', failed: now, retry }];
    for (const caller of [operator, practice])
      assert.deepEqual((await act(caller, 'job list', firm)).json, { items, more: false });
    await act(operator, 'job release', [...firm, 'waiting-list']);
    assert.deepEqual((await act(operator, 'job list', firm)).json, { items: [], more: false });
    const again = await operator.ask('POST', '/environments/sandbox/firms/maple/jobs/waiting-list/release');
    assert.equal(again.status, 404, again.text);
  });
}
