/**
 * A receiver of notifications: it checks the signature, keeps to the order of the event numbers, and tells nobody anything twice.
 * Copy it, and keep `last` where your records are, in the same transaction.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';

/** A resource, or what is left of one: what you need of it. */
export interface Entry {
  readonly fullUrl: string;
  readonly request: { readonly method: 'POST' | 'PUT' | 'DELETE'; readonly url: string };
  readonly resource?: { readonly resourceType: string; readonly id: string };
}

/** An event of a topic, by its number. */
export interface TopicEvent {
  readonly number: number;
  readonly entry: Entry | undefined;
}

export interface ReceiverOptions {
  /** The secrets that are valid: of a rotation both. */
  readonly secrets: () => readonly string[];
  /** Takes an event, once and in order. What it throws has the notification sent again. */
  readonly onEvent: (event: TopicEvent) => Promise<void>;
  /** Told when events are missing: fetch them with `$events` from this number on. */
  readonly onGap: (from: number) => Promise<void>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** How old a notification may be, in seconds. */
const ageMax = 300;
const bodyBytesMax = 8 * 1024 * 1024;

/** The receiver as an HTTP server. */
export function openReceiver(options: ReceiverOptions): Server {
  let last = 0;
  let turn = Promise.resolve();
  const take = async (body: string): Promise<void> => {
    for (const event of readEvents(body)) {
      if (event.number <= last) continue; // it was told before
      if (event.number > last + 1 && last > 0) await options.onGap(last + 1);
      await options.onEvent(event);
      last = event.number;
    }
  };
  return createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      size += chunk.length;
      if (size > bodyBytesMax) return void response.writeHead(413).end();
      chunks.push(chunk);
    }
    const body = Buffer.concat(chunks).toString();
    if (!isGenuine(request.headers, body, options)) return void response.writeHead(401).end();
    // One after another, so that events keep their order.
    turn = turn
      .then(() => take(body))
      .then(
        () => void response.writeHead(204).end(),
        () => void response.writeHead(500).end(),
      );
  });
}

/** Whether one of the secrets signed it, and lately: https://www.standardwebhooks.com */
function isGenuine(headers: IncomingHttpHeaders, body: string, { secrets, now = Date.now }: ReceiverOptions): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (Math.abs(now() / 1000 - Number(timestamp)) > ageMax) return false;
  const sent = String(signatures).split(' ');
  return secrets().some((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const right = Buffer.from(`v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`);
    return sent.some((one) => one.length === right.length && timingSafeEqual(Buffer.from(one), right));
  });
}

interface Status {
  readonly parameter: readonly { readonly name: string; readonly part?: readonly Part[] }[];
}

interface Part {
  readonly name: string;
  readonly valueString?: string;
}

/** The events of a notification in their order; a handshake and a heartbeat have none. */
function readEvents(body: string): readonly TopicEvent[] {
  if (body === '') return [];
  const [status, ...entries]: readonly [{ resource: Status }, ...Entry[]] = JSON.parse(body).entry;
  const told = status.resource.parameter.filter(({ name }) => name === 'notification-event');
  return told.map(({ part = [] }, at) => ({
    number: Number(part.find(({ name }) => name === 'event-number')?.valueString),
    entry: entries[at],
  }));
}
