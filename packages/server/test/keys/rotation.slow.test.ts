// The secret key is changed while the service runs: what was made before goes on working, the key before does not.
// Slow: starts the service several times, each with its own database.
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openPlatform, startService } from '../../src/app.ts';
import { readConfig } from '../../src/base/config.ts';
import { makeSecret } from '../../src/base/ids.ts';
import { runPraxis } from '../cli/praxis-process.ts';
import { askForUrl, documentOf, linkOf, openWorld, putFile } from '../content/world.ts';
import { testLog } from '../support/cluster.ts';
import { openTestDatabase } from '../support/database.ts';
import { makeDataDir } from '../support/embedded.ts';
import { urlOf } from '../support/nodes.ts';
import { answerOf, clientForm, legacyToken, passwordForm, postForm } from '../support/service.ts';

const [first, second] = [makeSecret(), makeSecret()];
const settings = { PRAXIS_BASE_URL: 'http://praxis.test', PRAXIS_AUDIT_SEAL_MS: '200' };
const world = await openWorld({ after }, { ...settings, PRAXIS_SECRET_KEY: first });
const environment = {
  DATABASE_URL: urlOf(world.database.connections.owner),
  PRAXIS_DATA_DIR: world.files.path,
};
const before = { ...environment, PRAXIS_SECRET_KEY: first };
const during = { ...environment, PRAXIS_SECRET_KEY: second, PRAXIS_SECRET_KEY_PREVIOUS: first };
const since = { ...environment, PRAXIS_SECRET_KEY: second };

/** A URL of the installation, asked for at a node. */
const at = (origin: string, url: string): string =>
  url.replace(settings.PRAXIS_BASE_URL, origin).replace(world.origin, origin);

/** What clients hold of the time before: credentials, tokens, a page link, the link of a content, a sealed ledger. */
async function heldByClients() {
  const { full, caller, operator, maple } = world;
  const page = await full.get('Patient?_count=1&_sort=_id');
  const next: string = page.json.link.find(({ relation }: { relation: string }) => relation === 'next').url;
  const { url, attachment } = await askForUrl(caller, 'application/pdf');
  const put = await putFile(at(world.origin, url), Buffer.from('%PDF-1.7 report'), {
    'content-type': 'application/pdf',
  });
  assert.equal(put.status, 200, put.text);
  const document = await full.send('POST', 'DocumentReference', documentOf(attachment));
  assert.equal(document.status, 201, document.text);
  const content = await linkOf(full, document.json.id);
  const cursor: string = (await full.get('$changes')).json.link.find(
    ({ relation }: { relation: string }) => relation === 'next',
  ).url;
  return { next, content, cursor, legacy: await legacyToken(operator, maple) };
}

async function assertHeld(origin: string, held: Awaited<ReturnType<typeof heldByClients>>): Promise<void> {
  const { full, operator, maple } = world;
  const get = async (url: string, headers: Readonly<Record<string, string>> = full.headers) =>
    await answerOf(await fetch(at(origin, url), { headers }));
  const page = await get(held.next);
  assert.deepEqual([page.status, page.json?.entry?.length], [200, 1], page.text);
  assert.equal((await get(held.cursor)).status, 200);
  const content = await fetch(at(origin, held.content));
  assert.deepEqual([content.status, await content.text()], [200, '%PDF-1.7 report']);
  const legacy = { authorization: `Bearer ${held.legacy}`, 'x-api-key': operator.legacyKey };
  assert.equal((await get(`${maple.base}/Patient/reed`, legacy)).status, 200);
  assert.equal((await get(`${maple.base}/Patient/reed`)).status, 200);
  const login = await postForm(at(origin, maple.legacyTokenUrl), passwordForm(operator, maple), operator.legacyKey);
  assert.equal(login.status, 200, login.text);
  const token = `${origin}/auth/realms/sandbox/protocol/openid-connect/token`;
  assert.equal((await postForm(token, clientForm(operator), operator.clientKey)).status, 200);
}

/** A node with other keys on the same database and data directory. */
async function openNode(t: { after(work: () => Promise<void>): void }, keys: Readonly<Record<string, string>>) {
  const { DATABASE_URL: _, ...own } = keys;
  const config = readConfig({ ...own, ...settings, PRAXIS_PORT: '0', PRAXIS_LOG_LEVEL: 'silent' });
  const connections = { ...world.database.connections, stop: async () => undefined };
  const platform = await openPlatform({ config, clock: world.clock, log: testLog, connections });
  const service = await startService(platform);
  t.after(async () => {
    await service.drain();
    await platform.close();
  });
  return service;
}

/**
 * `audit verify` of the running service: again while it has findings, for the clock of the tests stands still, so that a row
 * that waits for its seal looks like an old one; and a seal waits for the open transactions of other test files.
 */
async function verifySealed(keys: Readonly<Record<string, string>>) {
  for (let attempt = 1; ; attempt++) {
    const verified = await runPraxis(keys, 'audit', 'verify');
    if (verified.status === 0 || attempt === 60) return verified;
    await delay(250);
  }
}

// One after the other: the key is changed between the second and the fourth of these tests.
const held = await heldByClients();
assert.equal((await verifySealed(before)).status, 0);
const oldBackup = path.join(world.files.path, 'old.backup');
assert.equal((await runPraxis(before, 'backup', oldBackup)).status, 0);

test('a node with another key is refused with one line, and makes nothing', async () => {
  const fingerprint = /^[0-9a-f]{32}/.exec((await runPraxis(before, 'secret', 'show')).stdout)?.[0];
  const other = { ...before, PRAXIS_SECRET_KEY: makeSecret() };
  for (const line of [['serve'], ['key', 'issue', 'Operator', '--flow', 'client']]) {
    const { status, stdout, stderr } = await runPraxis(other, ...line);
    assert.deepEqual([status, stdout], [1, '']);
    assert.match(
      stderr,
      /^praxis: the key in PRAXIS_SECRET_KEY is not the one that the database was made with \(it has the fingerprint [0-9a-f]{32}, the one given [0-9a-f]{32}\): put that key in PRAXIS_SECRET_KEY; to change the key, see praxis secret rotate\n$/,
    );
    assert.ok(stderr.includes(`it has the fingerprint ${fingerprint}`));
  }
  const malformed = await runPraxis({ ...before, PRAXIS_SECRET_KEY_PREVIOUS: 'short' }, 'secret', 'rotate');
  assert.deepEqual(
    [malformed.status, malformed.stderr],
    [2, 'praxis: PRAXIS_SECRET_KEY_PREVIOUS must be 32 bytes in base64url\n'],
  );
  const without = await runPraxis(before, 'secret', 'rotate');
  assert.equal(without.status, 2);
  assert.match(without.stderr, /^praxis: there is no new key: on every node set PRAXIS_SECRET_KEY_PREVIOUS [^\n]*\n$/);
});

test('a node that has both keys works before the change', async (t) => {
  await assertHeld((await openNode(t, during)).origin, held);
});

test('the command lets the database belong to the new key, once', async () => {
  const rotated = await runPraxis(during, 'secret', 'rotate');
  assert.equal(rotated.status, 0, rotated.stderr);
  assert.match(rotated.stdout, /^the database belongs to the secret key [0-9a-f]{32}\n$/);
  assert.match((await runPraxis(during, 'secret', 'rotate')).stdout, / already\n$/);
});

test('afterwards the key before alone is refused, and nodes that run go on', async () => {
  assert.equal((await runPraxis(before, 'firm', 'list')).status, 1);
  await assertHeld(world.origin, held);
});

test('credentials, tokens, page links, the feed, contents and the ledger go on with the new key', async (t) => {
  await assertHeld((await openNode(t, since)).origin, held);
  const verified = await verifySealed(since);
  assert.equal(verified.status, 0, verified.stdout);
  assert.match(verified.stdout, /^firm maple: is as it was written/m);
});

test('a backup of before is restored elsewhere, with its key as the previous one', async (t) => {
  const third = makeSecret();
  const { connections, owner, runtime } = await openTestDatabase(t, { empty: true });
  await Promise.all([owner.close(), runtime.close()]); // else they would look like a service
  const place = { DATABASE_URL: urlOf(connections.owner), PRAXIS_DATA_DIR: makeDataDir(t) };
  const elsewhere = { ...place, PRAXIS_SECRET_KEY: third };
  const refused = await runPraxis(elsewhere, 'restore', oldBackup);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /under another secret key \([0-9a-f]{32}\), .*: set PRAXIS_SECRET_KEY_PREVIOUS to/);
  const restored = await runPraxis({ ...elsewhere, PRAXIS_SECRET_KEY_PREVIOUS: first }, 'restore', oldBackup);
  assert.equal(restored.status, 0, restored.stderr);
  const verified = await runPraxis(elsewhere, 'audit', 'verify');
  assert.equal(verified.status, 0, verified.stdout);
  assert.match(verified.stdout, /^firm maple: is as it was written \([1-9]\d* rows/m);
});

test('a backup of before is restored where it was made, with the new key alone', async (t) => {
  const { connections, owner, runtime } = await openTestDatabase(t, { empty: true });
  await Promise.all([owner.close(), runtime.close()]); // else they would look like a service
  const place = { DATABASE_URL: urlOf(connections.owner), PRAXIS_DATA_DIR: makeDataDir(t) };
  const file = path.join(place.PRAXIS_DATA_DIR, 'old.backup');
  const [old, next] = [makeSecret(), makeSecret()];
  const now = { ...place, PRAXIS_SECRET_KEY: next };
  assert.equal((await runPraxis({ ...place, PRAXIS_SECRET_KEY: old }, 'backup', file)).status, 0);
  assert.equal((await runPraxis({ ...now, PRAXIS_SECRET_KEY_PREVIOUS: old }, 'secret', 'rotate')).status, 0);
  const restored = await runPraxis(now, 'restore', file, '--replace');
  assert.equal(restored.status, 0, restored.stderr);
  const verified = await runPraxis(now, 'audit', 'verify');
  assert.deepEqual([verified.status, verified.stderr], [0, ''], verified.stdout);
});

test('the key of an embedded database is changed in its file, and a change that was cut off is finished', async (t) => {
  const dataDir = makeDataDir(t);
  const own = { PRAXIS_DATA_DIR: dataDir };
  const file = path.join(dataDir, 'secret.key');
  assert.equal((await runPraxis(own, 'firm', 'list')).status, 0);
  const old = readFileSync(file, 'utf8');
  const rotated = await runPraxis(own, 'secret', 'rotate');
  assert.equal(rotated.status, 0, rotated.stderr);
  const made = readFileSync(file, 'utf8');
  assert.notEqual(made, old);
  assert.equal(readFileSync(`${file}.previous`, 'utf8'), old);
  assert.equal(existsSync(`${file}.next`), false);
  assert.deepEqual(
    [file, `${file}.previous`].map((each) => statSync(each).mode & 0o777),
    [0o600, 0o600],
  );
  // As a process leaves it that was killed after the database had taken the new key.
  renameSync(file, `${file}.next`);
  copyFileSync(`${file}.previous`, file);
  assert.equal((await runPraxis(own, 'audit', 'verify')).status, 0);
  assert.equal(readFileSync(file, 'utf8'), made);
  // As one leaves it that was killed before.
  writeFileSync(`${file}.next`, makeSecret());
  assert.equal((await runPraxis(own, 'audit', 'verify')).status, 0);
  assert.equal(readFileSync(file, 'utf8'), made);
});
