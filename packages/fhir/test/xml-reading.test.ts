/** XML that is accepted, and the JSON that it stands for. https://hl7.org/fhir/R4/xml.html */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type JsonObject, parseJson, parseXml, validateResource } from '../src/index.ts';

const fhir = 'xmlns="http://hl7.org/fhir"';
const xhtml = 'xmlns="http://www.w3.org/1999/xhtml"';

function patient(inner: string): JsonObject {
  return parseXml(`<Patient ${fhir}>${inner}</Patient>`);
}

/** What stands inside a Patient → its JSON without the type, as text: key order and digits count. */
const readings: readonly (readonly [inner: string, json: string])[] = [
  ['', '{}'],
  ['<id value="a"/>', '{"id":"a"}'],
  ['<active value="true"/>', '{"active":true}'],
  ['<active value=" false&#x20;"/>', '{"active":false}'],
  ["<gender value='male'></gender>", '{"gender":"male"}'],
  ['<birthDate value="\n 1980-01-01\t"/>', '{"birthDate":"1980-01-01"}'],
  ['<multipleBirthInteger value="+2"/>', '{"multipleBirthInteger":2}'],
  // repetition and order
  ['<name><given value="A"/><given value="B"/></name>', '{"name":[{"given":["A","B"]}]}'],
  [
    '<name id="n"><family value="B"/></name><name><text value="C"/></name>',
    '{"name":[{"id":"n","family":"B"},{"text":"C"}]}',
  ],
  // strings keep white space; that of XML's lines becomes spaces unless it is written as a reference
  ['<name><text value="  a  "/></name>', '{"name":[{"text":"  a  "}]}'],
  ['<name><text value="a\r\nb\tc&#10;d&#9;e&#13;f"/></name>', '{"name":[{"text":"a b c\\nd\\te\\rf"}]}'],
  [
    '<name><text value="&lt;&gt;&amp;&quot;&apos;&#233;&#x1F600;&#0000000000065;&amp;lt;"/></name>',
    '{"name":[{"text":"<>&\\"\'é😀A&lt;"}]}',
  ],
  ["<name><text value='\"'/></name>", '{"name":[{"text":"\\""}]}'],
  // ids and extensions of primitive elements
  ['<birthDate id="b" value="1980"/>', '{"birthDate":"1980","_birthDate":{"id":"b"}}'],
  [
    '<birthDate><extension url="u"><valueCode value="unknown"/></extension></birthDate>',
    '{"_birthDate":{"extension":[{"url":"u","valueCode":"unknown"}]}}',
  ],
  [
    '<name><given value="A"/><given id="g"/><given value="C"/></name>',
    '{"name":[{"given":["A",null,"C"],"_given":[null,{"id":"g"},null]}]}',
  ],
  ['<name><given id="g"/><given id="h"/></name>', '{"name":[{"_given":[{"id":"g"},{"id":"h"}]}]}'],
  // resources inside a resource
  [
    '<contained><Organization><id value="o"/><name value="N"/></Organization></contained><contained><Practitioner/></contained>',
    '{"contained":[{"resourceType":"Organization","id":"o","name":"N"},{"resourceType":"Practitioner"}]}',
  ],
  // what is no part of the resource
  ['<!-- a --> <?b c?>\n<active value="true"><!-- d --></active>\t<!---->', '{"active":true}'],
  // the narrative as it stands
  [
    `<text><status value="generated"/><div ${xhtml} class='a'>\r\n <p>b &amp; <br/><!-- c --></p></div></text>`,
    `{"text":{"status":"generated","div":"<div xmlns=\\"http://www.w3.org/1999/xhtml\\" class='a'>\\r\\n <p>b &amp; <br/><!-- c --></p></div>"}}`,
  ],
  [`<text><div ${xhtml}/></text>`, '{"text":{"div":"<div xmlns=\\"http://www.w3.org/1999/xhtml\\"/>"}}'],
  // what the validator is to report
  ['<birthDat value="1980"/>', '{"birthDat":true}'],
  ['<name><constructor><a/></constructor></name>', '{"name":[{"constructor":true}]}'],
  ['<deceased value="true"/>', '{"deceased":true}'],
  ['<birthDate value=""/>', '{"birthDate":""}'],
  ['<multipleBirthInteger value="1.5"/>', '{"multipleBirthInteger":1.5}'],
  ['<multipleBirthInteger value="-0"/>', '{"multipleBirthInteger":-0}'],
];

test('elements are read by their definitions', () => {
  for (const [inner, json] of readings) {
    const expected = json === '{}' ? '{"resourceType":"Patient"}' : `{"resourceType":"Patient",${json.slice(1)}`;
    assert.equal(JSON.stringify(patient(inner)), expected, inner);
  }
});

test('decimals keep their digits', () => {
  for (const digits of [
    '1.00',
    '-0.0',
    '1e3',
    '1.5E-22',
    '0.1',
    '100',
    '12345678901234567890.123',
    '0.000000000000001',
  ]) {
    const text = `<Observation ${fhir}><valueQuantity><value value="${digits}"/></valueQuantity></Observation>`;
    assert.equal(JSON.stringify(parseXml(text)), `{"resourceType":"Observation","valueQuantity":{"value":${digits}}}`);
  }
});

test('a document may have a byte order mark, a declaration, comments around, and a prefix for FHIR', () => {
  const resource = { resourceType: 'Patient', active: true };
  const documents = [
    `\ufeff<?xml version="1.0" encoding="utf-8" standalone="no" ?>\n<!-- a --><?b?>\n<Patient ${fhir}><active value="true"/></Patient>\n<!-- c -->\n<?d e?>\n`,
    '<f:Patient xmlns:f="http://hl7.org/fhir"><f:active value="true"/></f:Patient>',
    '<f:Patient xmlns:f="http://hl7.org/fhir"><active xmlns="http://hl7.org/fhir" value="true"/></f:Patient >',
    `<Patient ${fhir} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://hl7.org/fhir http://example.org/evil.xsd"><active value="true"/></Patient>`,
  ];
  for (const text of documents) assert.deepEqual(parseXml(text), resource, text);
});

test('a narrative with a prefix, or with a namespace from outside, becomes one that stands alone', () => {
  const div = `<div ${xhtml}><p id="a">b<br/></p></div>`;
  const sources = [
    `<Patient ${fhir} xmlns:h="http://www.w3.org/1999/xhtml"><text><h:div><h:p id="a">b<h:br/></h:p></h:div></text></Patient>`,
    '<f:Patient xmlns:f="http://hl7.org/fhir" xmlns="http://www.w3.org/1999/xhtml"><f:text><div><p id="a">b<br/></p></div></f:text></f:Patient>',
  ];
  for (const text of sources) assert.deepEqual(parseXml(text), { resourceType: 'Patient', text: { div } }, text);
});

test('the validator names what XML had beside the definitions', () => {
  const rows: readonly (readonly [inner: string, problem: string])[] = [
    ['<birthDat value="1980"/>', 'Patient.birthDat: unknown element of Patient: did you mean birthDate?'],
    ['<name><famly value="B"/></name>', 'Patient.name[0].famly: unknown element of HumanName: did you mean family?'],
    ['<name/>', 'Patient.name[0]: may not be an empty object: leave the element out'],
    ['<birthDate value="80"/>', 'Patient.birthDate: "80" must be a date as YYYY, YYYY-MM or YYYY-MM-DD'],
    ['<gender value="m"/>', 'Patient.gender: "m" is not in the required value set'],
    ['<contained><Foo/></contained>', 'Patient.contained[0]: "Foo" is not a resource type'],
  ];
  for (const [inner, problem] of rows) {
    const [issue] = validateResource(patient(inner));
    assert.ok(issue?.diagnostics.startsWith(problem), `${issue?.diagnostics} for ${inner}`);
  }
  const [issue] = validateResource(parseXml(`<Foo ${fhir}><a value="1"/></Foo>`));
  assert.equal(issue?.rule, 'resource-type');
});

test('the same resource in JSON and XML is the same value', () => {
  const json = parseJson(
    '{"resourceType":"Bundle","type":"collection","entry":[{"fullUrl":"urn:uuid:a","resource":{"resourceType":"Parameters","parameter":[{"name":"a","resource":{"resourceType":"Basic"}},{"name":"b","valueDecimal":1.10}]},"response":{"status":"200","outcome":{"resourceType":"OperationOutcome"}}}]}',
  );
  const xml = parseXml(
    `<Bundle ${fhir}><type value="collection"/><entry><fullUrl value="urn:uuid:a"/><resource><Parameters><parameter><name value="a"/><resource><Basic/></resource></parameter><parameter><name value="b"/><valueDecimal value="1.10"/></parameter></Parameters></resource><response><status value="200"/><outcome><OperationOutcome/></outcome></response></entry></Bundle>`,
  );
  assert.equal(JSON.stringify(xml), JSON.stringify(json));
});
