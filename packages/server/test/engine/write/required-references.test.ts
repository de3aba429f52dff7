/** Where a firm has set so, a write that refers to what does not exist there is refused (docs/decisions/0247). */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { setRequiredReferences } from '../../../src/tenancy/firms.ts';
import { patient } from '../../support/records.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const firm = await makeFirm(service, 'maple');
const callerOf = async (name: string, acl: string[]) =>
  await openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const all = await callerOf('Everything', ['acl/*']);
const blind = await callerOf('Blind', ['system/Flag.c']);
const limited = await callerOf('Limited', ['system/Flag.c', 'system/Patient.r?gender=female']);
const missing = 'Patient/does-not-exist';

function flag(reference: string): Record<string, unknown> {
  return { resourceType: 'Flag', status: 'active', code: { text: 'x' }, subject: { reference } };
}

async function made(type: string, body: Record<string, unknown>): Promise<string> {
  const answer = await all.send('POST', type, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.json.id;
}

const here = `Patient/${await made('Patient', patient('Stone', { gender: 'male' }))}`;
const gone = `Patient/${await made('Patient', patient('Gone'))}`;
const old = await made('Flag', flag(gone));
await all.send('DELETE', gone);

test('off unless set: a reference to nothing is stored', async () => {
  assert.equal((await all.send('POST', 'Flag', flag(missing))).status, 201);
  await setRequiredReferences(service.platform.database, firm, true);
});

test('create, update and patch are refused and name the reference, relative, absolute or of a version', async () => {
  for (const [reference, named] of [
    [missing, missing],
    [`${firm.base}/${missing}`, missing],
    [`${missing}/_history/1`, missing],
    [gone, gone],
  ] as const) {
    const answer = await all.send('POST', 'Flag', flag(reference));
    assert.equal(answer.status, 422, reference);
    assert.deepEqual(
      answer.json.issue.map((each: { diagnostics: string }) => each.diagnostics),
      [`${named} does not exist: this firm takes no reference to it`],
    );
    assert.equal(answer.json.issue[0].details.coding[0].code, 'rule-broken');
  }
  const id = await made('Flag', flag(here));
  assert.equal((await all.send('PUT', `Flag/${id}`, { ...flag(missing), id })).status, 422);
  const author = [{ op: 'add', path: '/author', value: { reference: 'Practitioner/nobody' } }];
  const patched = await all.send('PATCH', `Flag/${id}`, author, { 'content-type': 'application/json-patch+json' });
  assert.equal(patched.status, 422, patched.text);
  assert.equal((await all.get(`Flag/${id}`)).json.meta.versionId, '1');
});

test('what leads elsewhere, is there, or was stored before is taken', async () => {
  for (const reference of [
    here,
    `${firm.base}/${here}`,
    'https://elsewhere.example/Patient/1',
    'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a',
  ])
    assert.equal((await all.send('POST', 'Flag', flag(reference))).status, 201, reference);
  const again = await all.send('PUT', `Flag/${old}`, { ...flag(gone), id: old, status: 'inactive' });
  assert.equal(again.status, 200, again.text);
});

test('entries of a transaction exist for each other; what none of them makes does not, and nothing is stored', async () => {
  const urn = 'urn:uuid:61ebe359-bfdc-4613-8bf2-c5e300945f0a';
  const bundle = (...references: string[]) => ({
    resourceType: 'Bundle',
    type: 'transaction',
    entry: [
      ...references.map((reference) => ({ resource: flag(reference), request: { method: 'POST', url: 'Flag' } })),
      { fullUrl: urn, resource: patient('New'), request: { method: 'POST', url: 'Patient' } },
    ],
  });
  const whole = await all.send('POST', '', bundle(urn, here));
  assert.equal(whole.status, 200, whole.text);
  const before = (await all.get('Patient?family=New&_summary=count')).json.total;
  const refused = await all.send('POST', '', bundle(urn, missing));
  assert.equal(refused.status, 422);
  assert.match(refused.text, /Patient\/does-not-exist does not exist/);
  assert.equal((await all.get('Patient?family=New&_summary=count')).json.total, before);
});

test('whoever may not read every row of the type learns nothing: there, hidden, deleted or missing, it is stored', async () => {
  for (const caller of [blind, limited]) {
    for (const reference of [here, gone, missing]) {
      const { status, text } = await caller.send('POST', 'Flag', flag(reference));
      assert.equal(status, 201, `${reference}: ${text}`);
    }
  }
});

test('more references than are looked up for one write are refused', async () => {
  const entry = Array.from({ length: 1_001 }, (_, number) => ({ item: { reference: `Patient/none-${number}` } }));
  const answer = await all.send('POST', 'List', { resourceType: 'List', status: 'current', mode: 'working', entry });
  assert.equal(answer.status, 422);
  assert.equal(answer.json.issue[0].details.coding[0].code, 'too-costly');
});
