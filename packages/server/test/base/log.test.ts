// Logs for people: what a terminal would obey is shown, and no value makes a line of its own.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';

const module = new URL('../../src/base/log.ts', import.meta.url).href;

/** What a process writes that logs by `code`. */
function write(code: string): string {
  const script = `const { openLog } = await import('${module}');
    const log = openLog({ logLevel: 'info', logFormat: 'text' });
    ${code}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }).stderr;
}

test('control characters of messages and values are escaped', () => {
  const code = String.raw`log.warn({ value: 'a\npraxis: forged', other: { x: '\u009b2J' } }, 'said \u001b[31m')`;
  const line = String.raw`praxis: warning: said \u001b[31m (value a\u000apraxis: forged, other {"x":"\u009b2J"})`;
  assert.equal(write(code), `${line}\n`);
});

test('lines of the message of an error are not taken for lines of the log', () => {
  const lines = write(String.raw`log.error({ err: new Error('a\npraxis: forged \u001b[31m') }, 'broken')`).split('\n');
  const [first, ...others] = lines.filter(Boolean);
  assert.equal(first, String.raw`praxis: error: broken: a\u000apraxis: forged \u001b[31m`);
  assert.ok(others.length > 1);
  for (const other of others) assert.match(other, /^ {2}\P{Cc}*$/u);
});
