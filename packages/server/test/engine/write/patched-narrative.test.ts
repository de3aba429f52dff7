/** What becomes of the narrative of a patched resource (engine/write/patched-narrative.ts). */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const acl = ['acl/pat_u', 'acl/pat_s_name_dob_gen'];
const restricted = await openCaller(service, await makeApplication(service, 'Restricted', acl, [maple]), maple);

const narrative = (status: string, words = 'Ada Stone') => ({
  status,
  div: `<div xmlns="http://www.w3.org/1999/xhtml"><p>${words}</p></div>`,
});

interface Tried {
  readonly answer: Answer;
  /** The narrative afterwards. */
  readonly text: unknown;
}

/** Patches a new patient that has a narrative of this status. */
async function patched(status: string, operations: readonly object[], caller: Caller = full): Promise<Tried> {
  const patient = { resourceType: 'Patient', active: true, name: [{ family: 'Stone' }], text: narrative(status) };
  const { id } = (await full.send('POST', 'Patient', patient)).json;
  const headers = { 'content-type': 'application/json-patch+json' };
  const answer = await caller.send('PATCH', `Patient/${id}`, operations, headers);
  return { answer, text: (await full.get(`Patient/${id}`)).json.text };
}

const rename = [{ op: 'replace', path: '/name', value: [{ family: 'Pebble' }] }];

test('what people wrote is not left beside changed data, nor taken away from those who can read it', async () => {
  const { answer, text } = await patched('additional', rename);
  assert.equal(answer.status, 422);
  assert.deepEqual(answer.json.issue[0].expression, ['text']);
  assert.match(answer.json.issue[0].diagnostics, /replace it in the same patch/);
  assert.deepEqual(text, narrative('additional'));
});

test('a caller who cannot read the narrative learns nothing of it: the same answer whatever its status', async () => {
  const answers: object[] = [];
  for (const status of ['additional', 'generated', 'empty']) {
    const { answer, text } = await patched(status, rename, restricted);
    const { id: _id, meta: _meta, ...shown } = answer.json;
    answers.push({ status: answer.status, shown });
    assert.deepEqual(text, status === 'empty' ? narrative('empty') : undefined);
  }
  const [first, ...more] = answers;
  assert.deepEqual(first, { status: 200, shown: { resourceType: 'Patient', name: [{ family: 'Pebble' }] } });
  for (const other of more) assert.deepEqual(other, first);
});

test('a narrative made from the data goes when they change', async () => {
  for (const status of ['generated', 'extensions']) {
    const { answer, text } = await patched(status, rename);
    assert.deepEqual([answer.status, answer.json.text, text], [200, undefined, undefined], status);
  }
});

test('a narrative stays when the patch brings it, when it is empty, and when no data change', async () => {
  const fresh = narrative('generated', 'Ada Pebble');
  const brought = await patched('additional', [...rename, { op: 'replace', path: '/text', value: fresh }]);
  assert.deepEqual([brought.answer.status, brought.text], [200, fresh]);
  assert.deepEqual((await patched('empty', rename)).text, narrative('empty'));
  const tag = [{ op: 'add', path: '/meta/tag', value: [{ system: 'urn:example:tag', code: 'seen' }] }];
  assert.deepEqual((await patched('additional', tag)).text, narrative('additional'));
  assert.deepEqual(
    (await patched('generated', [{ op: 'test', path: '/active', value: true }])).text,
    narrative('generated'),
  );
});
