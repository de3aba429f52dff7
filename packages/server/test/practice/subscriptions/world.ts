/** A service whose sandbox may send to this machine, and a receiver that notes what it is sent. */
import assert from 'node:assert/strict';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import type { Lifetime } from '../../support/database.ts';
import { untilTold } from '../../support/follower.ts';
import { type Caller, openTestService, type TestService } from '../../support/service.ts';

export const secretUrl = 'https://praxis.health/fhir/StructureDefinition/subscription-secret';
export const ownerUrl = 'https://praxis.health/fhir/StructureDefinition/subscription-owner';
export const topicBase = 'https://praxis.health/fhir/SubscriptionTopic';
const contentUrl = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-payload-content';
const filterUrl = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition/backport-filter-criteria';

export async function openSubscriptionService(t: Lifetime, settings: Readonly<Record<string, string>> = {}) {
  return await openTestService(t, { PRAXIS_OUTBOUND_LOOPBACK: 'sandbox', ...settings });
}

export interface Received {
  readonly method: string | undefined;
  readonly path: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on whole bodies of many shapes.
  readonly json: any;
}

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Status and headers of the next answers, 0: none comes; 200 when they are used up. */
  readonly answers: { readonly status: number; readonly headers?: Readonly<Record<string, string>> }[];
}

/** An endpoint on this machine. */
export async function openReceiver(t: Lifetime): Promise<Receiver> {
  const received: Received[] = [];
  const answers: Receiver['answers'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const { method, url: path, headers } = request;
      const json = text.startsWith('{') ? JSON.parse(text) : undefined;
      received.push({ method, path, headers, text, json });
      const { status, headers: more = {} } = answers.shift() ?? { status: 200 };
      if (status !== 0) response.writeHead(status, more).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(async () => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received, answers };
}

export interface SubscriptionOptions {
  readonly payload?: string;
  readonly content?: string;
  readonly filters?: readonly string[];
  readonly header?: readonly string[];
  readonly extension?: readonly object[];
  readonly more?: object;
}

/** A Subscription as an application sends it. */
export function subscriptionOf(criteria: string, endpoint: string, options: SubscriptionOptions = {}) {
  const { payload, content, filters = [], header, extension, more = {} } = options;
  const contentExtension = { extension: [{ url: contentUrl, valueCode: content }] };
  return {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'Test',
    criteria,
    ...(filters.length === 0
      ? {}
      : { _criteria: { extension: filters.map((valueString) => ({ url: filterUrl, valueString })) } }),
    channel: {
      type: 'rest-hook',
      endpoint,
      ...(payload === undefined ? {} : { payload }),
      ...(content === undefined ? {} : { _payload: contentExtension }),
      ...(header === undefined ? {} : { header }),
      ...(extension === undefined ? {} : { extension }),
    },
    ...more,
  };
}

export interface Subscribed {
  readonly id: string;
  readonly secret: string;
}

/** Has what was written told: events are admitted up to the oldest transaction under way, of other test files, too. */
export async function settle(service: TestService): Promise<void> {
  await untilTold(service.database.owner);
  await service.service.jobs.settle();
}

/** Creates a subscription and lets its handshake happen. */
export async function subscribe(
  service: TestService,
  caller: Caller,
  criteria: string,
  endpoint: string,
  options: SubscriptionOptions = {},
): Promise<Subscribed> {
  const made = await caller.send('POST', 'Subscription', subscriptionOf(criteria, endpoint, options));
  assert.equal(made.status, 201, made.text);
  await settle(service);
  const secret = made.json.extension.find(({ url }: { url: string }) => url === secretUrl).valueString;
  return { id: made.json.id, secret };
}

/** The signature by the secret, as the package of Standard Webhooks makes it. */
export function signatureOf({ headers, text }: Received, secret: string): string {
  const moment = new Date(Number(headers['webhook-timestamp']) * 1000);
  return new Webhook(secret).sign(String(headers['webhook-id']), moment, text);
}

/** The values of a parameter of the status that a notification begins with. */
export function statusOf(notification: Received) {
  const [first] = notification.json.entry;
  const found: Record<string, unknown> = {};
  for (const { name, part, ...value } of first.resource.parameter) {
    if (name === 'notification-event') {
      const events = (found.events as unknown[] | undefined) ?? [];
      found.events = [...events, Object.fromEntries(part.map((each: object) => Object.values(each)))];
    } else found[name] = Object.values(value)[0];
  }
  return found;
}
