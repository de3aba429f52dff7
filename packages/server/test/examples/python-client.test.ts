/**
 * clients/python: its wheel is built, installed in a fresh environment and used against a running service, by its own tests. They
 * ask the server below for practices, for time that passes and for networks that lose requests and answers. Without a Python that has
 * venv, or without the packages that the client needs, they are skipped.
 */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test, { after } from 'node:test';
import { entryProblem } from '../../src/admin/entry-problem.ts';
import { errorTable } from '../../src/base/errors.ts';
import { makeUuid } from '../../src/base/ids.ts';
import { commands } from '../../src/cli/commands.ts';
import { loadPractice } from '../../src/cli/sandbox/practice.ts';
import { setClientKeys } from '../../src/oauth/client-auth/client-keys.ts';
import { issueKeyedClient } from '../../src/oauth/client-auth/clients.ts';
import { oauthErrorTable } from '../../src/oauth/errors.ts';
import { toDayStart } from '../../src/synthetic/zoned-time.ts';
import { authorise } from '../../src/tenancy/authorisations.ts';
import { runCommand } from '../cli/platform.ts';
import { openScratchDirectory } from '../cli/scratch-directory.ts';
import { keySetOf, makeKeyPair, signAssertion } from '../oauth/assertions.ts';
import { keepCalendar, plainCalendar, putPlaces } from '../practice/calendars/world.ts';
import { untilTold } from '../support/follower.ts';
import {
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestApplication,
  type TestFirm,
} from '../support/service.ts';
import { type Mishap, openUnreliableProxy } from '../support/unreliable-proxy.ts';

const root = path.join(import.meta.dirname, '../../../..');
const client = path.join(root, 'clients/python');
const tests = path.join(client, 'tests');
const modules = readdirSync(tests)
  .filter((name) => /^test_\w+\.py$/.test(name))
  .map((name) => name.replace(/\.py$/, ''));
const scratch = openScratchDirectory({ after });

/** Longest time of one step, in ms: a program that hangs ends, and says so. */
const stepMsMax = 120_000;

interface Ran {
  readonly isDone: boolean;
  readonly output: string;
}

/** Runs a program to its end. */
async function run(
  command: string,
  words: readonly string[],
  more: Readonly<Record<string, string>> = {},
  cwd: string = tests,
): Promise<Ran> {
  const env = { ...process.env, PIP_DISABLE_PIP_VERSION_CHECK: '1', PYTHONDONTWRITEBYTECODE: '1', ...more };
  return await new Promise((resolve) => {
    execFile(command, words, { cwd, env, timeout: stepMsMax, maxBuffer: 16 * 1024 * 1024 }, (error, out, said) =>
      resolve({ isDone: error === null, output: `${out}${said}${error?.killed === true ? ' (took too long)' : ''}` }),
    );
  });
}

const version = spawnSync('python3', ['-c', 'import sys, venv, ensurepip; print(sys.version_info >= (3, 10))'], {
  encoding: 'utf8',
});
const noPython = version.stdout === 'True\n' ? false : 'no python3 of 3.10 or later with venv';

const bin = path.join(scratch.path, 'environment/bin');
const wheels = path.join(scratch.path, 'wheels');
const python = path.join(bin, 'python');

/** Makes an environment and downloads what the client and its build need. A reason to skip if that cannot be had. */
async function prepare(): Promise<string | false> {
  if (noPython !== false) return noPython;
  const made = await run('python3', ['-m', 'venv', path.join(scratch.path, 'environment')]);
  if (!made.isDone) return `python3 makes no environment: ${made.output.trim().split('\n').at(-1)}`;
  const got = await run(python, ['-m', 'pip', 'download', '-q', '-d', wheels, '-r', 'requirements.txt']);
  return got.isDone
    ? false
    : `the packages of clients/python/tests/requirements.txt cannot be had: ${got.output.trim().split('\n').at(-1)}`;
}
const skip = await prepare();

const service = await openTestService({ after }, { PRAXIS_RATE_LIMIT: '1250', PRAXIS_COMPLETE_LAG_MS: '10000' });
const mishaps: Mishap[] = [];
const proxy = await openUnreliableProxy({ after }, service.origin, () => mishaps.shift() ?? 'none');

interface Practice {
  readonly firm: TestFirm;
  readonly application: TestApplication;
}
const pair = await makeKeyPair('ES384', 'key-of-the-tests');
const practices = new Map<string, Practice>();

type Order = Readonly<Record<string, unknown>>;

/** What the tests in Python may ask for, each by its name. */
const orders: Readonly<Record<string, (order: Order) => Promise<unknown>>> = {
  async practice({ entries = ['acl/*'], patients = 0, hasCalendar = false, isSynthetic = false }) {
    const prefix = `practice${practices.size}`;
    const firm = await makeFirm(service, prefix);
    const application = await makeApplication(service, `Application of ${prefix}`, entries as string[], [firm]);
    practices.set(prefix, { firm, application });
    const owner = await openCaller(
      service,
      await makeApplication(service, `Owner of ${prefix}`, ['acl/*'], [firm]),
      firm,
    );
    for (let number = 0; number < Number(patients); number += 1) {
      const name = [{ family: `Stone${String(number).padStart(3, '0')}`, given: ['Ada'] }];
      const body = { resourceType: 'Patient', name, birthDate: `19${50 + (number % 50)}-12-10` };
      assert.equal((await owner.send('POST', 'Patient', body)).status, 201);
    }
    if (hasCalendar === true) {
      await putPlaces(owner, ['12'], ['3']);
      await keepCalendar(service.platform, firm, plainCalendar);
      await service.service.jobs.settle();
    }
    if (isSynthetic === true) {
      const todayMs = toDayStart(service.clock.now());
      await loadPractice(service.platform, firm, { seed: 'journey', patients: 5, todayMs });
      await service.service.jobs.settle();
    }
    return {
      name: prefix,
      base: firm.base,
      unreliable: firm.base.replace(service.origin, proxy.origin),
      client: {
        api_key: application.clientKey,
        client_id: application.clientId,
        client_secret: application.clientSecret,
      },
      legacy: { api_key: application.legacyKey, ...application.accounts.get(prefix) },
    };
  },
  async advance({ seconds }) {
    service.clock.advance(Number(seconds) * 1000);
  },
  /** What happens to the next requests to `unreliable`. */
  async mishaps({ next }) {
    mishaps.push(...(next as Mishap[]));
  },
  /** Lets an application of another practice in, too. */
  async admit({ practice, to }) {
    await authoriseAt(practiceOf(to).firm, practiceOf(practice).application, ['acl/*']);
  },
  async narrow({ practice, entries }) {
    const { firm, application } = practiceOf(practice);
    await authoriseAt(firm, application, entries as string[]);
  },
  /** A client with a key of its own in place of a secret; its id. */
  async keyed({ practice }) {
    const { application } = practiceOf(practice).application;
    const client = await issueKeyedClient(service.platform.database, application);
    await setClientKeys(service.platform.database, application, client, { jwks: keySetOf(pair) });
    return client;
  },
  async sign({ client, audience }) {
    const now = Math.floor(service.clock.now() / 1000);
    const claims = { iss: String(client), sub: String(client), aud: String(audience), jti: makeUuid(), iat: now };
    return await signAssertion(pair, { ...claims, exp: now + 60 });
  },
  async review({ practice, type }) {
    await runCommand(service.platform, commands, 'intake', 'require', practiceOf(practice).firm.prefix, String(type));
  },
  /** Waits until all that is stored can be told by $changes. */
  async settle() {
    await untilTold(service.database.owner);
  },
};

function practiceOf(name: unknown): Practice {
  return practices.get(String(name)) ?? assert.fail(`no practice ${name}`);
}

async function authoriseAt(firm: TestFirm, { application }: TestApplication, acl: readonly string[]): Promise<void> {
  await authorise(service.platform.database, service.clock, firm, application, { acl, purpose: 'Test' }, entryProblem);
}

async function obey(request: IncomingMessage): Promise<unknown> {
  const order: Order = JSON.parse(Buffer.concat(await Array.fromAsync(request)).toString());
  const name = (request.url ?? '').slice(1);
  return await (orders[name] ?? assert.fail(`no order ${name}`))(order);
}

const control = createServer((request, reply) => {
  obey(request).then(
    (result) => reply.writeHead(200).end(JSON.stringify(result ?? null)),
    (error: unknown) => reply.writeHead(500).end(String(error)),
  );
});
await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
after(() => {
  control.closeAllConnections();
  control.close();
});
const { port } = control.address() as AddressInfo;

test('praxis-client: the commands of its README build and install it in a fresh environment, without the network', {
  skip,
}, async () => {
  const [, script = ''] = /^```sh\n([\s\S]*?)^```$/m.exec(readFileSync(path.join(client, 'README.md'), 'utf8')) ?? [];
  assert.match(script, /^pip wheel .+\npip install .+\n$/);
  symlinkSync(path.join(root, 'clients'), path.join(scratch.path, 'clients'));
  const offline = { PATH: `${bin}:${process.env['PATH']}`, PIP_NO_INDEX: '1', PIP_FIND_LINKS: wheels };
  const { isDone, output } = await run('bash', ['--norc', '-euc', script], offline, scratch.path);
  assert.ok(isDone, output);
  assert.deepEqual(readdirSync(path.join(scratch.path, 'dist')), ['praxis_client-0.1.0-py3-none-any.whl']);
  assert.deepEqual(readFileSync(path.join(client, 'LICENSE')), readFileSync(path.join(root, 'LICENSE')));
});

test('praxis-client: each error of the service has a way out, and no other has', { skip }, async () => {
  const { output } = await run(python, [
    '-c',
    'import json, praxis_client._fixes as f; print(json.dumps(sorted(f.fixes)))',
  ]);
  assert.deepEqual(JSON.parse(output), [...Object.keys(errorTable), ...Object.keys(oauthErrorTable)].sort());
});

for (const name of modules) {
  test(`praxis-client: ${name}`, { skip }, async () => {
    const settings = JSON.stringify({ control: `http://127.0.0.1:${port}`, root });
    const { isDone, output } = await run(python, ['-W', 'default', '-m', 'unittest', '-v', name], {
      PRAXIS_CLIENT_TEST: settings,
    });
    assert.ok(isDone, output);
    assert.match(output, /^Ran [1-9]\d* tests? in /m);
  });
}
