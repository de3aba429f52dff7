/** Search parameters of a firm: which kinds find values in which datatypes (https://hl7.org/fhir/R4/search.html#ptypes). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { readFirmParameter } from '../../src/search/firm-parameter.ts';

const accepted: readonly (readonly [type: string, expression: string])[] = [
  ['quantity', 'Observation.value.ofType(Quantity)'],
  ['quantity', 'Observation.value.ofType(SampledData)'],
  ['quantity', 'Condition.onset.ofType(Age)'],
  ['quantity', 'Condition.onset.ofType(Range)'],
  ['quantity', 'Encounter.length'],
  ['reference', 'Encounter.subject'],
  ['reference', 'Questionnaire.derivedFrom'],
  ['uri', 'ValueSet.url'],
  ['number', 'RiskAssessment.prediction.relativeRisk'],
  ['date', 'Patient.birthDate'],
  ['string', 'Patient.name'],
  ['token', 'Patient.gender'],
];

const read = (type: string, expression: string) =>
  readFirmParameter({
    resourceType: 'SearchParameter',
    url: 'http://example.org/SearchParameter/own',
    name: 'Own',
    status: 'active',
    description: 'Own',
    code: 'own',
    base: [expression.split('.')[0] ?? ''],
    type,
    expression,
  });

for (const [type, expression] of accepted) {
  test(`${type} finds ${expression}`, () => {
    assert.equal(read(type, expression)?.expression, expression);
  });
}

for (const [type, expression] of [
  ['quantity', 'Patient.birthDate'],
  ['reference', 'Observation.value.ofType(Quantity)'],
  ['date', 'Patient.gender'],
] as const) {
  test(`${type} finds nothing in ${expression}, and is refused`, () => {
    assert.throws(() => read(type, expression), { code: 'search-parameter-unservable' });
  });
}
