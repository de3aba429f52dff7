/**
 * $validate (https://hl7.org/fhir/R4/resource-operation-validate.html): who may ask, what every mode says, profiles of R4
 * and of the firm.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setOperatorRows } from '../../src/tenancy/authorisations.ts';
import { patient } from '../support/records.ts';
import { assertRefused, insufficientScope } from '../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { firmProfile } from './validate-profiles.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const caller = async (name: string, acl: readonly string[], firm = maple) =>
  openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const full = await caller('Full', ['acl/*']);
const elsewhere = await caller('Elsewhere', ['acl/*'], cedar);
const searcher = await caller('Searcher', ['acl/pat_s']);
const creator = await caller('Creator', ['acl/pat_c']);
const reader = await caller('Reader', ['acl/pat_r']);
const restricted = await caller('Restricted', ['acl/pat_s_name_dob_gen']);
const other = await caller('Other', ['acl/enc_s']);

const narrative = { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Stone</div>' };
const sound = { ...patient('Stone'), text: narrative };
const broken = { ...patient('Stone'), text: narrative, gender: 'none', contact: [{ gender: 'male' }], birthday: 'x' };
// Existing clients may still bring what breaks an invariant (docs/decisions/0254).
const lenient = await makeApplication(service, 'Lenient', ['acl/*'], [maple], { lenientInvariants: true });
const existing = await openCaller(service, lenient, maple);
const stored = (await existing.send('POST', 'Patient', { ...sound, contact: [{ gender: 'male' }] })).json.id;
const parameters = (resource: object | undefined, values: Readonly<Record<string, string>>) => ({
  resourceType: 'Parameters',
  parameter: [
    ...(resource === undefined ? [] : [{ name: 'resource', resource }]),
    ...Object.entries(values).map(([name, value]) =>
      name === 'profile' ? { name, valueUri: value } : { name, valueCode: value },
    ),
  ],
});

/** Severity, code, element and rule of each issue. */
function issuesOf(answer: Answer): string[] {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.resourceType, 'OperationOutcome');
  return answer.json.issue.map((issue: { severity: string; code: string; expression?: string[]; details?: Details }) =>
    [issue.severity, issue.code, ...(issue.expression ?? []), issue.details?.coding[0]?.code ?? ''].join(' ').trim(),
  );
}
interface Details {
  readonly coding: readonly { readonly code: string }[];
}

test('who may not do what a mode is about is refused', async () => {
  const refused = async (answer: Promise<Answer>) => {
    const { status, headers, json } = await answer;
    assert.deepEqual([status, json.issue[0].code], [403, 'forbidden']);
    assert.equal(headers.get('www-authenticate'), insufficientScope);
  };
  await refused(other.send('POST', 'Patient/$validate', sound));
  await refused(reader.send('POST', 'Patient/$validate', sound));
  await refused(searcher.send('POST', 'Patient/$validate?mode=create', sound));
  await refused(creator.send('POST', 'Patient/$validate?mode=update', sound));
  await refused(creator.send('GET', `Patient/${stored}/$validate?mode=delete`));
});

test('a type that only the server writes has no mode that writes', async () => {
  const event = { resourceType: 'AuditEvent' };
  for (const mode of ['create', 'update', 'delete']) {
    const answer = await full.send('POST', `AuditEvent/x/$validate?mode=${mode}`, event);
    assert.deepEqual([answer.status, answer.headers.get('allow')], [405, 'GET, HEAD'], mode);
  }
});

test('a stored resource is judged for those only who may read all of it', async () => {
  assert.deepEqual(issuesOf(await full.get(`Patient/${stored}/$validate`)), [
    'error invariant Patient.contact[0] pat-1',
  ]);
  assert.deepEqual(issuesOf(await searcher.get(`Patient/${stored}/$validate`)), [
    'error invariant Patient.contact[0] pat-1',
  ]);
  const answer = await restricted.get(`Patient/${stored}/$validate`);
  assert.equal(answer.status, 403);
  assert.doesNotMatch(answer.text, /contact/);
  const unknown = await elsewhere.get(`Patient/${stored}/$validate`);
  const absent = await elsewhere.get('Patient/absent/$validate');
  assert.equal(unknown.status, 404);
  assert.equal(unknown.text.replaceAll(stored, 'absent'), absent.text);
});

test('without issues there is one that says so', async () => {
  const answer = await creator.send('POST', 'Patient/$validate', sound);
  assert.equal(answer.status, 200);
  assert.deepEqual(answer.json, {
    resourceType: 'OperationOutcome',
    issue: [{ severity: 'information', code: 'informational', diagnostics: 'No issues were found' }],
  });
});

test('every issue is told, with the path of its element and the rule', async () => {
  const expected = [
    'error structure Patient.birthday unknown-element',
    'error code-invalid Patient.gender required-binding',
    'error invariant Patient.contact[0] pat-1',
  ];
  assert.deepEqual(issuesOf(await full.send('POST', 'Patient/$validate', broken)).sort(), expected.sort());
  const wrapped = await full.send('POST', 'Patient/$validate', parameters(broken, { mode: 'create' }));
  assert.deepEqual(issuesOf(wrapped).sort(), expected.sort());
  const [first] = wrapped.json.issue;
  assert.deepEqual(Object.keys(first), ['severity', 'code', 'details', 'diagnostics', 'expression']);
  assert.equal(first.details.text, first.diagnostics);
  assert.equal((await full.get('Patient?name=stone&_summary=count')).json.total, 1);
});

test('a resource of another type is an issue, too', async () => {
  const answer = await full.send('POST', 'Patient/$validate', { resourceType: 'Basic', code: { text: 'x' } });
  assert.deepEqual(issuesOf(answer), ['error structure Patient resource-type']);
});

test('mode create: the rows and the elements that the caller may create', async () => {
  const rows = await caller('Rows', ['system/Patient.c?gender=female']);
  const named = await makeApplication(service, 'Named', ['acl/pat_c'], [maple]);
  await setOperatorRows(service.platform.database, maple, named.application, { pat: { elements: ['name'] } });
  const elements = await openCaller(service, named, maple);
  const told = async (by: typeof full, body: object) => {
    const created = await by.send('POST', 'Patient', body);
    const { json } = await by.send('POST', 'Patient/$validate?mode=create', body);
    const errors = json.issue.filter(({ severity }: { severity: string }) => severity === 'error');
    return [created.status, created.json.issue?.[0].diagnostics, errors.map(errorOf)];
  };
  const errorOf = ({ code, diagnostics }: { code: string; diagnostics: string }) => `${code} ${diagnostics}`;
  const outside =
    'Creating Patient outside of the rows that the application may write (gender=female) needs acl/pat_c without such a limit';
  const [status, text, errors] = await told(rows, { ...sound, gender: 'male' });
  assert.ok(status === 403 && text.startsWith(outside));
  assert.deepEqual(errors, [`forbidden ${text}`]);
  assert.deepEqual(await told(rows, { ...sound, gender: 'female' }), [201, undefined, []]);
  const beyond =
    'Writing Patient.gender needs more than acl/pat_c reaches here (Patient.name); the operator of the service says which elements it reaches';
  assert.deepEqual(await told(elements, patient('Stone', { gender: 'male' })), [403, beyond, [`forbidden ${beyond}`]]);
  assert.deepEqual(await told(elements, patient('Stone')), [201, undefined, []]);
  const both = issuesOf(await rows.send('POST', 'Patient/$validate?mode=create', { ...broken, gender: 'male' }));
  assert.ok(both.length > 0 && both.every((issue) => !issue.includes('access-denied')));
});

test('mode update: the id, the target and the rows', async () => {
  const update = async (body: object, id = stored, by = full) =>
    issuesOf(await by.send('POST', `Patient/${id}/$validate?mode=update`, body));
  assert.deepEqual(await update({ ...sound, id: stored }), ['information informational']);
  assert.deepEqual(await update(sound), ['error value Patient.id id']);
  assert.deepEqual(await update({ ...sound, id: 'another' }), ['error value Patient.id id']);
  assert.deepEqual(await update({ ...sound, id: 'new-one' }, 'new-one'), ['information informational']);
  const updater = await caller('Updater', ['acl/pat_s', 'acl/pat_u']);
  assert.deepEqual(await update({ ...sound, id: 'new-one' }, 'new-one', updater), [
    'error not-found Patient resource-not-found',
  ]);
});

test('mode delete: nothing is sent, and nothing is deleted', async () => {
  assert.deepEqual(issuesOf(await full.get(`Patient/${stored}/$validate?mode=delete`)), ['information informational']);
  assert.equal((await full.get(`Patient/${stored}`)).status, 200);
  const absent = await full.get('Patient/absent/$validate?mode=delete');
  assert.match(absent.json.issue[0].diagnostics, /^Patient\/absent does not exist/);
  assert.equal((await full.send('POST', 'Patient/$validate?mode=delete', sound)).status, 400);
});

test('what is asked wrongly is refused with the name of the parameter', async () => {
  for (const [query, pattern] of [
    ['mode=other', /^mode must be one of create, update, delete, profile/],
    ['profile=', /^profile /],
    ['nonsense=1', /^nonsense /],
  ] as const) {
    const answer = await full.send('POST', `Patient/$validate?${query}`, sound);
    assert.equal(answer.status, 400, query);
    assert.match(answer.json.issue[0].diagnostics, pattern);
  }
  const without = await full.send('POST', 'Patient/$validate', parameters(undefined, { mode: 'create' }));
  assert.match(without.json.issue[0].diagnostics, /^resource is missing/);
});

test('an unknown profile is an error that names it', async () => {
  const profile = 'http://example.org/StructureDefinition/nowhere';
  assertRefused(await full.send('POST', `Patient/$validate?profile=${profile}`, sound), {
    status: 422,
    error: 'profile-unknown',
    issue: 'not-found',
    diagnostics: `profile ${profile} cannot be validated against: no StructureDefinition of this canonical URL is known here`,
    expression: ['profile'],
  });
  const stating = await full.send('POST', 'Patient/$validate', { ...sound, meta: { profile: [profile] } });
  assert.deepEqual(issuesOf(stating), ['warning not-found Patient.meta.profile[0] profile-unknown']);
});

test("the firm's own profile is found by those who may see it, and by no others", async () => {
  assert.equal((await full.send('POST', 'StructureDefinition', firmProfile)).status, 201);
  const ask = { ...sound, meta: { profile: [firmProfile.url] } };
  const rules = [
    'error required Patient.birthDate cardinality-min',
    'error value Patient.active fixed',
    'error invariant Patient own-1',
  ];
  const found = issuesOf(await full.send('POST', 'Patient/$validate', { ...ask, active: false }));
  assert.deepEqual(found.sort(), rules.sort());
  const byParameter = await full.send('POST', `Patient/$validate?profile=${firmProfile.url}|1.0`, {
    ...sound,
    active: true,
    birthDate: '1970-01-01',
    telecom: [{ system: 'phone', value: '1' }],
  });
  assert.deepEqual(issuesOf(byParameter), ['information informational']);
  assert.equal((await full.send('POST', `Patient/$validate?profile=${firmProfile.url}|2.0`, sound)).status, 422);
  const warning = ['warning not-found Patient.meta.profile[0] profile-unknown'];
  assert.deepEqual(issuesOf(await creator.send('POST', 'Patient/$validate', ask)), warning);
  assert.deepEqual(issuesOf(await elsewhere.send('POST', 'Patient/$validate', ask)), warning);
});

test('XML in, XML out', async () => {
  const body = '<Patient xmlns="http://hl7.org/fhir"><contact><gender value="male"/></contact></Patient>';
  const answer = await full.send('POST', 'Patient/$validate', body, {
    'content-type': 'application/fhir+xml',
    accept: 'application/fhir+xml',
  });
  assert.equal(answer.status, 200);
  assert.match(answer.text, /<expression value="Patient\.contact\[0\]"\/>/);
});

test('codes are looked up in the value sets that profiles bind: required is an error, extensible a warning', async () => {
  const quantity = (code: string) => ({ value: 80, unit: 'x', system: 'http://unitsofmeasure.org', code });
  const coding = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
  const vital = (code: string, unit: string) => ({
    resourceType: 'Observation',
    meta: { profile: ['http://hl7.org/fhir/StructureDefinition/vitalsigns'] },
    text: narrative,
    status: 'final',
    category: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
    ],
    code: coding(code),
    subject: { reference: `Patient/${stored}` },
    effectiveDateTime: '2026-11-20',
    component: [{ code: coding('8462-4'), valueQuantity: quantity(unit) }],
  });
  const ask = async (body: object) => issuesOf(await full.send('POST', 'Observation/$validate', body));
  assert.deepEqual(await ask(vital('8867-4', '/min')), ['information informational']);
  assert.deepEqual(await ask(vital('8867-4', 'furlong')), [
    'error code-invalid Observation.component[0].value binding',
  ]);
  assert.deepEqual(await ask(vital('718-7', '/min')), ['warning code-invalid Observation.code binding']);
});
