/**
 * examples/receiver: each receiver believes what the service signed, takes each event once and in order, also after a restart, and
 * refuses all else. What docs/integrate/webhook-signatures.md shows of them is what runs. Denials first.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import test, { after } from 'node:test';
import { promisify } from 'node:util';
import { systemClock } from '../../src/base/clock.ts';
import { type MessageOutcome, postSigned, type SignedMessage } from '../../src/outbound/webhook.ts';
import { createWebhookSecret } from '../../src/outbound/webhook-signature.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import {
  openSubscriptionService,
  secretUrl,
  settle,
  subscriptionOf,
  topicBase,
} from '../practice/subscriptions/world.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../support/service.ts';

const root = path.join(import.meta.dirname, '../../../..');
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8');
const examples = 'examples/receiver';
const isMissing = (program: string): boolean => spawnSync(program, ['--version']).status !== 0;
const noPython = isMissing('python3') ? 'python3 not installed' : false;
const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? false : 'openssl not installed';
const scratch = openScratchDirectory({ after });

interface Receiver {
  readonly url: string;
  readonly secrets: string;
  readonly events: string;
  /** The next line that it prints. */
  readonly line: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** A receiver that ends with the test. @param name of its files */
async function start(command: string, file: string, name: string): Promise<Receiver> {
  const secrets = path.join(scratch.path, `${name}.txt`);
  const events = path.join(scratch.path, `${name}.ndjson`);
  if (!existsSync(secrets)) writeFileSync(secrets, `${createWebhookSecret()}\n`);
  const child: ChildProcess = spawn(command, [path.join(root, examples, file)], {
    env: { ...process.env, SECRETS: secrets, EVENTS: events, PORT: '0', PYTHONDONTWRITEBYTECODE: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill();
    await ended;
  };
  after(stop);
  const lines = createInterface({ input: child.stdout ?? assert.fail('no output') })[Symbol.asyncIterator]();
  const line = async (): Promise<string> => String((await lines.next()).value);
  const { port } = JSON.parse((await line()).replace('listening on ', ''));
  return { url: `http://127.0.0.1:${port}/hook`, secrets, events, line, stop };
}

const stored = ({ events }: Receiver) =>
  readFileSync(events, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const receivers = [
  { name: 'in TypeScript', command: process.execPath, file: 'receiver.ts', skip: false },
  { name: 'in Python', command: 'python3', file: 'receiver.py', skip: noPython },
];

for (const { name, command, file, skip } of receivers) {
  test(`the receiver ${name} takes what is signed and new, once, and nothing else`, { skip }, async () => {
    const [old, next] = [createWebhookSecret(), createWebhookSecret()];
    const receiver = await start(command, file, `signed-${file}`);
    writeFileSync(receiver.secrets, `${old}\n${next}\n`);
    // Receivers take the time from the machine.
    const timestamp = Math.floor(systemClock.now() / 1000);
    const plain = { body: Buffer.from('{"resourceType":"Patient","language":"Jürgen"}'), headers: {}, secrets: [old] };
    const post = async (changes: Partial<SignedMessage>): Promise<MessageOutcome> =>
      await postSigned(
        { ...plain, id: 'first', timestamp, method: 'PUT', url: receiver.url, ...changes },
        { loopback: true },
      );
    const status = (code: number): MessageOutcome => ({ kind: 'answered', status: code });

    assert.deepEqual(await post({ secrets: [createWebhookSecret()] }), status(401));
    assert.deepEqual(await post({ timestamp: timestamp - 400 }), status(401));
    assert.deepEqual(await post({ timestamp: timestamp + 400 }), status(401));
    // The receiver closes the connection while it is still sent to, so its answer may get lost.
    const large = await post({ body: Buffer.alloc(8_400_000) });
    assert.ok(large.kind === 'unreachable' || large.status === 413, JSON.stringify(large));
    for (const headers of [
      {},
      { 'webhook-id': 'a', 'webhook-timestamp': `${timestamp}`, 'webhook-signature': 'v1,AAAA' },
    ])
      assert.equal((await fetch(receiver.url, { method: 'POST', body: '{}', headers })).status, 401);
    assert.deepEqual(await post({ body: Buffer.from('{"resourceType":') }), status(500));
    assert.equal(existsSync(receiver.events), false);

    assert.deepEqual(await post({}), status(204));
    assert.equal(await receiver.line(), 'first: 1 new');
    assert.deepEqual(await post({ timestamp: timestamp + 1 }), status(204));
    assert.equal(await receiver.line(), 'first: 0 new');
    const bare = {
      id: 'second',
      secrets: [createWebhookSecret(), next],
      method: 'POST',
      body: Buffer.alloc(0),
    } as const;
    assert.deepEqual(await post(bare), status(204));
    assert.equal(await receiver.line(), 'second: 1 new');
    assert.deepEqual(
      stored(receiver).map(({ message, method, resource }) => [message, method, resource?.language]),
      [
        ['first', 'PUT', 'Jürgen'],
        ['second', 'POST', undefined],
      ],
    );
  });

  test(`the receiver ${name} has each event once and in order, also where it was away`, { skip }, async () => {
    const service = await openSubscriptionService({ after });
    // Receivers compare the time of a message with that of the machine.
    service.clock.advance(systemClock.now() - service.clock.now());
    const maple = await makeFirm(service, 'maple');
    const acl = ['system/Subscription.cru', 'system/Patient.crus'];
    const caller = await openCaller(service, await makeApplication(service, 'Receiver', acl, [maple]), maple);
    const files = `delivered-${file}`;
    const first = await start(command, file, files);
    const options = { payload: 'application/fhir+json', content: 'full-resource' };
    const asked = subscriptionOf(`${topicBase}/patient-changed`, first.url, options);
    const subscribed = await caller.send('POST', 'Subscription', asked);
    const { id, extension } = subscribed.json;
    // It does not know the secret yet: the next handshake is believed.
    await settle(service);
    const secret = extension.find(({ url }: { url: string }) => url === secretUrl).valueString;
    writeFileSync(first.secrets, `${secret}\n`);
    service.clock.advance(60_000);
    await settle(service);
    assert.equal((await caller.get(`Subscription/${id}`)).json.status, 'active');

    const { json } = await caller.send('POST', 'Patient', patient('Stone'));
    await settle(service);
    await first.stop();
    await caller.send('PUT', `Patient/${json.id}`, { ...json, gender: 'other' });
    await settle(service);
    const second = await start(command, file, files);
    const { json: now } = await caller.get(`Subscription/${id}`);
    await caller.send('PUT', `Subscription/${id}`, { ...now, channel: { ...now.channel, endpoint: second.url } });
    await caller.send('PUT', `Patient/${json.id}`, { ...json, gender: 'female' });
    await settle(service);
    service.clock.advance(60_000);
    await settle(service);
    assert.deepEqual(
      stored(second).map(({ number, method, url, resource }) => [number, method, url, resource.gender]),
      [
        [1, 'POST', `${maple.base}/Patient/${json.id}`, undefined],
        [2, 'PUT', `${maple.base}/Patient/${json.id}`, 'other'],
        [3, 'PUT', `${maple.base}/Patient/${json.id}`, 'female'],
      ],
    );
  });
}

const page = read('docs/integrate/webhook-signatures.md');
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, found, block = '']) =>
    found === language ? [block] : [],
  );

test('docs/integrate/webhook-signatures.md shows what stands in the receivers', () => {
  for (const [language, file] of [
    ['ts', 'verify.ts'],
    ['python', 'verify.py'],
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
