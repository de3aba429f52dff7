/**
 * examples/webhook-receiver: each receiver verifies what the server sends, takes it once, and refuses all else. What
 * docs/integrate/webhook-signatures.md shows of them is what runs. Denials first.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { type MessageOutcome, postSigned, type SignedMessage } from '../../src/outbound/webhook.ts';
import { createWebhookSecret } from '../../src/outbound/webhook-signature.ts';

const root = path.join(import.meta.dirname, '../../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const examples = 'examples/webhook-receiver';
const isMissing = (program: string): boolean => spawnSync(program, ['--version']).status !== 0;
const noPython = isMissing('python3') ? 'python3 not installed' : false;
const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'openssl not installed';

interface Receiver {
  readonly url: string;
  /** The next line that it prints. */
  readonly line: () => Promise<string>;
}

/** A receiver with two secrets that ends with the test. */
async function start(command: string, file: string, secrets: readonly string[]): Promise<Receiver> {
  const child: ChildProcess = spawn(command, [path.join(root, examples, file)], {
    env: { ...process.env, WEBHOOK_SECRET: secrets.join(' '), PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  after(async () => {
    child.kill();
    await ended;
  });
  const lines = createInterface({ input: child.stdout ?? assert.fail('no output') })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  const { port } = JSON.parse((await line()).replace('listening on ', ''));
  return { url: `http://127.0.0.1:${port}/hook`, line };
}

const receivers = [
  { name: 'in TypeScript', command: process.execPath, file: 'receiver.ts', skip: false },
  { name: 'in Python', command: 'python3', file: 'receiver.py', skip: noPython },
];
for (const { name, command, file, skip } of receivers) {
  test(`the receiver ${name} takes what is signed and new, once, and nothing else`, { skip }, async () => {
    const [old, next] = [createWebhookSecret(), createWebhookSecret()];
    const receiver = await start(command, file, [old, next]);
    // Receivers take the time from the machine.
    const timestamp = Math.floor(systemClock.now() / 1000);
    const plain = { body: Buffer.from('{"name":"Jürgen"}'), headers: {}, secrets: [old], id: 'first', timestamp };
    const post = async (changes: Partial<SignedMessage>): Promise<MessageOutcome> =>
      await postSigned({ ...plain, url: receiver.url, ...changes }, { loopback: true });
    const status = (code: number): MessageOutcome => ({ kind: 'answered', status: code });

    assert.deepEqual(await post({ secrets: [createWebhookSecret()] }), status(401));
    assert.deepEqual(await post({ timestamp: timestamp - 400 }), status(401));
    assert.deepEqual(await post({ timestamp: timestamp + 400 }), status(401));
    // The receiver closes the connection while it is still sent to, so its answer may get lost.
    const large = await post({ body: Buffer.alloc(5_000_001) });
    assert.ok(large.kind === 'unreachable' || large.status === 413, JSON.stringify(large));
    for (const headers of [
      {},
      { 'webhook-id': 'a', 'webhook-timestamp': `${timestamp}`, 'webhook-signature': 'v1,AAAA' },
    ])
      assert.equal((await fetch(receiver.url, { method: 'POST', body: '{}', headers })).status, 401);

    assert.deepEqual(await post({}), status(204));
    assert.equal(await receiver.line(), 'first: 18 bytes');
    assert.deepEqual(await post({ timestamp: timestamp + 1 }), status(204));
    assert.deepEqual(
      await post({ id: 'second', secrets: [createWebhookSecret(), next], body: Buffer.alloc(0) }),
      status(204),
    );
    assert.equal(await receiver.line(), 'second: 0 bytes');
  });
}

const page = read('docs/integrate/webhook-signatures.md');
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, block = '']) =>
    found === language ? [block] : [],
  );

test('docs/integrate/webhook-signatures.md shows what stands in the receivers', () => {
  for (const [language, file] of [
    ['ts', 'receiver.ts'],
    ['python', 'receiver.py'],
  ] as const) {
    const shown = blocks(language);
    assert.equal(shown.length, 1);
    for (const block of shown) assert.ok(read(`${examples}/${file}`).includes(block), file);
  }
});

test('docs/integrate/webhook-signatures.md: the command prints the signature that the page shows', {
  skip: noOpenssl,
}, async () => {
  const [script = '', ...others] = blocks('sh');
  assert.deepEqual(others, []);
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', script]);
  assert.deepEqual(
    [stdout],
    blocks('text').map((text) => text.trim()),
  );
});
