// The subset of FHIRPath that search parameters use, through extractor().
// http://hl7.org/fhirpath/N1/ and https://hl7.org/fhir/R4/fhirpath.html
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  compileExtractor,
  FhirPathError,
  findReferencedType,
  type JsonObject,
  listResultTypes,
  parseJson,
} from '../src/index.ts';
import { isJsonObject } from '../src/json.ts';
import { freeSteps, testWork } from './free-steps.ts';

test('what is malformed, unsupported or unknown is refused when the expression is compiled', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['Patient', '', /^Unexpected end at offset 0 in the FHIRPath expression: $/],
    ['Patient', 'Patient.', /^Unexpected end at offset 8/],
    ['Patient', 'Patient.name family', /^Unexpected "family" at offset 13/],
    ['Patient', '(Patient.name', /^Unexpected end/],
    ['Patient', 'Patient.name[x]', /^Unexpected "x"/],
    ['Patient', "Patient.name.where(use='official", /^Unsupported character at offset 23/],
    ['Patient', 'Patient.multipleBirth > 1', /^Unsupported operator >/],
    ['Patient', "Patient.gender in ('male' | 'female')", /^Unsupported operator in/],
    ['Patient', "Patient.name.where(use = 'usual' xor family.exists())", /^Unsupported operator xor/],
    ['Patient', "Patient.name.select(given & ' ' & family)", /^Unsupported use of the function select\(\)/],
    ['Patient', 'Patient.multipleBirth * 2', /^Unsupported character at offset 22/],
    ['Patient', '%rootResource.name', /^Unsupported variable %rootResource/],
    ['Patient', '%context.name', /^Unsupported variable %context/],
    ['Patient', '%profile.name', /^Unsupported variable %profile/],
    ['Patient', 'Patient.nombre', /^Unknown element nombre of Patient/],
    ['Patient', 'Patient.name.where(nombre = 1)', /^Unknown element nombre of HumanName/],
    ['Patient', 'Patient.deceasedBoolean', /^Unknown element deceasedBoolean of Patient/],
    ['Patient', 'Patient.birthDate.year', /^Unknown element year of date/],
    ['Patient', 'Pacient.name', /^Unknown type Pacient/],
    ['Nothing', 'name', /^Unknown type Nothing/],
    ['Observation', 'Observation.value.as(DateTime)', /^Unknown type DateTime/],
    ['Observation', 'Observation.value is quantity', /^Unknown type quantity/],
    ['Observation', "Observation.value.as('Quantity')", /^A type name is expected/],
    ['Patient', "Patient.name.hasExtension('u')", /^Unsupported use of the function hasExtension\(\)/],
    ['Patient', 'Patient.name.where()', /^Unsupported use of the function where\(\)/],
    ['Patient', 'Patient.generalPractitioner.resolve()', /^Unsupported use of the function resolve\(\)/],
    ['Patient', 'Patient.name.where(resolve() is Patient)', /^resolve\(\) needs a reference, not HumanName/],
    ['Patient', 'Patient.name.where(period = 1)', /^Values of type Period cannot be compared/],
    ['Patient', "Patient.name.empty('x')", /^Unexpected arguments of empty\(\)/],
    ['Observation', 'Observation.value.nothing', /^Unknown element nothing of Quantity/],
    ['Patient', "'text'", /^A literal selects nothing/],
    ['UsageContext', '%resource.name', /^The type of %resource is not known/],
  ];
  for (const [type, expression, message] of cases) {
    assert.throws(
      () => compileExtractor(type, expression),
      (error) => error instanceof FhirPathError && message.test(error.message) && error.expression === expression,
      expression,
    );
  }
});

test('data that does not fit the definitions selects nothing and throws nothing', () => {
  const odd = ['x', 1, null, [], [[]], [null], {}, { given: {} }, { family: [[1]] }];
  for (const name of odd) {
    const resource = parse(JSON.stringify({ resourceType: 'Patient', name, telecom: name, contained: name }));
    assert.doesNotThrow(() => compileExtractor('Patient', 'Patient.name.given')(resource, freeSteps, testWork));
    assert.doesNotThrow(() =>
      compileExtractor('Patient', "Patient.telecom.where(system='email')")(resource, freeSteps, testWork),
    );
    assert.doesNotThrow(() =>
      compileExtractor('Patient', 'Patient.generalPractitioner.where(resolve() is Patient)')(
        resource,
        freeSteps,
        testWork,
      ),
    );
  }
});

const observation = parse(`{
  "resourceType": "Observation", "id": "o",
  "contained": [{ "resourceType": "Patient", "id": "p" }],
  "status": "final", "subject": { "reference": "#p" },
  "code": { "coding": [{ "system": "s", "code": "a" }, { "code": "b" }], "text": "t" },
  "valueQuantity": { "value": 1.00, "unit": "kg" },
  "component": [
    { "code": { "text": "c0" }, "valueString": "none" },
    { "code": { "text": "c1" }, "valueCodeableConcept": { "text": "v1" } }
  ],
  "hasMember": [{ "reference": "Observation/1" }, { "reference": "QuestionnaireResponse/2" }]
}`);

const patient = parse(`{
  "resourceType": "Patient",
  "extension": [
    { "url": "http://a", "valueString": "first" },
    { "url": "http://b", "extension": [{ "url": "part", "valueCode": "x" }, { "url": "text", "valueString": "y" }] }
  ],
  "active": false,
  "name": [
    { "use": "official", "family": "Lindqvist", "given": ["Ana", null], "_given": [null, { "id": "g" }] },
    { "family": "Sato" }
  ],
  "telecom": [
    { "system": "phone", "value": "1" }, { "system": "email", "value": "2", "use": "home" }, { "value": "3" }
  ],
  "birthDate": "1980-01-01",
  "_birthDate": { "extension": [{ "url": "http://time", "valueDateTime": "1980-01-01T08:00:00Z" }] },
  "_deceasedBoolean": { "extension": [{ "url": "http://why", "valueCode": "unknown" }] },
  "multipleBirthInteger": 2,
  "generalPractitioner": [{ "reference": "Practitioner/1" }, { "reference": "https://a.example/fhir/Organization/2" }]
}`);

test('an expression selects values with type and place', () => {
  const cases: readonly (readonly [JsonObject, string, readonly (readonly [string, string, unknown])[]])[] = [
    [
      patient,
      'Patient.name.family',
      [
        ['Patient.name[0].family', 'string', 'Lindqvist'],
        ['Patient.name[1].family', 'string', 'Sato'],
      ],
    ],
    [patient, 'name.given', [['Patient.name[0].given[0]', 'string', 'Ana']]],
    [patient, 'Patient.active', [['Patient.active', 'boolean', false]]],
    [patient, 'Resource.language | Patient.active', [['Patient.active', 'boolean', false]]],
    [patient, 'Person.name | Patient.name[1].family', [['Patient.name[1].family', 'string', 'Sato']]],
    [patient, 'Patient.name.given[0]', [['Patient.name[0].given[0]', 'string', 'Ana']]],
    [patient, 'Patient.name.family[1]', [['Patient.name[1].family', 'string', 'Sato']]],
    [patient, 'Patient.name.family[2]', []],
    [patient, 'Patient.name.first().family', [['Patient.name[0].family', 'string', 'Lindqvist']]],
    [patient, "Patient.telecom.where(system='email').value", [['Patient.telecom[1].value', 'string', '2']]],
    [patient, "Patient.telecom.where(system!='email').value", [['Patient.telecom[0].value', 'string', '1']]],
    [patient, "Patient.telecom.where((system='email').not()).value", [['Patient.telecom[0].value', 'string', '1']]],
    [patient, 'Patient.telecom.where(system.empty()).value', [['Patient.telecom[2].value', 'string', '3']]],
    [
      patient,
      "Patient.telecom.where(system='email' and use='home').value",
      [['Patient.telecom[1].value', 'string', '2']],
    ],
    [
      patient,
      "Patient.telecom.where(system='phone' or use='home').value",
      [
        ['Patient.telecom[0].value', 'string', '1'],
        ['Patient.telecom[1].value', 'string', '2'],
      ],
    ],
    [patient, "Patient.telecom.exists(system='fax')", [['Patient', 'boolean', false]]],
    [patient, 'Patient.birthDate.hasValue()', [['Patient', 'boolean', true]]],
    [patient, 'Patient.deceased.exists()', [['Patient', 'boolean', true]]],
    [patient, 'Patient.deceased.hasValue()', [['Patient', 'boolean', false]]],
    [patient, 'Patient.multipleBirth != false', [['Patient', 'boolean', true]]],
    [patient, 'Patient.multipleBirth = 2', [['Patient', 'boolean', true]]],
    [patient, 'Patient.multipleBirth is integer', [['Patient', 'boolean', true]]],
    [patient, 'Patient.photo is Attachment', []],
    [patient, "Patient.extension('http://a').value", [['Patient.extension[0].value', 'string', 'first']]],
    [patient, "Patient.extension('http://a').value.ofType(code)", []],
    [
      patient,
      "Patient.extension('http://b').extension('part').value",
      [['Patient.extension[1].extension[0].value', 'code', 'x']],
    ],
    [
      patient,
      "Patient.birthDate.extension('http://time').value",
      [['Patient.birthDate.extension[0].value', 'dateTime', '1980-01-01T08:00:00Z']],
    ],
    [
      patient,
      "Patient.deceased.extension('http://why').value",
      [['Patient.deceased.extension[0].value', 'code', 'unknown']],
    ],
    [
      patient,
      'Patient.generalPractitioner.where(resolve() is Organization).reference',
      [['Patient.generalPractitioner[1].reference', 'string', 'https://a.example/fhir/Organization/2']],
    ],
    [observation, 'Observation.value.unit', [['Observation.value.unit', 'string', 'kg']]],
    [observation, '(Observation.value as Quantity).unit', [['Observation.value.unit', 'string', 'kg']]],
    [observation, '(Observation.value as string)', []],
    [
      observation,
      'Observation.code.coding.code',
      [
        ['Observation.code.coding[0].code', 'code', 'a'],
        ['Observation.code.coding[1].code', 'code', 'b'],
      ],
    ],
    [
      observation,
      'Observation.component.value.as(CodeableConcept).text',
      [['Observation.component[1].value.text', 'string', 'v1']],
    ],
    [
      observation,
      "Observation.component.where(code.text='c0').value.ofType(FHIR.string)",
      [['Observation.component[0].value', 'string', 'none']],
    ],
    [
      observation,
      'Observation.subject.where(resolve() is Patient).reference',
      [['Observation.subject.reference', 'string', '#p']],
    ],
    [
      observation,
      'Observation.hasMember.where(resolve() is Observation).reference',
      [['Observation.hasMember[0].reference', 'string', 'Observation/1']],
    ],
    [observation, 'Observation.contained.as(Patient).id', [['Observation.contained[0].id', 'id', 'p']]],
    [observation, 'Observation.contained.id', [['Observation.contained[0].id', 'id', 'p']]],
    [observation, '%resource.status', [['Observation.status', 'code', 'final']]],
  ];
  for (const [resource, expression, expected] of cases) {
    const found = compileExtractor(String(resource['resourceType']), expression)(resource, freeSteps, testWork);
    assert.deepEqual(
      found.map(({ path, type, value }) => [path, type, value]),
      expected,
      expression,
    );
  }
});

test('elements with elements of their own have their path as type; polymorphic resources what they say they are', () => {
  const [component] = compileExtractor('Observation', 'Observation.component')(observation, freeSteps, testWork);
  assert.equal(component?.type, 'Observation.component');
  const [contained] = compileExtractor('Observation', 'Observation.contained')(observation, freeSteps, testWork);
  assert.equal(contained?.type, 'Patient');
  assert.deepEqual(listResultTypes('Observation', 'Observation.effective'), [
    'dateTime',
    'Period',
    'Timing',
    'instant',
  ]);
});

test('decimals keep their text', () => {
  const [quantity] = compileExtractor('Observation', '(Observation.value as Quantity).value')(
    observation,
    freeSteps,
    testWork,
  );
  assert.equal(JSON.stringify(quantity?.value), '1.00');
});

test('the type of a reference is read from the reference alone', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['{ "reference": "Patient/1" }', 'Patient'],
    ['{ "reference": "Patient/1/_history/2" }', 'Patient'],
    ['{ "reference": "https://a.example/base/Patient/a.b-1" }', 'Patient'],
    ['{ "reference": "#p" }', 'Patient'],
    ['{ "reference": "#" }', 'Observation'],
    ['{ "reference": "#none" }', undefined],
    ['{ "reference": "urn:uuid:8b0b1c1e-0000-4000-8000-000000000000", "type": "Group" }', 'Group'],
    ['{ "reference": "urn:uuid:8b0b1c1e-0000-4000-8000-000000000000" }', undefined],
    ['{ "type": "Patient", "identifier": { "value": "1" } }', 'Patient'],
    ['{ "type": "Nobody" }', undefined],
    ['{ "reference": "Nobody/1" }', undefined],
    ['{ "reference": "patient/1" }', undefined],
    ['{ "reference": "Patient/" }', undefined],
    ['{ "reference": "XPatient/1" }', undefined],
    ['{ "reference": 1 }', undefined],
    ['"https://a.example/Questionnaire/1"', 'Questionnaire'],
  ];
  for (const [reference, expected] of cases) {
    assert.equal(findReferencedType(parseJson(reference), observation), expected, reference);
  }
});

function parse(text: string): JsonObject {
  const value = parseJson(text);
  assert.ok(isJsonObject(value));
  return value;
}
