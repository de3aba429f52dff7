/** Operator rows as lines of the command line. */
import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { formatOperatorRow, parseOperatorRow } from '../../src/access/operator-row-text.ts';
import type { OperatorRow } from '../../src/access/operator-rows.ts';

fc.configureGlobal({ seed: 20261121 });

const wrong: readonly (readonly [line: string, problem: string])[] = [
  ['', 'a row is written as code?parameter=value, such as obsv_ef?category=exam'],
  ['obsv_ef', 'a row is written as code?parameter=value, such as obsv_ef?category=exam'],
  ['obsv_ef?', 'a row is written as code?parameter=value, such as obsv_ef?category=exam'],
  ['acl/obsv_ef_r?category=exam', 'a row is written as code?parameter=value, such as obsv_ef?category=exam'],
  ['nothing?category=exam', 'nothing: no access code that an operator can describe'],
  ['obsv_ef?category', 'obsv_ef: a query consists of name=value, parted by &'],
  ['obsv_ef?kategory=exam', 'obsv_ef: Observation has no search parameter kategory'],
  ['obsv_ef?_elements=text', 'obsv_ef: text cannot be opened by name: it may repeat what other elements hold'],
  ['obsv_ef?_elements=code&_elements=value', 'obsv_ef: _elements is said twice'],
  ['pat_ef?_letters=r,s&_elements=name', 'pat_ef: letters are r, s or rs'],
  ['pmc_ocu_ef?category=exam', 'pmc_ocu_ef: type is needed, the published entries do not name it'],
  [`obsv_ef?category=${'a'.repeat(2_000)}`, 'a row has 2000 characters at most'],
];

for (const [line, problem] of wrong) {
  test(`${line.slice(0, 50) || 'nothing'} is refused`, () => {
    assert.deepEqual(parseOperatorRow(line), { problem });
  });
}

test('criteria, alternatives, elements, type and letters', () => {
  assert.deepEqual(parseOperatorRow('pmc_ocu_ef?category=exam,ocular&code=http://snomed.info/sct|1&_type=Condition'), {
    code: 'pmc_ocu_ef',
    row: {
      type: 'Condition',
      criteria: [
        { parameter: 'category', values: ['exam', 'ocular'] },
        { parameter: 'code', values: ['http://snomed.info/sct|1'] },
      ],
    },
  });
  assert.deepEqual(parseOperatorRow('pat_ef?_letters=rs&_elements=name,birthDate'), {
    code: 'pat_ef',
    row: { letters: 'rs', elements: ['name', 'birthDate'] },
  });
});

/** Objects like those of literals. */
const plain = { noNullPrototype: true } as const;

test('a row is read from its line as it was', () => {
  const values = fc.array(fc.stringMatching(/^[a-zA-Z0-9:/.é%&=+#"-]{1,12}$/), { minLength: 1, maxLength: 3 });
  const criteria = fc.array(fc.record({ parameter: fc.constantFrom('category', 'code'), values }, plain), {
    minLength: 1,
    maxLength: 3,
  });
  const elements = fc.subarray(['code', 'value', 'status', 'effective'], { minLength: 1 });
  const row: fc.Arbitrary<OperatorRow> = fc.oneof(
    fc.record({ criteria }, plain),
    fc.record({ elements }, plain),
    fc.record({ criteria, elements }, plain),
  );
  fc.assert(
    fc.property(row, (each) => {
      assert.deepEqual(parseOperatorRow(formatOperatorRow('obsv_ef', each)), { code: 'obsv_ef', row: each });
    }),
  );
});
