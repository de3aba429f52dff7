/** Both content stores do the same: the directory, and S3 against a server that checks signatures and hashes. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { makeDataKeys, openSecrets } from '../../src/base/secrets.ts';
import type { ContentStore, SpooledFile } from '../../src/content/content-store.ts';
import { openDirectoryStore } from '../../src/content/directory.ts';
import { makeContentName } from '../../src/content/names.ts';
import { receive } from '../../src/content/receive.ts';
import { openS3Store, type S3Options } from '../../src/content/s3.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { openS3Server } from '../support/s3-server.ts';

const files = openScratchDirectory({ after });
const incoming = path.join(files.path, 'incoming');
const secrets = openSecrets(makeDataKeys());
const s3 = await openS3Server({ after });
const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));

async function spooled(content: Buffer): Promise<SpooledFile> {
  return await receive(Readable.from([content.subarray(0, 1000), content.subarray(1000)]), incoming, content.length);
}

const stores: Readonly<Record<string, () => ContentStore>> = {
  directory: () => openDirectoryStore(path.join(files.path, 'store')),
  S3: () => openS3Store(s3),
};
for (const [name, open] of Object.entries(stores))
  test(`${name}: what is put is there, whole and in parts, until it is removed`, () => behaves(open()));

async function behaves(store: ContentStore): Promise<void> {
  const name = makeContentName(secrets, 1);
  const other = makeContentName(secrets, 1);
  const file = await spooled(bytes);
  assert.deepEqual([file.size, file.sha256], [bytes.length, createHash('sha256').update(bytes).digest()]);
  await store.put(name, file);
  await store.put(other, await spooled(Buffer.from('x')));
  assert.deepEqual(readdirSync(incoming), []);
  assert.deepEqual(await buffer(await store.open(name)), bytes);
  assert.deepEqual(await buffer(await store.open(name, { start: 5, end: 70_000 })), bytes.subarray(5, 70_001));
  assert.deepEqual(
    await buffer(await store.open(name, { start: bytes.length - 1, end: bytes.length - 1 })),
    bytes.subarray(-1),
  );
  assert.deepEqual(await buffer(await store.open(other)), Buffer.from('x'));
  await store.remove(name);
  await store.remove(name);
  await assert.rejects(store.open(name));
  assert.deepEqual(await buffer(await store.open(other)), Buffer.from('x'));
  for (const wrong of ['../secret.key', '/etc/hosts', `${other}/..`, other.toUpperCase(), ''])
    await assert.rejects(async () => store.open(wrong), TypeError);
}

test('names of one firm lie together, those of another elsewhere, and tell neither', () => {
  const [one, two, three] = [makeContentName(secrets, 1), makeContentName(secrets, 1), makeContentName(secrets, 2)].map(
    (name) => name.split('/'),
  );
  assert.equal(one?.[0], two?.[0]);
  assert.notEqual(one?.[0], three?.[0]);
  assert.notEqual(one?.[2], two?.[2]);
});

test('what comes in and breaks off, or is too large, leaves no file', async () => {
  const broken = Readable.from(
    (async function* () {
      yield bytes;
      throw new Error('cut off');
    })(),
  );
  await assert.rejects(receive(broken, incoming, bytes.length), /cut off/);
  await assert.rejects(receive(Readable.from([bytes]), incoming, bytes.length - 1), RangeError);
  assert.deepEqual(readdirSync(incoming), []);
});

test('S3: other bytes than those that were hashed are refused, and nothing is stored', async () => {
  const store = openS3Store(s3);
  const before = new Map(s3.objects);
  const file = await spooled(bytes);
  writeFileSync(file.path, Buffer.alloc(bytes.length, 1));
  await assert.rejects(store.put(makeContentName(secrets, 1), file), { name: 'XAmzContentSHA256Mismatch' });
  assert.deepEqual(s3.objects, before);
  rmSync(file.path);
});

test('S3: a wrong secret is refused, once', async () => {
  const store = openS3Store({ ...s3, secretAccessKey: 'wrong' });
  const before = s3.answered.length;
  const file = await spooled(bytes);
  await assert.rejects(store.put(makeContentName(secrets, 1), file), { name: 'SignatureDoesNotMatch' });
  assert.deepEqual(s3.answered.slice(before), ['PUT 403']);
  rmSync(file.path);
});

test('S3: a PUT that the other side could not take is sent again', async () => {
  const store = openS3Store(s3);
  const name = makeContentName(secrets, 1);
  s3.failing = 1;
  await store.put(name, await spooled(bytes));
  assert.deepEqual(await buffer(await store.open(name)), bytes);
});

const moto = (process.env['PATH'] ?? '')
  .split(':')
  .map((place) => path.join(place, 'moto_server'))
  .find((file) => existsSync(file));

test('S3: the same against moto_server', {
  skip: moto === undefined ? 'needs moto_server, a simulation of S3 (pip install moto[server]), on the PATH' : false,
}, async (t) => {
  const port = await freePort();
  const child = spawn(moto ?? '', ['-H', '127.0.0.1', '-p', String(port)], { stdio: 'ignore' });
  let ended = false;
  child.once('exit', () => {
    ended = true;
  });
  t.after(() => child.kill());
  const options: S3Options = { ...s3, region: 'us-east-1', endpoint: `http://127.0.0.1:${port}` };
  if (!(await answersAt(options, () => ended))) return t.skip('moto_server is on the PATH but does not run');
  await behaves(openS3Store(options));
});

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/** Whether it answers, and has made the bucket, before it ends. */
async function answersAt({ endpoint, bucket }: S3Options, hasEnded: () => boolean): Promise<boolean> {
  while (!hasEnded()) {
    const made = await fetch(`${endpoint}/${bucket}`, { method: 'PUT' }).catch(() => undefined);
    if (made?.status === 200) return true;
    await delay(100);
  }
  return false;
}
