/**
 * `npm run bench -- memory [--requests 200000 --first 20000 --large 300 --connections 16 --workers 2 --patients 1000]`: resident
 * memory of each worker under mixed requests, of which some create resources of up to 256 kB, and after as many creates of about
 * 4 MB as `--large` says. Ends with an error when a worker has at the end more than 1.3 times what it had after the first
 * requests, when it grows in the second half by more than a tenth of that (regression), or when it has not come back to 1.5
 * times within 5 minutes after the large bodies.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fitLine } from './regression.ts';
import type { Call } from './service/line.ts';
import { sendAll, type Workload } from './service/load.ts';
import { listWorkers, openGround, startNode } from './service/nodes.ts';
import { firmPrefix } from './service/prepare.ts';
import { inYard } from './service/processes.ts';
import { basicRows, openWorkloads } from './service/rows/rows.ts';
import { residentBytesOf } from './siege/processes.ts';

const endMax = 1.3;
const growthMax = 0.1;
const recoveredMax = 1.5;
const recoveryMaxMs = 300_000;
const pollMs = 5_000;

const kilobyte = 1_000;
const mixedMax = 256 * kilobyte;
const largeBytes = 4_000 * kilobyte;
/** One API key may have a quarter of PRAXIS_BODIES_BYTES_MAX under way; more are refused with 429. */
const largeConnections = 4;
/** Of the mixed requests, one in so many creates a resource whose size is drawn. */
const drawnEvery = 5;
/** Readings of the memory, over all mixed requests. */
const readings = 100;

interface Reading {
  readonly requests: number;
  readonly bytes: readonly number[];
}

/** Runs the bench with these arguments; returns the exit status. */
export async function benchMemory(args: readonly string[]): Promise<number> {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      requests: text('200000'),
      first: text('20000'),
      large: text('300'),
      connections: text('16'),
      workers: text('2'),
      patients: text('1000'),
    },
  });
  const [requests, first, connections] = [values.requests, values.first, values.connections].map(Number) as [
    number,
    number,
    number,
  ];
  return await inYard(async (yard) => {
    const ground = await openGround(yard, Number(values.patients));
    const node = await startNode(yard, ground, Number(values.workers));
    const all = await openWorkloads(node.origin, ground.prepared);
    const workloads = all.filter(({ name }) => basicRows.includes(name));
    const pids = listWorkers(node);
    const read = (): number[] => pids.map(residentBytesOf);
    const taken: Reading[] = [];
    const note = (done: number): void => void taken.push({ requests: done, bytes: read() });
    const mix = mixed(workloads);
    await sendAll(node, mix, { from: 0, count: first, connections });
    note(first);
    const portion = Math.ceil((requests - first) / readings);
    for (let from = first; from < requests; from += portion) {
      const count = Math.min(portion, requests - from);
      await sendAll(node, mix, { from, count, connections });
      note(from + count);
    }
    const large = creates(workloads, () => largeBytes);
    await sendAll(node, large, {
      from: 0,
      count: Number(values.large),
      connections: largeConnections,
    });
    const peak = read();
    const recoveredMs = await recover(taken[0]?.bytes ?? [], read);
    return report(taken, peak, read(), recoveredMs);
  });
}

/** Request number `index`: the basic rows of `npm run bench` in turns, and in between creates of drawn sizes. */
function mixed(workloads: readonly Workload[]): (index: number) => { readonly call: Call; readonly status: number } {
  // Small ones are more frequent than large ones: the logarithm of the size is spread evenly from 1 kB on.
  const sizeOf = (index: number): number => kilobyte * (mixedMax / kilobyte) ** (((index * 7919) % 1009) / 1008);
  const drawn = creates(workloads, sizeOf);
  return (index) => {
    const workload = workloads[index % workloads.length];
    if (index % drawnEvery === 0 || workload === undefined) return drawn(index);
    return { call: workload.call(index), status: workload.status };
  };
}

/** Creates of Communications of about that size, many elements and long strings; with the headers of other creates. */
function creates(
  workloads: readonly Workload[],
  bytesOf: (index: number) => number,
): (index: number) => { readonly call: Call; readonly status: number } {
  const create = workloads.find(({ name }) => name === 'create')?.call(0);
  return (index) => {
    const parts = Math.max(1, Math.round(bytesOf(index) / kilobyte));
    const payload = Array.from({ length: parts }, (_, part) => ({
      contentString: `${index} ${part} `.padEnd(kilobyte - 25, 'lorem ipsum '),
    }));
    const body = JSON.stringify({ resourceType: 'Communication', status: 'completed', payload });
    const path = `/sandbox/firm/${firmPrefix}/pm/fhir/v2/Communication`;
    return { call: { method: 'POST', path, headers: create?.headers ?? {}, body }, status: 201 };
  };
}

/** How long it took until each worker had at most 1.5 times what it had at `first`; undefined: it did not within 5 minutes. */
async function recover(first: readonly number[], read: () => number[]): Promise<number | undefined> {
  const beganMs = performance.now();
  const isBack = (): boolean => read().every((bytes, index) => bytes <= recoveredMax * (first[index] ?? 0));
  while (!isBack()) {
    if (performance.now() - beganMs > recoveryMaxMs) return undefined;
    await delay(pollMs);
  }
  return performance.now() - beganMs;
}

function report(
  taken: readonly Reading[],
  peak: readonly number[],
  after: readonly number[],
  recoveredMs: number | undefined,
): number {
  const [first, last] = [taken[0], taken.at(-1)];
  if (first === undefined || last === undefined) return 1;
  let isBroken = recoveredMs === undefined;
  console.log(
    `| | MB after ${first.requests} requests | after ${last.requests} | ratio (≤ ${endMax}) | growth in the second half (≤ ${growthMax}) | after large bodies | then |`,
  );
  console.log('|---|---:|---:|---:|---:|---:|---:|');
  for (const [index, bytes] of first.bytes.entries()) {
    const ratio = (last.bytes[index] ?? Number.NaN) / bytes;
    const half = taken.slice(Math.floor(taken.length / 2));
    const growth = fitLine(half.map((each) => [each.requests, each.bytes[index] ?? Number.NaN])).rise / bytes;
    isBroken ||= !(ratio <= endMax && growth <= growthMax);
    const cells = [bytes, last.bytes[index]].map(megabytes);
    const rest = [peak[index], after[index]].map(megabytes);
    console.log(`| worker ${index + 1} | ${[...cells, ratio.toFixed(2), growth.toFixed(3), ...rest].join(' | ')} |`);
  }
  console.log(
    recoveredMs === undefined
      ? '\nNot back after the large bodies within 5 minutes'
      : `\nBack to ${recoveredMax} times ${(recoveredMs / 1000).toFixed(0)} s after the large bodies`,
  );
  return isBroken ? 1 : 0;
}

function megabytes(bytes: number | undefined): string {
  return ((bytes ?? Number.NaN) / (kilobyte * kilobyte)).toFixed(0);
}
