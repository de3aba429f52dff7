/** Secrets of webhooks, and the headers that are signed with them. Denials first. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Webhook } from 'standardwebhooks';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { createWebhookSecret, parseWebhookSecret, signWebhook } from '../../src/outbound/webhook-signature.ts';

const secretOf = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;

const wrongSecrets: readonly (readonly [secret: string, message: string])[] = [
  ['', 'must begin with whsec_'],
  [secretOf(24).slice(6), 'must begin with whsec_'],
  [`WHSEC_${secretOf(24).slice(6)}`, 'must begin with whsec_'],
  ['whsec_', 'must have 24 to 64 bytes as base64'],
  [secretOf(23), 'must have 24 to 64 bytes as base64'],
  [secretOf(65), 'must have 24 to 64 bytes as base64'],
  [secretOf(32).replace(/=$/, ''), 'must have padded base64 after whsec_'],
  [`${secretOf(24)}\n`, 'must have padded base64 after whsec_'],
  ['whsec_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_', 'must have padded base64 after whsec_'],
  ['whsec_not base64 not base64 not base64', 'must have padded base64 after whsec_'],
];
for (const [secret, message] of wrongSecrets) {
  test(`${JSON.stringify(secret.slice(0, 20))}… of ${secret.length} characters is no secret`, () => {
    assert.throws(() => parseWebhookSecret(secret), new OutboundError(message));
    assert.throws(() => signWebhook({ id: 'a', timestamp: 1, body: Buffer.from('') }, [secret]), OutboundError);
  });
}

test('secrets of 24 to 64 bytes are taken', () => {
  for (const bytes of [24, 32, 64]) assert.deepEqual(parseWebhookSecret(secretOf(bytes)), Buffer.alloc(bytes, 7));
});

test('a new secret has 256 bits and comes once', () => {
  const secrets = Array.from({ length: 200 }, createWebhookSecret);
  for (const secret of secrets) {
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
    assert.equal(parseWebhookSecret(secret).length, 32);
  }
  assert.equal(new Set(secrets).size, secrets.length);
});

test('the example of the specification has the signature that it shows', () => {
  // https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
  const content = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: Buffer.from('{"test": 2432232314}'),
  };
  assert.deepEqual(signWebhook(content, ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw']), {
    'webhook-id': content.id,
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  });
});

test('the package standardwebhooks computes the same for bodies of any text', () => {
  const secret = createWebhookSecret();
  for (const text of ['', '{}', 'Jürgen 😀', 'a.b.c', '\u0000', 'x'.repeat(100_000)]) {
    const headers = signWebhook({ id: 'm-1_x', timestamp: 1_790_000_000, body: Buffer.from(text) }, [secret]);
    const expected = new Webhook(secret).sign('m-1_x', new Date(1_790_000_000_000), text);
    assert.equal(headers['webhook-signature'], expected);
  }
});
