/**
 * PATCH by HTTP: JSON Patch (RFC 6902) and FHIRPath Patch (https://hl7.org/fhir/R4/fhirpatch.html).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const jsonPatch = { 'content-type': 'application/json-patch+json' };
const patient = {
  resourceType: 'Patient',
  active: true,
  name: [
    { family: 'Stone', given: ['Ada', 'May'] },
    { use: 'nickname', given: ['Addie'] },
  ],
  telecom: [{ system: 'phone', value: '555-0100' }],
  birthDate: '1980-01-01',
  extension: [{ url: 'urn:example:weight', valueDecimal: 1.5 }],
};

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const acl = ['acl/pat_u', 'acl/pat_s_name_dob_gen'];
const restricted = await openCaller(service, await makeApplication(service, 'Restricted', acl, [maple]), maple);
const id = (await full.send('POST', 'Patient', patient)).json.id;

const change = (operations: unknown, caller = full, headers = {}): Promise<Answer> =>
  caller.send('PATCH', `Patient/${id}`, operations, { ...jsonPatch, ...headers });
const current = async (): Promise<Answer> => await full.get(`Patient/${id}`);

interface Denial {
  readonly body: unknown;
  readonly status: number;
  readonly says: RegExp;
}

const jsonDenials: Readonly<Record<string, Denial>> = {
  'no array': { body: {}, status: 400, says: /a JSON Patch is an array/ },
  'unknown op': { body: [{ op: 'merge', path: '/a' }], status: 400, says: /^Operation 1 must have op add, remove/ },
  'no pointer': { body: [{ op: 'remove', path: 'telecom' }], status: 400, says: /JSON pointer/ },
  'no value': { body: [{ op: 'add', path: '/active' }], status: 400, says: /\(add\) must have a value/ },
  __proto__: { body: [{ op: 'add', path: '/__proto__/x', value: 1 }], status: 400, says: /__proto__/ },
  'nothing there': {
    body: [{ op: 'remove', path: '/photo' }],
    status: 422,
    says: /^Operation 1 \(remove\) finds nothing at \/photo/,
  },
  'beyond the end': {
    body: [{ op: 'add', path: '/name/7', value: {} }],
    status: 422,
    says: /beyond the end of a list of 2/,
  },
  'another value': {
    body: [{ op: 'test', path: '/active', value: false }],
    status: 422,
    says: /tests for another value/,
  },
  'moved into itself': { body: [{ op: 'move', from: '/name', path: '/name/0' }], status: 400, says: /into itself/ },
  'another id': { body: [{ op: 'replace', path: '/id', value: 'other' }], status: 422, says: /id/ },
  'another type': {
    body: [{ op: 'replace', path: '/resourceType', value: 'Group' }],
    status: 400,
    says: /resourceType/,
  },
  'no resource but a list': { body: [{ op: 'replace', path: '', value: [patient] }], status: 400, says: /resource/ },
  'no resource but null': { body: [{ op: 'replace', path: '', value: null }], status: 400, says: /null/ },
  'no resource but a number': { body: [{ op: 'replace', path: '', value: 1.5 }], status: 400, says: /resource/ },
  'an invalid resource': { body: [{ op: 'add', path: '/gender', value: 'nobody' }], status: 400, says: /gender/ },
  'a failure after a success': {
    body: [
      { op: 'remove', path: '/active' },
      { op: 'remove', path: '/active' },
    ],
    status: 422,
    says: /^Operation 2/,
  },
};

for (const [name, { body, status, says }] of Object.entries(jsonDenials)) {
  test(`JSON Patch is refused and changes nothing: ${name}`, async () => {
    const before = await current();
    const answer = await change(body);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.json.issue[0].diagnostics, says);
    assert.equal((await current()).text, before.text);
  });
}

const operation = (part: readonly object[]) => ({
  resourceType: 'Parameters',
  parameter: [{ name: 'operation', part }],
});
const named = (type: string, path: string, ...rest: object[]) =>
  operation([{ name: 'type', valueCode: type }, { name: 'path', valueString: path }, ...rest]);

const pathDenials: Readonly<Record<string, Denial>> = {
  'no operation': {
    body: { resourceType: 'Parameters' },
    status: 400,
    says: /a parameter "operation" for each change/,
  },
  'another resource': { body: { resourceType: 'Patient' }, status: 400, says: /^The body is no FHIRPath Patch, / },
  'a JSON Patch by another Content-Type': {
    body: [{ op: 'remove', path: '/active' }],
    status: 400,
    says: /a JSON Patch has the Content-Type application\/json-patch\+json$/,
  },
  'unknown type': { body: named('merge', 'Patient'), status: 400, says: /must have type add, insert/ },
  'no path': { body: operation([{ name: 'type', valueCode: 'delete' }]), status: 400, says: /must have a path/ },
  'unreadable path': { body: named('delete', 'Patient.name['), status: 400, says: /path that cannot be read/ },
  'several elements': {
    body: named('replace', 'Patient.name.given', { name: 'value', valueString: 'x' }),
    status: 422,
    says: /selects several/,
  },
  'no element': {
    body: named('replace', 'Patient.deceased', { name: 'value', valueBoolean: true }),
    status: 422,
    says: /selects none/,
  },
  'unknown element': {
    body: named('add', 'Patient', { name: 'name', valueString: 'colour' }, { name: 'value', valueString: 'red' }),
    status: 422,
    says: /colour/,
  },
  'beyond the list': {
    body: named(
      'insert',
      'Patient.name',
      { name: 'index', valueInteger: 9 },
      { name: 'value', valueHumanName: { text: 'x' } },
    ),
    status: 422,
    says: /beyond the end/,
  },
};

for (const [name, { body, status, says }] of Object.entries(pathDenials)) {
  test(`FHIRPath Patch is refused and changes nothing: ${name}`, async () => {
    const before = await current();
    const answer = await full.send('PATCH', `Patient/${id}`, body);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.json.issue[0].diagnostics, says);
    assert.equal((await current()).text, before.text);
  });
}

test('a body of another media type, a failed If-Match and an unknown resource are refused', async () => {
  assert.equal((await change([], full, { 'content-type': 'application/json' })).status, 415);
  assert.equal(
    (await change([{ op: 'add', path: '/active', value: false }], full, { 'if-match': 'W/"77"' })).status,
    412,
  );
  assert.equal((await full.send('PATCH', 'Patient/unknown', [], jsonPatch)).status, 404);
});

test('an element that may not be read can neither be tested, copied, moved, removed nor reached into', async () => {
  const guesses = [
    { op: 'test', path: '/telecom/0/value', value: '555-0100' },
    { op: 'test', path: '/telecom/0/value', value: '555-0199' },
    { op: 'remove', path: '/telecom' },
    { op: 'remove', path: '/photo' },
    { op: 'replace', path: '/telecom', value: [] },
    { op: 'copy', from: '/telecom/0/value', path: '/name/0/text' },
    { op: 'move', from: '/telecom', path: '/name' },
    { op: 'add', path: '/telecom/-', value: {} },
    { op: 'test', path: '', value: {} },
  ];
  const before = await current();
  for (const guess of guesses) {
    const answer = await change([guess], restricted);
    assert.equal(answer.status, 403, JSON.stringify(guess));
    assert.match(answer.headers.get('www-authenticate') ?? '', /insufficient_scope/);
  }
  const byPath = [
    named('delete', 'Patient.telecom'),
    named('replace', "Patient.telecom.where(value='555-0100').value", { name: 'value', valueString: 'x' }),
  ];
  for (const body of byPath) assert.equal((await restricted.send('PATCH', `Patient/${id}`, body)).status, 403);
  assert.equal((await current()).text, before.text);
});

test('a path cannot reach around the element it begins with', async () => {
  const value = { name: 'value', valueString: 'x' };
  const around = named('replace', "Patient.name.where(%resource.telecom.value='555-0100').family", value);
  assert.equal((await restricted.send('PATCH', `Patient/${id}`, around)).status, 400);
  const union = named('replace', 'Patient.name.family | Patient.telecom.value', value);
  assert.equal((await restricted.send('PATCH', `Patient/${id}`, union)).status, 403);
});

test('JSON Patch changes what it names, keeps decimals, answers with the new version', async () => {
  const answer = await change([
    { op: 'test', path: '/extension/0/valueDecimal', value: 1.5 },
    { op: 'add', path: '/telecom/-', value: { system: 'email', value: 'ada@example.com' } },
    { op: 'remove', path: '/name/1' },
    { op: 'replace', path: '/name/0/given/1', value: 'June' },
    { op: 'copy', from: '/name/0/family', path: '/name/0/text' },
  ]);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json.name, [{ family: 'Stone', given: ['Ada', 'June'], text: 'Stone' }]);
  assert.equal(answer.json.telecom.length, 2);
  assert.equal(answer.headers.get('etag'), `W/"${answer.json.meta.versionId}"`);
  assert.equal((await current()).text, answer.text);
});

test('a blind change of a hidden element is allowed, and the answer shows only what may be read', async () => {
  const answer = await change([{ op: 'add', path: '/active', value: false }], restricted);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.json).sort(), ['birthDate', 'id', 'meta', 'name', 'resourceType']);
  assert.equal((await current()).json.active, false);
});

test('FHIRPath Patch adds, inserts, replaces, moves and deletes', async () => {
  const path = (body: object) => full.send('PATCH', `Patient/${id}`, body);
  const added = await path(
    named(
      'add',
      'Patient',
      { name: 'name', valueString: 'contact' },
      { name: 'value', part: [{ name: 'name', valueHumanName: { text: 'Kin' } }] },
    ),
  );
  assert.deepEqual(added.json.contact, [{ name: { text: 'Kin' } }]);
  const choice = await path(
    named('add', 'Patient', { name: 'name', valueString: 'deceased' }, { name: 'value', valueBoolean: false }),
  );
  assert.equal(choice.json.deceasedBoolean, false);
  const replaced = await path(named('replace', 'Patient.deceased', { name: 'value', valueDateTime: '2026-01-01' }));
  assert.equal(replaced.json.deceasedBoolean, undefined);
  assert.equal(replaced.json.deceasedDateTime, '2026-01-01');
  const inserted = await path(
    named(
      'insert',
      'Patient.name',
      { name: 'index', valueInteger: 0 },
      { name: 'value', valueHumanName: { text: 'First' } },
    ),
  );
  assert.equal(inserted.json.name[0].text, 'First');
  const moved = await path(
    named('move', 'Patient.name', { name: 'source', valueInteger: 0 }, { name: 'destination', valueInteger: 1 }),
  );
  assert.equal(moved.json.name[1].text, 'First');
  const deep = await path(
    named('replace', "Patient.name.where(text='First').text", { name: 'value', valueString: 'Changed' }),
  );
  assert.equal(deep.json.name[1].text, 'Changed');
  const gone = await path(named('delete', 'Patient.contact[0]'));
  assert.equal(gone.json.contact, undefined);
  const nothing = await path(named('delete', 'Patient.photo'));
  assert.equal(nothing.status, 200);
});

test('Prefer: return=minimal leaves the body out', async () => {
  const answer = await change([{ op: 'add', path: '/active', value: true }], full, { prefer: 'return=minimal' });
  assert.equal(answer.status, 200);
  assert.equal(answer.text, '');
});
