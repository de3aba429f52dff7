// Secrets in files: `NAME_FILE` in the place of `NAME`, for settings that are secret.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { readConfig } from '../../src/base/config.ts';
import type { SettingRow } from '../../src/base/setting-row.ts';
import { settings } from '../../src/base/settings.ts';

const directory = mkdtempSync(path.join(os.tmpdir(), 'praxis-secrets-'));
after(() => rmSync(directory, { recursive: true }));

function write(name: string, text: string): string {
  const file = path.join(directory, name);
  writeFileSync(file, text);
  return file;
}

const rows: readonly (readonly [name: string, row: SettingRow])[] = Object.entries(settings);
const secrets = rows.filter(([, { secret }]) => secret === true);

test('each secret setting can be in a file, with or without an end of its line', () => {
  assert.deepEqual(
    secrets.map(([, { env }]) => env),
    [
      'DATABASE_URL',
      'PRAXIS_RUNTIME_DATABASE_URL',
      'PRAXIS_SECRET_KEY',
      'PRAXIS_SECRET_KEY_PREVIOUS',
      'PRAXIS_S3_SECRET_ACCESS_KEY',
    ],
  );
  for (const [name, { env }] of secrets)
    for (const text of ['s3cret', 's3cret\n', 's3cret\r\n']) {
      const config: Readonly<Record<string, unknown>> = readConfig({ [`${env}_FILE`]: write(env, text) });
      assert.equal(config[name], 's3cret', env);
    }
});

test('an empty name of a file is none; no other setting can be in a file', () => {
  assert.equal(readConfig({ PRAXIS_SECRET_KEY_FILE: '', PRAXIS_SECRET_KEY: 'k' }).secretKey, 'k');
  assert.equal(readConfig({ DATABASE_URL_FILE: '' }).databaseUrl, '');
  const file = write('port', '1');
  for (const variable of ['PRAXIS_PORT_FILE', 'PRAXIS_S3_ACCESS_KEY_ID_FILE'])
    assert.throws(() => readConfig({ [variable]: file }), {
      name: 'ConfigError',
      message: `${variable} is not a setting; docs/operate/settings.md lists them`,
    });
});

test('what cannot be read, holds no secret or is given twice is refused, and no secret is told', () => {
  const file = write('key', 'one');
  const refuse = (environment: Readonly<Record<string, string>>, message: string) =>
    assert.throws(() => readConfig(environment), { name: 'ConfigError', message });
  refuse(
    { PRAXIS_SECRET_KEY_FILE: file, PRAXIS_SECRET_KEY: 'two' },
    'PRAXIS_SECRET_KEY and PRAXIS_SECRET_KEY_FILE are set: set one of them',
  );
  refuse({ DATABASE_URL_FILE: `${file}.none` }, `DATABASE_URL_FILE names ${file}.none, which cannot be read (ENOENT)`);
  refuse({ DATABASE_URL_FILE: directory }, `DATABASE_URL_FILE names ${directory}, which cannot be read (EISDIR)`);
  for (const text of ['', '\n', 'one\ntwo', 'x'.repeat(4_097)])
    refuse(
      { PRAXIS_SECRET_KEY_FILE: write('other', text) },
      'PRAXIS_SECRET_KEY_FILE must name a file with one line of 1 to 4096 characters',
    );
});
