/** A page whose texts are larger than the budget's bytes is refused, and smaller pages are answered (docs/decisions/0224). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tooCostly } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

/** 16 of them are more than 64 MiB. */
const data = Buffer.alloc(3_300_000).toString('base64');
for (let at = 0; at < 16; at += 1) {
  const id = `large-${at}`;
  const photo = [{ contentType: 'image/png', data }];
  assert.equal((await caller.send('PUT', `Patient/${id}`, { resourceType: 'Patient', id, photo })).status, 201);
}

test('a page of more bytes than the budget is 422, of a search and of a record', async () => {
  const diagnostics =
    'The page of resources costs more than one request may: the limit is 67108864 bytes. Nothing was changed. To make it cheaper: ask for smaller pages (_count), or for some elements alone (_elements)';
  for (const query of ['Patient?_count=50', 'Patient/$everything?_count=50']) {
    const answer = await caller.get(query);
    assert.equal(answer.status, 422, query);
    assert.deepEqual(answer.json, tooCostly(diagnostics));
  }
});

test('a smaller page is answered', async () => {
  const page = await caller.get('Patient?_count=2');
  assert.equal(page.status, 200);
  assert.equal(page.json.entry.length, 2);
});
