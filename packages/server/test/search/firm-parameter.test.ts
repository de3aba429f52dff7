/** Search parameters of a firm: which kinds find values in which datatypes (https://hl7.org/fhir/R4/search.html#ptypes). */
import assert from 'node:assert/strict';
import test from 'node:test';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { readFirmParameter } from '../../src/search/index/firm-parameter.ts';

const accepted: readonly (readonly [type: string, expression: string])[] = [
  ['quantity', 'Observation.value.ofType(Quantity)'],
  ['quantity', 'Observation.value.ofType(SampledData)'],
  ['quantity', 'Condition.onset.ofType(Age)'],
  ['quantity', 'Condition.onset.ofType(Range)'],
  ['quantity', 'Encounter.length'],
  ['quantity', 'Task.input.value.ofType(Distance)'],
  ['reference', 'Encounter.subject'],
  ['reference', 'Questionnaire.derivedFrom'],
  ['reference', 'Provenance.policy'],
  ['reference', 'Bundle.entry.resource'],
  ['uri', 'ValueSet.url'],
  ['number', 'RiskAssessment.prediction.relativeRisk'],
  ['date', 'Patient.birthDate'],
  ['string', 'Patient.name'],
  ['token', 'Patient.gender'],
];

const read = (type: string, expression: string, more: object = {}) =>
  readFirmParameter(
    {
      resourceType: 'SearchParameter',
      url: 'http://example.org/SearchParameter/own',
      name: 'Own',
      status: 'active',
      description: 'Own',
      code: 'own',
      base: [expression.split('.')[0] ?? ''],
      type,
      expression,
      ...more,
    },
    openOperatorBudget(),
  );

for (const [type, expression] of accepted) {
  test(`${type} finds ${expression}`, () => {
    assert.equal(read(type, expression)?.expression, expression);
  });
}

for (const [type, expression] of [
  ['quantity', 'Patient.birthDate'],
  ['reference', 'Observation.value.ofType(Quantity)'],
  ['date', 'Patient.gender'],
  ['token', 'Bundle.entry.resource'],
] as const) {
  test(`${type} finds nothing in ${expression}, and is refused`, () => {
    assert.throws(() => read(type, expression), { code: 'search-parameter-unservable' });
  });
}

test('the parts of a composite are looked for in what the composite selects', () => {
  const composite = (second: string) =>
    read('composite', 'Observation.component', {
      component: [
        { definition: 'http://hl7.org/fhir/SearchParameter/clinical-code', expression: 'code' },
        { definition: 'http://hl7.org/fhir/SearchParameter/Observation-value-quantity', expression: second },
      ],
    });
  assert.equal(composite('value.ofType(Quantity)')?.component?.length, 2);
  assert.throws(() => composite('bodySite'), { code: 'search-parameter-unservable' });
});
