/**
 * What one request reads has a limit in bytes: pages end there, and what has no pages is refused (docs/decisions/0224, 0266).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tooCostly } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

/** 16 of them are more than 64 MiB. */
const note = Array.from({ length: 5 }, () => ({ text: 'x'.repeat(900_000) }));
assert.equal((await caller.send('PUT', 'Patient/p', { resourceType: 'Patient', id: 'p' })).status, 201);
for (let at = 0; at < 16; at += 1) {
  const id = `large-${at}`;
  const subject = { reference: 'Patient/p' };
  const observation = { resourceType: 'Observation', id, status: 'final', code: { text: id }, subject, note };
  assert.equal((await caller.send('PUT', `Observation/${id}`, observation)).status, 201);
}

test('what has no pages is 422 beyond the bytes of the budget', async () => {
  const diagnostics =
    'The page of resources costs more than one request may: the limit is 67108864 bytes. Nothing was changed. To make it cheaper: ask for smaller pages (_count), or for some elements alone (_elements)';
  const answer = await caller.get('Observation/$lastn?patient=Patient/p&code:text=large');
  assert.equal(answer.status, 422);
  assert.deepEqual(answer.json, tooCostly(diagnostics));
});

test('a page of a search and of a record ends early, and a smaller one is whole', async () => {
  for (const query of ['Observation?_count=50', 'Patient/$everything?_count=50']) {
    const page = await caller.get(query);
    assert.equal(page.status, 200, query);
    assert.ok(page.json.entry.length < 16, query);
    assert.ok(
      page.json.link.some(({ relation }: { relation: string }) => relation === 'next'),
      query,
    );
  }
  const page = await caller.get('Observation?_count=1');
  assert.equal(page.status, 200);
  assert.equal(page.json.entry.length, 1);
});
