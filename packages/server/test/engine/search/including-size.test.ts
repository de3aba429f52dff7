/**
 * What comes with a page has a limit in bytes, too: a thousand resources of some megabytes would be more than a process holds.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { includedBytesMax } from '../../../src/search/includes/include-limits.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const length = 4_000_000;
const fitting = Math.floor(includedBytesMax / length);
const notes = Array.from({ length: 20 }, () => ({ text: 'x'.repeat(length / 20) }));
const long = (id: string, subject: string) => ({
  resourceType: 'Basic',
  id,
  code: { coding: notes.map(({ text }) => ({ display: text })) },
  subject: { reference: subject },
});

test('included resources take 32 MiB at most, and the answer says when that left something out', async () => {
  for (const id of ['few', 'many']) await full.send('PUT', `Patient/${id}`, { ...patient('Stone'), id });
  for (let number = 0; number <= fitting; number += 1) {
    const subject = number < 2 ? 'Patient/few' : 'Patient/many';
    assert.equal((await full.send('PUT', `Basic/b${number}`, long(`b${number}`, subject))).status, 201);
  }
  const included = async (query: string) => {
    const { status, json } = await full.get(`Patient?${query}&_revinclude=Basic:subject`);
    assert.equal(status, 200);
    return json.entry.map(({ search, resource }: { search: { mode: string }; resource: { id: string } }) =>
      search.mode === 'outcome' ? resource : `${search.mode} ${resource.id}`,
    );
  };
  assert.deepEqual(await included('_id=few'), ['match few', 'include b0', 'include b1']);
  const both = await included('_id=few,many&_sort=_id');
  const outcome = both.pop();
  assert.deepEqual(both, ['match few', 'match many', ...Array.from({ length: fitting }, (_, at) => `include b${at}`)]);
  assert.equal(outcome.issue[0].code, 'too-costly');
  assert.match(
    outcome.issue[0].diagnostics,
    /^The resources that would be included with this page take more than 33554432 bytes/,
  );
});
