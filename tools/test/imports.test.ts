import assert from 'node:assert/strict';
import test from 'node:test';
import { importsOf } from '../architecture/imports.ts';
import { TokenError, tokensOf } from '../architecture/tokens.ts';

function found(source: string): string[] {
  return importsOf(source).map(
    ({ specifier, names, isType }) => `${isType ? 'type ' : ''}${names.join()} ${specifier}`,
  );
}

/** Source without an import in it, although the words are there. */
const decoys = [
  "// import a from './a.ts'\n",
  "/* import a from './a.ts'\n import b from './b.ts' */",
  'const text = "import a from \'./a.ts\'";',
  "const text = `\nimport a from './a.ts'\n`;",
  "const text = `${f(`import a from './a.ts'`)} import('./b.ts')`;",
  "const pattern = /import('a')|'\"`/;",
  "const pattern = /[/']import a from/g;",
  "loader.import('./a.ts');",
  'const row = { import: 1, export: 2 };',
  'import.meta.main;',
  'export { a, b as c };',
  "export const from = './a.ts';",
];

for (const source of decoys) {
  test(`imports: none in ${JSON.stringify(source)}`, () => assert.deepEqual(found(source), []));
}

const cases: Readonly<Record<string, readonly string[]>> = {
  "import './a.ts';": [' ./a.ts'],
  "import a from './a.ts';": ['default ./a.ts'],
  "import a, { b as c, type D, type, type as E } from './a.ts';": ['default,b,D,type,type ./a.ts'],
  "import * as a from './a.ts';": ['* ./a.ts'],
  "import type A from './a.ts';": ['type default ./a.ts'],
  "import type from './a.ts';": ['default ./a.ts'],
  "import type, { b } from './a.ts';": ['default,b ./a.ts'],
  "import type { A } from './a.ts';": ['type A ./a.ts'],
  'import {\n  a,\n  b,\n} from \'./a.ts\'\nimport { c } from "./c.ts"': ['a,b ./a.ts', 'c ./c.ts'],
  "export { a as b, type C } from './a.ts';": ['a,C ./a.ts'],
  "export * from './a.ts'; export type { B } from './b.ts';": ['* ./a.ts', 'type B ./b.ts'],
  "const a = await import('./a.ts'); type B = import(`./b.ts`).B;": ['* ./a.ts', '* ./b.ts'],
  "const text = `${await import('./a.ts')}`;": ['* ./a.ts'],
  "const half = total / 2; const a = import('./a.ts'); const b = rest / 3;": ['* ./a.ts'],
  "const x = list[0] / 2; import('./a.ts'); y = (1) / 2;": ['* ./a.ts'],
  "if (x) { y = `a${b}c` / 2 } import('./a.ts');": ['* ./a.ts'],
  'import(name);': ['* undefined'],
};

for (const [source, expected] of Object.entries(cases)) {
  test(`imports: ${JSON.stringify(source)}`, () => assert.deepEqual(found(source), expected));
}

test('imports: a line number is where the import begins', () => {
  assert.deepEqual(
    importsOf("/*\n\n*/ const a = `\n`;\nimport {\n  b,\n} from './b.ts';").map(({ line }) => line),
    [5],
  );
});

test('tokens: what has no end is an error with its line', () => {
  for (const [source, message] of [
    ['\n"abc\n', 'a string has no end'],
    ['\n`abc\n', 'a template has no end'],
    ['\n`abc ${ d \n', 'a template has no end'],
    ['\n/* abc\n', 'a comment has no end'],
  ] as const) {
    assert.throws(
      () => tokensOf(source),
      (error) => error instanceof TokenError && error.message === message,
      source,
    );
  }
});
