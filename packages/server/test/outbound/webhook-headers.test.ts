/** Which headers a subscriber may add to its webhooks. Denials first; no refusal tells a value. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { parseWebhookHeaders } from '../../src/outbound/webhook-headers.ts';

const refusedNames = [
  ...['Host', 'Connection', 'Keep-Alive', 'TE', 'Trailer', 'Transfer-Encoding', 'Upgrade', 'Expect', 'HTTP2-Settings'],
  ...['Content-Type', 'Content-Length', 'Content-Encoding', 'Content-MD5', 'content-anything'],
  ...['Proxy-Authorization', 'Proxy-Connection', 'Proxy-Authenticate', 'Sec-Fetch-Site', 'If-Match'],
  ...['Cookie', 'Cookie2', 'Forwarded', 'Via', 'X-Forwarded-For', 'X-Real-IP', 'Origin', 'Referer'],
  ...['Accept-Encoding', 'Date', 'User-Agent', 'Range', 'X-HTTP-Method-Override'],
  ...['webhook-id', 'Webhook-Signature', 'WEBHOOK-TIMESTAMP', 'webhook-anything'],
];
for (const name of refusedNames) {
  test(`a subscriber may not set ${name}`, () => {
    const message = `has a header (number 2) that may not be set: ${name.toLowerCase()}`;
    assert.throws(() => parseWebhookHeaders(['X-A: b', `${name}: hidden`]), new OutboundError(message));
  });
}

const wrongLines: readonly (readonly [line: string, rule: string])[] = [
  ['', 'is not of the form `Name: value`'],
  ['Authorization', 'is not of the form `Name: value`'],
  [': hidden', 'has no name of HTTP'],
  ['X A: hidden', 'has no name of HTTP'],
  ['X-A : hidden', 'has no name of HTTP'],
  ['X-Ä: hidden', 'has no name of HTTP'],
  ['X-\r\nHost: hidden', 'has no name of HTTP'],
  [`${'x'.repeat(65)}: hidden`, 'has a name of more than 64 characters'],
  ['X-A:', 'has a value that is not of visible ASCII characters'],
  ['X-A:  \t', 'has a value that is not of visible ASCII characters'],
  ['X-A: hidden\r\nHost: x', 'has a value that is not of visible ASCII characters'],
  ['X-A: hidden\n', 'has a value that is not of visible ASCII characters'],
  ['X-A: hid\tden', 'has a value that is not of visible ASCII characters'],
  ['X-A: hid\u0000den', 'has a value that is not of visible ASCII characters'],
  ['X-A: hidden\u00e9', 'has a value that is not of visible ASCII characters'],
  ['X-A: hidden\u010a', 'has a value that is not of visible ASCII characters'],
  [`X-A: ${'x'.repeat(4_097)}`, 'has a value of more than 4096 characters'],
];
for (const [line, rule] of wrongLines) {
  test(`the header ${JSON.stringify(line.slice(0, 30))} is refused`, () => {
    assert.throws(() => parseWebhookHeaders([line]), new OutboundError(`has a header (number 1) that ${rule}`));
  });
}

test('headers are few, not large, and there once', () => {
  const many = Array.from({ length: 17 }, (_, index) => `X-${index}: a`);
  assert.throws(() => parseWebhookHeaders(many), new OutboundError('has more than 16 headers'));
  const large = ['A', 'B', 'C'].map((name) => `X-${name}: ${'x'.repeat(3_000)}`);
  assert.throws(() => parseWebhookHeaders(large), new OutboundError('has headers of more than 8192 characters'));
  const twice = new OutboundError('has a header (number 2) that is there twice');
  assert.throws(() => parseWebhookHeaders(['X-A: b', 'x-a: c']), twice);
  assert.equal(Object.keys(parseWebhookHeaders(many.slice(1))).length, 16);
});

test('other headers are taken, by their names in lower case', () => {
  const lines = ['Authorization: Bearer abc.def==', 'X-Api-Key:  key with blanks \t', '__proto__: x', 'X-Time: 12:30'];
  assert.deepEqual(Object.entries(parseWebhookHeaders(lines)), [
    ['authorization', 'Bearer abc.def=='],
    ['x-api-key', 'key with blanks'],
    ['__proto__', 'x'],
    ['x-time', '12:30'],
  ]);
  assert.deepEqual(parseWebhookHeaders([]), {});
});
