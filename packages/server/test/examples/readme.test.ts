/**
 * The quick start of README.md: `npm start` prints what README shows, the calls that it prints work as printed, and the front page
 * shows them, too.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { makeSecret } from '../../src/base/ids.ts';
import { startPraxis } from '../cli/praxis-process.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { openTestDatabase } from '../support/database.ts';
import { urlOf } from '../support/nodes.ts';
import { openWire } from '../support/wire.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const readme = readFileSync(path.join(root, 'README.md'), 'utf8');
const skip = spawnSync('which', ['curl']).status === 0 ? false : 'curl not installed';

const { connections } = await openTestDatabase({ after }, { empty: true });
const dataDir = openScratchDirectory({ after }).path;

/** The command line of the script `start`, from the name of the command on. */
function startLine(): readonly string[] {
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const [, line = ''] = /praxis\.mjs (.*)$/.exec(scripts.start) ?? [];
  return line.split(' ');
}

interface Sandbox {
  readonly origin: string;
  /** Lines of standard output, and of standard error. */
  readonly said: readonly string[];
  readonly told: readonly string[];
}

/** Starts the sandbox on a free port, as a newcomer does and without a terminal; resolves when it has said all. */
async function startSandbox(): Promise<Sandbox> {
  const settings = {
    DATABASE_URL: urlOf(connections.owner),
    PRAXIS_SECRET_KEY: makeSecret(),
    PRAXIS_DATA_DIR: dataDir,
    PRAXIS_PORT: '0',
    PRAXIS_WORKERS: '2',
    PRAXIS_LOG_LEVEL: '',
  };
  const child = startPraxis(settings, ...startLine());
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  after(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  return await new Promise((resolve, reject) => {
    let said = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const [, origin] = /^guides and reference: (\S+)\/docs\n/m.exec(said) ?? [];
      if (origin !== undefined) resolve({ origin, said: said.split('\n'), told: told.split('\n').filter(Boolean) });
    });
    void ended.then(() => reject(new Error(`the sandbox ended before it was ready: ${said}${told}`)));
  });
}

const sandbox = await startSandbox();
const calls = sandbox.said.filter((line) => line.startsWith('curl '));
const wire = openWire(sandbox.origin);
after(() => wire.close());

test('a start prints for people: the line that README shows, three calls, and where to read on', () => {
  const [, shown = ''] = /^(praxis ready on )http:\/\/127\.0\.0\.1:8080$/m.exec(readme) ?? [];
  assert.notEqual(shown, '', 'README shows the line that tells when the service is ready');
  assert.equal(calls.length, 3);
  assert.deepEqual(sandbox.said, [
    `${shown}${sandbox.origin}`,
    `credentials of the sandbox: ${dataDir}/sandbox.json; try:`,
    '',
    ...calls.flatMap((call) => [call, '']),
    `guides and reference: ${sandbox.origin}/docs`,
    '',
  ]);
  assert.ok(existsSync(path.join(dataDir, 'sandbox.json')));
  const [migrated, ...seeded] = sandbox.told;
  assert.match(migrated ?? '', /^praxis: the schema is up to date: \d\d migrations were applied$/);
  for (const line of seeded) assert.match(line, /^praxis: seeding (?:sandbox|training|prod)\/[a-z]+: \d+ resources$/);
});

test('its three calls get a token, find patients and create one', { skip }, async () => {
  const answers: unknown[] = [];
  for (const line of calls) {
    const { stdout } = await promisify(execFile)('sh', ['-c', line]);
    answers.push(JSON.parse(stdout));
  }
  const [token, patients, created] = answers as [
    { token_type: string },
    { type: string; entry: { resource: { resourceType: string } }[] },
    { resourceType: string; name: { family: string }[] },
  ];
  assert.equal(token.token_type, 'Bearer');
  assert.deepEqual(
    [patients.type, patients.entry.map(({ resource }) => resource.resourceType)],
    ['searchset', ['Patient', 'Patient']],
  );
  assert.deepEqual([created.resourceType, created.name[0]?.family], ['Patient', 'Example']);
});

test('the front page shows the calls to nobody but a person at this machine', async () => {
  const [, key = ''] = /x-api-key: ([\w-]+)/.exec(calls[0] ?? '') ?? [];
  assert.notEqual(key, '');
  const { host } = new URL(sandbox.origin);
  for (const headers of [
    { host: 'sandbox.example.com' },
    { host: '127.0.0.1.example.com:80' },
    { host, origin: 'http://localhost:3000' },
    { host, origin: 'null' },
    { host, 'sec-fetch-site': 'cross-site' },
    { host, 'sec-fetch-site': 'same-site' },
    { host, 'x-forwarded-for': '203.0.113.1' },
    { host, forwarded: 'for=203.0.113.1' },
    { host, via: '1.1 proxy' },
    { host, 'x-forwarded-port': '443' },
    { host, 'x-original-host': 'sandbox.example.com' },
    { host, 'x-client-ip': '203.0.113.1' },
    { host, 'cf-connecting-ip': '203.0.113.1' },
  ])
    for (const accept of ['text/html', 'application/json', '*/*']) {
      const { status, text } = await wire.send({ path: '/', headers: { ...headers, accept } });
      assert.deepEqual(
        [status, text.includes('curl '), text.includes(key)],
        [200, false, false],
        JSON.stringify(headers),
      );
    }
});

test('the front page shows the calls at this machine, in each form', async () => {
  const ask = (accept: string) => wire.send({ path: '/', headers: { accept } });
  assert.deepEqual((await ask('application/json')).json.firstCalls, calls);
  const { text } = await ask('*/*');
  for (const call of calls) assert.ok(text.includes(`\n${call}\n`));
  assert.doesNotMatch(text, /\/(?:training|prod)\//);
  const page = await ask('text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8');
  assert.equal(page.text.match(/<pre>curl /g)?.length, 3);
  assert.ok(page.text.includes(calls[0]?.replaceAll("'", '&#39;') ?? 'none'));
  assert.doesNotMatch(page.text, /<script|\son\w+=|src=/);
  assert.equal(
    page.headers.get('content-security-policy'),
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  );
  assert.deepEqual([page.headers.get('cache-control'), page.headers.get('vary')], ['no-store', 'Accept']);
});
