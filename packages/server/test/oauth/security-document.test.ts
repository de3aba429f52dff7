/** docs/security.md names a test for each point; the tests that it names exist. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const tests = path.join(import.meta.dirname, '..');
const text = readFileSync(path.join(tests, '../../../docs/security.md'), 'utf8');

/** Rows of the tables that have a column of tests. */
const rows = text.split('\n').filter((line) => /^\| §/.test(line));

test('every point of RFC 8725 §3 has a row', () => {
  const points = Array.from({ length: 12 }, (_, index) => `§3.${index + 1}`);
  assert.deepEqual(
    points.filter((point) => !rows.some((row) => row.startsWith(`| ${point} `))),
    [],
  );
});

test('every row names tests that exist', () => {
  const named = [...text.matchAll(/`([a-z-]+\/[a-z-]+\.test\.ts)` › ([^<|\n]+?)(?= ?<br>| \||\.?$)/gm)];
  assert.ok(named.length >= rows.length, `${named.length} tests for ${rows.length} rows`);
  for (const row of rows) assert.match(row, /\.test\.ts` › /);
  const missing = named.filter(([, file = '', name = '']) => {
    const source = path.join(tests, file);
    return !existsSync(source) || !readFileSync(source, 'utf8').includes(`test('${name.trim()}'`);
  });
  assert.deepEqual(
    missing.map(([reference]) => reference),
    [],
  );
});
