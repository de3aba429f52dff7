// Which elements a search parameter reads: what a caller has to be allowed to read before it may search by it.
import assert from 'node:assert/strict';
import test from 'node:test';
import { getSearchParameters, listExpressionElements, listParameterElements, resourceTypes } from '../src/index.ts';

const cases: readonly (readonly [string, string, readonly string[]])[] = [
  ['Patient', 'name', ['Patient.name']],
  ['Patient', 'family', ['Patient.name.family']],
  ['Patient', 'given', ['Patient.name.given']],
  ['Patient', 'birthdate', ['Patient.birthDate']],
  ['Patient', 'gender', ['Patient.gender']],
  ['Patient', 'identifier', ['Patient.identifier']],
  ['Patient', 'email', ['Patient.telecom']],
  ['Patient', 'phone', ['Patient.telecom']],
  ['Patient', 'address-city', ['Patient.address.city']],
  ['Patient', 'deceased', ['Patient.deceased[x]']],
  ['Patient', 'death-date', ['Patient.deceased[x]']],
  ['Patient', 'language', ['Patient.communication.language']],
  ['Patient', 'us-core-race', ['Patient.extension.extension.value[x]', 'Patient.extension.url']],
  ['Patient', '_id', ['Patient.id']],
  ['Patient', '_lastUpdated', ['Patient.meta.lastUpdated']],
  ['Patient', '_text', []],
  ['Observation', 'value-quantity', ['Observation.value[x]']],
  ['Observation', 'code', ['Observation.code']],
  ['Observation', 'patient', ['Observation.subject']],
  ['Observation', 'code-value-quantity', ['Observation.code', 'Observation.value[x]']],
  ['Observation', 'component-code-value-quantity', ['Observation.component.code', 'Observation.component.value[x]']],
  ['Condition', 'code', ['Condition.code']],
  ['MedicationStatement', 'code', ['MedicationStatement.medication[x]']],
  ['AllergyIntolerance', 'code', ['AllergyIntolerance.code', 'AllergyIntolerance.reaction.substance']],
  ['Appointment', 'practitioner', ['Appointment.participant.actor']],
  [
    'ActivityDefinition',
    'context-type-value',
    ['ActivityDefinition.useContext.code', 'ActivityDefinition.useContext.value[x]'],
  ],
  [
    'ActivityDefinition',
    'successor',
    ['ActivityDefinition.relatedArtifact.resource', 'ActivityDefinition.relatedArtifact.type'],
  ],
  [
    'MolecularSequence',
    'chromosome-variant-coordinate',
    ['MolecularSequence.referenceSeq.chromosome', 'MolecularSequence.variant.end', 'MolecularSequence.variant.start'],
  ],
  ['Bundle', 'composition', ['Bundle.entry.resource']],
  ['Coverage', 'reconciliationId', ['Coverage.identifier']],
];

test('the elements that a parameter reads, criteria included', () => {
  for (const [type, code, expected] of cases) {
    const parameter = getSearchParameters(type).get(code);
    assert.ok(parameter !== undefined, `${type}.${code}`);
    assert.deepEqual(listParameterElements(type, parameter), expected, `${type}.${code}`);
  }
});

test('criteria alone are read too', () => {
  assert.deepEqual(listExpressionElements('Patient', "Patient.telecom.where(use='home').value"), [
    'Patient.telecom.use',
    'Patient.telecom.value',
  ]);
  assert.deepEqual(listExpressionElements('Patient', "Patient.name.exists(use='old') and Patient.active"), [
    'Patient.active',
    'Patient.name',
  ]);
  assert.deepEqual(listExpressionElements('Patient', 'Person.name | Patient.birthDate'), ['Patient.birthDate']);
});

test('every parameter with an expression reads elements of its own type only', () => {
  for (const type of resourceTypes) {
    for (const parameter of getSearchParameters(type).values()) {
      const paths = listParameterElements(type, parameter);
      assert.equal(paths.length > 0, parameter.expression !== undefined, `${type}.${parameter.code}`);
      for (const path of paths) assert.ok(path.startsWith(`${type}.`), `${type}.${parameter.code}: ${path}`);
    }
  }
});
