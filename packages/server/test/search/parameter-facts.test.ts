/** What is known of a parameter before any value: whether a resource may have several index rows, or none. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { factsOf } from '../../src/search/parameter-facts.ts';

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
    assert.equal(factsOf(type, expression, kind).repeats, true);
  });
}

test('a resource has one row of an element that it has once, and of a code', () => {
  assert.equal(factsOf('Patient', 'Patient.birthDate', 'date').repeats, false);
  assert.equal(factsOf('Patient', 'Patient.gender', 'token').repeats, false);
  assert.equal(factsOf('Patient', 'Patient.name.family', 'string').repeats, true);
});

test('a row is always there of a mandatory code alone, on a way without gaps', () => {
  assert.equal(factsOf('Observation', 'Observation.status', 'token').required, true);
  assert.equal(factsOf('Observation', 'Observation.code', 'token').required, false);
  assert.equal(factsOf('Patient', 'Patient.gender', 'token').required, false);
  assert.equal(factsOf('Patient', 'Patient.link.type', 'token').required, false);
});
