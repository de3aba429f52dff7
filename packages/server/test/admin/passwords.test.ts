/** Which passwords may be chosen, how they are stored, and how much of that goes on at once. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { passwordLengthMax, requirePassword } from '../../src/admin/password-rules.ts';
import { hashesMax, hashWaitersMax, openPasswords } from '../../src/admin/passwords.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { makeSecret } from '../../src/base/ids.ts';
import { makeDataKeys, openSecrets } from '../../src/base/secrets.ts';

function isRefused(password: string, username = 'ada.stone'): boolean {
  try {
    requirePassword('password', password, username);
    return false;
  } catch (error) {
    assert.ok(error instanceof PraxisError && error.code === 'rule-broken');
    assert.ok(password === '' || !error.message.includes(password));
    return true;
  }
}

test('what is guessed first is refused, however long', () => {
  const guessed = [
    '',
    'violet kettle7',
    'passwordpassword',
    'Password123456789!',
    'PRAXIS-praxis-Praxis',
    'aaaaaaaaaaaaaaaaaaaa',
    'abcabcabcabcabcabc',
    '12345678901234567890',
    '98765432109876543210',
    'qwertyuiopasdfghjkl',
    'adminadminadmin2026',
    'ada.stone ada.stone!',
    'welcome-welcome-1234',
    'iloveyouiloveyou2020',
    'letmeinletmein!!!!!!',
    'x'.repeat(passwordLengthMax + 1),
    'violet kettle '.repeat(10),
  ];
  for (const password of guessed) assert.ok(isRefused(password), password);
});

test('long ones of whatever characters are taken', () => {
  const chosen = [
    'violet kettle under 7 bridges',
    'korrekt pferd batterie',
    'Приклад довгого пароля',
    'zwölf große Möwen',
    'k3x9 vq7w mzp2 t8rd',
    makeSecret(24),
    'жжжлвдапрмитсчхюя',
  ];
  for (const password of chosen) assert.ok(!isRefused(password), password);
});

test('a password matches in each form of its characters, under the key of the installation, and no other does', async () => {
  const passwords = openPasswords(openSecrets(makeDataKeys()));
  const stored = await passwords.hash('zwölf große Möwen'.normalize('NFC'));
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  assert.equal(await passwords.matches('zwölf große Möwen'.normalize('NFD'), stored), true);
  assert.equal(await passwords.matches('zwölf grosse Möwen', stored), false);
  assert.equal(await passwords.matches('zwölf große Möwen', undefined), false);
  assert.equal(await openPasswords(openSecrets(makeDataKeys())).matches('zwölf große Möwen', stored), false);
  assert.notEqual(await passwords.hash('zwölf große Möwen'), stored);
});

test('more callers than may wait are refused at once; those who wait are answered', async () => {
  const passwords = openPasswords(openSecrets(makeDataKeys()));
  const asked = hashesMax + hashWaitersMax + 5;
  const results = await Promise.allSettled(Array.from({ length: asked }, () => passwords.matches('a', undefined)));
  const refused = results.filter((each) => each.status === 'rejected');
  assert.equal(refused.length, 5);
  for (const { reason } of refused) {
    assert.ok(reason instanceof PraxisError && reason.code === 'unavailable');
    assert.deepEqual(reason.details.headers, { 'retry-after': '2' });
  }
  assert.equal(await passwords.matches('a', undefined), false);
});
