import assert from 'node:assert/strict';
import test from 'node:test';
import type { JsonObject } from '../src/json.ts';
import { issuesMaxDefault, validateResource } from '../src/validate.ts';
import { assertDecisions } from './decision-table.ts';

test('structure: each bad resource is refused with path, rule, code and words', () => {
  assertDecisions(String.raw`
# what is no resource
null
  Resource | type | structure | may not be null: leave the element out
[]
  Resource | type | structure | must be a JSON object (a resource)
"Patient"
  Resource | type | structure | must be a JSON object (a resource)
1.00
  Resource | resource-type | structure | must be a resource: resourceType is missing
{}
  Resource | resource-type | structure | must be a resource: resourceType is missing
{"resourceType":5}
  Resource | resource-type | structure | must be a resource: resourceType is not a JSON string
{"resourceType":"Pateint"}
  Resource | resource-type | structure | "Pateint" is not a resource type: did you mean Patient?
{"resourceType":"Resource"}
  Resource | resource-type | structure | "Resource" is not a resource type
{"resourceType":"HumanName","family":"A"}
  Resource | resource-type | structure | "HumanName" is not a resource type
# unknown elements
{"resourceType":"Patient","brithDate":"1990-01-01"}
  Patient.brithDate | unknown-element | structure | unknown element of Patient: did you mean birthDate?
{"resourceType":"Patient","BirthDate":"1990-01-01"}
  Patient.BirthDate | unknown-element | structure | unknown element of Patient: did you mean birthDate?
{"resourceType":"Patient","favouriteColour":"red"}
  Patient.favouriteColour | unknown-element | structure | unknown element of Patient
{"resourceType":"Patient","name":[{"family":"A","famly":"B"}]}
  Patient.name[0].famly | unknown-element | structure | unknown element of HumanName: did you mean family?
{"resourceType":"Patient","contact":[{"name":{"text":"A"},"gendr":"male"}]}
  Patient.contact[0].gendr | unknown-element | structure | unknown element of Patient.contact: did you mean gender?
{"resourceType":"Patient","fhir_comments":["x"]}
  Patient.fhir_comments | unknown-element | structure | unknown element of Patient
{"resourceType":"Patient","name":[{"resourceType":"HumanName","family":"A"}]}
  Patient.name[0].resourceType | unknown-element | structure | unknown element of HumanName
{"resourceType":"Patient","constructor":1}
  Patient.constructor | unknown-element | structure | unknown element of Patient
# required elements
{"resourceType":"Observation","code":{"text":"A"}}
  Observation.status | cardinality-min | required | status is required (cardinality 1..1)
{"resourceType":"Observation"}
  Observation.status | cardinality-min | required | status is required (cardinality 1..1)
  Observation.code | cardinality-min | required | code is required (cardinality 1..1)
{"resourceType":"Patient","link":[{"type":"refer"}]}
  Patient.link[0].other | cardinality-min | required | other is required (cardinality 1..1)
{"resourceType":"Patient","link":[{"other":{"display":"B"},"type":"refer"},{"other":{"display":"B"}}]}
  Patient.link[1].type | cardinality-min | required | type is required (cardinality 1..1)
{"resourceType":"OperationOutcome"}
  OperationOutcome.issue | cardinality-min | required | issue is required (cardinality 1..*)
# one or many
{"resourceType":"Patient","gender":["male"]}
  Patient.gender | cardinality-max | structure | may not be an array: it has one value at most
{"resourceType":"Patient","maritalStatus":[{"text":"A"}]}
  Patient.maritalStatus | cardinality-max | structure | may not be an array: it has one value at most
{"resourceType":"Patient","meta":[{"source":"urn:a"}]}
  Patient.meta | cardinality-max | structure | may not be an array: it has one value at most
{"resourceType":"Patient","name":{"family":"A"}}
  Patient.name | type | structure | must be a JSON array: name may repeat
{"resourceType":"Patient","name":"A"}
  Patient.name | type | structure | must be a JSON array: name may repeat
{"resourceType":"Patient","name":[{"given":"A"}]}
  Patient.name[0].given | type | structure | must be a JSON array: given may repeat
{"resourceType":"Patient","name":["A"]}
  Patient.name[0] | type | structure | must be a JSON object (HumanName)
{"resourceType":"Patient","name":[["A"]]}
  Patient.name[0] | type | structure | must be a JSON object (HumanName)
# empty and null
{"resourceType":"Patient","name":[]}
  Patient.name | empty | structure | may not be an empty array: leave the element out
{"resourceType":"Patient","name":[{"given":[]}]}
  Patient.name[0].given | empty | structure | may not be an empty array: leave the element out
{"resourceType":"Patient","name":[{}]}
  Patient.name[0] | empty | structure | may not be an empty object: leave the element out
{"resourceType":"Patient","name":[{"id":"n1"}]}
  Patient.name[0] | empty | structure | may not have an id only (ele-1)
{"resourceType":"Patient","maritalStatus":{}}
  Patient.maritalStatus | empty | structure | may not be an empty object: leave the element out
{"resourceType":"Patient","birthDate":""}
  Patient.birthDate | empty | structure | may not be empty: leave the element out
{"resourceType":"Patient","name":[{"given":[""]}]}
  Patient.name[0].given[0] | empty | structure | may not be empty: leave the element out
{"resourceType":"Patient","birthDate":null}
  Patient.birthDate | type | structure | may not be null: leave the element out
{"resourceType":"Patient","name":null}
  Patient.name | type | structure | may not be null: leave the element out
{"resourceType":"Patient","maritalStatus":null}
  Patient.maritalStatus | type | structure | may not be null: leave the element out
{"resourceType":"Patient","name":[null]}
  Patient.name[0] | type | structure | may not be null: leave the element out
{"resourceType":"Patient","contained":[null]}
  Patient.contained[0] | type | structure | may not be null: leave the element out
{"resourceType":"Patient","name":[{"given":[null]}]}
  Patient.name[0].given[0] | primitive-sibling | structure | may be null only where _given has an extension at the same place
{"resourceType":"Patient","name":[{"given":["A",null],"_given":[null,null]}]}
  Patient.name[0].given[1] | primitive-sibling | structure | may be null only where _given has an extension at the same place
# JSON types
{"resourceType":"Patient","birthDate":{"value":"1990"}}
  Patient.birthDate | type | structure | must be a JSON string
{"resourceType":"Patient","maritalStatus":"M"}
  Patient.maritalStatus | type | structure | must be a JSON object (CodeableConcept)
{"resourceType":"Patient","maritalStatus":1.50}
  Patient.maritalStatus | type | structure | must be a JSON object (CodeableConcept)
{"resourceType":"Patient","active":"true"}
  Patient.active | type | structure | must be a JSON boolean: true or false
{"resourceType":"Patient","active":1}
  Patient.active | type | structure | must be a JSON boolean: true or false
{"resourceType":"Patient","birthDate":1990}
  Patient.birthDate | type | structure | must be a JSON string
{"resourceType":"Patient","multipleBirthInteger":"2"}
  Patient.multipleBirth | type | structure | must be a JSON number
# choices
{"resourceType":"Patient","deceased":true}
  Patient.deceased | choice | structure | deceased needs the suffix of its type: allowed is deceasedBoolean, deceasedDateTime
{"resourceType":"Patient","deceasedString":"yes"}
  Patient.deceased | choice | structure | deceasedString has a type that is not allowed: allowed is deceasedBoolean, deceasedDateTime
{"resourceType":"Patient","deceasedBoolean":true,"deceasedDateTime":"2020"}
  Patient.deceased | choice | structure | may have one type only: deceasedBoolean and deceasedDateTime are both present
{"resourceType":"Patient","deceasedBoolean":true,"_deceasedDateTime":{"extension":[{"url":"http://example.org/a","valueCode":"b"}]}}
  Patient.deceased | choice | structure | may have one type only: deceasedBoolean and deceasedDateTime are both present
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueQuantity":{"value":1},"valueString":"1","valueBoolean":true}
  Observation.value | choice | structure | may have one type only: valueQuantity and valueString are both present
  Observation.value | choice | structure | may have one type only: valueString and valueBoolean are both present
{"resourceType":"Observation","status":"final","code":{"text":"A"},"value":1}
  Observation.value | choice | structure | value needs the suffix of its type: allowed is valueQuantity, valueCodeableConcept, valueString, valueBoolean, valueInteger, valueRange, valueRatio, valueSampledData, valueTime, valueDateTime, valuePeriod
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valueDecimal":1}
  Observation.value | choice | structure | valueDecimal has a type that is not allowed: allowed is valueQuantity, valueCodeableConcept, valueString, valueBoolean, valueInteger, valueRange, valueRatio, valueSampledData, valueTime, valueDateTime, valuePeriod
{"resourceType":"Observation","status":"final","code":{"text":"A"},"valuequantity":{"value":1}}
  Observation.valuequantity | unknown-element | structure | unknown element of Observation: did you mean valueQuantity?
{"resourceType":"Task","status":"draft","intent":"plan","input":[{"type":{"text":"A"}}]}
  Task.input[0].value | cardinality-min | required | value[x] is required (cardinality 1..1)
{"resourceType":"Task","status":"draft","intent":"plan","input":[{"type":{"text":"A"},"valueReferenz":{"display":"A"}}]}
  Task.input[0].value | choice | structure | valueReferenz has a type that is not allowed: did you mean valueReference?
# siblings of primitive elements
{"resourceType":"Patient","_birthDate":{"id":"b"}}
  Patient.birthDate | primitive-sibling | structure | must have a value in birthDate or an extension in _birthDate (ele-1)
{"resourceType":"Patient","_birthDate":{}}
  Patient.birthDate | empty | structure | may not be an empty object: leave the element out
{"resourceType":"Patient","_birthDate":"x"}
  Patient.birthDate | primitive-sibling | structure | _birthDate must be a JSON object with id or extension
{"resourceType":"Patient","_birthDate":null}
  Patient.birthDate | primitive-sibling | structure | _birthDate must be a JSON object with id or extension
{"resourceType":"Patient","_birthDate":[{"id":"b"}]}
  Patient.birthDate | primitive-sibling | structure | _birthDate must be a JSON object with id or extension
{"resourceType":"Patient","birthDate":"1990","_birthDate":{"value":"1990"}}
  Patient.birthDate.value | unknown-element | structure | unknown element of Element
{"resourceType":"Patient","birthDate":"1990","_birthDate":{"extension":[]}}
  Patient.birthDate.extension | empty | structure | may not be an empty array: leave the element out
{"resourceType":"Patient","name":[{"given":["A","B"],"_given":[{"id":"a"}]}]}
  Patient.name[0].given | primitive-sibling | structure | _given must have as many entries as given: 1 is not 2
{"resourceType":"Patient","name":[{"given":["A"],"_given":{"id":"a"}}]}
  Patient.name[0].given | primitive-sibling | structure | _given must be a JSON array: given may repeat
{"resourceType":"Patient","name":[{"given":["A"],"_given":[]}]}
  Patient.name[0].given | empty | structure | _given may not be an empty array: leave it out
  Patient.name[0].given | primitive-sibling | structure | _given must have as many entries as given: 0 is not 1
{"resourceType":"Patient","name":[{"_given":[null,{"extension":[{"url":"http://example.org/a","valueCode":"b"}]}]}]}
  Patient.name[0].given[0] | primitive-sibling | structure | must have a value in given or an extension in _given (ele-1)
{"resourceType":"Patient","name":[{"given":["A"],"_given":["x"]}]}
  Patient.name[0].given[0] | primitive-sibling | structure | _given must be a JSON object with id or extension
{"resourceType":"Patient","_name":[{"id":"a"}]}
  Patient.name | primitive-sibling | structure | _name is not allowed: its id and extensions stand in name itself
{"resourceType":"Patient","_id":{"extension":[{"url":"http://example.org/a","valueCode":"b"}]}}
  Patient.id | primitive-sibling | structure | _id is not allowed: it can have no extensions
{"resourceType":"Patient","extension":[{"url":"http://example.org/a","_url":{"id":"x"},"valueCode":"b"}]}
  Patient.extension[0].url | primitive-sibling | structure | _url is not allowed: it can have no extensions
{"resourceType":"Patient","_resourceType":"x"}
  Patient._resourceType | unknown-element | structure | unknown element of Patient: did you mean resourceType?
{"resourceType":"Patient","text":{"status":"generated","div":"<div xmlns=\"http://www.w3.org/1999/xhtml\">A</div>","_div":{"id":"a"}}}
  Patient.text.div | primitive-sibling | structure | _div is not allowed: it can have no extensions
# resources inside resources
{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"id":"a"}}]}
  Bundle.entry[0].resource | resource-type | structure | must be a resource: resourceType is missing
{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Patient","gender":"x","nam":[]}}]}
  Bundle.entry[0].resource.gender | required-binding | code-invalid | "x" is not in the required value set http://hl7.org/fhir/ValueSet/administrative-gender: allowed is male, female, other, unknown
  Bundle.entry[0].resource.nam | unknown-element | structure | unknown element of Patient: did you mean name?
{"resourceType":"Bundle","type":"collection","entry":[{"resource":[{"resourceType":"Patient"}]}]}
  Bundle.entry[0].resource | cardinality-max | structure | may not be an array: it has one value at most
{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Bundle","type":"collection","entry":[{"resource":{"resourceType":"Basic"}}]}}]}
  Bundle.entry[0].resource.entry[0].resource.code | cardinality-min | required | code is required (cardinality 1..1)
{"resourceType":"Parameters","parameter":[{"name":"a","part":[{"valueString":"b"}]},{"name":"b","resource":{"resourceType":"Patient","active":"no"}}]}
  Parameters.parameter[0].part[0].name | cardinality-min | required | name is required (cardinality 1..1)
  Parameters.parameter[1].resource.active | type | structure | must be a JSON boolean: true or false
{"resourceType":"Questionnaire","status":"draft","item":[{"linkId":"1","type":"group","item":[{"linkId":"1.1","type":"group","item":[{"type":"display"}]}]}]}
  Questionnaire.item[0].item[0].item[0].linkId | cardinality-min | required | linkId is required (cardinality 1..1)
`);
});

test('an unknown element whose name is no identifier is delimited in the path', () => {
  assert.deepEqual(validateResource({ resourceType: 'Patient', 'we ird': 1 }), [
    {
      code: 'structure',
      severity: 'error',
      path: 'Patient.`we ird`',
      rule: 'unknown-element',
      diagnostics: 'Patient.`we ird`: unknown element of Patient',
    },
  ]);
});

test('a resource of another type than expected is refused without looking into it', () => {
  assert.deepEqual(validateResource({ resourceType: 'Observation', nonsense: 1 }, { type: 'Patient' }), [
    {
      code: 'structure',
      severity: 'error',
      path: 'Patient',
      rule: 'resource-type',
      diagnostics: 'Patient: must be a resource of type Patient: resourceType is "Observation"',
    },
  ]);
  assert.deepEqual(
    validateResource({ active: true }, { type: 'Patient' }).map(({ diagnostics }) => diagnostics),
    ['Patient: must be a resource: resourceType is missing'],
  );
  assert.deepEqual(validateResource({ active: true, resourceType: 'Patient' }, { type: 'Patient' }), []);
});

test('the number of issues is limited', () => {
  const name = Array.from({ length: 300 }, () => ({ nonsense: 1 }));
  assert.equal(validateResource({ resourceType: 'Patient', name }).length, issuesMaxDefault);
  assert.deepEqual(
    validateResource({ resourceType: 'Patient', name }, { issuesMax: 2 }).map(({ path }) => path),
    ['Patient.name[0].nonsense', 'Patient.name[1].nonsense'],
  );
});

test('structures that R4 allows are accepted', () => {
  const extension = [{ url: 'http://example.org/reason', valueCode: 'unknown' }];
  const accepted: JsonObject[] = [
    { resourceType: 'Patient' },
    { resourceType: 'Patient', _birthDate: { extension } },
    { resourceType: 'Patient', birthDate: '1990', _birthDate: { id: 'b' } },
    { resourceType: 'Patient', name: [{ given: ['A', null], _given: [null, { extension }] }] },
    { resourceType: 'Patient', name: [{ _given: [{ extension }] }] },
    { resourceType: 'Patient', name: [{ given: ['A'], _given: [{ id: 'a' }] }] },
    { resourceType: 'Patient', _deceasedBoolean: { extension } },
    { resourceType: 'Patient', deceasedBoolean: false, _deceasedBoolean: { id: 'd' } },
    { resourceType: 'Observation', _status: { extension }, code: { extension } },
    {
      resourceType: 'Task',
      status: 'draft',
      intent: 'plan',
      input: [{ type: { text: 'A' }, _valueString: { extension } }],
    },
    {
      resourceType: 'Parameters',
      parameter: [{ name: 'a', part: [{ name: 'b', resource: { resourceType: 'Patient' } }] }],
    },
  ];
  for (const resource of accepted) assert.deepEqual(validateResource(resource), [], JSON.stringify(resource));
});

test('the validator reads names that Object.prototype has as unknown elements', () => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty', 'valueOf']) {
    assert.deepEqual(
      validateResource({ resourceType: 'Patient', [name]: 1 }).map(({ rule, path }) => [rule, path]),
      [['unknown-element', `Patient.${name}`]],
    );
    assert.equal(validateResource({ resourceType: name })[0]?.rule, 'resource-type');
  }
});
