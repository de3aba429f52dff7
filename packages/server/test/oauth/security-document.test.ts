/** docs/operate/security.md has a row for each point of RFC 8725 and RFC 9700, and the tests that its rows name exist. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const tests = path.join(import.meta.dirname, '..');
const text = readFileSync(path.join(tests, '../../../docs/operate/security.md'), 'utf8');
const [, tokens = ''] = text.split('## JSON Web Tokens, point by point');
const [ofTokens = '', ofOAuth = ''] = tokens.split('## OAuth 2.0, point by point');

/** The points that a section has rows for, in their order. */
function pointsOf(section: string): readonly string[] {
  const [own = ''] = section.split('\n## ');
  return [...own.matchAll(/^\| §([\d.]+) /gm)].map(([, point = '']) => point);
}

/** `4.4` … `4.8` */
function range(first: string, last: string): readonly string[] {
  const [chapter = '', from = ''] = first.split('.');
  const to = Number(last.split('.')[1]);
  return Array.from({ length: to - Number(from) + 1 }, (_, index) => `${chapter}.${Number(from) + index}`);
}

test('every point of RFC 8725 §3 has a row', () => {
  assert.deepEqual(pointsOf(ofTokens), range('3.1', '3.12'));
});

test('every point of RFC 9700 §2 and §4 has a row, or is among those that find nothing to protect', () => {
  const [introduction = ''] = ofOAuth.split('\n|');
  const named = /nothing is redirected: ([\s\S]*?)find nothing to protect/.exec(introduction)?.[1] ?? '';
  const without = [...named.matchAll(/§(\d+\.\d+)(?: to §(\d+\.\d+))?/g)].flatMap(([, first = '', last = first]) =>
    range(first, last),
  );
  const points = [...range('2.1', '2.1'), '2.2.1', '2.2.2', ...range('2.3', '2.6'), ...range('4.1', '4.17')];
  assert.deepEqual([...pointsOf(ofOAuth), ...without].toSorted(), points.toSorted());
});

/** Titles of the tests in a file, as patterns: what stands in a placeholder of a template is anything. */
function titlesIn(file: string): readonly RegExp[] {
  const source = readFileSync(path.join(tests, file), 'utf8');
  const titles = source.matchAll(/\btest\(\s*(?:'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`)/g);
  return [...titles].map(([, plain, template = '']) => {
    if (plain !== undefined) return new RegExp(`^${RegExp.escape(plain)}$`);
    return new RegExp(
      `^${template
        .split(/\$\{[^}]*\}/)
        .map(RegExp.escape)
        .join('.+')}$`,
    );
  });
}

test('every row names tests that exist', () => {
  const named = [...text.matchAll(/`([a-z-]+\/[a-z-]+\.test\.ts)` › ([^<|\n]+?)(?= ?<br>| \||\.?$)/gm)];
  const rows = [...pointsOf(ofTokens), ...pointsOf(ofOAuth)];
  assert.ok(named.length >= rows.length, `${named.length} tests for ${rows.length} rows`);
  for (const row of text.split('\n').filter((line) => /^\| §/.test(line))) assert.match(row, /\.test\.ts` › /);
  const missing = named.filter(([, file = '', name = '']) => {
    if (!existsSync(path.join(tests, file))) return true;
    return !titlesIn(file).some((title) => title.test(name.trim()));
  });
  assert.deepEqual(
    missing.map(([reference]) => reference),
    [],
  );
});

test('a name with another word, and one of a placeholder’s neighbours, is not found', () => {
  const titles = titlesIn('oauth/client-auth/client-keys.test.ts');
  const isFound = (name: string): boolean => titles.some((title) => title.test(name));
  assert.equal(isFound('a JWK Set with a short RSA key is refused'), true);
  for (const name of [
    'a JWK Set with a short RSA key is taken',
    'a JWK Set with is refused',
    'JWK Set with x is refused',
  ])
    assert.equal(isFound(name), false, name);
});
