// Who is behind a proxy, for connections that become websockets: as Fastify finds it for requests.
import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import test from 'node:test';
import { openProxies } from '../../src/http/connections/proxies.ts';

function requestFrom(remoteAddress: string, headers: Readonly<Record<string, string>> = {}): IncomingMessage {
  return { socket: { remoteAddress }, headers: { host: 'own.example.com', ...headers } } as unknown as IncomingMessage;
}

test('what is said of a client counts as far as trusted proxies have said it', () => {
  const cases: readonly [trusted: readonly string[], remote: string, forwarded: string | undefined, address: string][] =
    [
      [[], '192.0.2.1', '203.0.113.9', '192.0.2.1'],
      [['10.0.0.0/8'], '192.0.2.1', '203.0.113.9', '192.0.2.1'],
      [['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
      [['10.0.0.0/8'], '10.0.0.1', '198.51.100.7, 203.0.113.9', '203.0.113.9'],
      [['10.0.0.0/8'], '::ffff:10.0.0.1', '203.0.113.9, 10.0.0.2', '203.0.113.9'],
      [['10.0.0.1'], '10.0.0.1', '203.0.113.9, 10.0.0.2', '10.0.0.2'],
      [['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
      [['loopback', 'uniquelocal'], '::1', '203.0.113.9, fd00::1', '203.0.113.9'],
    ];
  for (const [trusted, remote, forwarded, address] of cases) {
    const headers = forwarded === undefined ? undefined : { 'x-forwarded-for': forwarded };
    assert.equal(openProxies(trusted).findAddress(requestFrom(remote, headers)), address, `${trusted} ${forwarded}`);
  }
});

test('the host that a client named is believed of trusted proxies alone', () => {
  const headers = { 'x-forwarded-host': 'first.example.com, last.example.com' };
  const { findHost } = openProxies(['loopback']);
  assert.equal(findHost(requestFrom('192.0.2.1', headers)), 'own.example.com');
  assert.equal(findHost(requestFrom('127.0.0.1', headers)), 'last.example.com');
  assert.equal(findHost(requestFrom('127.0.0.1')), 'own.example.com');
});
