/**
 * Bodies in XML that are refused: hostile, broken, in another shape than FHIR's. Nothing is written, nothing is fetched or
 * expanded, and the refusal comes in the format that was asked for.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { parseXml } from '@praxis/fhir';
import { assertRefused } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const operator = await makeApplication(service, 'Operator', ['acl/*'], [maple]);
const { send } = await openCaller(service, operator, maple);

const open = '<Patient xmlns="http://hl7.org/fhir">';
const close = '</Patient>';
const xml = { 'content-type': 'application/fhir+xml' };
const xmlForJson = { ...xml, accept: 'application/fhir+json' };

async function assertUnchanged(work: () => Promise<void>): Promise<void> {
  const before = await tenantRows(service.database.owner);
  await work();
  assert.deepEqual(await tenantRows(service.database.owner), before);
}

/** body → diagnostics and path of the 400 */
const malformed: readonly (readonly [body: string, diagnostics: string, path?: string])[] = [
  [
    `<!DOCTYPE Patient SYSTEM "file:///etc/passwd">${open}${close}`,
    'a DOCTYPE is not accepted: a FHIR resource has no DTD (line 1, column 1)',
  ],
  [
    `<?xml version="1.0"?>\n<!DOCTYPE Patient [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n${open}<id value="&x;"/>${close}`,
    'a DOCTYPE is not accepted: a FHIR resource has no DTD (line 2, column 1)',
  ],
  [
    `<!DOCTYPE l [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>${open}<id value="&c;"/>${close}`,
    'a DOCTYPE is not accepted: a FHIR resource has no DTD (line 1, column 1)',
  ],
  [
    `${open}<birthDate value="&xxe;"/>${close}`,
    'Patient: the entity &xxe; is not accepted: "&" must begin &amp; &lt; &gt; &quot; &apos; or a character number (line 1, column 56)',
    'Patient',
  ],
  [`${open}`, 'Patient: <Patient> is not closed: found the end of the text (line 1, column 38)', 'Patient'],
  ['', 'an element is expected: "<" (line 1, column 1)'],
  ['{"resourceType":"Patient"}', 'an element is expected: "<" (line 1, column 1)'],
  ['<Patient/>', '<Patient> must be in the namespace "http://hl7.org/fhir", not none (line 1, column 1)'],
  [
    `<?xml version="1.0" encoding="ISO-8859-1"?>${open}${close}`,
    'the encoding must be UTF-8, not ISO-8859-1 (line 1, column 1)',
  ],
  [
    `${open}<name><given value="A"/><family value="B"/></name>${close}`,
    'Patient.name[0].family: must stand before given: elements have the order of the definition (line 1, column 62)',
    'Patient.name[0].family',
  ],
  [
    `${open}\n  <birthDate>1980-01-01</birthDate>${close}`,
    'Patient.birthDate: text is not allowed here: a value stands in the attribute "value" (line 2, column 14)',
    'Patient.birthDate',
  ],
  [
    `${open}<active value="yes"/>${close}`,
    'Patient.active: "yes" is no boolean: true or false (line 1, column 46)',
    'Patient.active',
  ],
  [
    `${open}${'<extension>'.repeat(65)}`,
    `Patient${'.extension[0]'.repeat(64)}: elements may be nested 64 deep at most (line 1, column 731)`,
    `Patient${'.extension[0]'.repeat(64)}`,
  ],
];

test('XML that is hostile or broken is 400 with line and column, and changes nothing', async () => {
  await assertUnchanged(async () => {
    for (const [body, diagnostics, path] of malformed) {
      assertRefused(await send('POST', 'Patient', body, xmlForJson), {
        status: 400,
        error: 'xml-malformed',
        issue: 'structure',
        diagnostics,
        ...(path === undefined ? {} : { expression: [path] }),
      });
    }
  });
});

test('what the definitions do not have, or a format does not allow, is 400 with every path', async () => {
  await assertUnchanged(async () => {
    const body = `${open}<foo><bar value="1"/></foo><name><famly value="A"/></name><gender value="m"/><birthDate value="80"/>${close}`;
    const answer = await send('POST', 'Patient', body, xmlForJson);
    assert.equal(answer.status, 400);
    const found = answer.json.issue.map(({ details, expression }: Issue) => [details.coding[0]?.code, ...expression]);
    assert.deepEqual(found, [
      ['resource-invalid', 'Patient.foo'],
      ['resource-invalid', 'Patient.name[0].famly'],
      ['resource-invalid', 'Patient.gender'],
      ['resource-invalid', 'Patient.birthDate'],
    ]);
  });
});

interface Issue {
  readonly details: { readonly coding: readonly { readonly code: string }[] };
  readonly expression: readonly string[];
}

test('another type, another id, a narrative with scripts: refused as in JSON', async () => {
  await assertUnchanged(async () => {
    const observation = '<Observation xmlns="http://hl7.org/fhir"/>';
    const mismatch = await send('POST', 'Patient', observation, xmlForJson);
    assert.equal(mismatch.json.issue[0].details.coding[0].code, 'resource-type-mismatch');
    const unknown = await send('POST', 'Patient', '<Foo xmlns="http://hl7.org/fhir"/>', xmlForJson);
    assert.equal(unknown.json.issue[0].details.coding[0].code, 'resource-type-mismatch');
    const id = await send('PUT', 'Patient/one', `${open}<id value="two"/>${close}`, xmlForJson);
    assert.equal(id.json.issue[0].details.coding[0].code, 'resource-id-mismatch');
    const div = '<div xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></div>';
    const script = await send(
      'POST',
      'Patient',
      `${open}<text><status value="generated"/>${div}</text>${close}`,
      xmlForJson,
    );
    assert.deepEqual(script.json.issue[0].expression, ['Patient.text.div']);
  });
});

test('XML in another encoding or of another version of FHIR is 415', async () => {
  await assertUnchanged(async () => {
    for (const [type, diagnostics] of [
      ['application/fhir+xml; charset=utf-16', 'Content-Type must not name a charset other than UTF-8'],
      ['text/xml; charset=iso-8859-1', 'Content-Type must not name a charset other than UTF-8'],
      ['application/fhir+xml; fhirVersion=3.0', 'Content-Type must not name a fhirVersion other than 4.0'],
    ] as const) {
      const answer = await send('POST', 'Patient', open + close, { 'content-type': type, accept: 'application/json' });
      assert.equal(answer.status, 415, type);
      assert.equal(answer.json.issue[0].diagnostics, diagnostics);
    }
  });
});

test('a refusal of XML is answered in XML where nothing else is asked for, and in what is asked for', async () => {
  for (const [headers, isXml] of [
    [xml, true],
    [{ ...xml, accept: '*/*' }, true],
    [{ ...xml, accept: 'application/fhir+json, */*;q=0.5' }, false],
    [{ 'content-type': 'application/fhir+json', accept: 'text/html, application/xml' }, true],
  ] as const) {
    const answer = await send('POST', 'Patient', '<', headers);
    assert.equal(answer.status, 400);
    assert.match(answer.headers.get('content-type') ?? '', isXml ? /xml/ : /json/);
    const outcome = isXml ? parseXml(answer.text) : answer.json;
    assert.equal(outcome.resourceType, 'OperationOutcome');
  }
});
