/** What a validation may cost: expressions of profiles come from outside. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openOperatorBudget } from '../../src/limits/budgets.ts';
import { openValidator, validate } from '../../src/validation/validation.ts';
import { turnLimits } from '../../src/validation/validator.ts';

const validator = openValidator({ examinationMsMax: 1500 });
after(() => validator.close());

const url = 'http://example.org/StructureDefinition/hostile';
const narrative = { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">x</div>' };
const patient = { resourceType: 'Patient', text: narrative, contact: [{ gender: 'male' }] };

const mine = { application: 1, firm: 1 };

function ask(expression: string, of = mine) {
  const constraint = [{ key: 'own-1', severity: 'error', human: 'Hostile', expression }];
  const element = [{ id: 'Patient', path: 'Patient', min: 0, max: '*', constraint }];
  const definition = { resourceType: 'StructureDefinition', url, type: 'Patient', snapshot: { element } };
  return validate(validator, patient, {
    profiles: [url],
    lookup: async () => definition,
    isMember: async () => undefined,
    of,
    budget: openOperatorBudget(),
  });
}

const hostile: Readonly<Record<string, string>> = {
  'a regular expression that backtracks for ever': `'${'a'.repeat(60)}b'.matches('^(a+)+$')`,
  'a list that doubles for ever': '(1 | 2).repeat($this + 1).count() > 3',
};

for (const [what, expression] of Object.entries(hostile)) {
  test(`${what} ends the examination, not the server; the next one is made`, async () => {
    const findings = await ask(expression);
    assert.deepEqual(
      findings.map(({ severity, code, path }) => [severity, code, path]),
      [
        ['error', 'invariant', 'Patient.contact[0]'],
        ['error', 'too-costly', 'Patient'],
      ],
    );
    const next = await ask('name.exists() or contact.exists()');
    assert.deepEqual(
      next.map(({ rule, path }) => [rule, path]),
      [['pat-1', 'Patient.contact[0]']],
    );
  });
}

const unevaluated: Readonly<Record<string, string>> = {
  'does not parse': 'name.exists(',
  'names an unknown function': 'name.nonsense()',
  'would ask a server': "gender.memberOf('http://example.org/ValueSet/x')",
  'is too long': `true${' and true'.repeat(2000)}`,
};

for (const [what, expression] of Object.entries(unevaluated)) {
  test(`an expression that ${what} is a warning`, async () => {
    const findings = await ask(expression);
    assert.deepEqual(
      findings.map(({ severity, rule, path }) => [severity, rule, path]),
      [
        ['error', 'pat-1', 'Patient.contact[0]'],
        ['warning', 'invariant-unevaluated', 'Patient'],
      ],
    );
  });
}

test('more than so many at once are turned away', async () => {
  const all = Array.from({ length: turnLimits.ofFirmMax + 1 }, () => ask('true'));
  const results = await Promise.allSettled(all);
  assert.equal(results.filter(({ status }) => status === 'fulfilled').length, turnLimits.ofFirmMax);
  const last = results.at(-1);
  assert.equal(last?.status === 'rejected' && last.reason.code, 'rate-exceeded');
});

test('a closed validator checks no profiles and says so', async () => {
  const closed = openValidator();
  await closed.close();
  const findings = await validate(closed, patient, {
    profiles: ['http://hl7.org/fhir/StructureDefinition/Patient'],
    lookup: async () => undefined,
    isMember: async () => undefined,
    of: mine,
    budget: openOperatorBudget(),
  });
  assert.deepEqual(
    findings.map(({ rule }) => rule),
    ['pat-1', 'too-costly'],
  );
});
