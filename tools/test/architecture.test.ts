import assert from 'node:assert/strict';
import test from 'node:test';
import { violationsOf } from '../architecture/rules.ts';
import { makers } from '../architecture/table.ts';
import type { Tree } from '../architecture/tree.ts';

/** The makers that the table names, so that only what a test adds can be wrong. */
const makerFiles = Object.groupBy(makers, ({ file }) => `packages/server/src/${file}`);
const sound: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    Object.entries(makerFiles).map(([path, rows = []]) => [
      path,
      rows.map(({ name }) => `export function ${name}() {}\n`).join(''),
    ]),
  ),
  'packages/server/src/base/clock.ts': 'export const clock = 1;\n',
  'packages/server/src/storage/rows.ts': 'export const store = 1;\n',
  'packages/server/src/oauth/jwt.ts': 'export const jwt = 1;\n',
  'packages/server/src/practice/booking/book.ts': 'export const book = 1;\n',
  'packages/server/src/practice/list.ts': "import { book } from './booking/book.ts';\nexport const list = [book];\n",
  'packages/server/src/http/answer.ts':
    "import type { FastifyInstance } from 'fastify';\nexport type Server = FastifyInstance;\n",
  'packages/fhir/src/index.ts': 'export const resourceTypes = [];\n',
};

function treeOf(files: Readonly<Record<string, string>>): Tree {
  return {
    files: Object.entries({ ...sound, ...files }).map(([path, text]) => ({
      path,
      text,
      isGenerated: path.includes('/generated/'),
    })),
    dependencies: new Map([
      ['', new Set(['fast-check'])],
      ['fhir', new Set<string>()],
      ['server', new Set(['fastify', 'pg', 'left-pad'])],
    ]),
  };
}

function linesOf(files: Readonly<Record<string, string>>): string[] {
  return violationsOf(treeOf(files)).map(({ path, line, message }) => `${path}:${line} ${message}`);
}

/** As many files in a folder. */
function filesIn(folder: string, count: number, ending = 'ts'): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/n${index}.${ending}`, '']));
}

const server = 'packages/server/src';

/** What is refused: file → source → the one line that must be reported. */
const refusals: readonly (readonly [name: string, path: string, text: string, expected: string])[] = [
  [
    'a higher tier',
    `${server}/search/plan.ts`,
    "import { store } from '../storage/rows.ts';\n",
    ':1 import of "../storage/rows.ts": "storage" is of a higher tier than "search"',
  ],
  [
    'the practice in the engine',
    `${server}/engine/write/create.ts`,
    "import { book } from '../../practice/booking/book.ts';\n",
    ':1 import of "../../practice/booking/book.ts": "practice" is of a higher tier than "engine"',
  ],
  [
    'another feature of the practice',
    `${server}/practice/charges/rules.ts`,
    "import { book } from '../booking/book.ts';\n",
    ':1 import of "../booking/book.ts": feature "charges" must not import "booking"',
  ],
  [
    'the list of all features in one of them',
    `${server}/practice/charges/rules.ts`,
    "import { list } from '../list.ts';\n",
    ':1 import of "../list.ts": lists all features: a feature does not import it',
  ],
  [
    'another feature in one that is in no table',
    `${server}/practice/refills/rules.ts`,
    "import { book } from '../booking/book.ts';\n",
    ':1 import of "../booking/book.ts": feature "refills" must not import "booking"',
  ],
  [
    'a type of a higher tier',
    `${server}/search/plan.ts`,
    "\nimport type { store } from '../storage/rows.ts';\n",
    ':2 import of "../storage/rows.ts": "storage" is of a higher tier than "search"',
  ],
  [
    'a type in an expression',
    `${server}/search/plan.ts`,
    "export type S = import('../storage/rows.ts').Store;\n",
    ':1 import of "../storage/rows.ts": "storage" is of a higher tier than "search"',
  ],
  [
    'a re-export of a higher tier',
    `${server}/search/plan.ts`,
    "export * from '../storage/rows.ts';\n",
    ':1 import of "../storage/rows.ts": "storage" is of a higher tier than "search"',
  ],
  [
    'a module side by side',
    `${server}/storage/read.ts`,
    "import { jwt } from '../oauth/jwt.ts';\n",
    ':1 import of "../oauth/jwt.ts": "oauth" and "storage" stand side by side in their tier and do not import each other',
  ],
  [
    'a module to the right',
    `${server}/admin/firms.ts`,
    "import type { Server } from '../http/answer.ts';\n",
    ':1 import of "../http/answer.ts": "http" stands to the right of "admin" in their tier',
  ],
  [
    'the server from synthetic',
    `${server}/synthetic/people.ts`,
    "import { clock } from '../base/clock.ts';\n",
    ':1 import of "../base/clock.ts": "synthetic" stands beside the tiers and imports no other module',
  ],
  [
    'an import() of what is not a literal',
    `${server}/http/load.ts`,
    'export const load = (name: string) => import(name);\n',
    ':1 import() of what is not a literal escapes this check',
  ],
  [
    'a path into another package',
    `${server}/http/load.ts`,
    "import { resourceTypes } from '../../../fhir/src/index.ts';\n",
    ':1 import of "../../../fhir/src/index.ts": leaves its package: import other packages by their names',
  ],
  [
    'a file that is not there',
    `${server}/http/load.ts`,
    "import { gone } from './gone.ts';\n",
    ':1 import of "./gone.ts": there is no such file',
  ],
  [
    'the server from fhir',
    'packages/fhir/src/json.ts',
    "import type { Server } from '@praxis/server';\n",
    ':1 import of "@praxis/server": package "fhir" must not import "server"',
  ],
  [
    'Node from fhir',
    'packages/fhir/src/json.ts',
    "import { readFileSync } from 'node:fs';\n",
    ':1 import of "node:fs": package "fhir" is pure and runs in browsers',
  ],
  [
    'the server from client',
    'packages/client/src/connect.ts',
    "import type { Server } from '@praxis/server';\n",
    ':1 import of "@praxis/server": package "client" must not import "server"',
  ],
  [
    'Node from client',
    'packages/client/src/connect.ts',
    "import { readFileSync } from 'node:fs';\n",
    ':1 import of "node:fs": package "client" is pure and runs in browsers',
  ],
  [
    'what needs Node from the rest of client',
    'packages/client/src/connect.ts',
    "import { makeFileCursor } from './node.ts';\n",
    ':1 import of "./node.ts": needs Node, and is an entry of its own',
  ],
  [
    'the server from console',
    'packages/console/src/app.ts',
    "import type { Server } from '@praxis/server';\n",
    ':1 import of "@praxis/server": package "console" must not import "server"',
  ],
  [
    'fastify outside of http',
    `${server}/admin/firms.ts`,
    "import type { FastifyReply } from 'fastify';\n",
    ':1 import of "fastify": only http may import it',
  ],
  [
    'pg outside of database',
    `${server}/storage/read.ts`,
    "import pg from 'pg';\n",
    ':1 import of "pg": only database may import it',
  ],
  [
    'the embedded database outside of database',
    `${server}/http/load.ts`,
    "import { startEmbeddedPostgres } from '@praxis/embedded-postgres';\n",
    ':1 import of "@praxis/embedded-postgres": only database may import it',
  ],
  [
    'the server from the embedded database',
    'packages/embedded-postgres/src/launcher.ts',
    "import { clock } from '../../server/src/base/clock.ts';\n",
    ':1 import of "../../server/src/base/clock.ts": leaves its package: import other packages by their names',
  ],
  [
    'HTTP in the engine',
    `${server}/engine/read/read.ts`,
    "import type { IncomingMessage } from 'node:http';\n",
    ':1 import of "node:http": only http, cli, outbound may import it',
  ],
  [
    'a package that is not declared',
    `${server}/http/load.ts`,
    "import { walk } from 'ast-walk/deep';\n",
    ':1 import of "ast-walk/deep": is not declared in package.json',
  ],
  [
    'a development package in sources',
    `${server}/http/load.ts`,
    "import { assert } from 'fast-check';\n",
    ':1 import of "fast-check": is not declared in package.json',
  ],
  [
    'a declared package in no table',
    `${server}/http/load.ts`,
    "import pad from 'left-pad';\n",
    ':1 import of "left-pad": is in no table of importers',
  ],
  [
    'an unknown module',
    `${server}/plugins/load.ts`,
    'export const load = 1;\n',
    ':1 module "plugins" is not in the table of tiers',
  ],
  [
    'an unknown package',
    'packages/extra/src/load.ts',
    'export const load = 1;\n',
    ':1 package "extra" is not in the table of packages',
  ],
  [
    'a file that is too long',
    `${server}/http/load.ts`,
    '\n'.repeat(401),
    ':1 401 lines, 400 at most: split it by subject',
  ],
  [
    'a test that is too long',
    'packages/server/test/http/load.test.ts',
    '\n'.repeat(501),
    ':1 501 lines, 500 at most: split it by subject',
  ],
  [
    'a function named after what it returns',
    `${server}/http/headers.ts`,
    '/** Some. */\nexport async function headersOf() {}\n',
    ':2 function "headersOf" has no verb: say what it does, such as find, compute, build or parse',
  ],
  [
    'a function named by a participle',
    `${server}/http/headers.ts`,
    'export function* allowedHeaders() {}\n',
    ':1 function "allowedHeaders" has no verb: say what it does, such as find, compute, build or parse',
  ],
  [
    'an empty name',
    `${server}/http/string-utils.ts`,
    'export const load = 1;\n',
    ':1 "utils" in a name says nothing: name the file after its subject',
  ],
  [
    'an empty directory name',
    'packages/server/test/helpers/load.ts',
    'export const load = 1;\n',
    ':1 "helpers" in a name says nothing: name the file after its subject',
  ],
  [
    'a maker by a stranger',
    `${server}/search/plan.ts`,
    "import { type Stored, contentOf } from '../access/disclosure.ts';\n",
    ':1 import of "../access/disclosure.ts": "access" and "search" stand side by side in their tier and do not import each other',
  ],
  [
    'a regular expression that is composed',
    `${server}/search/plan.ts`,
    'export const match = (pattern: string) =>\n  new RegExp(pattern);\n',
    ':2 a regular expression that is no literal: match what comes from outside with re2js, else name the file in the table of composers',
  ],
  ['a string without an end', `${server}/http/load.ts`, "export const a = 'x;\n", ':1 a string has no end'],
];

for (const [name, path, text, expected] of refusals) {
  test(`architecture refuses ${name}`, () => {
    const lines = linesOf({ [path]: text });
    assert.ok(lines.includes(path + expected), `${path}${expected}\nis not among\n${lines.join('\n')}`);
  });
}

test('architecture refuses a maker to a stranger under any name', () => {
  const path = `${server}/oauth/load.ts`;
  const expected = `${path}:1 import of "../access/disclosure.ts": "markMasked" is for access/mask.ts (the field mask alone decides what of a resource may be sent)`;
  for (const clause of [
    '{ markMasked }',
    '{ markMasked as innocent }',
    '{ type Stored, markMasked as x, }',
    '* as boxes',
  ]) {
    const lines = linesOf({ [path]: `import ${clause} from '../access/disclosure.ts';\n` });
    assert.ok(lines.includes(expected), `${clause}: ${lines.join('\n')}`);
  }
});

test('architecture refuses that a permitted caller hands a maker on', () => {
  const path = `${server}/storage/load.ts`;
  const handedOn = '"boxStored" must not be handed on: its callers are listed';
  assert.deepEqual(linesOf({ [path]: "export { boxStored } from '../access/disclosure.ts';\n" }), [
    `${path}:1 import of "../access/disclosure.ts": ${handedOn}`,
  ]);
  assert.deepEqual(
    linesOf({ [path]: "import { boxStored } from '../access/disclosure.ts';\nexport { boxStored as box };\n" }),
    [`${path}:1 ${handedOn}`],
  );
});

test('architecture refuses circles, also of type imports', () => {
  const [a, b] = [`${server}/search/a.ts`, `${server}/search/b.ts`];
  const lines = linesOf({
    [a]: "import type { B } from './b.ts';\nexport type A = B;\n",
    [b]: "import type { A } from './a.ts';\nexport type B = A;\n",
  });
  assert.deepEqual(lines, [`${a}:1 imports itself in a circle: ${a} → ${b} → ${a}`]);
});

test('architecture refuses a name with two meanings in one module, and in modules of which one imports the other', () => {
  const inHttp = {
    [`${server}/http/routes.ts`]: "import { jwt } from '../oauth/jwt.ts';\nexport type Grant = typeof jwt;\n",
  };
  const inOauth = { [`${server}/oauth/grant.ts`]: 'export async function* Grant() {}\n' };
  const inBase = { [`${server}/base/grant.ts`]: 'export const Grant = 1;\n' };
  assert.deepEqual(linesOf({ ...inHttp, ...inOauth }), [
    `${server}/http/routes.ts:1 "Grant" has another meaning in ${server}/oauth/grant.ts: give one of them its own name`,
  ]);
  assert.deepEqual(linesOf({ ...inBase, [`${server}/base/other.ts`]: 'export interface Grant {}\n' }), [
    `${server}/base/grant.ts:1 "Grant" has another meaning in ${server}/base/other.ts: give one of them its own name`,
  ]);
  const apart = {
    ...inHttp,
    ...inBase,
    [`${server}/http/answers.ts`]: 'type Grant = 1;\nexport type Granted = Grant;\n',
  };
  assert.deepEqual(linesOf(apart), []);
  const features = ['visits', 'charges'].map((name) => [
    `${server}/practice/${name}/grant.ts`,
    'export const Grant = 1;\n',
  ]);
  assert.deepEqual(linesOf(Object.fromEntries(features)), []);
});

test('architecture refuses a name with another meaning than in a package that the module imports', () => {
  const fhir = 'packages/fhir/src';
  const inFhir = {
    [`${fhir}/index.ts`]:
      "export { Grant, type Access, Hidden as Shown } from './grant.ts';\nexport type * from './generated/types.ts';\nexport const Right = 1;\n",
    [`${fhir}/grant.ts`]:
      'export class Grant {}\nexport type Access = 1;\nexport type Hidden = 1;\nexport type Inner = 1;\n',
    [`${fhir}/generated/types.ts`]: 'export interface Coding {}\n',
  };
  const importing = {
    [`${server}/base/other.ts`]: "import type { Access } from '@praxis/fhir';\nexport type B = Access;\n",
  };
  const names = ['Access', 'Coding', 'Grant', 'Right', 'Shown'];
  const declared = [...names, 'Hidden', 'Inner'].map((name) => `export type ${name} = 2;\n`).join('');
  const inBase = { [`${server}/base/grant.ts`]: declared };
  assert.deepEqual(
    linesOf({ ...inFhir, ...importing, ...inBase }).toSorted(),
    names.map(
      (name) =>
        `${fhir}/index.ts:1 "${name}" has another meaning in ${server}/base/grant.ts: give one of them its own name`,
    ),
  );
  assert.deepEqual(linesOf({ ...inFhir, ...inBase }), []);
  const onward = { [`${server}/base/grant.ts`]: "export { Grant } from '@praxis/fhir';\n" };
  assert.deepEqual(linesOf({ ...inFhir, ...importing, ...onward }), []);
});

test('architecture refuses a row of the table that names nothing', () => {
  const path = `${server}/access/disclosure.ts`;
  const text = sound[path]?.replace('function markMasked', 'function veil') ?? '';
  assert.deepEqual(linesOf({ [path]: text }), [
    `${path}:1 the table of makers names "markMasked", which this file does not export`,
  ]);
});

test('architecture refuses a folder of more than 25 sources; tests, migrations and what is generated do not count', () => {
  const folder = `${server}/base/settings`;
  const divide = `${folder}:1 26 source files, 25 at most: divide it by subject`;
  assert.deepEqual(linesOf(filesIn(folder, 26)), [divide]);
  const admitted = [
    filesIn(folder, 25),
    { ...filesIn(folder, 25), ...filesIn(`${folder}/rows`, 25) },
    filesIn('packages/server/test/base', 26),
    filesIn(`${server}/database/migrations`, 26, 'sql'),
    filesIn('packages/fhir/src/generated', 26),
  ];
  for (const files of admitted) assert.deepEqual(linesOf(files), []);
});

test('architecture admits what the table allows', () => {
  assert.deepEqual(
    linesOf({
      [`${server}/http/routes.ts`]:
        "import { store } from '../storage/rows.ts';\nimport { jwt } from '../oauth/jwt.ts';\n",
      [`${server}/access/mask.ts`]: "import { markMasked } from './disclosure.ts';\nexport const mask = markMasked;\n",
      [`${server}/storage/load.ts`]:
        "import { boxStored } from '../access/disclosure.ts';\nexport const load = boxStored;\n",
      [`${server}/practice/visits/visits.ts`]:
        "import { book } from '../booking/book.ts';\nexport const visit = book;\n",
      [`${server}/synthetic/people.ts`]: "import { resourceTypes } from '@praxis/fhir';\n",
      [`${server}/cli/seed.ts`]: "import { people } from '../synthetic/people.ts';\n",
      'packages/fhir/src/generated/definitions.ts': '\n'.repeat(5000),
      'packages/server/test/http/routes.test.ts': "import { check } from 'fast-check';\nimport pg from 'pg';\n",
    }),
    [],
  );
});
