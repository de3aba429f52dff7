/**
 * Secrets and signatures of webhooks
 * (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#signature-scheme).
 */
import { createHmac, randomBytes } from 'node:crypto';
import { OutboundError } from './outbound-error.ts';

/** What is signed: body as it is sent, and the two headers that stand for it. */
export interface SignedContent {
  /** The same whenever the message is sent again. */
  readonly id: string;
  /** When it is sent, in seconds since 1970. */
  readonly timestamp: number;
  readonly body: Buffer;
}

const prefix = 'whsec_';
const secretBytes = 32;
const secretBytesMin = 24;
const secretBytesMax = 64;

/** A new secret of 256 random bits: `whsec_` and base64. */
export function createWebhookSecret(): string {
  return prefix + randomBytes(secretBytes).toString('base64');
}

/**
 * The key that a secret stands for.
 * @throws OutboundError naming the rule that the secret breaks, without the secret
 */
export function parseWebhookSecret(secret: string): Buffer {
  if (!secret.startsWith(prefix)) throw new OutboundError(`must begin with ${prefix}`);
  const text = secret.slice(prefix.length);
  const key = Buffer.from(text, 'base64');
  if (key.toString('base64') !== text) throw new OutboundError(`must have padded base64 after ${prefix}`);
  if (key.length < secretBytesMin || key.length > secretBytesMax)
    throw new OutboundError(`must have ${secretBytesMin} to ${secretBytesMax} bytes as base64`);
  return key;
}

/**
 * The headers `webhook-id`, `webhook-timestamp` and `webhook-signature`, with a signature for each secret: while a secret is
 * replaced, a receiver verifies by the one that it has.
 * @throws OutboundError for what is no secret; TypeError for an id or a timestamp that could be read as a part of the body
 */
export function signWebhook(
  { id, timestamp, body }: SignedContent,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  if (!/^[\w-]{1,255}$/.test(id)) throw new TypeError('The id of a webhook has letters, digits, _ and - only.');
  if (!Number.isSafeInteger(timestamp) || timestamp < 0) throw new TypeError('A timestamp is in whole seconds.');
  if (secrets.length === 0) throw new TypeError('A webhook is signed by at least one secret.');
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', parseWebhookSecret(secret));
    return `v1,${hmac.update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  });
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': signatures.join(' ') };
}
