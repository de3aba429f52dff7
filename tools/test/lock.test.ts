import assert from 'node:assert/strict';
import test from 'node:test';
import { lockProblems } from '../check-lock.ts';

const hash = 'sha512-x';

function problems(packages: Readonly<Record<string, object>>): string[] {
  return lockProblems(JSON.stringify({ packages }));
}

test('lock: a dependency without an entry, also of another platform, is reported', () => {
  const a = { integrity: hash, dependencies: { b: '1' }, optionalDependencies: { 'a-other-platform': '1' } };
  assert.deepEqual(problems({ '': { dependencies: { a: '1', c: '1' } }, 'node_modules/a': a }), [
    'the root needs c, which is missing',
    'node_modules/a needs b, which is missing',
    'node_modules/a needs a-other-platform, which is missing',
  ]);
});

test('lock: an entry without a hash or with a registry is reported', () => {
  assert.deepEqual(
    problems({ 'node_modules/a': {}, 'node_modules/b': { integrity: hash, resolved: 'https://host/b' } }),
    [
      'node_modules/a has no hash',
      'node_modules/b names the registry it came from: install with the .npmrc of the clone',
    ],
  );
});

test('lock: dependencies of workspaces, nested ones and links are found', () => {
  assert.deepEqual(
    problems({
      'packages/server': { dependencies: { a: '1', own: '1' } },
      'packages/server/node_modules/own': { integrity: hash },
      'node_modules/@praxis/server': { link: true, resolved: 'packages/server' },
      'node_modules/a': { integrity: hash, dependencies: { b: '2', '@s/c': '1' } },
      'node_modules/a/node_modules/b': { integrity: hash, dependencies: { '@s/c': '1' } },
      'node_modules/@s/c': { integrity: hash },
    }),
    [],
  );
});
