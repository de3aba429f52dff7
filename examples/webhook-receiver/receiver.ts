/**
 * Receives webhooks: verifies them, takes each once, and answers before it works. Node 24 alone.
 *
 *     WEBHOOK_SECRET=whsec_… PORT=8081 node examples/webhook-receiver/receiver.ts
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';

/** Two secrets, separated by a blank, while one replaces the other. */
const secrets = (process.env['WEBHOOK_SECRET'] ?? '').split(' ').filter(Boolean);
if (secrets.length === 0) throw new Error('WEBHOOK_SECRET is not set');
const bodyBytesMax = 5_000_000;
const idsMax = 100_000;

/** Whether the message is one of ours, and not older than five minutes. @param body the bytes as they came */
function isAuthentic(headers: IncomingHttpHeaders, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false;
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false;
  return secrets.some((secret) => {
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
    return signatures.split(' ').some((signature) => {
      const given = Buffer.from(signature.replace('v1,', ''), 'base64');
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
  });
}

/** Ids of messages that were taken. A receiver with a database keeps them there, in the transaction that stores the message. */
const taken = new Set<string>();

/** Whether the message came for the first time. */
function takeOnce(id: string): boolean {
  if (taken.has(id)) return false;
  const [oldest] = taken;
  if (taken.size >= idsMax && oldest !== undefined) taken.delete(oldest);
  taken.add(id);
  return true;
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

/** Here the work is done, after the answer. */
function handle(id: string, body: Buffer): void {
  console.log(`${id}: ${body.length} bytes`);
}

async function answer(request: IncomingMessage): Promise<number> {
  if (request.method !== 'POST') return 405;
  const body = await readBody(request);
  if (body === undefined) return 413;
  if (!isAuthentic(request.headers, body)) return 401;
  const id = String(request.headers['webhook-id']);
  if (takeOnce(id)) setImmediate(handle, id, body);
  return 204;
}

const server = createServer((request, reply) => {
  answer(request).then(
    (status) => reply.writeHead(status, status === 413 ? { connection: 'close' } : {}).end(),
    () => reply.destroy(),
  );
});
server.listen(Number(process.env['PORT'] ?? 8081), '127.0.0.1', () => {
  console.log(`listening on ${JSON.stringify(server.address())}`);
});
