/**
 * R4's own invariants on every write: what breaks one is refused, by whatever way it comes, unless the stored version broke it
 * already (docs/decisions/0254). Which rules those are: packages/fhir/test/invariants.test.ts.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { assertRefused } from '../../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const lenient = await openCaller(
  service,
  await makeApplication(service, 'Lenient', ['acl/*'], [maple], { lenientInvariants: true }),
  maple,
);
const jsonPatch = { 'content-type': 'application/json-patch+json' };
const outcome = { prefer: 'return=OperationOutcome' };

const reversed = { start: '2026-12-31', end: '2026-01-01' };
const patient = (more: object = {}) => ({ resourceType: 'Patient', name: [{ family: 'Quill' }], ...more });
const contactless = [{ gender: 'male' }];
const pat1 = (index: number) => ({
  error: 'invariant-broken',
  issue: 'invariant',
  diagnostics: `Patient.contact[${index}]: SHALL at least contain a contact's details or a reference to an organization (pat-1)`,
  expression: [`Patient.contact[${index}]`],
});
const per1 = (path: string) => ({
  error: 'invariant-broken',
  issue: 'invariant',
  diagnostics: `${path}: If present, start SHALL have a lower value than end (per-1)`,
  expression: [path],
});

/** Of a resource that another application was allowed to store. */
async function storeBroken(more: object): Promise<{ readonly path: string; readonly stored: object }> {
  const answer = await lenient.send('POST', 'Patient', patient(more));
  assert.equal(answer.status, 201, answer.text);
  return { path: `Patient/${answer.json.id}`, stored: answer.json };
}

const count = async (): Promise<number> => (await full.get('Patient?_summary=count')).json.total;

/** Key and severity of each issue but the first. */
function warningsOf({ status, json }: Answer): string[] {
  assert.ok(status < 300);
  const [first, ...rest] = json.issue;
  assert.deepEqual([first.severity, first.code], ['information', 'informational']);
  return rest.map(({ severity, code, diagnostics, expression }: Record<string, string>) => {
    const key = /\(([a-z]+-\d+)\)$/.exec(diagnostics ?? '')?.[1];
    return `${severity} ${code} ${key} ${expression}`;
  });
}

test('a create names every broken invariant with its element and R4’s words', async () => {
  const before = await count();
  const body = patient({ contact: contactless, name: [{ family: 'Quill', period: reversed }] });
  const refusal = { status: 422, ...per1('Patient.name[0].period'), more: [pat1(0)] };
  assertRefused(await full.send('POST', 'Patient', body), refusal);
  assertRefused(await full.send('POST', 'Patient', body, { 'if-none-exist': 'birthdate=1900-01-01' }), refusal);
  assertRefused(await full.send('PUT', 'Patient?birthdate=1900-01-01', body), refusal);
  assertRefused(await full.send('PUT', 'Patient/quill', { ...body, id: 'quill' }), refusal);
  assert.equal(await count(), before);
});

test('what is wrong with the structure comes first, and alone', async () => {
  const answer = await full.send('POST', 'Patient', patient({ contact: contactless, nonsense: 1 }));
  assert.deepEqual(
    [answer.status, answer.json.issue.map(({ expression }: { expression: string[] }) => expression[0])],
    [400, ['Patient.nonsense']],
  );
});

test('contained resources, Bundles and extensions of primitives are judged as well', async () => {
  const contained = [{ resourceType: 'Organization', id: 'o', address: [{ use: 'home' }], name: 'x' }];
  const inside = await full.send('POST', 'Patient', patient({ contained, managingOrganization: { reference: '#o' } }));
  assert.deepEqual([inside.status, inside.json.issue[0].expression], [422, ['Patient.contained[0].address[0]']]);
  const entry = [
    { fullUrl: 'urn:uuid:c757873d-ec9a-4326-a141-556f43239520', resource: patient({ contact: contactless }) },
  ];
  const bundle = await full.send('POST', 'Bundle', { resourceType: 'Bundle', type: 'collection', total: 1, entry });
  assert.equal(bundle.status, 422, bundle.text);
  assert.deepEqual(
    bundle.json.issue.map(({ expression }: { expression: string[] }) => expression[0]),
    ['Bundle', 'Bundle.entry[0].resource.contact[0]'],
  );
  const extension = [{ url: 'urn:example:period', valuePeriod: reversed }];
  const primitive = await full.send('POST', 'Patient', patient({ birthDate: '1980-01-01', _birthDate: { extension } }));
  assertRefused(primitive, { status: 422, ...per1('Patient.birthDate.extension[0].value') });
});

test('an entry of a batch fails alone, a transaction as a whole', async () => {
  const before = await count();
  const entry = [patient(), patient({ contact: contactless })].map((resource) => ({
    resource,
    request: { method: 'POST', url: 'Patient' },
  }));
  const batch = await full.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
  assert.deepEqual(
    batch.json.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3)),
    ['201', '422'],
  );
  const transaction = await full.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
  assert.equal(transaction.status, 422);
  assert.match(transaction.json.issue[0].diagnostics, /Patient\.contact\[0\]: .* \(pat-1\)$/);
  assert.equal(await count(), before + 1);
});

test('what the stored version broke is a warning of an update and a patch, what is new is refused', async () => {
  const { path, stored } = await storeBroken({ contact: contactless });
  const replaced = await full.send('PUT', path, { ...stored, active: true }, outcome);
  assert.deepEqual(warningsOf(replaced), ['warning invariant pat-1 Patient.contact[0]']);
  const change = [{ op: 'add', path: '/active', value: false }];
  assert.deepEqual(warningsOf(await full.send('PATCH', path, change, { ...jsonPatch, ...outcome })), [
    'warning invariant pat-1 Patient.contact[0]',
  ]);
  const worse = { ...stored, name: [{ family: 'Quill', period: reversed }] };
  assertRefused(await full.send('PUT', path, worse), { status: 422, ...per1('Patient.name[0].period') });
  const second = [{ op: 'add', path: '/contact/-', value: { gender: 'female' } }];
  assertRefused(await full.send('PATCH', path, second, jsonPatch), { status: 422, ...pat1(1) });
  assert.equal((await full.get(path)).json.meta.versionId, '3');
  const mended = [{ op: 'remove', path: '/contact' }];
  assert.equal((await full.send('PATCH', path, mended, jsonPatch)).status, 200);
  const again = [{ op: 'add', path: '/contact', value: contactless }];
  assertRefused(await full.send('PATCH', path, again, jsonPatch), { status: 422, ...pat1(0) });
});

test('an element that moves within its list is the same one', async () => {
  const { path, stored } = await storeBroken({ contact: contactless });
  const moved = { ...stored, contact: [{ name: { text: 'New' } }, ...contactless] };
  assert.equal((await full.send('PUT', path, moved)).status, 200);
});

test('a version that was deleted excuses nothing', async () => {
  const { path, stored } = await storeBroken({ contact: contactless });
  assert.equal((await full.send('DELETE', path)).status, 204);
  assertRefused(await full.send('PUT', path, stored), { status: 422, ...pat1(0) });
});

test('an application with the setting stores what is broken, and is told on request', async () => {
  const body = patient({ contact: contactless, name: [{ family: 'Quill', period: reversed }] });
  const warnings = ['warning invariant per-1 Patient.name[0].period', 'warning invariant pat-1 Patient.contact[0]'];
  const created = await lenient.send('POST', 'Patient', body, outcome);
  assert.deepEqual([created.status, warningsOf(created)], [201, warnings]);
  const plain = await lenient.send('POST', 'Patient', body);
  assert.deepEqual([plain.status, plain.json.contact], [201, contactless]);
  const worse = [{ op: 'add', path: '/contact/-', value: { gender: 'female' } }];
  const patched = await lenient.send('PATCH', `Patient/${plain.json.id}`, worse, { ...jsonPatch, ...outcome });
  assert.deepEqual(warningsOf(patched).length, 3);
});

test('$validate says the same of what a write refuses, and of what it lets pass', async () => {
  const { path } = await storeBroken({ contact: contactless });
  for (const asked of [
    await full.get(`${path}/$validate`),
    await full.send('POST', 'Patient/$validate?mode=create', patient({ contact: contactless })),
  ]) {
    const [issue] = asked.json.issue.filter(({ severity }: { severity: string }) => severity === 'error');
    assert.deepEqual(
      [issue.severity, issue.code, issue.diagnostics, issue.expression],
      ['error', 'invariant', pat1(0).diagnostics, pat1(0).expression],
    );
  }
});
