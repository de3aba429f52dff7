import assert from 'node:assert/strict';
import test from 'node:test';
import { ran } from '../mutation/coverage.ts';
import { changeText, type Explanation, explanationOf } from '../mutation/explanation.ts';
import { type Mutant, mutantsOf, sampleOf } from '../mutation/mutants.ts';
import { reportText } from '../mutation/report.ts';
import type { Result } from '../mutation/results.ts';
import { newExperience } from '../mutation/test-order.ts';

const path = 'packages/server/src/access/example.ts';

function changesOf(source: string): string[] {
  return mutantsOf(new Map([[path, source]])).map((mutant) => `${mutant.mutator}: ${changeText(mutant)}`);
}

/** Source → all changes that are made of it. */
const changed: readonly (readonly [source: string, changes: readonly string[]])[] = [
  ['if (ready) go();', ['condition: ready → true', 'condition: ready → false', 'statement: go(); → {}']],
  ['{ go(); }', ['statement: go(); → nothing']],
  [
    'const a = (n: number) => n < 2;',
    [
      'predicate: n < 2 → true',
      'predicate: n < 2 → false',
      'relational: < → <=',
      'relational: < → >=',
      'number: 2 → (2 + 1)',
    ],
  ],
  ['const a = b && c;', ['logical: && → ||', 'operand: b && c → b', 'operand: b && c → c']],
  ['const a = b ?? c;', ['operand: b ?? c → b', 'operand: b ?? c → c']],
  ['const a = !b;', ['negation: !b → b']],
  ['const a = b === c;', ['equality: === → !==']],
  ['const a = b * c;', ['arithmetic: * → /']],
  ['a += b;', ['statement: a += b; → {}', 'arithmetic: += → -=']],
  ['const a = b.some(c);', ['call: some → every']],
  ['const a = b.filter(c);', ['dropped call: b.filter(c) → b']],
  ['const a = [b];', ['array: [b] → []']],
  ["const a = 'code';", ["text: 'code' → ''"]],
  ['const a = true;', ['boolean: true → false']],
  [
    'function f() { if (a) return 1; return b; }',
    ['condition: a → true', 'condition: a → false', 'statement: return 1; → {}', 'number: 1 → (1 + 1)'],
  ],
  ['const a = sql`x = ${b} AND y IS NULL`;', ['SQL: = → <>', 'SQL: AND → OR', 'SQL: IS NULL → IS NOT NULL']],
];

for (const [source, expected] of changed) {
  test(`mutates ${source}`, () => {
    assert.deepEqual(changesOf(source), expected);
  });
}

/** What no mutant is made of. */
const leftOut: readonly string[] = [
  "import { a } from './a.ts';",
  "type A = 'code' | true | [1];",
  "interface A { readonly b: 'code' }",
  'const a = `a sentence about ${b}`;',
  "throw new TypeError('code');",
  "const a = { diagnostics: b === c ? 'x' : 'y', log: { d: 1 } };",
  "const a = new OddError('word');",
  'function f() { return a; }',
];

for (const source of leftOut) {
  test(`leaves alone ${source}`, () => {
    assert.deepEqual(changesOf(source), []);
  });
}

test('keeps the code of an error in, and its wording out', () => {
  assert.deepEqual(changesOf("const a = fail('forbidden', 'because');"), ["text: 'forbidden' → ''"]);
});

test('a mutant says where it is, and keeps its id when its line moves', () => {
  const [first] = mutantsOf(new Map([[path, 'const a = !b;\n']]));
  const [moved] = mutantsOf(new Map([[path, 'const c = d;\n\n  const a = !b;\n']]));
  assert.equal(first?.line, 1);
  assert.equal(moved?.line, 3);
  assert.equal(moved?.code, 'const a = !b;');
  assert.equal(moved?.id, first?.id);
});

test('equal changes on equal lines have ids of their own', () => {
  const ids = mutantsOf(new Map([[path, 'f(!b);\nf(!b);\n']])).map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
});

const folders = ['src/a', 'src/b'];
const many = mutantsOf(
  new Map(
    folders.flatMap((folder) => [
      [`${folder}/one.ts`, Array.from({ length: 30 }, (_, at) => `const n${at} = !b${at};`).join('\n')],
      [`${folder}/two.ts`, Array.from({ length: 30 }, (_, at) => `const m${at} = c === ${at};`).join('\n')],
    ]),
  ),
);

test('a sample depends on the seed alone, and takes as many of each folder', () => {
  const ids = (count: number, seed: string): string[] => sampleOf(many, folders, count, seed).map(({ id }) => id);
  assert.deepEqual(ids(20, '1'), ids(20, '1'));
  assert.notDeepEqual(ids(20, '1'), ids(20, '2'));
  const sample = sampleOf(many, folders, 20, '1');
  for (const folder of folders) assert.equal(sample.filter(({ file }) => file.startsWith(folder)).length, 10);
});

test('a larger sample begins with the smaller one, and a new line elsewhere leaves it as it was', () => {
  const small = sampleOf(many, folders, 20, '1');
  assert.deepEqual(sampleOf(many, folders, 40, '1').slice(0, 20), small);
  const more = mutantsOf(new Map([['src/c/three.ts', 'const z = !y;']]));
  assert.deepEqual(sampleOf([...many, ...more], folders, 20, '1'), small);
});

test('coverage says of an offset whether it ran', () => {
  const parts = [0, 10, 20, 30];
  assert.deepEqual(
    [0, 9, 10, 19, 20, 29, 30].map((offset) => ran(parts, offset)),
    [true, true, false, false, true, true, false],
  );
  assert.equal(ran(undefined, 0), false);
});

test('asks the test of the same name first, then whoever has noticed mutants of the source', () => {
  const experience = newExperience();
  const candidates = ['http/other', 'audit/rows', 'access/policy', 'access/mask'].map((name) => ({
    file: `packages/server/test/${name}.test.ts`,
    ms: 1000,
  }));
  const source = 'packages/server/src/access/mask.ts';
  const order = (text = ''): string[] =>
    experience.order(source, text, candidates).map(({ file }) => file.slice(21, -8));
  assert.deepEqual(order(), ['access/mask', 'access/policy', 'audit/rows', 'http/other']);
  assert.deepEqual(order("import { x } from '../http/x.ts';"), [
    'access/mask',
    'access/policy',
    'http/other',
    'audit/rows',
  ]);
  const by = { file: 'packages/server/test/http/other.test.ts', test: 'a test', isTimeout: false };
  const passed = { 'packages/server/test/access/mask.test.ts': '' };
  for (let times = 0; times < 5; times++)
    experience.note(source, { id: 'x', status: 'killed', by, passed, covering: 3, ms: 1 });
  assert.deepEqual(order(), ['http/other', 'access/policy', 'access/mask', 'audit/rows']);
});

const [mutant] = mutantsOf(new Map([[path, 'const a = !b;\n']]));
const explanation: Explanation = {
  file: 'access/example.ts',
  code: 'const a = !b;',
  reason: 'speed',
  why: 'It is slower.',
};

function reportOf(status: Result['status'], explanations: readonly Explanation[]): ReturnType<typeof reportText> {
  const sample: readonly Mutant[] = mutant === undefined ? [] : [mutant];
  return reportText({
    all: sample,
    sample,
    folders: ['packages/server/src/access'],
    results: new Map(sample.map(({ id }) => [id, { id, status, passed: { 'x.test.ts': '' }, covering: 2, ms: 1 }])),
    explanations,
    seed: '1',
    leftOutTests: [],
    tests: 2,
    testsNotAsked: [],
  });
}

test('a survivor without an explanation is listed as such', () => {
  const { text, unexplained } = reportOf('survived', []);
  assert.equal(unexplained, 1);
  assert.match(text, /\| `access\/example\.ts:1` \| `!b → b` \| 1 of 2 \| \*\*unexplained\*\* \|/);
});

test('an explanation is found by file and line of code, and by the change where it names some', () => {
  assert.ok(mutant);
  assert.equal(explanationOf(mutant, [explanation]), explanation);
  assert.equal(explanationOf(mutant, [{ ...explanation, changes: ['b → !b'] }]), undefined);
  assert.equal(explanationOf(mutant, [{ ...explanation, code: 'const a = b;' }]), undefined);
  const { text, unexplained } = reportOf('survived', [explanation]);
  assert.equal(unexplained, 0);
  assert.match(text, /\| \*speed\*: It is slower\. \|/);
});

test('the score leaves out what the compiler refuses', () => {
  assert.match(reportOf('killed', []).text, /Score: 100\.0 %\*\* of the 1 /);
  assert.match(reportOf('refused', []).text, /Score: –\*\* of the 0 /);
});
