/** Resources whose values would fill more rows of the index than one may: 422 on every way in, and nothing is stored. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { assertRefused } from '../../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => ({ family: `Family${index}` }));
const many = { resourceType: 'Patient', id: 'many', name: namesOf(15_000) };

const refusal = (where: string, element: string, code: string) => ({
  status: 422,
  error: 'too-costly',
  issue: 'too-costly',
  diagnostics: `${where}${element} has more values for the search parameter ${code} than the index takes: 10000 rows at most for it. Nothing was changed. To make it cheaper: send fewer elements, or several resources`,
});

test('a Patient with 15,000 names is refused in JSON and XML, and named', async () => {
  const answer = await full.send('PUT', 'Patient/many', many);
  assertRefused(answer, { ...refusal('', 'Patient.name', 'name'), expression: ['Patient.name'] });
  const names = many.name.map(({ family }) => `<name><family value="${family}"/></name>`).join('');
  const xml = `<Patient xmlns="http://hl7.org/fhir"><id value="many"/>${names}</Patient>`;
  const inXml = await full.send('PUT', 'Patient/many', xml, {
    'content-type': 'application/fhir+xml',
    accept: 'application/fhir+json',
  });
  assert.equal(inXml.status, 422, inXml.text);
  assert.equal(inXml.json.issue[0].details.coding[0].code, 'too-costly');
  assert.equal((await full.get('Patient/many')).status, 404);
});

test('a patch and an entry of a transaction that would make it so are refused as well', async () => {
  const few = { ...many, name: namesOf(1_000) };
  assert.equal((await full.send('PUT', 'Patient/many', few)).status, 201);
  const patch = [{ op: 'replace', path: '/name', value: many.name }];
  const patched = await full.send('PATCH', 'Patient/many', patch, { 'content-type': 'application/json-patch+json' });
  assert.equal(patched.status, 422, patched.text);
  const entry = [
    { resource: { ...few, active: true }, request: { method: 'PUT', url: 'Patient/many' } },
    { resource: many, request: { method: 'POST', url: 'Patient' } },
  ];
  const bundled = await full.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry });
  assert.equal(bundled.status, 422, bundled.text);
  assert.match(bundled.json.issue[0].diagnostics, /^Bundle\.entry\[1\]: Patient\.name has more values/);
  assert.equal((await full.get('Patient/many')).json.meta.versionId, '1');
});

test('values of several parameters have a limit together', async () => {
  const telecom = Array.from({ length: 9_500 }, (_, index) => ({ system: 'phone', value: `${index}` }));
  const identifier = Array.from({ length: 9_500 }, (_, index) => ({ value: `I${index}` }));
  const answer = await full.send('POST', 'Patient', {
    resourceType: 'Patient',
    telecom,
    identifier,
    name: namesOf(2_000),
  });
  assert.equal(answer.status, 422, answer.text.slice(0, 500));
  assert.match(answer.json.issue[0].diagnostics, /30000 rows at most for it and those before it/);
});

test('an Observation with a thousand different units that are long is refused', async () => {
  const unitOf = (index: number): string => `${'m.'.repeat(37)}m${index + 1}`;
  const componentOf = (index: number): object => ({
    code: { text: 'x' },
    valueQuantity: { value: 1, system: 'http://unitsofmeasure.org', code: unitOf(index) },
  });
  const component = Array.from({ length: 1_000 }, (_, index) => componentOf(index));
  const answer = await full.send('POST', 'Observation', {
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    component,
  });
  assertRefused(answer, {
    status: 422,
    error: 'too-costly',
    issue: 'too-costly',
    diagnostics:
      'Reading the units of measure costs more than one request may: the limit is 2000000 steps of computing. Nothing was changed. To make it cheaper: send fewer different units, or several resources',
  });
});
