// praxis listen: what it refuses, what it hands over and how that is signed, and what it leaves.
import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import test, { after } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from '../../src/database/sql.ts';
import { bind, socketSubscriptionOf } from '../practice/subscriptions/socket-client.ts';
import {
  openReceiver,
  openSubscriptionService,
  type Receiver,
  signatureOf,
  statusOf,
  topicBase,
} from '../practice/subscriptions/world.ts';
import { patient } from '../support/records.ts';
import { makeApplication, makeFirm, openCaller } from '../support/service.ts';
import { runPraxis, startPraxis } from './praxis-process.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const service = await openSubscriptionService({ after });
const maple = await makeFirm(service, 'maple');
const application = await makeApplication(service, 'Everything', ['acl/*'], [maple]);
const caller = await openCaller(service, application, maple);
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const credentials = {
  PRAXIS_CLIENT_ID: application.clientId,
  PRAXIS_CLIENT_SECRET: application.clientSecret,
  PRAXIS_API_KEY: application.clientKey,
};
const directory = openScratchDirectory({ after });
const environment = { PRAXIS_DATA_DIR: directory.path, PRAXIS_WEBHOOK_SECRET: secret };

interface Listener {
  readonly child: ChildProcess;
  /** Lines of standard output so far. */
  readonly lines: string[];
  /** Waits until `isReady`. */
  until<T>(isReady: () => T | undefined): Promise<T>;
  /** Ends it as Ctrl-C does; returns the exit status. */
  interrupt(): Promise<number | null>;
}

function startListening(receiver: Receiver, ...line: readonly string[]): Listener {
  const child = startPraxis(
    { ...environment, ...credentials },
    'listen',
    '--base',
    maple.base,
    '--forward',
    receiver.url,
    ...line,
  );
  const lines: string[] = [];
  let said = '';
  let tell = (): void => undefined;
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    lines.push(...chunk.split('\n').filter((text) => text !== ''));
    tell();
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said += chunk;
    tell();
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    child,
    lines,
    async until(isReady) {
      for (;;) {
        const found = isReady();
        if (found !== undefined) return found;
        const isOver = await Promise.race([
          ended.then(() => true),
          new Promise<boolean>((resolve) => {
            tell = () => resolve(false);
          }),
        ]);
        if (isOver) assert.fail(`praxis listen ended: ${said}`);
      }
    },
    async interrupt() {
      child.kill('SIGINT');
      return await ended;
    },
  };
}

/** Waits until the service has seen that the handshake was taken; returns the resource. */
async function untilActive(id: string) {
  for (;;) {
    const { json } = await caller.get(`Subscription/${id}`);
    if (json.status === 'active') return json;
    assert.equal(json.status, 'requested');
    await delay(20);
  }
}

const partsOf = (line: string): string[] => line.split('  ').slice(1);

test('what to listen to, where to, and who listens have to be said', async () => {
  const cases: readonly [line: readonly string[], more: object, problem: RegExp][] = [
    [['--topic', 'patient-changed'], credentials, /--forward is missing/],
    [
      ['--forward', 'ftp://x', '--topic', 'patient-changed'],
      credentials,
      /--forward ftp:\/\/x is no URL of http or https/,
    ],
    [['--forward', 'http://127.0.0.1:9/'], credentials, /--topic or --subscription is missing/],
    [
      ['--forward', 'http://127.0.0.1:9/', '--topic', 'none'],
      credentials,
      /--topic none is none of appointment-changed, /,
    ],
    [['--forward', 'http://127.0.0.1:9/', '--topic', 'patient-changed'], {}, /--base is missing/],
    [
      ['--forward', 'http://127.0.0.1:9/', '--topic', 'patient-changed', '--base', maple.base],
      {},
      /PRAXIS_CLIENT_ID, PRAXIS_CLIENT_SECRET and PRAXIS_API_KEY are missing/,
    ],
    [
      ['--forward', 'http://127.0.0.1:9/', '--topic', 'patient-changed', '--base', maple.base],
      { ...credentials, PRAXIS_WEBHOOK_SECRET: 'short' },
      /PRAXIS_WEBHOOK_SECRET must begin with whsec_/,
    ],
  ];
  for (const [line, more, problem] of cases) {
    const { status, stderr } = await runPraxis({ ...environment, ...more }, 'listen', ...line);
    assert.match(stderr, problem);
    assert.equal(status, 2, stderr);
  }
  const wrong = await runPraxis(
    { ...environment, ...credentials, PRAXIS_CLIENT_SECRET: 'wrong' },
    ...['listen', '--forward', 'http://127.0.0.1:9/', '--topic', 'patient-changed', '--base', maple.base],
  );
  assert.equal(wrong.status, 1);
  assert.match(wrong.stderr, /^praxis: \/auth\/realms\/sandbox\/protocol\/openid-connect\/token answered 401: /);
  assert.equal(wrong.stderr.includes(application.clientKey), false);
  assert.equal((await caller.get('Subscription')).json.total, 0);
});

test('events are posted in order and signed, those of an interruption too, and what was made is removed', async () => {
  const receiver = await openReceiver({ after });
  receiver.answers.push({ status: 200 }, { status: 500 });
  const listener = startListening(receiver, '--topic', 'patient-changed');
  const events = (): string[] => listener.lines.filter((line) => line.includes('  patient-changed  '));
  await listener.until(() => (listener.lines.length >= 2 ? true : undefined));
  assert.deepEqual(listener.lines.slice(0, 2), [
    `listening at ${maple.base}`,
    `forwarding to ${receiver.url}, signed by ${secret}`,
  ]);
  await listener.until(() => receiver.received[0]);
  const [{ id = '' } = {}] = await service.platform.database
    .forFirm(maple.id)
    .query<{ id?: string }>(sql`SELECT id FROM subscription`);
  await untilActive(id);
  const first = await caller.send('POST', 'Patient', patient('Stone'));
  await listener.until(() => events()[0]);
  assert.deepEqual(partsOf(events()[0] ?? ''), ['1', 'patient-changed', `Patient/${first.json.id}`, '500']);
  const [handshake, told] = receiver.received;
  assert.ok(handshake !== undefined && told !== undefined);
  assert.equal(statusOf(handshake).type, 'handshake');
  assert.equal(told.headers['webhook-signature'], signatureOf(told, secret));
  assert.deepEqual(told.json.entry[1].resource, first.json);

  // Another connection takes the subscription over, and hears of an event that the command does not.
  const thief = await bind({ after }, caller, id);
  await thief.next();
  await listener.until(() => events()[0]);
  const second = await caller.send('POST', 'Patient', patient('Rock'));
  await listener.until(() => events()[1]);
  assert.deepEqual(partsOf(events()[1] ?? ''), ['2', 'patient-changed', `Patient/${second.json.id}`, '200']);
  assert.equal(await listener.interrupt(), 0);
  assert.equal((await caller.get(`Subscription/${id}`)).status, 404);
});

test('a subscription that there is stays, and ends the command when it ends', async () => {
  const receiver = await openReceiver({ after });
  const made = await caller.send('POST', 'Subscription', socketSubscriptionOf(`${topicBase}/patient-changed`));
  const listener = startListening(receiver, '--subscription', made.json.id);
  await listener.until(() => receiver.received[0]);
  const json = await untilActive(made.json.id);
  const ended = new Promise<number | null>((resolve) => listener.child.once('close', resolve));
  assert.equal((await caller.send('PUT', `Subscription/${made.json.id}`, { ...json, status: 'off' })).status, 200);
  assert.equal(await ended, 1);
  assert.equal((await caller.get(`Subscription/${made.json.id}`)).json.status, 'off');
});
