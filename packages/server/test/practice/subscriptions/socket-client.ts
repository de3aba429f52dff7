/** A client of websockets that notes what it is sent. */
import assert from 'node:assert/strict';
import { type IncomingMessage, request } from 'node:http';
import { WebSocket } from 'ws';
import type { Lifetime } from '../../support/database.ts';
import type { Caller, TestService } from '../../support/service.ts';
import { type Received, type SubscriptionOptions, statusOf, subscriptionOf } from './world.ts';

export interface Closed {
  readonly code: number;
  readonly reason: string;
}

export interface SocketClient {
  readonly socket: WebSocket;
  /** All texts so far. */
  readonly received: string[];
  readonly closed: Promise<Closed>;
  send(text: string): void;
  /** The next text that was not asked for yet. */
  next(): Promise<string>;
}

/** Connects. @throws the error of a connection that is refused */
export async function connect(t: Lifetime, url: string): Promise<SocketClient> {
  const socket = new WebSocket(url);
  t.after(async () => socket.terminate());
  const received: string[] = [];
  let asked = 0;
  let tell = (): void => undefined;
  socket.on('message', (data) => {
    received.push(String(data));
    tell();
  });
  const closed = new Promise<Closed>((resolve) =>
    socket.once('close', (code, reason) => {
      resolve({ code, reason: String(reason) });
      tell();
    }),
  );
  await new Promise<void>((resolve, reject) => socket.once('open', resolve).once('error', reject));
  socket.on('error', () => undefined);
  return {
    socket,
    received,
    closed,
    send: (text) => socket.send(text),
    async next() {
      while (received.length <= asked) {
        if (socket.readyState === socket.CLOSED) assert.fail(`closed: ${JSON.stringify(await closed)}`);
        await new Promise<void>((resolve) => {
          tell = resolve;
        });
      }
      asked += 1;
      return received[asked - 1] ?? '';
    },
  };
}

export interface Refusal {
  readonly status: number;
  readonly text: string;
}

/** The status and body of a connection that is refused. */
export async function refusalOf(url: string): Promise<Refusal> {
  const socket = new WebSocket(url);
  return await new Promise((resolve, reject) => {
    socket.once('open', () => {
      socket.terminate();
      reject(new Error('the connection was taken'));
    });
    socket.once('error', reject);
    socket.once('unexpected-response', (_request, response) => readAnswer(response, resolve));
  });
}

/** The answer to a request that wishes its connection to be another, and does not become one. */
export async function askUpgrade(url: string, upgrade: string, version: string): Promise<Refusal> {
  const headers = {
    connection: 'Upgrade',
    upgrade,
    'sec-websocket-version': version,
    'sec-websocket-key': Buffer.alloc(16).toString('base64'),
  };
  return await new Promise((resolve, reject) => {
    const asking = request(url, { headers });
    asking.once('response', (response) => readAnswer(response, resolve)).once('error', reject);
    asking.once('upgrade', () => reject(new Error('the connection was taken')));
    asking.end();
  });
}

function readAnswer(response: IncomingMessage, resolve: (answer: Refusal) => void): void {
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('end', () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
}

export interface BindingToken {
  readonly token: string;
  readonly expiration: string;
  readonly subscriptions: readonly string[];
  readonly url: string;
}

/** Asks for a token of the subscriptions with these ids, of all where there are none. */
export async function askToken(caller: Caller, ...ids: readonly string[]): Promise<BindingToken> {
  const query = ids.map((id) => `id=${id}`).join('&');
  const { status, json, text } = await caller.get(`Subscription/$get-ws-binding-token?${query}`);
  assert.equal(status, 200, text);
  const values = (name: string): string[] =>
    json.parameter
      .filter((each: { name: string }) => each.name === name)
      .map((each: Record<string, string>) => each.valueString ?? each.valueDateTime ?? each.valueUrl);
  const [token = ''] = values('token');
  const [expiration = ''] = values('expiration');
  const [url = ''] = values('websocket-url');
  return { token, expiration, url, subscriptions: values('subscription') };
}

/** A Subscription by websocket. */
export function socketSubscriptionOf(criteria: string, options: SubscriptionOptions = {}) {
  const { channel, ...asked } = subscriptionOf(criteria, '', options);
  const { endpoint: _endpoint, ...rest } = channel;
  return { ...asked, channel: { ...rest, type: 'websocket' } };
}

/** Creates a subscription by websocket; returns its id. */
export async function subscribeBySocket(
  caller: Caller,
  criteria: string,
  options: SubscriptionOptions = {},
): Promise<string> {
  const made = await caller.send('POST', 'Subscription', socketSubscriptionOf(criteria, options));
  assert.equal(made.status, 201, made.text);
  return made.json.id;
}

/** A client that is bound to the subscriptions; it has not read their handshakes. */
export async function bind(t: Lifetime, caller: Caller, ...ids: readonly string[]): Promise<SocketClient> {
  const { url, token } = await askToken(caller, ...ids);
  const client = await connect(t, url);
  client.send(`bind-with-token ${token}`);
  return client;
}

/** The status that a notification begins with. */
export function statusOfText(text: string) {
  return statusOf({ json: JSON.parse(text) } as Received);
}

/** The numbers of the events of notifications. */
export function numbersOf(texts: readonly string[]): string[] {
  return texts.flatMap((text) =>
    ((statusOfText(text).events ?? []) as { 'event-number': string }[]).map((event) => event['event-number']),
  );
}

/** Where websockets of a firm are. */
export function socketUrlOf({ origin }: Pick<TestService, 'origin'>, firm: string, environment = 'sandbox'): string {
  return `${origin.replace('http', 'ws')}/${environment}/firm/${firm}/pm/ws/subscriptions`;
}
