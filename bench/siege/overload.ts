/**
 * Three times as much as the service can do: what it gets done then, beside what it gets done at its best. Ordinary requests of
 * several applications at several practices; nobody attacks.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { SandboxApplication, SandboxFile } from '../../packages/server/src/cli/sandbox/credentials.ts';
import { openCaller } from './caller.ts';
import type { Installation } from './installation.ts';
import type { Offer, Offered } from './offering.ts';
import { learnPractice } from './victim.ts';

/** What it gets done at three times its peak ÷ its peak. */
const goodputRatioMin = 0.9;
const timesPeak = 3;

/** Connections of the closed loops, one after another: the best of them finds the peak. */
const steps = [16, 32, 64, 128] as const;
const stepSeconds = 10;
/** Peak and overload are measured in turns: one run of either is partly luck, and the service becomes faster meanwhile. */
const rounds = 4;
const peakSeconds = 10;
const overloadSeconds = 15;
/** Clients that wait for an answer at once, beyond saturation, of all applications. */
const overloadConnections = 3_000;

const program = fileURLToPath(new URL('offering.ts', import.meta.url));

/** Settings of an installation that is offered more than it can do, all of it from one address. */
export const overloadSettings = { PRAXIS_RATE_LIMIT: '0', PRAXIS_CONNECTIONS_PER_ADDRESS: '0' } as const;

/** @returns the bounds that are broken, in words */
export async function overload({ origin, sandbox }: Installation): Promise<readonly string[]> {
  const applications = await ordinaryRequests(sandbox);
  const child = fork(program);
  const port = Number(new URL(origin).port);
  try {
    await offered(child, { port, applications, connections: 16, rate: 0, seconds: 5 }); // until everything is compiled
    let best = { connections: 0, rate: 0 };
    for (const connections of steps) {
      const rate = await measureClosedLoop(child, { port, applications, connections, seconds: stepSeconds });
      if (rate > best.rate) best = { connections, rate };
    }
    const atPeak = { port, applications, connections: best.connections, seconds: peakSeconds };
    const over = { port, applications, connections: overloadConnections, rate: best.rate * timesPeak };
    const peaks = [await measureClosedLoop(child, atPeak)];
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const done = await offered(child, { ...over, seconds: overloadSeconds });
      report(`offered ${Math.round(over.rate)}/s`, done, overloadSeconds);
      peaks.push(await measureClosedLoop(child, atPeak));
      ratios.push(done.good / overloadSeconds / computeMean(peaks.slice(-2)));
    }
    const ratio = computeMean(ratios);
    console.log(
      `goodput at ${timesPeak} times the peak of ${Math.round(computeMean(peaks))}/s: ${ratio.toFixed(3)} of it (${ratios.map((each) => each.toFixed(2)).join(', ')})`,
    );
    return ratio < goodputRatioMin ? [`goodput under overload is ${ratio.toFixed(3)} of the peak`] : [];
  } finally {
    child.kill('SIGKILL');
  }
}

function computeMean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** @returns good answers a second */
async function measureClosedLoop(child: ChildProcess, loop: Omit<Offer, 'rate'>): Promise<number> {
  const done = await offered(child, { ...loop, rate: 0 });
  report(`closed loop of ${loop.connections}`, done, loop.seconds);
  return done.good / loop.seconds;
}

function report(name: string, { due, good, statuses, p50Ms, p99Ms, cpu }: Offered, seconds: number): void {
  const told = Object.entries(statuses).map(([status, count]) => `${status} ×${count}`);
  console.log(
    `${name}: ${Math.round(good / seconds)} good answers a second of ${Math.round(due / seconds)} due, p50 ${Math.round(p50Ms)} ms, p99 ${Math.round(p99Ms)} ms, sender ${cpu.toFixed(2)} cores; ${told.join(', ')}`,
  );
}

function offered(child: ChildProcess, offer: Offer): Promise<Offered> {
  return new Promise((resolve, reject) => {
    const failed = (status: number | null): void =>
      reject(new Error(`the process that offers load ended with ${status}`));
    child.once('exit', failed);
    child.once('message', (message) => {
      child.off('exit', failed);
      resolve(message as Offered);
    });
    child.send(offer);
  });
}

/** By application, what it asks at its practices in turn: mostly reads and searches, and some creates. */
async function ordinaryRequests(sandbox: SandboxFile): Promise<readonly (readonly string[])[]> {
  const applications = sandbox.applications.filter(({ acl }) => acl.includes('acl/*'));
  return await Promise.all(
    applications.map(async (application) => {
      const each = await Promise.all(application.firms.map((firm) => requestsOf(sandbox, application, firm)));
      const longest = Math.max(...each.map(({ length }) => length));
      return Array.from({ length: longest }, (_, at) => each.flatMap((texts) => texts[at] ?? [])).flat();
    }),
  );
}

async function requestsOf(sandbox: SandboxFile, application: SandboxApplication, firm: string): Promise<string[]> {
  const caller = openCaller(sandbox, application, firm, 2);
  const { patients } = await learnPractice(caller);
  const { status, body: answer } = await caller.token();
  caller.close();
  if (status !== 200) throw new Error(`no token: ${status} ${answer}`);
  const base = `/${sandbox.environment}/firm/${firm}/${sandbox.product}/fhir/v2`;
  const head = (method: string, path: string): string =>
    `${method} ${base}/${path} HTTP/1.1\r\nhost: ${new URL(sandbox.origin).host}\r\nauthorization: Bearer ${JSON.parse(answer).access_token}\r\nx-api-key: ${application.client.apiKey}\r\n`;
  const get = (path: string): string => `${head('GET', path)}\r\n`;
  const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Overload' }] });
  const create = `${head('POST', 'Patient')}content-type: application/fhir+json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  return patients
    .slice(0, 10)
    .flatMap((id, at) => [
      get(`Patient/${id}`),
      get(`Appointment?patient=${id}&_count=10`),
      get(`Patient/${id}`),
      at % 2 === 0 ? get('Patient?family=s&_count=10') : create,
    ]);
}
