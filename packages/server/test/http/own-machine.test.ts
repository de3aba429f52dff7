// To whom the front page may show credentials: services and requests of the own machine alone.
import assert from 'node:assert/strict';
import http, { type IncomingMessage } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import test from 'node:test';
import { readConfig } from '../../src/base/config.ts';
import { isFromOwnMachine, servesOwnMachineAlone } from '../../src/http/pages/own-machine.ts';

test('a service is for its own machine if it listens there, and settings name no other way to it', () => {
  const serves = (settings: Readonly<Record<string, string>>) => servesOwnMachineAlone(readConfig(settings));
  for (const settings of [
    {},
    { PRAXIS_HOST: '::1' },
    { PRAXIS_HOST: 'localhost', PRAXIS_BASE_URL: 'http://localhost:8080' },
    { PRAXIS_ENVIRONMENT_ORIGINS: 'sandbox=http://127.0.0.1:8080' },
  ])
    assert.equal(serves(settings), true, JSON.stringify(settings));
  for (const settings of [
    { PRAXIS_HOST: '0.0.0.0' },
    { PRAXIS_TRUSTED_PROXIES: '127.0.0.1' },
    { PRAXIS_BASE_URL: 'https://sandbox.example.com' },
    { PRAXIS_ENVIRONMENT_ORIGINS: 'sandbox=https://sandbox.example.com' },
    { PRAXIS_REALM_ORIGINS: 'sandbox=https://login.example.com' },
  ])
    assert.equal(serves(settings), false, JSON.stringify(settings));
});

test('a request by HTTP/1.0, as of proxies that add no header, is not taken for one of a person here', async (t) => {
  const judged: boolean[] = [];
  const server = http.createServer((request: IncomingMessage, response) => {
    judged.push(isFromOwnMachine(request));
    response.end();
  });
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (const version of ['1.1', '1.0'])
    await new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () =>
        socket.end(`GET / HTTP/${version}\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`),
      );
      socket.resume().once('close', resolve);
    });
  assert.deepEqual(judged, [true, false]);
});
