/** deploy/systemd: the unit and its settings, against the settings of the service, and by systemd's own checks where they are. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { readConfig } from '../../src/base/config.ts';
import { listUnknownVariables, read, root } from './repository.ts';

const file = 'deploy/systemd/praxis.service';

/** Key=value pairs of the section, in order (https://www.freedesktop.org/software/systemd/man/latest/systemd.syntax.html). */
function readSection(name: string): readonly (readonly [key: string, value: string])[] {
  const [, text = ''] = new RegExp(`^\\[${name}\\]\\n([^]*?)(?:\\n\\[|$(?![^]))`, 'm').exec(read(file)) ?? [];
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)] as const;
    });
}

const service = readSection('Service');
const valuesOf = (key: string) => service.filter(([name]) => name === key).map(([, value]) => value);

/** NAME=value lines of the file of settings. */
function readEnvironmentFile(): Readonly<Record<string, string>> {
  const lines = read('deploy/systemd/praxis.env')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map((line) => line.split('=') as [string, string]));
}

test('the unit starts the program of the clone, reloads it by SIGHUP, and gives it time to drain', () => {
  const [start = ''] = valuesOf('ExecStart');
  const [directory] = valuesOf('WorkingDirectory');
  assert.equal(directory, '/opt/praxis');
  const [, program = ''] = /^\/usr\/bin\/env node (\S+) serve$/.exec(start) ?? [];
  assert.ok(existsSync(path.join(root, program)), program);
  assert.deepEqual(valuesOf('ExecReload'), ['/bin/kill -HUP $MAINPID']);
  assert.ok(Number(valuesOf('TimeoutStopSec')[0]) > readConfig({}).drainMs / 1000);
  assert.deepEqual(readSection('Install'), [['WantedBy', 'multi-user.target']]);
});

test('variables are settings, secrets come as credentials, and what is written lies in directories that systemd makes', () => {
  const given = new Map(
    valuesOf('Environment')
      .flatMap((line) => line.split(' '))
      .map((pair) => pair.split('=') as [string, string]),
  );
  assert.deepEqual(listUnknownVariables(given.keys()), ['NODE_COMPILE_CACHE']);
  const credentials = new Map(valuesOf('LoadCredential').map((value) => value.split(':') as [string, string]));
  const files = [...given].filter(([name]) => name.endsWith('_FILE'));
  assert.deepEqual(
    files.map(([, value]) => value),
    [...credentials.keys()].map((name) => `%d/${name}`),
  );
  for (const source of credentials.values()) assert.match(source, /^\/etc\/praxis\/[a-z-]+$/);
  assert.equal(given.get('PRAXIS_DATA_DIR'), `/var/lib/${valuesOf('StateDirectory')[0]}`);
  assert.equal(given.get('NODE_COMPILE_CACHE'), `/var/cache/${valuesOf('CacheDirectory')[0]}`);
  assert.deepEqual(valuesOf('EnvironmentFile'), ['/etc/praxis/praxis.env']);
});

test('the settings beside the unit are settings, well formed, without a secret and beside those of the unit', () => {
  const settings = readEnvironmentFile();
  assert.deepEqual(listUnknownVariables(Object.keys(settings)), []);
  const config = readConfig(settings);
  assert.deepEqual([config.port, config.metricsPort, config.accessLog], [8080, 9464, true]);
  const ofUnit = valuesOf('Environment').join(' ');
  for (const name of Object.keys(settings)) {
    assert.ok(!ofUnit.includes(`${name}=`), name);
    assert.doesNotMatch(name, /SECRET|DATABASE_URL/);
  }
});

test('systemd takes the unit, and finds little that it exposes', (t) => {
  const analyze = (...words: readonly string[]) => spawnSync('systemd-analyze', words, { cwd: root, encoding: 'utf8' });
  if (analyze('--version').error !== undefined) return t.skip('systemd-analyze is not installed');
  const verified = analyze('verify', '--recursive-errors=no', file);
  assert.deepEqual([verified.status, verified.stderr], [0, '']);
  // Of 10, in tenths.
  const judged = analyze('security', '--offline=true', '--threshold=20', file);
  assert.equal(judged.status, 0, judged.stdout.slice(-200));
});
