import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '../src/json.ts';
import { validateResource } from '../src/validate.ts';
import { assertDecisions } from './decision-table.ts';

test('extensions and required bindings: each fault is named with path, rule, code and words', () => {
  assertDecisions(`
# extensions
{"resourceType":"Patient","extension":[{"valueString":"a"}]}
  Patient.extension[0].url | cardinality-min | required | url is required (cardinality 1..1)
{"resourceType":"Patient","extension":[{"url":"http://example.org/a"}]}
  Patient.extension[0] | extension | extension | must have a value or extensions (ext-1)
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueString":"a","extension":[{"url":"b","valueString":"c"}]}]}
  Patient.extension[0] | extension | extension | may have a value or extensions, not both (ext-1)
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueString":"a","valueCode":"b"}]}
  Patient.extension[0].value | choice | structure | may have one type only: valueString and valueCode are both present
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","value":"a"}]}
  Patient.extension[0].value | choice | structure | value needs the suffix of its type: 50 are, valueBase64Binary for instance
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueBackboneElement":{}}]}
  Patient.extension[0].value | choice | structure | valueBackboneElement has a type that is not allowed: 50 are, valueBase64Binary for instance
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","valueXhtml":"<div/>"}]}
  Patient.extension[0].value | choice | structure | valueXhtml has a type that is not allowed: 50 are, valueBase64Binary for instance
{"resourceType":"Patient","extension":[{"url":"a","valueString":"a"}]}
  Patient.extension[0].url | extension | extension | "a" must be an absolute URL: only extensions inside extensions have short ones
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","extension":[{"url":"b","valueAddress":{"city":"X","extension":[{"url":"c","valueString":"d"}]}}]}]}
  Patient.extension[0].extension[0].value.extension[0].url | extension | extension | "c" must be an absolute URL: only extensions inside extensions have short ones
{"resourceType":"Patient","extension":[{"url":"","valueString":"a"}]}
  Patient.extension[0].url | empty | structure | may not be empty: leave the element out
{"resourceType":"Patient","extension":[{"url":"http://example.org/a b","valueString":"a"}]}
  Patient.extension[0].url | format | value | "http://example.org/a b" must be a URI: white space is not allowed
{"resourceType":"Patient","extension":{"url":"http://example.org/a","valueString":"a"}}
  Patient.extension | type | structure | must be a JSON array: extension may repeat
{"resourceType":"Patient","name":[{"family":"A","modifierExtension":[{"url":"http://example.org/a","valueString":"a"}]}]}
  Patient.name[0].modifierExtension | unknown-element | structure | unknown element of HumanName
{"resourceType":"Patient","birthDate":"1990","_birthDate":{"extension":[{"url":"b","valueString":"a"}]}}
  Patient.birthDate.extension[0].url | extension | extension | "b" must be an absolute URL: only extensions inside extensions have short ones
# required bindings
{"resourceType":"Patient","gender":"M"}
  Patient.gender | required-binding | code-invalid | "M" is not in the required value set http://hl7.org/fhir/ValueSet/administrative-gender: allowed is male, female, other, unknown
{"resourceType":"Patient","gender":"Male"}
  Patient.gender | required-binding | code-invalid | "Male" is not in the required value set http://hl7.org/fhir/ValueSet/administrative-gender: allowed is male, female, other, unknown
{"resourceType":"Patient","telecom":[{"system":"telephone"}]}
  Patient.telecom[0].system | required-binding | code-invalid | "telephone" is not in the required value set http://hl7.org/fhir/ValueSet/contact-point-system: allowed is phone, fax, email, pager, url, sms, other
{"resourceType":"Observation","status":"done","code":{"text":"A"}}
  Observation.status | required-binding | code-invalid | "done" is not in the required value set http://hl7.org/fhir/ValueSet/observation-status: allowed is registered, preliminary, final, amended, corrected, cancelled, entered-in-error, unknown
{"resourceType":"Condition","subject":{"display":"A"},"clinicalStatus":{"text":"active"}}
  Condition.clinicalStatus | required-binding | code-invalid | must have a coding of the required value set http://hl7.org/fhir/ValueSet/condition-clinical: allowed is active, recurrence, relapse, inactive, remission, resolved of http://terminology.hl7.org/CodeSystem/condition-clinical
{"resourceType":"Condition","subject":{"display":"A"},"clinicalStatus":{"coding":[{"code":"active"}]}}
  Condition.clinicalStatus | required-binding | code-invalid | "|active" is not in the required value set http://hl7.org/fhir/ValueSet/condition-clinical: allowed is active, recurrence, relapse, inactive, remission, resolved of http://terminology.hl7.org/CodeSystem/condition-clinical
{"resourceType":"Condition","subject":{"display":"A"},"clinicalStatus":{"coding":[{"system":"http://example.org/s","code":"active"},{"system":"http://terminology.hl7.org/CodeSystem/condition-clinical","code":"activ"}]}}
  Condition.clinicalStatus | required-binding | code-invalid | none of "http://example.org/s|active", "http://terminology.hl7.org/CodeSystem/condition-clinical|activ" is in the required value set http://hl7.org/fhir/ValueSet/condition-clinical: allowed is active, recurrence, relapse, inactive, remission, resolved of http://terminology.hl7.org/CodeSystem/condition-clinical
{"resourceType":"Encounter","status":"finnished","class":{"code":"AMB"}}
  Encounter.status | required-binding | code-invalid | "finnished" is not in the required value set http://hl7.org/fhir/ValueSet/encounter-status: allowed is planned, arrived, triaged, in-progress, onleave, finished, cancelled, entered-in-error, unknown
{"resourceType":"CapabilityStatement","status":"active","date":"2020","kind":"instance","fhirVersion":"4.0.1","format":["json"],"rest":[{"mode":"server","resource":[{"type":"Pateint"}]}]}
  CapabilityStatement.rest[0].resource[0].type | required-binding | code-invalid | "Pateint" is not in the required value set http://hl7.org/fhir/ValueSet/resource-types: did you mean Patient?
{"resourceType":"Observation","status":" final","code":{"text":"A"}}
  Observation.status | format | value | " final" must be a code: no white space but single spaces between characters
{"resourceType":"SearchParameter","url":"http://example.org/s","name":"A","status":"draft","description":"A","code":"a","base":["Patient","Persn"],"type":"string"}
  SearchParameter.base[1] | required-binding | code-invalid | "Persn" is not in the required value set http://hl7.org/fhir/ValueSet/resource-types: did you mean Person?
`);
});

test('extensions that R4 allows are accepted', () => {
  const accepted: JsonObject[] = [
    { url: 'http://example.org/a', valueString: 'b' },
    { url: 'urn:uuid:53fefa32-fcbb-4ff8-8a92-55ee120877b7', valueDosage: { text: 'A' } },
    {
      url: 'http://example.org/a',
      extension: [
        { url: 'b', valueCode: 'c' },
        { url: 'd', extension: [{ url: 'e', valueInteger: 1 }] },
      ],
    },
    { url: 'http://example.org/a', _valueString: { extension: [{ url: 'http://example.org/b', valueCode: 'c' }] } },
  ];
  for (const extension of accepted) {
    assert.deepEqual(
      validateResource({ resourceType: 'Patient', extension: [extension], modifierExtension: [extension] }),
      [],
    );
  }
});

test('codings that a required value set allows are accepted', () => {
  const clinical = { system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' };
  const other = { system: 'http://example.org/status', code: 'going on' };
  for (const coding of [[clinical], [other, clinical]]) {
    assert.deepEqual(
      validateResource({ resourceType: 'Condition', subject: { display: 'A' }, clinicalStatus: { coding } }),
      [],
    );
  }
  for (const contentType of ['application/fhir+json', 'text/plain; charset=utf-8']) {
    assert.deepEqual(validateResource({ resourceType: 'Binary', contentType }), []);
  }
});
