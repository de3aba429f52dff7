/** What is known of a parameter before any value: whether a resource may have several index rows, and systems of codes. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { computeParameterFacts } from '../../src/search/index/parameter-facts.ts';
import { computeSystemNumber } from '../../src/search/numbers.ts';

/** Elements that a resource has once at most, whose values are yet found in several ways. */
const severalRows: readonly (readonly [type: string, expression: string, kind: 'token' | 'quantity' | 'reference'])[] =
  [
    ['Observation', 'Observation.code', 'token'],
    ['Composition', 'Composition.identifier', 'token'],
    ['Encounter', 'Encounter.subject', 'reference'],
    ['Encounter', 'Encounter.length', 'quantity'],
    ['Observation', 'Observation.value.ofType(Quantity)', 'quantity'],
    ['Observation', 'Observation.value.ofType(SampledData)', 'quantity'],
    ['Condition', 'Condition.onset.ofType(Age)', 'quantity'],
    ['Condition', 'Condition.onset.ofType(Range)', 'quantity'],
  ];

for (const [type, expression, kind] of severalRows) {
  test(`${expression} may have several rows of a resource`, () => {
    assert.equal(computeParameterFacts(type, expression, kind).repeats, true);
  });
}

test('a resource has one row of an element that it has once, and of a code', () => {
  assert.equal(computeParameterFacts('Patient', 'Patient.birthDate', 'date').repeats, false);
  assert.equal(computeParameterFacts('Patient', 'Patient.gender', 'token').repeats, false);
  assert.equal(computeParameterFacts('Patient', 'Patient.name.family', 'string').repeats, true);
});

test('a code inside a datatype has the system of its value set', () => {
  const { codeSystems } = computeParameterFacts('Patient', 'Patient.address.use', 'token');
  assert.equal(codeSystems.get('home'), computeSystemNumber('http://hl7.org/fhir/address-use'));
});
