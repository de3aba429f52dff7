// The view over R4's types, elements and required value sets.
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  findElementByJsonName,
  findPrimitivePattern,
  findTypeDefinition,
  findValueSetCodes,
  findValueSetCodings,
  isSubtypeOf,
  r4Version,
  resourceTypes,
  resourceTypesWithEndpoint,
  type TypeDefinition,
} from '../src/index.ts';

const valueSet = 'http://hl7.org/fhir/ValueSet/';

test('names that are no type of R4 have no definition', () => {
  for (const name of ['', 'patient', 'Nothing', 'Patient.name', 'SimpleQuantity', 'toString', '__proto__', 'FiveWs']) {
    assert.equal(findTypeDefinition(name), undefined, name);
  }
});

test('JSON names that stand for no element are refused', () => {
  const patient = definitionOf('Patient');
  for (const name of [
    'deceased',
    'deceased[x]',
    'deceasedString',
    '_active',
    'Active',
    'resourceType',
    'toString',
    '',
  ]) {
    assert.equal(findElementByJsonName(patient, name), undefined, name);
  }
});

test('value sets that no element requires, or that cannot be listed, have no codes', () => {
  for (const url of ['mimetypes', 'ucum-units', 'observation-codes', 'administrative-gender|4.0.1', 'toString']) {
    assert.equal(findValueSetCodes(valueSet + url), undefined, url);
  }
  assert.equal(findValueSetCodes('toString'), undefined);
});

test('R4 4.0.1 has 146 resource types, 145 of them with an endpoint, in alphabetical order', () => {
  assert.equal(r4Version, '4.0.1');
  assert.equal(resourceTypes.length, 146);
  assert.equal(resourceTypesWithEndpoint.length, 145);
  assert.deepEqual(resourceTypes, [...resourceTypes].sort());
  assert.deepEqual(
    resourceTypes.filter((name) => !resourceTypesWithEndpoint.includes(name)),
    ['Parameters'],
  );
  for (const abstract of ['Resource', 'DomainResource']) {
    assert.ok(!resourceTypes.includes(abstract));
    assert.equal(findTypeDefinition(abstract)?.kind, 'resource');
  }
});

test('an element tells cardinality, types, targets, binding and flags', () => {
  const patient = definitionOf('Patient');
  assert.deepEqual(patient.elements.get('gender'), {
    name: 'gender',
    path: 'Patient.gender',
    min: 0,
    max: 1,
    types: [{ code: 'code' }],
    choice: false,
    summary: true,
    modifier: false,
    binding: `${valueSet}administrative-gender`,
  });
  assert.deepEqual(patient.elements.get('generalPractitioner'), {
    name: 'generalPractitioner',
    path: 'Patient.generalPractitioner',
    min: 0,
    max: Number.POSITIVE_INFINITY,
    types: [{ code: 'Reference', targets: ['Organization', 'Practitioner', 'PractitionerRole'] }],
    choice: false,
    summary: false,
    modifier: false,
  });
  assert.equal(patient.elements.get('id')?.types[0]?.code, 'id');
});

test('a JSON name leads to its element and type', () => {
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['Observation', 'valueQuantity', 'Observation.value[x]', 'Quantity'],
    ['Observation', 'valueDateTime', 'Observation.value[x]', 'dateTime'],
    ['Patient', 'deceasedBoolean', 'Patient.deceased[x]', 'boolean'],
    ['Patient', 'birthDate', 'Patient.birthDate', 'date'],
    ['Extension', 'valueCodeableConcept', 'Extension.value[x]', 'CodeableConcept'],
  ];
  for (const [type, jsonName, path, code] of cases) {
    const found = findElementByJsonName(definitionOf(type), jsonName);
    assert.deepEqual([found?.element.path, found?.type.code], [path, code]);
  }
});

test('elements with elements of their own have a definition, shared where R4 refers to it', () => {
  const item = definitionOf('Questionnaire').elements.get('item');
  assert.equal(item?.children?.name, 'Questionnaire.item');
  assert.equal(item?.children?.kind, 'backbone');
  assert.equal(item?.children?.elements.get('item')?.children, item?.children);
  const entryLink = definitionOf('Bundle').elements.get('entry')?.children?.elements.get('link');
  assert.equal(entryLink?.children, definitionOf('Bundle').elements.get('link')?.children);
  assert.deepEqual([...(definitionOf('Timing').elements.get('repeat')?.children?.elements.keys() ?? [])].slice(0, 3), [
    'id',
    'extension',
    'bounds',
  ]);
});

test('every type code and reference target in the definitions exists', () => {
  const seen = new Set<TypeDefinition>();
  const visit = (type: TypeDefinition) => {
    if (seen.has(type)) return;
    seen.add(type);
    for (const element of type.elements.values()) {
      assert.ok(element.types.length > 0, element.path);
      assert.ok(element.choice || element.types.length === 1, element.path);
      for (const { code, targets } of element.types) {
        assert.ok(findTypeDefinition(code) !== undefined, `${element.path}: ${code}`);
        for (const target of targets ?? []) assert.ok(resourceTypes.includes(target), `${element.path}: ${target}`);
      }
      if (element.children !== undefined) visit(element.children);
    }
  };
  for (const name of resourceTypes) visit(definitionOf(name));
  assert.ok(seen.size > 600);
});

test('types know what they specialise', () => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['Patient', 'Resource', true],
    ['Bundle', 'DomainResource', false],
    ['Age', 'Quantity', true],
    ['Quantity', 'Age', false],
    ['canonical', 'uri', true],
    ['code', 'string', true],
    ['string', 'string', true],
    ['Nothing', 'Resource', false],
  ];
  for (const [type, ancestor, expected] of cases) assert.equal(isSubtypeOf(type, ancestor), expected, type);
});

test('required value sets list their codes by system', () => {
  assert.deepEqual(
    findValueSetCodes(`${valueSet}administrative-gender`),
    new Set(['male', 'female', 'other', 'unknown']),
  );
  assert.deepEqual(
    [...(findValueSetCodings(`${valueSet}condition-clinical`) ?? [])],
    [
      [
        'http://terminology.hl7.org/CodeSystem/condition-clinical',
        new Set(['active', 'recurrence', 'relapse', 'inactive', 'remission', 'resolved']),
      ],
    ],
  );
  assert.deepEqual(
    [...(findValueSetCodings(`${valueSet}task-intent`)?.keys() ?? [])],
    ['http://hl7.org/fhir/request-intent', 'http://hl7.org/fhir/task-intent'],
  );
});

test('primitive types have the pattern that R4 publishes', () => {
  assert.equal(findPrimitivePattern('xhtml'), undefined);
  assert.equal(findPrimitivePattern('Patient'), undefined);
  assert.equal(findPrimitivePattern('toString'), undefined);
  assert.equal(findPrimitivePattern('id'), '[A-Za-z0-9\\-\\.]{1,64}');
  for (const name of ['boolean', 'date', 'dateTime', 'instant', 'oid', 'uuid', 'positiveInt']) {
    assert.doesNotThrow(() => new RegExp(`^(?:${findPrimitivePattern(name)})$`), name);
  }
});

function definitionOf(name: string): TypeDefinition {
  const definition = findTypeDefinition(name);
  assert.ok(definition !== undefined, name);
  return definition;
}
