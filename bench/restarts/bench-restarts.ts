/**
 * Workers that are restarted one after another, and workers that are killed, under a steady load: no request fails for a client that
 * sends again what HTTP allows it to, and a kill is felt by nobody but those whose connection that worker had. Linux only.
 *
 *     npm run bench -- restarts [--rate N] [--restarts N] [--kills N] [--workers N] [--log FILE]
 *
 *     --rate N      requests a second: reads, searches and creates (500)
 *     --restarts N  of all workers, by SIGHUP (5)
 *     --kills N     of one worker, by SIGKILL (10)
 *     --workers N   PRAXIS_WORKERS (2)
 *     --log FILE    what the service says (praxis-restarts.log among temporary files)
 *
 * Ends with 1 when a request was lost, when one failed at first that must not, or when a create is there twice or not at all.
 */
import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { buildGetRequest } from '../../packages/server/src/base/worst-case.ts';
import { type Caller, openCaller } from '../siege/caller.ts';
import { freePort, type Installation, startInstallation } from '../siege/installation.ts';
import { peerPortsOf } from './connections.ts';
import { type Asked, type Failure, openSteadyLoad, type SteadyLoad, type Tally } from './steady-load.ts';

interface Options {
  readonly rate: number;
  readonly restarts: number;
  readonly kills: number;
  readonly metricsPort: string;
}

/** Between two kills or restarts, in ms. */
const quietMs = 2_000;
const replacedMaxMs = 60_000;
const identifierSystem = 'https://example.com/restarts';

/** Runs it; 0 when every bound held. */
export async function benchRestarts(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rate: { type: 'string', default: '500' },
      restarts: { type: 'string', default: '5' },
      kills: { type: 'string', default: '10' },
      workers: { type: 'string', default: '2' },
      log: { type: 'string', default: path.join(tmpdir(), 'praxis-restarts.log') },
    },
  });
  const { workers } = values;
  const [rate = 0, restarts = 0, kills = 0] = [values.rate, values.restarts, values.kills].map(Number);
  const metricsPort = String(await freePort());
  const settings = { PRAXIS_RATE_LIMIT: '0', PRAXIS_WORKERS: workers, PRAXIS_METRICS_PORT: metricsPort };
  const installation = await startInstallation(settings, { log: values.log });
  const { sandbox } = installation;
  const [application] = sandbox.applications.filter(({ acl }) => acl.includes('acl/*'));
  if (application === undefined) throw new Error('the sandbox has no application with all rights');
  const caller = openCaller(sandbox, application, 'maple', 4);
  try {
    const broken = await restartAndKill({ rate, restarts, kills, metricsPort }, installation, caller);
    for (const line of broken) console.log(`BROKEN: ${line}`);
    return broken.length === 0 ? 0 : 1;
  } finally {
    caller.close();
    await installation.stop();
  }
}

async function restartAndKill(options: Options, installation: Installation, caller: Caller): Promise<string[]> {
  const creates: string[] = [];
  const load = openSteadyLoad(options.rate, await mixOf(installation, caller, creates));
  await delay(5_000); // plans and code are warm then
  await load.take();
  await delay(5_000);
  report('undisturbed', await load.take());
  for (let number = 0; number < options.restarts; number++) {
    await restart(installation, options.metricsPort);
    await delay(quietMs);
  }
  const restarted = await load.take();
  report(`${options.restarts} restarts of all workers`, restarted);
  const affected: Kill[] = [];
  for (let number = 0; number < options.kills; number++) {
    affected.push(await killOne(installation, load, options.metricsPort));
    await delay(quietMs);
  }
  const killed = await load.take();
  report(`${options.kills} kills of a worker`, killed);
  const underWay = affected.reduce((sum, kill) => sum + kill.underWay, 0);
  console.log(`  requests under way on the killed workers: ${underWay}`);
  await load.stop();
  return [
    ...[...restarted.lost, ...killed.lost].map((failure) => `lost: ${describe(failure)}`),
    ...restarted.failures.map((failure) => `failed at a restart: ${describe(failure)}`),
    ...killed.failures
      .filter((failure) => !affected.some((kill) => isOf(kill, failure)))
      .map((failure) => `failed, though it was not on a killed worker: ${describe(failure)}`),
    ...(await brokenCreates(caller, creates)),
  ];
}

/** What is asked in turn: 12 reads, 5 searches and 3 creates of 20. */
async function mixOf({ origin, sandbox }: Installation, caller: Caller, creates: string[]): Promise<() => Asked> {
  const found = await caller.send(buildGetRequest('Patient?_count=50&_elements=id'));
  const patients: string[] = JSON.parse(found.body).entry.map(
    (entry: { resource: { id: string } }) => entry.resource.id,
  );
  const token = JSON.parse((await caller.token()).body).access_token;
  const [application] = sandbox.applications.filter(({ acl }) => acl.includes('acl/*'));
  const headers = { authorization: `Bearer ${token}`, 'x-api-key': application?.client.apiKey ?? '' };
  const base = `${origin}/${sandbox.environment}/firm/${caller.firm}/${sandbox.product}/fhir/v2`;
  let number = 0;
  return () => {
    const turn = number++;
    const patient = patients[turn % patients.length];
    if (turn % 20 < 12) return { kind: 'read', method: 'GET', url: `${base}/Patient/${patient}`, headers, status: 200 };
    if (turn % 20 < 17) {
      const url = `${base}/Appointment?patient=${patient}&_count=10`;
      return { kind: 'search', method: 'GET', url, headers, status: 200 };
    }
    const value = randomUUID();
    creates.push(value);
    return {
      kind: 'create',
      method: 'POST',
      url: `${base}/Patient`,
      headers: { ...headers, 'content-type': 'application/fhir+json', 'idempotency-key': `"${value}"` },
      body: JSON.stringify({
        resourceType: 'Patient',
        identifier: [{ system: identifierSystem, value }],
        name: [{ family: 'Restart' }],
      }),
      status: 201,
    };
  };
}

/** Restarts all workers; resolves when others have taken their places and they have ended. */
async function restart(installation: Installation, metricsPort: string): Promise<void> {
  const before = installation.workers();
  process.kill(installation.pid(), 'SIGHUP');
  await untilReplaced(installation, before, before.length, metricsPort);
}

interface Kill {
  /** Ports of the connections that it had. */
  readonly ports: ReadonlySet<number>;
  readonly fromMs: number;
  readonly toMs: number;
  readonly underWay: number;
}

/** Kills one worker; resolves when another has taken its place. */
async function killOne(installation: Installation, load: SteadyLoad, metricsPort: string): Promise<Kill> {
  const before = installation.workers();
  const [worker] = before;
  if (worker === undefined) throw new Error('there is no worker');
  const fromMs = performance.now();
  const ports = await peerPortsOf(worker, Number(new URL(installation.origin).port));
  const underWay = [...load.underWay()].filter((port) => ports.has(port)).length;
  process.kill(worker, 'SIGKILL');
  await untilReplaced(installation, [worker], before.length, metricsPort);
  return { ports, underWay, fromMs, toMs: performance.now() };
}

function isOf({ ports, fromMs, toMs }: Kill, { port, sentMs, failedMs }: Failure): boolean {
  return ports.has(port) && failedMs >= fromMs && sentMs <= toMs;
}

/** Waits until `count` workers serve, none of them one that is to be gone. */
async function untilReplaced(
  installation: Installation,
  gone: readonly number[],
  count: number,
  metricsPort: string,
): Promise<void> {
  const endMs = performance.now() + replacedMaxMs;
  for (;;) {
    const now = installation.workers();
    const areThere = now.length === count && !now.some((pid) => gone.includes(pid));
    if (areThere && (await servingWorkers(metricsPort)) === count) return;
    if (performance.now() > endMs) throw new Error('a worker was not replaced');
    await delay(50);
  }
}

async function servingWorkers(metricsPort: string): Promise<number> {
  const page = await (await fetch(`http://127.0.0.1:${metricsPort}/metrics`)).text();
  return page.match(/^praxis_worker_up\{[^}]*\} 1$/gm)?.length ?? 0;
}

function report(name: string, { requests, latenciesMs, failures, lost }: Tally): void {
  const sorted = latenciesMs.toSorted((left, right) => left - right);
  const at = (share: number): string => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  const first = failures.filter(({ isFirst }) => isFirst).length;
  console.log(
    `${name}: ${requests} requests, ${first} failed at first, ${lost.length} after repetition; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms`,
  );
  const alike = Map.groupBy(failures, ({ kind, status, said }) => `${kind}: ${status} ${said}`);
  for (const [what, those] of alike) console.log(`  ${what}, ${those.length} times`);
}

function describe({ kind, status, said, isReused }: Failure): string {
  return `${kind} on a ${isReused ? 'used' : 'new'} connection: ${status} ${said}`;
}

async function brokenCreates(caller: Caller, creates: readonly string[]): Promise<string[]> {
  const broken: string[] = [];
  for (const value of creates) {
    const { status, body } = await caller.send(
      buildGetRequest(`Patient?identifier=${identifierSystem}|${value}&_summary=count`),
    );
    const found = status === 200 ? JSON.parse(body).total : `not looked up (${status})`;
    if (found !== 1) broken.push(`a create that was answered is there ${found} times`);
  }
  console.log(`creates: ${creates.length}, all looked up`);
  return broken;
}
