/**
 * examples/oauth.sh: the token service with curl and openssl alone, against a real service and against one that lies. What is
 * secret stands in no argument of a program, in no output, and in no file afterwards.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { exportPKCS8 } from 'jose';
import { setClientKeys } from '../../src/oauth/client-auth/client-keys.ts';
import { issueKeyedClient } from '../../src/oauth/client-auth/clients.ts';
import { keySetOf, makeKeyPair } from '../oauth/assertions.ts';
import { makeApplication, makeFirm, openTestService, startMs } from '../support/service.ts';

const programs = ['curl', 'openssl', 'sh'];
const isMissing = (program: string): boolean => spawnSync('which', [program]).status !== 0;
const missing = programs.filter(isMissing);
const skip = missing.length > 0 ? `${missing.join(' and ')} not installed` : false;

const service = await openTestService({ after });
// The script takes the time from the machine.
service.clock.advance(Date.now() - startMs);
const maple = await makeFirm(service, 'maple');
const vendor = await makeApplication(service, 'Vendor', ['acl/pat_s'], [maple]);
const { clientId, clientSecret, clientKey } = vendor;
const directory = mkdtempSync(path.join(tmpdir(), 'praxis-oauth-'));
after(() => rmSync(directory, { recursive: true }));

/** A client that has keys and no secret, with the key in a file. */
async function keyedClient(alg: 'RS384' | 'ES384'): Promise<Record<string, string>> {
  const pair = await makeKeyPair(alg, `key-${alg}`);
  const file = path.join(directory, `${alg}.pem`);
  writeFileSync(file, await exportPKCS8(pair.privateKey), { mode: 0o600 });
  const keyed = await issueKeyedClient(service.platform.database, vendor.application);
  await setClientKeys(service.platform.database, vendor.application, keyed, { jwks: keySetOf(pair) });
  return { CLIENT_ID: keyed, PRIVATE_KEY: file, KEY_ID: pair.kid };
}

/** A directory whose programs write down their arguments and do what they should. */
const listeners = path.join(directory, 'bin');
const overheard = path.join(directory, 'arguments');
mkdirSync(listeners);
for (const program of ['curl', 'openssl', 'sed', 'grep', 'tr', 'cut', 'cat']) {
  const real = spawnSync('which', [program], { encoding: 'utf8' }).stdout.trim();
  const file = path.join(listeners, program);
  writeFileSync(file, `#!/bin/sh\nprintf '%s\\n' "$@" >>'${overheard}'\nexec '${real}' "$@"\n`);
  chmodSync(file, 0o755);
}

const script = fileURLToPath(new URL('../../../../examples/oauth.sh', import.meta.url));
let runs = 0;

interface Ran {
  readonly code: number | null;
  readonly output: string;
  readonly error: string;
}

/** Runs the script with these variables, a temporary directory of its own, and listeners. */
async function run(variables: Readonly<Record<string, string>>, shell = 'sh'): Promise<Ran> {
  runs += 1;
  const temporary = path.join(directory, `run-${runs}`);
  mkdirSync(temporary);
  writeFileSync(overheard, '');
  const env = {
    PATH: `${listeners}:${process.env['PATH']}`,
    TMPDIR: temporary,
    ORIGIN: service.origin,
    FIRM: 'maple',
    CLIENT_ID: clientId,
    API_KEY: clientKey,
    ...variables,
  };
  const ran = await new Promise<Ran>((resolve) => {
    const child = execFile(shell, [script], { env }, (_error, output, error) =>
      resolve({ code: child.exitCode, output, error }),
    );
  });
  assert.deepEqual(readdirSync(temporary), [], 'it leaves no file');
  const told = `${readFileSync(overheard, 'utf8')}${ran.output}${ran.error}`;
  for (const secret of [clientSecret, clientKey, 'eyJ', Buffer.from(`${clientId}:${clientSecret}`).toString('base64')])
    assert.equal(told.includes(secret), false, `a secret is told: ${secret}`);
  return ran;
}

const walk = 'token, call, introspection, revocation';
const discovered = `discovery: ${service.origin}/auth/realms/sandbox`;
const bySecret = [`client_secret_basic: ${walk}`, `client_secret_post: ${walk}`];

const families: readonly (readonly [
  name: string,
  variables: () => Promise<Record<string, string>>,
  lines: readonly string[],
])[] = [
  ['client_secret_basic and client_secret_post', async () => ({ CLIENT_SECRET: clientSecret }), bySecret],
  ['private_key_jwt with RS384', () => keyedClient('RS384'), [`private_key_jwt: ${walk}`]],
  ['private_key_jwt with ES384', () => keyedClient('ES384'), [`private_key_jwt: ${walk}`]],
];
for (const [name, variables, lines] of families) {
  test(`examples/oauth.sh by ${name}: discovery, ${walk}`, { skip }, async () => {
    const { code, output, error } = await run(await variables());
    assert.deepEqual([code, error, output.trimEnd().split('\n')], [0, '', [discovered, ...lines]]);
    assert.ok(readFileSync(overheard, 'utf8').includes('--data-urlencode'), 'its arguments were heard');
  });
}

test('examples/oauth.sh needs no more of the shell than POSIX has', {
  skip: skip || (isMissing('dash') ? 'dash not installed' : false),
}, async () => {
  const { code, error } = await run(await keyedClient('ES384'), 'dash');
  assert.deepEqual([code, error], [0, '']);
});

const refusals: readonly (readonly [name: string, variables: Record<string, string>, error: RegExp])[] = [
  [
    'a wrong secret',
    { CLIENT_SECRET: 'wrong' },
    /^oauth\.sh: client_secret_basic: token: 401 instead of 200: invalid_client client_id or client_secret is wrong for this realm$/,
  ],
  [
    'a firm that has not authorised it',
    { CLIENT_SECRET: clientSecret, FIRM: 'cedar' },
    /^oauth\.sh: client_secret_basic: call: 403 instead of 200: +Firm is not open to this application/,
  ],
  [
    'a wrong API key',
    { CLIENT_SECRET: clientSecret, API_KEY: 'wrong' },
    /token: 401 instead of 200: invalid_client x-api-key/,
  ],
  ['no credentials', {}, /^oauth\.sh: CLIENT_SECRET and PRIVATE_KEY are missing/],
  [
    'a quote in the client id',
    { CLIENT_ID: 'a"b', CLIENT_SECRET: 'x' },
    /has a character that this service never gives$/,
  ],
  [
    'nobody there',
    { CLIENT_SECRET: clientSecret, ORIGIN: 'http://127.0.0.1:1' },
    /call without credentials: no answer$/,
  ],
];
for (const [name, variables, wanted] of refusals) {
  test(`examples/oauth.sh with ${name} stops and says why`, { skip }, async () => {
    const { code, error } = await run(variables);
    assert.equal(code, 1);
    assert.match(error.trimEnd(), wanted);
  });
}

/** The service behind a proxy that changes one kind of answer; its own address stands in all of them. */
async function lyingService(pattern: RegExp, change: (text: string, count: number) => string): Promise<string> {
  let count = 0;
  let own = '';
  const server = createServer((request, reply) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const { url = '', method = 'GET', headers } = request;
      const { host: _host, connection: _connection, 'content-length': _length, ...rest } = headers;
      const body = method === 'GET' ? {} : { body: Buffer.concat(chunks) };
      const sent: [string, string][] = Object.entries(rest).map(([name, value]) => [name, String(value)]);
      const isChanged = pattern.test(url);
      if (isChanged) count += 1;
      const isSkipped = isChanged && change('', count) === 'skip';
      const answer = isSkipped
        ? new Response('')
        : await fetch(service.origin + url, { method, headers: sent, ...body });
      const text = (await answer.text()).replaceAll(service.origin, own);
      const challenge = answer.headers.get('www-authenticate')?.replaceAll(service.origin, own);
      reply.writeHead(answer.status, challenge === undefined ? {} : { 'www-authenticate': challenge });
      reply.end(isChanged && !isSkipped ? change(text, count) : text);
    });
  }).listen(0, '127.0.0.1');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return own;
}

const lies: readonly (readonly [
  name: string,
  pattern: RegExp,
  change: Parameters<typeof lyingService>[1],
  error: RegExp,
])[] = [
  ['another resource', /oauth-protected-resource/, (text) => text.replace('/maple/', '/cedar/'), /resource \(RFC 9728/],
  [
    'another issuer',
    /oauth-authorization-server/,
    (text) => text.replace('"issuer":"', '"issuer":"x'),
    /: issuer: 'xhttp/,
  ],
  [
    'another token endpoint',
    /openid-configuration/,
    (text) => text.replaceAll('/token"', '/tokens"'),
    /token_endpoint: /,
  ],
  [
    'client_secret_post not offered',
    /oauth-authorization-server/,
    (text) => text.replaceAll('"client_secret_post",', ''),
    /the token endpoint does not offer client_secret_post$/,
  ],
  ['other keys', /\/certs$/, () => '{"keys":[]}', /the key that signed the token is not in the JWK Set$/],
  ['an inactive token', /\/introspect$/, () => '{"active":false}', /basic: introspection: "active":true is not there$/],
  ['a revocation that does nothing', /\/revoke$/, () => 'skip', /introspection after revocation: '\{"active":true/],
  [
    'a revocation that introspection alone knows of',
    /\/(?:revoke|introspect)$/,
    (text, count) => (count === 2 ? 'skip' : count === 3 ? '{"active":false}' : text),
    /client_secret_basic: call after revocation: 200 instead of 401/,
  ],
];
for (const [name, pattern, change, wanted] of lies) {
  test(`examples/oauth.sh finds a service that tells ${name}`, { skip }, async () => {
    // The issuer within a token stays the service's own; introspection tells it, behind the proxy, as the proxy's.
    const { code, error } = await run({ CLIENT_SECRET: clientSecret, ORIGIN: await lyingService(pattern, change) });
    assert.equal(code, 1, error);
    assert.match(error.trimEnd(), wanted);
  });
}

test('examples/oauth.sh passes behind the same proxy when it tells the truth', { skip }, async () => {
  const origin = await lyingService(/nothing/, (text) => text);
  const { code, error } = await run({ CLIENT_SECRET: clientSecret, ORIGIN: origin });
  assert.deepEqual([code, error], [0, '']);
});
