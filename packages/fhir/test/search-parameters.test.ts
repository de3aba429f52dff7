// R4's search parameters by type: they compile, select what exists and what their kind can find.
// https://hl7.org/fhir/R4/searchparameter-registry.html
import assert from 'node:assert/strict';
import test from 'node:test';
import {
  compileCompositeExtractor,
  compileExtractor,
  getSearchParameters,
  isSubtypeOf,
  listResultTypes,
  patientCompartment,
  resourceTypes,
  type SearchParameter,
} from '../src/index.ts';
import { freeSteps, testWork } from './free-steps.ts';

// https://hl7.org/fhir/R4/search.html#ptypes: what values of each kind are made of; a type stands for its descendants.
const searchableTypes: Readonly<Record<string, readonly string[]>> = {
  string: ['string', 'HumanName', 'Address'],
  token: ['Coding', 'CodeableConcept', 'Identifier', 'ContactPoint', 'boolean', 'string', 'uri'],
  date: ['date', 'dateTime', 'instant', 'Period', 'Timing'],
  reference: ['Reference', 'uri', 'Composition', 'MessageHeader'],
  number: ['integer', 'decimal', 'Range'],
  quantity: ['Quantity', 'Money', 'Range', 'SampledData'],
  uri: ['uri'],
  special: ['Location.position'],
};

// Alternatives of a choice that R4 selects although nothing of the kind can find them. Such a resource is found by other
// parameters; this one has no value for it.
const unsearchable: Readonly<Record<string, readonly string[]>> = {
  'CarePlan.activity-date': ['string'],
  'Immunization.date': ['string'],
  'Procedure.date': ['string', 'Age', 'Range'],
};

const withoutExpression = ['_content', '_filter', '_query', '_text', 'age'];

test('names that are no resource type have no search parameters', () => {
  for (const name of ['', 'patient', 'HumanName', 'Patient.contact', 'toString', '__proto__']) {
    assert.equal(getSearchParameters(name).size, 0, name);
  }
});

test('every search parameter of every type compiles and selects only elements that exist', () => {
  let compiled = 0;
  for (const [type, parameter] of allParameters()) {
    if (parameter.expression === undefined) {
      assert.ok(withoutExpression.includes(parameter.code), `${type}.${parameter.code} has no expression`);
      continue;
    }
    assert.notDeepEqual(listResultTypes(type, parameter.expression), [], `${type}.${parameter.code} can never match`);
    compiled += 1;
  }
  assert.equal(compiled, 2_597);
});

test('what a parameter selects is what its kind can find, but for the listed alternatives', () => {
  for (const [type, parameter] of allParameters()) {
    if (parameter.expression === undefined || parameter.type === 'composite') continue;
    const known = searchableTypes[parameter.type] ?? [];
    const others = listResultTypes(type, parameter.expression).filter(
      (name) => !known.some((ancestor) => isSubtypeOf(name, ancestor)),
    );
    assert.deepEqual(others, unsearchable[`${type}.${parameter.code}`] ?? [], `${type}.${parameter.code}`);
  }
});

test('each component of a composite selects what the parameter that defines it selects', () => {
  let components = 0;
  for (const [type, parameter] of allParameters()) {
    if (parameter.type !== 'composite') continue;
    assert.doesNotThrow(() => compileCompositeExtractor(type, parameter));
    for (const { definition, expression } of parameter.components ?? []) {
      const defining = [...getSearchParameters(type).values()].find(({ url }) => url === definition);
      assert.ok(defining?.expression !== undefined, `${type}.${parameter.code}: ${definition}`);
      const whole = listResultTypes(type, defining.expression);
      for (const base of listResultTypes(type, parameter.expression ?? '')) {
        const selected = listResultTypes(base, expression);
        assert.notDeepEqual(selected, []);
        for (const name of selected) assert.ok(whole.includes(name), `${type}.${parameter.code}: ${name}`);
      }
      components += 1;
    }
  }
  assert.equal(components, 148);
});

test('every reference parameter has targets, all of them resource types', () => {
  for (const [type, parameter] of allParameters()) {
    const { targets } = parameter;
    assert.equal(targets.length > 0, parameter.type === 'reference', `${type}.${parameter.code}`);
    for (const target of targets) assert.ok(resourceTypes.includes(target), `${type}.${parameter.code}: ${target}`);
  }
});

test('targets are those that the type allows', () => {
  const cases: readonly (readonly [string, string, readonly string[]])[] = [
    ['Observation', 'patient', ['Patient']],
    ['Observation', 'subject', ['Group', 'Device', 'Patient', 'Location']],
    ['DeviceUseStatement', 'patient', ['Patient']],
    ['Appointment', 'practitioner', ['Practitioner']],
    ['Appointment', 'location', ['Location']],
    ['ServiceRequest', 'encounter', ['Encounter']],
    ['Bundle', 'composition', ['Composition']],
    ['Patient', 'general-practitioner', ['Practitioner', 'Organization', 'PractitionerRole']],
  ];
  for (const [type, code, expected] of cases) {
    assert.deepEqual([...(parameterOf(type, code).targets ?? [])].sort(), [...expected].sort(), `${type}.${code}`);
  }
  assert.equal(parameterOf('AuditEvent', 'entity').targets.length, 145);
});

test('a parameter tells kind, URL, types and what it is for on this type', () => {
  assert.deepEqual(parameterOf('Condition', 'patient').description, 'Who has the condition?');
  assert.deepEqual(parameterOf('Patient', 'active'), {
    code: 'active',
    type: 'token',
    url: 'http://hl7.org/fhir/SearchParameter/Patient-active',
    base: ['Patient'],
    expression: 'Patient.active',
    targets: [],
    description: 'Whether the patient record is active',
  });
  assert.deepEqual(parameterOf('Observation', 'code-value-quantity').components, [
    { definition: 'http://hl7.org/fhir/SearchParameter/clinical-code', expression: 'code' },
    { definition: 'http://hl7.org/fhir/SearchParameter/Observation-value-quantity', expression: 'value.as(Quantity)' },
  ]);
});

test('the parameters of all resources come first, those of DomainResource only where it applies', () => {
  assert.deepEqual([...getSearchParameters('Patient').keys()].slice(0, 10), [
    '_content',
    '_id',
    '_lastUpdated',
    '_profile',
    '_query',
    '_security',
    '_source',
    '_tag',
    '_filter',
    '_text',
  ]);
  assert.ok(!getSearchParameters('Bundle').has('_text'));
  assert.ok(getSearchParameters('Bundle').has('_id'));
});

test('an extractor is compiled once for a type and expression', () => {
  assert.equal(compileExtractor('Patient', 'Patient.name'), compileExtractor('Patient', 'Patient.name'));
  assert.notEqual(compileExtractor('Patient', 'name'), compileExtractor('Person', 'name'));
});

test('a composite gives one list of values per component for each value of its expression', () => {
  const tuples = compileCompositeExtractor('Observation', parameterOf('Observation', 'combo-code-value-quantity'))(
    {
      resourceType: 'Observation',
      code: { text: 'all' },
      component: [{ code: { text: 'part' }, valueQuantity: { value: 1 } }],
    },
    freeSteps,
    testWork,
  );
  assert.deepEqual(tuples, [
    [[{ type: 'CodeableConcept', value: { text: 'all' }, path: 'Observation.code' }], []],
    [
      [{ type: 'CodeableConcept', value: { text: 'part' }, path: 'Observation.component[0].code' }],
      [{ type: 'Quantity', value: { value: 1 }, path: 'Observation.component[0].value' }],
    ],
  ]);
  const [coordinate] = compileCompositeExtractor(
    'MolecularSequence',
    parameterOf('MolecularSequence', 'chromosome-variant-coordinate'),
  )(
    {
      resourceType: 'MolecularSequence',
      referenceSeq: { chromosome: { text: '1' } },
      variant: [{ start: 22, end: 23 }],
    },
    freeSteps,
    testWork,
  );
  assert.deepEqual(
    coordinate?.map((values) => values.map(({ path, value }) => [path, value])),
    [
      [['MolecularSequence.referenceSeq.chromosome', { text: '1' }]],
      [['MolecularSequence.variant[0].start', 22]],
      [['MolecularSequence.variant[0].end', 23]],
    ],
  );
  assert.throws(() => compileCompositeExtractor('Patient', parameterOf('Patient', 'name')), /is not a composite/);
});

test('the patient compartment names reference parameters that may point to a patient', () => {
  assert.equal(patientCompartment.size, 66);
  assert.deepEqual(patientCompartment.get('Appointment'), ['actor']);
  assert.equal(patientCompartment.get('Location'), undefined);
  for (const [type, codes] of patientCompartment) {
    for (const code of codes) {
      assert.ok(parameterOf(type, code).targets.includes('Patient'), `${type}.${code}`);
    }
  }
});

function* allParameters(): Generator<readonly [string, SearchParameter]> {
  for (const type of resourceTypes) {
    for (const parameter of getSearchParameters(type).values()) yield [type, parameter];
  }
}

function parameterOf(type: string, code: string): SearchParameter {
  const parameter = getSearchParameters(type).get(code);
  assert.ok(parameter !== undefined, `${type}.${code}`);
  return parameter;
}
