/** The test runner of `npm test` over a tree of its own. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';

/** With a process of its own, as it might start others. */
const head = "import test from 'node:test'; import 'node:child_process';\n";
const unitHead = "import test from 'node:test';\n";
const unit = `${unitHead}test('a', () => {});\n`;
const failing = `${head}test('adds up', () => { console.log('noise'); throw new Error('it does not'); });\n`;
const skipping = `${head}test('one', (t) => t.skip('no Citus here'));\ntest('two', (t) => t.skip('no Citus here'));\n`;
const passing = `${head}test('a', () => console.log('noise'));\nif (process.env.PRAXIS_PORT) throw new Error('settings leak');\n`;

function runnerIn(context: TestContext, files: Readonly<Record<string, string>>) {
  const root = mkdtempSync(join(tmpdir(), 'praxis-runner-'));
  context.after(() => rmSync(root, { recursive: true }));
  for (const name of ['test.ts', 'testing', 'architecture']) {
    cpSync(join(import.meta.dirname, '..', name), join(root, 'tools', name), { recursive: true });
  }
  mkdirSync(join(root, 'packages/fhir/test'), { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'packages/fhir/test', name), text);
  return (...args: string[]) => {
    // Node tells the processes of a test run that they are part of it; this run stands for itself.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const result = spawnSync(process.execPath, [join(root, 'tools/test.ts'), ...args], {
      encoding: 'utf8',
      env: { ...env, PRAXIS_PORT: '1', TEST_FILE_TIMEOUT_MS: '1000' },
    });
    return { status: result.status, lines: result.stdout.split('\n'), stderr: result.stderr };
  };
}

test('runner: a failure ends with 1, is shown with what the file printed, and is repeated at the end', (context) => {
  const runner = runnerIn(context, { 'bad.test.ts': failing, 'good.test.ts': passing });
  const { status, lines } = runner();
  assert.equal(status, 1);
  const text = lines.join('\n');
  assert.match(
    text,
    /✖ packages\/fhir\/test\/bad\.test\.ts \(1 test, [\d.]+ s\)\n {2}✖ adds up\n {4}Error: it does not\n/,
  );
  assert.match(text, / {2}what it printed:\n {4}noise\n/);
  assert.match(text, /\n\n✖ packages\/fhir\/test\/bad\.test\.ts:2 adds up\nℹ tests 2\n/);
});

test('runner: a file that cannot be loaded fails the run', (context) => {
  const { status, lines } = runnerIn(context, {
    'broken.test.ts': "import 'node:child_process';\nthrow new Error('not loaded');\n",
  })();
  assert.equal(status, 1);
  assert.ok(lines.includes('✖ packages/fhir/test/broken.test.ts could not be run to its end: test failed'));
  assert.ok(lines.includes('    Error: not loaded'));
});

test('runner: a hook that fails fails its file, also if a support file set it', (context) => {
  const support = "import { after } from 'node:test';\nafter(() => { throw new Error('not closed'); });\n";
  const runner = runnerIn(context, { 'support.ts': support, 'hook.test.ts': `import './support.ts';\n${passing}` });
  const { status, lines } = runner();
  assert.equal(status, 1);
  assert.match(lines[0] ?? '', /^✖ packages\/fhir\/test\/hook\.test\.ts \(1 test, [\d.]+ s\)$/);
  assert.equal(lines[1], '  ✖ a hook of packages/fhir/test/support.ts');
  assert.ok(lines.includes('✖ packages/fhir/test/support.ts:2 a hook of packages/fhir/test/support.ts'));
});

test('runner: a file that something keeps open is ended in time, and says by what', (context) => {
  const runner = runnerIn(context, { 'open.test.ts': `${passing}setInterval(() => {}, 1000);\n` });
  const { status, lines } = runner();
  assert.equal(status, 1);
  assert.match(lines.join('\n'), /\n {4}still running after 1 s, kept open by: .*\bTimeout\b/);
});

test('runner: a filter that names no file is an error, and so is a tree without tests', (context) => {
  const runner = runnerIn(context, { 'good.test.ts': passing });
  assert.deepEqual(runner('good', 'gone'), { status: 1, lines: [''], stderr: 'no test file has "gone" in its path\n' });
  assert.match(runnerIn(context, {})().stderr, /^there is no test file under /);
});

test('runner: skipped tests of a file with one reason are one line, before the summary', (context) => {
  const runner = runnerIn(context, { 'citus.test.ts': skipping, 'good.test.ts': passing });
  const { status, lines } = runner();
  assert.equal(status, 0);
  assert.deepEqual(lines.slice(2, -2), [
    'skipped 2 tests in packages/fhir/test/citus.test.ts: no Citus here',
    'ℹ tests 3',
    'ℹ suites 0',
    'ℹ pass 1',
    'ℹ fail 0',
    'ℹ cancelled 0',
    'ℹ skipped 2',
    'ℹ todo 0',
  ]);
  assert.match(lines.at(-2) ?? '', /^ℹ duration_ms /);
});

test('runner: a filter chooses files, and what passes keeps what it printed to itself', (context) => {
  const runner = runnerIn(context, { 'bad.test.ts': failing, 'good.test.ts': passing });
  const { status, lines } = runner('test/good');
  assert.equal(status, 0);
  assert.match(lines[0] ?? '', /^✔ packages\/fhir\/test\/good\.test\.ts \(1 test, [\d.]+ s\)$/);
  assert.equal(lines[1], 'ℹ tests 1');
});

test('runner: units share processes, each with hooks of its own; a failure, a file that cannot be loaded and state left behind are told by file', (context) => {
  const hooked = `${unitHead}import { afterEach } from 'node:test';\nafterEach(() => { throw new Error('not mine'); });\n`;
  const runner = runnerIn(context, {
    'alone.test.ts': `${unitHead}await 0;\ntest('alone', () => {});\n`,
    'broken.test.ts': "throw new Error('not loaded');\n",
    'good.test.ts': unit,
    'hooked.test.ts': `${hooked}test('hooked', () => {});\n`,
    'open.test.ts': `${unitHead}test('opens', () => { setInterval(() => {}, 1000); });\n`,
    'leaving.test.ts': `${unitHead}test('leaves', () => { process.env.LEFT = 'behind'; });\n`,
    'slow.slow.test.ts': failing,
    'spawning.test.ts': failing,
  });
  const { status, lines } = runner('--unit');
  assert.equal(status, 1);
  const text = lines.map((line) => line.replace(/, [\d.]+ s\)$/, ')')).join('\n');
  for (const name of ['alone', 'good'])
    assert.match(text, new RegExp(`^✔ packages/fhir/test/${name}.test.ts \\(1 test\\)$`, 'm'));
  assert.match(text, /✖ packages\/fhir\/test\/hooked\.test\.ts \(1 test\)\n {2}✖ hooked\n[\s\S]*Error: not mine/);
  assert.match(text, /✖ packages\/fhir\/test\/broken\.test\.ts could not be run to its end: not loaded/);
  for (const [name, left] of Object.entries({ leaving: 'the environment: LEFT', open: 'open: Timeout' }))
    assert.match(text, new RegExp(`✖ ${name}\\.test\\.ts leaves the process as it found it\n[\\s\\S]*\\+ +'${left}'`));
  assert.doesNotMatch(text, /spawning|slow\.slow/);
});

test('runner: slow tests run with --slow alone, --durations names the files that took longest', (context) => {
  const runner = runnerIn(context, { 'good.test.ts': passing, 'kill.slow.test.ts': failing });
  const fast = runner('--durations');
  assert.equal(fast.status, 0);
  assert.match(
    fast.lines.join('\n'),
    /\nthe 1 files took \d+ s, one after the other; the longest:\n +[\d.]+ s {2}packages\/fhir\/test\/good\.test\.ts\n/,
  );
  const slow = runner('--slow');
  assert.equal(slow.status, 1);
  assert.match(slow.lines[0] ?? '', /^✖ packages\/fhir\/test\/kill\.slow\.test\.ts \(1 test, /);
});

test('runner: --slow takes filters', (context) => {
  const runner = runnerIn(context, { 'kill.slow.test.ts': failing, 'hunt.slow.test.ts': passing });
  const hunt = runner('--slow', 'hunt');
  assert.equal(hunt.status, 0);
  assert.match(hunt.lines[0] ?? '', /^✔ packages\/fhir\/test\/hunt\.slow\.test\.ts \(1 test, /);
});
