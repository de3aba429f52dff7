/**
 * The official examples of the types that may wait: what is accepted is stored as it was sent, by POST and by PUT, and the
 * version that an accepted PUT makes differs from the one before in what was proposed alone (docs/decisions/0197).
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { intakeTypes } from '../../../src/practice/intake/proposing.ts';
import { type Example, examplesOf } from '../../access/official-examples.ts';
import { openAdministrator } from '../../admin/world.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Portal', ['acl/*'], [maple]);
const portal = await openCaller(service, application, maple);
const desk = await openAdministrator(service, 'desk', 'practice', { firm: 'maple' });
const admin = '/environments/sandbox/firms/maple';
for (const type of Object.keys(intakeTypes))
  assert.equal((await desk.ask('PUT', `${admin}/intake-rules/${type}/*`)).status, 204);

type Json = Record<string, unknown>;

/** The resource that the write becomes when all of it is accepted, and the number of its proposal. */
async function accepted(method: string, path: string, body: Json): Promise<{ task: string; resource: Json }> {
  const answer = await portal.send(method, path, body);
  assert.equal(answer.status, 202, answer.text);
  const task = answer.headers.get('location')?.split('/').at(-1) ?? '';
  const done = await desk.ask('PUT', `${admin}/intake/${task}`, { rest: 'accept' });
  assert.deepEqual([done.status, done.json.status], [200, 'accepted'], done.text);
  return { task, resource: (await portal.get(done.json.resource)).json };
}

function withNumbers(content: Json, tasks: readonly string[]): Json {
  const own = tasks.map((value) => ({ system: 'https://praxis.health/fhir/sid/reconciliation', value }));
  const given = Array.isArray(content['identifier']) ? content['identifier'] : [];
  return { ...content, identifier: [...given, ...own] };
}

/** Without what the server gives it. */
function contentOf({ id: _id, meta: _meta, ...content }: Json): Json {
  return content;
}

for (const type of Object.keys(intakeTypes)) {
  const examples: readonly Example[] = examplesOf(type);
  test(`${type}: ${examples.length} examples`, async () => {
    assert.ok(examples.length > 1);
    for (const { file, text } of examples) {
      const sent = contentOf(JSON.parse(text));
      const first = await accepted('POST', type, sent);
      const order = type === 'Coverage' && sent['order'] === undefined ? { order: 1 } : {};
      const stored = contentOf(first.resource);
      assert.deepEqual(stored, withNumbers({ ...sent, ...order }, [first.task]), file);
      const { id } = first.resource;
      const changed = { ...sent, ...order, id, language: 'en', text: undefined };
      const second = await accepted('PUT', `${type}/${id}`, changed);
      const expected = { ...sent, ...order, language: 'en' };
      delete (expected as Json)['text'];
      assert.deepEqual(contentOf(second.resource), withNumbers(expected, [first.task, second.task]), file);
    }
  });
}
