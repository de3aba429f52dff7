/** A worker: the service in a process of its own, on connections that the supervisor accepts. */
import { Socket } from 'node:net';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { openPlatform, type Platform, type Service, startService } from '../../app.ts';
import { type Config, readConfig } from '../../base/config.ts';
import { openAccessLog, openLog } from '../../base/log.ts';
import { requireConnections } from '../../database/connection-room.ts';
import { servesOwnMachineAlone } from '../../http/pages/own-machine.ts';
import { report } from '../report.ts';
import { collectGarbage, steerHeapGrowth } from './heap-growth.ts';
import { aliveEveryMs, type FromWorker, readMessage, type ToWorker } from './messages.ts';

type Start = Extract<ToWorker, { kind: 'start' }>;

/** What the supervisor has said, as far as the worker waits for it. */
const heard = {
  start: Promise.withResolvers<Start>(),
  /** The origin of the node; empty: it ends before this worker serves. */
  serve: Promise.withResolvers<string>(),
  /** For how long connections without a request are kept. */
  leave: Promise.withResolvers<number>(),
};
const state = { runsJobs: false, service: undefined as Service | undefined };

/** Pause between two looks at the event loop, in ms: each wakes the process up. */
const loopLookMs = 100;

/** What a start has left is collected so long after it, in ms: those who wait for the start do not wait for that. */
const collectAfterMs = 3_000;

/** Below this share of its time the event loop has little to do. */
const idleBelow = 0.5;

/**
 * Does what the supervisor says, until the worker is to end or the supervisor has ended. Returns the exit status.
 * @param number its number among the workers of the node
 */
export async function serveAsWorker(number: number): Promise<number> {
  process.on('message', (message, handle) => hear(readMessage<ToWorker>(message), handle));
  // The supervisor is gone: nobody accepts connections any more.
  process.on('disconnect', () => {
    heard.start.reject(new Error('the supervisor has ended'));
    heard.serve.resolve('');
    heard.leave.resolve(0);
  });
  // A terminal and a service manager signal all processes of the service: the supervisor says what that means.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const alive = sayAlive();
  try {
    return await work(number);
  } finally {
    clearInterval(alive);
    if (process.connected) process.disconnect();
  }
}

async function work(number: number): Promise<number> {
  let platform: Platform | undefined;
  try {
    const start = await heard.start.promise;
    platform = await prepare(start, number);
    if (start.sandbox === 'seed') await seedSandbox(platform);
    say({ kind: 'prepared' });
    const origin = await heard.serve.promise;
    if (origin === '') return 0;
    const { config } = platform;
    const calls = start.sandbox === undefined ? undefined : await readFirstCalls(config, origin);
    const service = await startService(platform, {
      acceptedAt: origin,
      worker: number,
      runsJobs: () => state.runsJobs,
      ...(config.accessLog ? { accessLog: openAccessLog(config.logLevel, { worker: number }) } : {}),
      ...(calls !== undefined && servesOwnMachineAlone(config) ? { firstCalls: calls } : {}),
    });
    state.service = service;
    say({ kind: 'serving', ...(start.sandbox === 'seed' ? { sandbox: calls === undefined ? {} : { calls } } : {}) });
    await service.drain(await heard.leave.promise);
    say({ kind: 'left', metrics: await service.parts.metrics.registry.getMetricsAsJSON() });
    return 0;
  } catch (error) {
    return report(error);
  } finally {
    await platform?.close();
  }
}

async function prepare({ databasePool, connectionsNeeded, embedded }: Start, number: number): Promise<Platform> {
  const config = { ...readConfig(process.env), databasePoolMax: databasePool };
  const platform = await openPlatform({
    config,
    log: openLog(config, { worker: number }),
    ...(embedded === undefined ? {} : { connections: { ...embedded, stop: async () => undefined } }),
  });
  if (connectionsNeeded === undefined) return platform;
  try {
    await requireConnections(platform.database, connectionsNeeded);
    return platform;
  } catch (error) {
    await platform.close();
    throw error;
  }
}

/** Seeds the sandbox if there is none. */
async function seedSandbox(platform: Platform): Promise<void> {
  // Made-up practices are loaded by the worker that may have to make them, and by no other.
  const { ensureSandbox } = await import('../sandbox/ensure.ts');
  const { config, migrations } = platform;
  const expected = config.baseUrl || `http://${config.host}:${config.port}`;
  const tell = (text: string): void => void process.stderr.write(`praxis: ${text}\n`);
  if (migrations.length > 0) tell(`the schema is up to date: ${migrations.length} migrations were applied`);
  await ensureSandbox(platform, expected, (text) => tell(`seeding ${text}`));
}

/** The first calls at the sandbox; undefined where there is none, or its file was broken since: to show them is no reason to fail. */
async function readFirstCalls(config: Config, origin: string): Promise<readonly string[] | undefined> {
  const { readSandbox } = await import('../sandbox/credentials.ts');
  const { buildFirstCalls } = await import('../sandbox/first-calls.ts');
  const sandbox = await Promise.try(readSandbox, config.dataDir).catch(() => undefined);
  if (sandbox === undefined) return undefined;
  const base = config.baseUrl || origin;
  return buildFirstCalls(sandbox, {
    ofEnvironment: config.environmentOrigins.get(sandbox.environment) ?? base,
    ofRealm: config.realmOrigins.get(sandbox.realm) ?? base,
  });
}

function hear(message: ToWorker | undefined, handle: unknown): void {
  switch (message?.kind) {
    case 'start':
      return heard.start.resolve(message);
    case 'serve':
      return heard.serve.resolve(message.origin);
    case 'connection':
      return take(message.id, handle);
    case 'jobs':
      state.runsJobs = message.run;
      return;
    case 'measure':
      return void measure(message.id);
    case 'release':
      return state.service?.connections?.release(message.count);
    case 'leave':
      heard.serve.resolve('');
      return heard.leave.resolve(message.lingerMs);
    case undefined:
      return;
  }
}

/** Says that the connection is this worker's before a byte of it is read: until then it could go to another one. */
function take(id: number, handle: unknown): void {
  const connections = state.service?.connections;
  say({ kind: 'taken', id, connections: (connections?.count() ?? 0) + 1 });
  if (handle instanceof Socket) connections?.take(handle);
}

async function measure(id: number): Promise<void> {
  const metrics = await state.service?.parts.metrics.registry.getMetricsAsJSON();
  say({ kind: 'measured', id, metrics: metrics ?? [] });
}

/** Tells the supervisor again and again, from the event loop that answers requests, that it turns. */
function sayAlive(): NodeJS.Timeout {
  const delay = monitorEventLoopDelay({ resolution: loopLookMs });
  delay.enable();
  let loop = performance.eventLoopUtilization();
  let largeSlices = 0;
  let servedMs = 0;
  let isCollected = false;
  const timer = setInterval(() => {
    const before = loop;
    loop = performance.eventLoopUtilization();
    const loopUse = performance.eventLoopUtilization(loop, before).utilization;
    steerHeapGrowth(loopUse);
    if (state.service !== undefined) servedMs += aliveEveryMs;
    if (!isCollected && servedMs > collectAfterMs && loopUse < idleBelow) {
      isCollected = true;
      collectGarbage(); // of the start
    }
    const connections = state.service?.connections?.count() ?? 0;
    const loopDelaySeconds = Math.max(0, delay.max / 1e6 - loopLookMs) / 1000; // the pause between two looks is none
    delay.reset();
    const { user, system } = process.cpuUsage();
    const residentBytes = process.memoryUsage.rss();
    const largeBefore = largeSlices;
    largeSlices = state.service?.parts.slices.countLarge() ?? 0;
    const hasLargeWork = largeSlices > largeBefore;
    const hasWaiting = (state.service?.parts.places.countWaiting() ?? 0) > 0;
    const cpuMicros = user + system;
    say({ kind: 'alive', connections, residentBytes, cpuMicros, loopUse, loopDelaySeconds, hasLargeWork, hasWaiting });
  }, aliveEveryMs);
  return timer.unref();
}

function say(message: FromWorker): void {
  // Without a supervisor there is nobody to hear it; the worker ends.
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}
