/**
 * Where the server connects on behalf of others: the same odd targets for each user of the guard, when a URL is written and
 * at each connection. Denials first.
 */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import test, { after } from 'node:test';
import { OutboundError } from '../../src/outbound/outbound-error.ts';
import { requirePublicUrl } from '../../src/outbound/public-url.ts';
import { fetchRemoteDocument } from '../../src/outbound/remote-document.ts';
import { resolveTarget, type TargetOptions } from '../../src/outbound/target.ts';
import { postSigned } from '../../src/outbound/webhook.ts';
import { createWebhookSecret } from '../../src/outbound/webhook-signature.ts';
import { notPublic, oddAnswers, oddUrls } from './odd-targets.ts';

const asked: string[] = [];
const server = createServer((request, reply) => {
  asked.push(`${request.method} ${request.headers.host}`);
  reply.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}).listen(0, '127.0.0.1');
after(() => {
  server.closeAllConnections();
  server.close();
});
await new Promise((resolve) => server.once('listening', resolve));
const { port } = server.address() as AddressInfo;

type Reason = string | undefined;
const message = {
  body: Buffer.from('{}'),
  headers: {},
  secrets: [createWebhookSecret()],
  id: 'm1',
  timestamp: 1_790_000_000,
};
const reasonOf = (error: unknown): Reason => (error instanceof OutboundError ? error.message : assert.fail(`${error}`));

/** Why each user of the guard did not ask a URL; undefined if it was answered. */
const users: Readonly<Record<string, (url: string, options: TargetOptions) => Promise<Reason>>> = {
  'a fetch of jwks_uri': async (url, options) =>
    await fetchRemoteDocument(url, options).then(() => undefined, reasonOf),
  'a webhook': async (url, options) => {
    const outcome = await postSigned({ ...message, url }, options);
    return outcome.kind === 'answered' ? undefined : outcome.reason;
  },
};

for (const [url, reason] of oddUrls) {
  test(`the URL ${JSON.stringify(url.slice(0, 50))} is refused when it is written`, () => {
    assert.throws(() => requirePublicUrl(url, { loopback: false }), new OutboundError(reason));
  });
}

for (const [name, ask] of Object.entries(users)) {
  test(`${name} refuses each odd URL before a name is resolved`, async () => {
    const resolved: string[] = [];
    const resolve = async (host: string): Promise<string[]> => {
      resolved.push(host);
      return ['127.0.0.1'];
    };
    for (const [url, reason] of oddUrls) assert.equal(await ask(url, { loopback: false, resolve }), reason, url);
    assert.deepEqual(resolved, []);
  });

  for (const [what, addresses] of oddAnswers) {
    test(`${name} refuses a name that resolves to ${what}, and asks nothing of it`, async () => {
      asked.length = 0;
      const resolve = async (): Promise<readonly string[]> => addresses;
      for (const host of ['hooks.example.com', '127.0.0.1.nip.io', 'xn--mnchen-3ya.example'])
        assert.equal(await ask(`https://${host}:${port}/`, { loopback: false, resolve }), notPublic);
      assert.deepEqual(asked, []);
    });
  }

  test(`${name} judges the addresses that a name has at each connection`, async () => {
    asked.length = 0;
    const answers = [['8.8.8.8'], ['127.0.0.1'], ['10.0.0.1'], ['8.8.8.8', '127.0.0.1']];
    const resolve = async (): Promise<readonly string[]> => answers.shift() ?? assert.fail('resolved too often');
    const url = `https://rebinding.example.com:${port}/`;
    const written = await resolveTarget(url, { loopback: false, resolve });
    assert.deepEqual(written.addresses, ['8.8.8.8']);
    for (const _ of [1, 2, 3]) assert.equal(await ask(url, { loopback: false, resolve }), notPublic);
    assert.deepEqual({ asked, answers }, { asked: [], answers: [] });
  });

  test(`${name} connects to the address that was checked: the name is resolved once`, async () => {
    asked.length = 0;
    const answers = [['127.0.0.1'], ['10.0.0.1']];
    const resolve = async (): Promise<readonly string[]> => answers.shift() ?? [];
    assert.equal(await ask(`http://localhost:${port}/`, { loopback: true, resolve }), undefined);
    assert.equal(asked.length, 1);
    assert.match(asked[0] ?? '', new RegExp(`^(?:GET|POST) localhost:${port}$`));
    assert.equal(answers.length, 1);
  });

  test(`${name} tells a host that is not found`, async () => {
    const missing = 'names a host that is not found';
    const rejected = async (): Promise<never> => Promise.reject(new Error('ENOTFOUND'));
    for (const resolve of [rejected, async () => []])
      assert.equal(await ask('https://hooks.example.com/', { loopback: false, resolve }), missing);
  });
}

test('a URL of this machine is taken only where the setting says so, by any port, and by http', () => {
  for (const url of [
    'http://localhost:1/',
    'http://127.0.0.1:1/',
    'http://127.9.9.9/',
    'http://[::1]:1/',
    'https://localhost/',
    'http://hooks.localhost/',
    'http://0x7f.1/',
  ]) {
    assert.equal(requirePublicUrl(url, { loopback: true }).href, new URL(url).href);
    assert.throws(() => requirePublicUrl(url, { loopback: false }), OutboundError, url);
  }
  for (const url of [
    'http://10.0.0.1/',
    'https://10.0.0.1/',
    'http://hooks.example.com/',
    'ftp://localhost/',
    'http://0/',
  ])
    assert.throws(() => requirePublicUrl(url, { loopback: true }), OutboundError, url);
});

test('the setting opens this machine and no other address of its network', async () => {
  const targetOf = async (url: string, ...addresses: string[]): Promise<readonly string[] | Reason> =>
    await resolveTarget(url, { loopback: true, resolve: async () => addresses }).then(
      (target) => target.addresses,
      reasonOf,
    );
  assert.deepEqual(await targetOf('https://dev.example.com/', '::1', '127.0.0.1'), ['127.0.0.1', '::1']);
  for (const addresses of [['10.0.0.1'], ['127.0.0.1', '10.0.0.1'], ['0.0.0.0']])
    assert.equal(await targetOf('https://dev.example.com/', ...addresses), notPublic);
  assert.equal(await targetOf('http://localhost/', '8.8.8.8'), notPublic, 'plain http leaves the machine');
});

test('public URLs are taken as they are, and of many addresses two of a family are tried', async () => {
  for (const url of [
    'https://hooks.example.com/in?a=b',
    'https://hooks.example.com.:8443/',
    'https://8.8.8.8/',
    'https://[2606:2800:220:1::1]/',
  ])
    assert.equal(requirePublicUrl(url, { loopback: false }).href, url);
  const addresses = ['2606:2800::1', '2606:2800::2', '2606:2800::3', '8.8.8.8', '8.8.4.4', '1.1.1.1'];
  const hosts: string[] = [];
  const resolve = async (host: string): Promise<readonly string[]> => {
    hosts.push(host);
    return addresses;
  };
  const target = await resolveTarget('https://Hooks.Example.com./', { loopback: false, resolve });
  assert.deepEqual(target.addresses, ['8.8.8.8', '8.8.4.4', '2606:2800::1', '2606:2800::2']);
  assert.deepEqual(hosts, ['hooks.example.com']);
});

test('this machine is found without name servers', async () => {
  for (const host of ['localhost', 'hooks.localhost'])
    assert.deepEqual((await resolveTarget(`http://${host}/`, { loopback: true })).addresses, ['127.0.0.1', '::1']);
});
