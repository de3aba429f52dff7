/**
 * Guessing the passwords of administrators is slowed per account and per address, and the owner is not locked out by it:
 * neither where the owner has signed in before, nor elsewhere unless very many guess.
 * Slow: hashes many passwords, which is costly by design.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { addressesMax, addressMs } from '../../src/admin/addresses.ts';
import { sql } from '../../src/database/sql.ts';
import { chosenPasswordLimits } from '../../src/limits/brute-force-limit.ts';
import { type Answer, openTestService } from '../support/service.ts';
import { ask, makeAdministrator, password } from './world.ts';

const service = await openTestService({ after }, { PRAXIS_TRUSTED_PROXIES: '127.0.0.1' });
const { perAccount, perAccountAndAddress, perAddress } = chosenPasswordLimits;
const nextMinute = (): void => service.clock.advance(60_000);

/** @param address where the proxy says that the request comes from */
async function signIn(username: string, address: string, given = password): Promise<Answer> {
  const forwarded = { 'x-forwarded-for': address };
  return await ask(service, undefined, 'POST', '/sessions', { username, password: given }, forwarded);
}

/** Statuses of wrong sign-ins, one from each address. */
async function guess(username: string, addresses: readonly string[]): Promise<readonly number[]> {
  const statuses: number[] = [];
  for (const address of addresses) statuses.push((await signIn(username, address, 'wrong')).status);
  return statuses;
}

/** Wrong sign-ins from as many addresses as it takes to use up what the account has, two at a time. */
async function guessEverywhere(username: string): Promise<void> {
  const addresses = anywhere(perAccount);
  const half = perAccount / 2;
  const statuses = await Promise.all([
    guess(username, addresses.slice(0, half)),
    guess(username, addresses.slice(half)),
  ]);
  assert.deepEqual(statuses.flat(), times(perAccount, 401));
}

const times = <T>(count: number, each: T): T[] => Array.from({ length: count }, () => each);
/** Addresses of so many networks. */
const anywhere = (count: number): string[] => Array.from({ length: count }, (_, index) => `198.51.100.${index + 1}`);
const own = '192.0.2.1';
const stranger = '203.0.113.9';

await makeAdministrator(service, 'owner', 'operator');
await makeAdministrator(service, 'other', 'operator');

test('ten wrong passwords from an address stop that address, and nobody else', async () => {
  nextMinute();
  assert.deepEqual(await guess('owner', times(12, stranger)), [...times(perAccountAndAddress, 401), 429, 429]);
  assert.equal((await signIn('owner', stranger)).status, 429, 'right or wrong, the password is not looked at');
  assert.equal((await signIn('owner', own)).status, 201, 'an address where the owner was never before');
  assert.equal((await signIn('other', stranger)).status, 201, 'another account');
  nextMinute();
  assert.equal((await signIn('owner', stranger)).status, 201);
});

test('attempts that are made at once are no more than those that are made in turn', async () => {
  nextMinute();
  const together = await Promise.all(times(25, 'wrong').map((given) => signIn('owner', stranger, given)));
  const told = together.filter(({ status }) => status === 401);
  assert.equal(told.length, perAccountAndAddress);
  assert.ok(together.every(({ status }) => status === 401 || status === 429));
  nextMinute();
  const right = await Promise.all(times(25, own).map((address) => signIn('owner', address)));
  assert.ok(right.every(({ status }) => status === 201));
});

test('an address that guesses at many accounts is stopped at all of them but those that it is known at', async () => {
  nextMinute();
  const busy = '203.0.113.77';
  assert.equal((await signIn('other', busy)).status, 201);
  for (let made = 0; made < perAddress; made += 1) assert.equal((await signIn(`nobody-${made}`, busy)).status, 401);
  assert.equal((await signIn('owner', busy)).status, 429);
  assert.equal((await signIn('other', busy)).status, 201);
  assert.equal((await signIn('owner', own)).status, 201);
});

test('fifty wrong passwords from anywhere stop every address but those where the owner has signed in', async () => {
  nextMinute();
  assert.equal((await signIn('owner', own)).status, 201);
  await guessEverywhere('owner');
  const refused = await signIn('owner', '192.0.2.55');
  const until = new Date(service.clock.now() + 60_000).toISOString();
  assert.deepEqual([refused.status, refused.json.code], [429, 'rate-exceeded']);
  assert.equal(refused.json.detail, `Too many wrong passwords: wait 60 s, until ${until}`);
  assert.equal(refused.headers.get('retry-after'), '60');
  assert.equal((await signIn('owner', own)).status, 201);
  assert.deepEqual(await guess('owner', times(11, own)), [...times(perAccountAndAddress, 401), 429], 'there, too, ten');
  nextMinute();
  assert.equal((await signIn('owner', '192.0.2.55')).status, 201);
});

test('a username that nobody has is answered like one that somebody has, from first to last', async () => {
  const texts = async (username: string): Promise<readonly string[]> => {
    const given: string[] = [];
    for (const address of [...times(12, stranger), ...anywhere(perAccount - perAccountAndAddress + 2)]) {
      const { status, text, headers } = await signIn(username, address, 'wrong');
      given.push(`${status} ${headers.get('retry-after')} ${text}`);
    }
    return given;
  };
  nextMinute();
  const [known, unknown] = await Promise.all([texts('owner'), texts('nobody-at-all')]);
  assert.equal(known.filter((text) => text.startsWith('429')).length, 4);
  assert.deepEqual(unknown, known);
});

test('an address of IPv6 is its network of 64 bits, and one of IPv4 the same however it is written', async () => {
  nextMinute();
  const inNetwork = Array.from({ length: 12 }, (_, index) => `2001:db8:0:7::${(index + 1).toString(16)}`);
  assert.deepEqual(await guess('owner', inNetwork), [...times(perAccountAndAddress, 401), 429, 429]);
  assert.deepEqual(await guess('owner', ['2001:db8:0:7:ffff:0:192.0.2.7', '2001:DB8::7:0:0:0:1']), [429, 429]);
  assert.deepEqual(await guess('owner', ['2001:db8:0:8::1', '2001:db8::1', '::1']), [401, 401, 401]);
  assert.deepEqual(await guess('other', times(10, '::ffff:203.0.113.200')), times(10, 401));
  assert.deepEqual(await guess('other', ['203.0.113.200', '::ffff:203.0.113.201']), [429, 401]);
});

test('an address is known for ninety days from the last sign-in, by a hash', async () => {
  nextMinute();
  const home = '192.0.2.200';
  assert.equal((await signIn('owner', home)).status, 201);
  service.clock.advance(addressMs - 60_000);
  assert.equal((await signIn('owner', home)).status, 201);
  service.clock.advance(addressMs - 60_000);
  await guessEverywhere('owner');
  assert.equal((await signIn('owner', home)).status, 201);
  service.clock.advance(addressMs);
  await guessEverywhere('owner');
  assert.equal((await signIn('owner', home)).status, 429);
  nextMinute();
  assert.equal((await signIn('owner', home)).status, 201);
  const rows = await service.database.owner.query<{ text: string }>(
    sql`SELECT d::text AS text FROM admin_address d JOIN administrator a ON a.id = d.administrator WHERE a.username = 'owner'`,
  );
  assert.equal(rows.length, 1, 'what is forgotten is removed');
  assert.ok(!rows[0]?.text.includes(home));
});

test('of very many addresses the latest are remembered', async () => {
  await makeAdministrator(service, 'traveller', 'operator');
  const addresses = Array.from({ length: addressesMax + 2 }, (_, index) => `192.0.2.${index + 1}`);
  for (const address of addresses) {
    service.clock.advance(1000);
    assert.equal((await signIn('traveller', address)).status, 201);
  }
  nextMinute();
  await guessEverywhere('traveller');
  const right = async (index: number) => (await signIn('traveller', addresses[index] ?? '')).status;
  assert.deepEqual(
    [await right(0), await right(1), await right(2), await right(addressesMax + 1)],
    [429, 429, 201, 201],
  );
});
