/** `praxis client …` and `praxis signing-key …`: what proves clients and signs tokens, changed from the command line. Denials first. */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { after } from 'node:test';
import { ConfigError } from '../../src/base/config.ts';
import { PraxisError } from '../../src/base/errors.ts';
import { commands } from '../../src/cli/commands.ts';
import { publishedMsMin } from '../../src/oauth/signing/signing-key-rotation.ts';
import { openSigningKeys } from '../../src/oauth/signing/signing-keys.ts';
import { makeKeyPair } from '../oauth/assertions.ts';
import { type CommandResult, openTestPlatform, runCommand, startMs } from './platform.ts';
import { openScratchDirectory } from './scratch-directory.ts';

const files = openScratchDirectory({ after });
const platform = await openTestPlatform({ after });
const run = (...line: readonly string[]): Promise<CommandResult> => runCommand(platform, commands, ...line);
await run('app', 'create', 'Vendor', '--acl', 'acl/pat_s');
const pair = await makeKeyPair('ES384', 'first');
const setFile = files.write('jwks.json', JSON.stringify({ keys: [pair.publicJwk] }));

async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ConfigError || error instanceof PraxisError, String(error));
  return error instanceof PraxisError ? error.details.diagnostics : error.message;
}

/** The value that a command prints once. */
function printed({ output }: CommandResult, name: string): string {
  const line = output.find((each) => each.startsWith(`${name}: `));
  return line?.slice(name.length + 2) ?? assert.fail(output.join('\n'));
}

/** A client of the application, its columns as they are listed. */
async function listed(clientId: string): Promise<readonly string[]> {
  const { output } = await run('client', 'list', 'Vendor');
  const line = output.find((each) => each.startsWith(clientId)) ?? '';
  return line.trim().split(/\s{2,}|\t/);
}

test('client jwks: what is no set of public keys is refused, and the keys stay as they were', async () => {
  const clientId = printed(await run('client', 'issue', 'Vendor', '--without-secret'), 'client_id');
  const privateFile = files.write('private.json', JSON.stringify({ keys: [pair.privateJwk] }));
  const missing = path.join(files.path, 'missing.json');
  const refusals: readonly (readonly [line: readonly string[], message: string])[] = [
    [[], 'give one of --file, --uri and --remove'],
    [['--file', setFile, '--remove'], 'give one of --file, --uri and --remove'],
    [['--file', missing], `--file ${missing} cannot be read`],
    [
      ['--file', privateFile],
      '--file: JWK Set keys[0] holds the private member d: register public keys only, and replace this one',
    ],
    [['--uri', 'http://keys.example.com/jwks'], '--uri must begin with https://'],
    [['--uri', 'https://127.0.0.1/jwks'], '--uri names an address that is not of the public Internet'],
    [['--uri', 'https://169.254.169.254/'], '--uri names an address that is not of the public Internet'],
  ];
  for (const [line, message] of refusals)
    assert.equal(await refusalOf(run('client', 'jwks', 'Vendor', clientId, ...line)), message);
  const unknown = 'application Vendor has no live client nobody';
  assert.equal(await refusalOf(run('client', 'jwks', 'Vendor', 'nobody', '--file', setFile)), unknown);
  assert.deepEqual((await listed(clientId)).slice(1, 4), ['active', '0', '-']);
});

test('client jwks: a set is stored, replaced by a URI, and taken away', async () => {
  const server = createServer((_request, reply) => {
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys: [pair.publicJwk] }));
  }).listen(0, '127.0.0.1');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((resolve) => server.once('listening', resolve));
  const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
  const clientId = printed(await run('client', 'issue', 'Vendor', '--without-secret'), 'client_id');
  const stored = await run('client', 'jwks', 'Vendor', clientId, '--file', setFile);
  assert.deepEqual(stored.output, [`client ${clientId}: keys first`]);
  assert.deepEqual((await listed(clientId)).slice(1, 4), ['active', '0', 'jwks']);
  const local = { ...platform, config: { ...platform.config, jwksLoopback: true } };
  const published = await runCommand(local, commands, 'client', 'jwks', 'Vendor', clientId, '--uri', uri);
  assert.deepEqual(published.output, [`client ${clientId}: keys first`]);
  assert.deepEqual((await listed(clientId)).slice(1, 4), ['active', '0', uri]);
  const removed = await run('client', 'jwks', 'Vendor', clientId, '--remove');
  assert.deepEqual(removed.output, [`client ${clientId}: no keys`]);
  assert.deepEqual((await listed(clientId)).slice(1, 4), ['active', '0', '-']);
});

test('client secrets: add, list, retire; a third one waits for the end of another', async () => {
  const clientId = printed(await run('client', 'issue', 'Vendor'), 'client_id');
  const added = await run('client', 'add-secret', 'Vendor', clientId);
  assert.match(printed(added, 'client_secret'), /^[\w-]{43}$/);
  const id = printed(added, 'id');
  assert.match(
    await refusalOf(run('client', 'add-secret', 'Vendor', clientId)),
    /has 2 live secrets: retire one of them/,
  );
  const states = async (): Promise<string[]> => {
    const { output } = await run('client', 'secrets', 'Vendor', clientId);
    return output.slice(1).map((line) =>
      line
        .trim()
        .split(/\s{2,}|\t/)
        .filter((_, index) => index !== 2)
        .join(' '),
    );
  };
  const first = String(Number(id) - 1);
  assert.deepEqual(await states(), [`${id} active never`, `${first} active never`]);
  assert.equal(
    await refusalOf(run('client', 'retire-secret', 'Vendor', clientId, 'x')),
    'secret is a number that its list shows',
  );
  assert.deepEqual((await run('client', 'retire-secret', 'Vendor', clientId, first)).output, [
    `secret ${first} is retired`,
  ]);
  assert.deepEqual((await run('client', 'retire-secret', 'Vendor', clientId, id, '--revoke')).output, [
    `secret ${id} is revoked`,
  ]);
  assert.deepEqual(await states(), [`${id} revoked never`, `${first} retired never`]);
  assert.match(
    await refusalOf(run('client', 'retire-secret', 'Vendor', clientId, first)),
    new RegExp(`has no live secret ${first}$`),
  );
});

test('key list tells when keys were last used', async () => {
  const id = printed(await run('key', 'issue', 'Vendor', '--flow', 'client'), 'id');
  const { output } = await run('key', 'list', 'Vendor');
  assert.match(output[0] ?? '', /LAST USED/);
  assert.match(output.find((line) => line.startsWith(id)) ?? '', /never\s*$/);
});

test('signing-key: publish, activate and retire, each when its time has come or by force', async () => {
  await openSigningKeys(platform.database, platform.secrets).signer('sandbox');
  const states = async (): Promise<string[]> => {
    const { output } = await run('signing-key', 'list');
    return output.slice(1).map((line) => line.trim().split(/\s{2,}|\t/)[1] ?? '');
  };
  const published = await run('signing-key', 'publish');
  const kid = /^signing key ([\w-]{43}) is published$/.exec(published.output[0] ?? '')?.[1] ?? assert.fail();
  const iso = (ms: number): string => new Date(ms).toISOString();
  assert.equal(
    await refusalOf(run('signing-key', 'activate')),
    `signing key ${kid} is published since ${iso(startMs)}: it may sign from ${iso(startMs + publishedMsMin)}, or with --force`,
  );
  assert.deepEqual((await states()).toSorted(), ['active', 'published']);
  assert.deepEqual((await run('signing-key', 'activate', '--force')).output, [`signing key ${kid} signs`]);
  const { output } = await run('signing-key', 'list');
  const old = output.find((line) => line.includes('verifying'))?.slice(0, 43) ?? '';
  assert.match(await refusalOf(run('signing-key', 'retire', old)), /is verifying since/);
  assert.deepEqual((await run('signing-key', 'retire', old, '--force')).output, [`signing key ${old} is retired`]);
  assert.deepEqual((await states()).toSorted(), ['active', 'retired']);
  assert.match(await refusalOf(run('signing-key', 'retire', kid)), /the active key cannot be retired/);
});
