/** docs/integrate/contract.md#order-of-checks: 400 of XML and 422 of profiles, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { parseXml } from '@praxis/fhir';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const inXml = { 'content-type': 'application/fhir+xml', accept: 'application/fhir+json' };
const of = (elements: string): string => `<Patient xmlns="http://hl7.org/fhir">${elements}</Patient>`;

/** Body → error, issue type, diagnostics and path. */
const refusals: readonly (readonly [body: string, error: string, issue: string, says: string, at: string])[] = [
  [
    of('<active value="true">'),
    'xml-malformed',
    'structure',
    'Patient.active: </Patient> does not close <active> (line 1, column 59)',
    'Patient.active',
  ],
  [
    of('<shoeSize value="43"/>'),
    'resource-invalid',
    'structure',
    'Patient.shoeSize: unknown element of Patient',
    'Patient.shoeSize',
  ],
  [
    of('<birthDate value="1980-01-01"/><birthDate value="1981-01-01"/>'),
    'xml-malformed',
    'structure',
    'Patient.birthDate: birthDate stands twice: it has one value at most (line 1, column 69)',
    'Patient.birthDate',
  ],
  [
    of('<link><type value="refer"/></link>'),
    'resource-invalid',
    'required',
    'Patient.link[0].other: other is required (cardinality 1..1)',
    'Patient.link[0].other',
  ],
  [
    of('<active value="yes"/>'),
    'xml-malformed',
    'structure',
    'Patient.active: "yes" is no boolean: true or false (line 1, column 46)',
    'Patient.active',
  ],
  [
    of('<birthDate value="1980-02-30"/>'),
    'resource-invalid',
    'value',
    'Patient.birthDate: "1980-02-30" must be a day that exists: 1980-02 has 29 days',
    'Patient.birthDate',
  ],
  [
    of('<gender value="unclear"/>'),
    'resource-invalid',
    'code-invalid',
    'Patient.gender: "unclear" is not in the required value set http://hl7.org/fhir/ValueSet/administrative-gender: allowed is male, female, other, unknown',
    'Patient.gender',
  ],
];

test('settled statuses 400 of XML: malformed, unknown element, cardinality, type, required binding; nothing is stored', async () => {
  const before = await tenantRows(service.database.owner);
  for (const [body, error, issue, diagnostics, at] of refusals) {
    assertRefused(await full.send('POST', 'Patient', body, inXml), {
      status: 400,
      error,
      issue,
      diagnostics,
      expression: [at],
    });
  }
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('settled statuses 400 of XML: the refusal is the same in XML, for those who ask for that', async () => {
  const [body = ''] = refusals[0] ?? [];
  const json = await full.send('POST', 'Patient', body, inXml);
  const xml = await full.send('POST', 'Patient', body, { ...inXml, accept: 'application/fhir+xml' });
  assert.deepEqual([json.status, xml.status], [400, 400]);
  assert.equal(xml.headers.get('content-type'), 'application/fhir+xml; charset=utf-8');
  assert.deepEqual(JSON.parse(JSON.stringify(parseXml(xml.text))), json.json);
});

const profile = 'http://example.org/fhir/StructureDefinition/unheard-of';

test('settled statuses 422 of profiles: $validate with a profile that is not known', async () => {
  const answer = await full.send('POST', `Patient/$validate?profile=${profile}`, patient('Quill'));
  assertRefused(answer, {
    status: 422,
    error: 'profile-unknown',
    issue: 'not-found',
    diagnostics: `profile ${profile} cannot be validated against: no StructureDefinition of this canonical URL is known here`,
    expression: ['profile'],
  });
});

/** A body weight without its time, which the profile that it states requires. */
const timeless = {
  resourceType: 'Observation',
  meta: { profile: ['http://hl7.org/fhir/StructureDefinition/bodyweight'] },
  text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">70 kg</div>' },
  status: 'final',
  category: [
    { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
  ],
  code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] },
  subject: { reference: 'Patient/1' },
  valueQuantity: { value: 70, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
};

test('settled statuses 422 of profiles: $validate tells what does not conform; a write is not judged by it', async () => {
  const judged = await full.send('POST', 'Observation/$validate', timeless);
  const diagnostics = `Observation.effective: is required (cardinality 1..1): there are 0 [${timeless.meta.profile[0]}]`;
  const rule = { system: 'https://praxis.health/fhir/CodeSystem/validation-rule', code: 'cardinality-min' };
  assert.equal(judged.status, 200);
  assert.deepEqual(judged.json, {
    resourceType: 'OperationOutcome',
    issue: [
      {
        severity: 'error',
        code: 'required',
        details: { coding: [rule], text: diagnostics },
        diagnostics,
        expression: ['Observation.effective'],
      },
    ],
  });
  const created = await full.send('POST', 'Observation', timeless);
  assert.equal(created.status, 201);
  const meta = { ...timeless.meta, versionId: '1', lastUpdated: '2026-11-21T09:30:00.000Z' };
  assert.deepEqual(created.json, { ...timeless, id: created.json.id, meta });
});
