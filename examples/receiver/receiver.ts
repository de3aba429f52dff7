/**
 * Receives the notifications of Subscriptions: verifies them, takes each event once and in order, and answers when it is stored.
 * Node 24 alone.
 *
 *     SECRETS=secrets.txt EVENTS=events.ndjson PORT=8081 node examples/receiver/receiver.ts
 *
 * SECRETS has a secret a line: while one replaces the other, both. EVENTS gets a line for each event, with its number. What was told
 * before is known from there, so store both together where your records are.
 */
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { isAuthentic } from './verify.ts';

const { SECRETS = 'secrets.txt', EVENTS = 'events.ndjson', PORT = '8081' } = process.env;
const bodyBytesMax = 8 * 1024 * 1024;

/** A line of EVENTS: an event of a topic, or a message of the criteria of R4. */
interface Line {
  readonly subscription?: string;
  readonly number?: number;
  /** Its webhook-id, where it has no number. */
  readonly message?: string;
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly resource?: unknown;
}

/** Number of the last event of each subscription; ids of messages that have no numbers. */
const last = new Map<string, number>();
const taken = new Set<string>();

function note({ subscription, number, message }: Line): void {
  if (subscription !== undefined && number !== undefined) last.set(subscription, number);
  if (message !== undefined) taken.add(message);
}

/** What was stored before this process began. A line that was not written to its end was not answered either: it comes again. */
function readStored(): void {
  if (!existsSync(EVENTS)) return;
  const text = readFileSync(EVENTS, 'utf8');
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  if (whole.length < text.length) writeFileSync(EVENTS, whole);
  for (const line of whole.split('\n')) if (line !== '') note(JSON.parse(line));
}

/** Stores the lines, all or nothing, before the answer. */
function store(lines: readonly Line[]): void {
  if (lines.length === 0) return;
  const file = openSync(EVENTS, 'a');
  try {
    writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  lines.forEach(note);
}

interface Parameter {
  readonly name: string;
  readonly valueReference?: { readonly reference: string };
  readonly valueString?: string;
  readonly part?: readonly Parameter[];
}

interface Entry {
  readonly request: { readonly method: string };
  readonly fullUrl: string;
  readonly resource?: unknown;
}

/** The events of a notification by a topic, in their order; a handshake and a heartbeat have none. */
function readEvents(
  entries: readonly [{ resource: { parameter: readonly Parameter[] } }, ...Entry[]],
): readonly Line[] {
  const [status, ...others] = entries;
  const { parameter } = status.resource;
  const subscription = parameter.find(({ name }) => name === 'subscription')?.valueReference?.reference ?? '';
  const told = parameter.filter(({ name }) => name === 'notification-event');
  return told.map(({ part = [] }, at) => {
    const number = Number(part.find(({ name }) => name === 'event-number')?.valueString);
    const entry = others[at];
    return entry === undefined
      ? { subscription, number }
      : { subscription, number, method: entry.request.method, url: entry.fullUrl, resource: entry.resource };
  });
}

/** What is new in a message. */
function readNew({ method, url, headers }: IncomingMessage, body: Buffer): readonly Line[] {
  const resource = body.length === 0 ? undefined : JSON.parse(body.toString());
  if (resource?.resourceType === 'Bundle' && method === 'POST') {
    const events = readEvents(resource.entry).filter(
      ({ subscription = '', number = 0 }) => number > (last.get(subscription) ?? 0),
    );
    const [{ subscription = '', number = 0 } = {}] = events;
    const before = last.get(subscription);
    // Ask $events for them, then this message again: answer 500 until they are stored.
    if (before !== undefined && number > before + 1) console.log(`missing from ${before + 1} to ${number - 1}`);
    return events;
  }
  const message = String(headers['webhook-id']);
  return taken.has(message) ? [] : [{ message, method, url, resource }];
}

/** The whole body; undefined if it is too large. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function answer(request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST' && request.method !== 'PUT') return 405;
  const body = await readBody(request);
  if (body === undefined) return 413;
  const secrets = readFileSync(SECRETS, 'utf8').split(/\s+/).filter(Boolean);
  if (!isAuthentic(request.headers, body, secrets)) return 401;
  const lines = readNew(request, body);
  store(lines);
  console.log(`${request.headers['webhook-id']}: ${lines.length} new`);
  return 204;
}

readStored();
const server = createServer((request, reply) => {
  answer(request).then(
    (status) => reply.writeHead(status, status === 413 ? { connection: 'close' } : {}).end(),
    () => reply.writeHead(500).end(),
  );
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`listening on ${JSON.stringify(server.address())}`));
