/**
 * What happens while changes are told: nodes, workers and the database are killed when so many changes were made, rights are changed,
 * and endpoints fail for random stretches. All of it follows from the seed, as far as the moments do not matter.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { entryProblem } from '../../../packages/server/src/admin/entry-problem.ts';
import { PraxisError } from '../../../packages/server/src/base/errors.ts';
import { openRandom, type Random } from '../../../packages/server/src/synthetic/random.ts';
import { authorise, suspendAuthorisation } from '../../../packages/server/src/tenancy/authorisations.ts';
import { postmasterPid } from '../../../packages/server/test/support/embedded.ts';
import { childrenOf, isRunning } from '../../siege/processes.ts';
import type { ProofApplication } from './client.ts';
import { type Endpoint, failings } from './endpoints.ts';
import { type Ground, termsOf } from './ground.ts';
import type { RightsJournal, RightsKind } from './rights.ts';

/** An application whose rights change. */
export interface Judged {
  readonly application: ProofApplication;
  readonly kind: RightsKind;
  readonly journal: RightsJournal;
}

export interface StrikeOptions {
  readonly seed: string;
  readonly faults: number;
  readonly rightsChanges: number;
  readonly changes: number;
  /** Changes that were made so far. */
  readonly count: () => number;
}

/** By name of what was done: how often. */
export type Counts = Map<string, number>;

type Fault = 'kill a node' | 'kill a worker' | 'crash the database' | 'kill the database';

/** Every fourth is of the database, which costs all others their connections. */
const faults: readonly Fault[] = [
  'kill a node',
  'kill a worker',
  'kill a node',
  'crash the database',
  'kill a worker',
  'kill a node',
  'kill a worker',
  'kill the database',
];

const lookMs = 10;
/** A stretch in which an endpoint fails, and one in which it does not, in ms. */
const failingMs = { min: 200, max: 4_000 };
const soundMs = { min: 300, max: 4_000 };
/** What was killed is back by then, in ms. */
const backMaxMs = 60_000;

/** Strikes all faults, evenly over the changes with some chance; resolves when what was struck is back. */
export async function strikeFaults(ground: Ground, options: StrikeOptions, counts: Counts): Promise<void> {
  const { seed, faults: wanted, changes, count } = options;
  const random = openRandom(seed, 'faults');
  const underWay = new Set<Promise<void>>();
  for (let number = 0; number < wanted; number += 1) {
    const fault = number < faults.length ? faults[(number * 5) % faults.length] : random.pick(faults);
    await untilCount(count, ((number + random.next()) / wanted) * changes);
    if (fault === undefined) continue;
    counts.set(fault, (counts.get(fault) ?? 0) + 1);
    const struck: Promise<void> = strike(ground, fault, random).finally(() => underWay.delete(struck));
    underWay.add(struck);
    // Both nodes may be away at once, now and then; more than that would be a service that is not there.
    if (underWay.size >= ground.nodes.length) await Promise.race(underWay);
  }
  await Promise.all(underWay);
}

async function strike(ground: Ground, fault: Fault, random: Random): Promise<void> {
  if (fault === 'kill a node') {
    const [node] = random.sample(
      ground.nodes.filter((each) => each.isUp()),
      1,
    );
    return await node?.killAndStart(random.integer(0, 800));
  }
  if (fault === 'kill a worker') {
    const [worker] = random.sample(listWorkers(), 1);
    if (worker !== undefined) signal(worker);
    return;
  }
  const postmaster = postmasterPid(ground.dataDir) ?? 0;
  if (fault === 'kill the database') {
    signal(postmaster);
    for (const endMs = performance.now() + backMaxMs; performance.now() < endMs; await delay(lookMs * 5)) {
      const found = postmasterPid(ground.dataDir);
      if (found !== undefined && found !== postmaster && isRunning(found)) return;
    }
    throw new Error('the database did not come back');
  }
  // One of its processes ends by kill -9: PostgreSQL ends all others and recovers from its log.
  const backends = childrenOf(postmaster).filter(({ command }) => command.includes('praxis'));
  const [backend] = random.sample(backends, 1);
  if (backend !== undefined) signal(backend.pid);
}

/** Processes of the nodes that answer requests: of those that this process has started. */
function listWorkers(): readonly number[] {
  return childrenOf(process.pid)
    .flatMap(({ pid }) => childrenOf(pid))
    .filter(({ command }) => command.includes('serving/worker'))
    .map(({ pid }) => pid);
}

function signal(pid: number): void {
  if (pid <= 0) return;
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
}

/** Changes rights, evenly over the changes with some chance; at the end all applications have rights. */
export async function changeRights(
  ground: Ground,
  judged: readonly Judged[],
  options: StrikeOptions,
  counts: Counts,
): Promise<void> {
  const { seed, rightsChanges, changes, count } = options;
  const random = openRandom(seed, 'rights');
  for (let number = 0; number < rightsChanges; number += 1) {
    await untilCount(count, ((number + random.next()) / rightsChanges) * changes * 0.95);
    const each = random.pick(judged);
    const { kind, journal } = each;
    const isSuspended = journal.current === undefined;
    const rights =
      isSuspended || journal.current === kind.narrow ? kind.wide : random.chance(0.25) ? undefined : kind.narrow;
    const name = rights === undefined ? 'suspended' : rights === kind.wide ? 'widened' : 'narrowed';
    counts.set(name, (counts.get(name) ?? 0) + 1);
    await setRights(ground, each, rights);
  }
  for (const each of judged) if (each.journal.current === undefined) await setRights(ground, each, each.kind.wide);
}

async function setRights(
  { platform, firm }: Ground,
  { application: { application }, journal }: Judged,
  rights: Judged['journal']['current'],
): Promise<void> {
  const { database, clock } = platform;
  await journal.change(rights, async () => {
    for (const sinceMs = performance.now(); ; await delay(100)) {
      try {
        if (rights === undefined) await suspendAuthorisation(database, firm, application);
        else await authorise(database, clock, firm, application, termsOf(rights), entryProblem);
        return;
      } catch (error) {
        // The answer of a commit may be lost: then a second suspension finds none that is active.
        if (rights === undefined && isNotFound(error)) return;
        if (isRefused(error) || performance.now() - sinceMs > backMaxMs) throw error;
      }
    }
  });
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'resource-not-found';
}

/** Whether it is no matter of a database that is away. */
function isRefused(error: unknown): boolean {
  return error instanceof PraxisError && error.status < 500;
}

/** Lets an endpoint fail and recover by turns until it is told to stop; then it does not fail any more. */
export async function failByTurns(
  endpoint: Endpoint,
  at: number,
  seed: string,
  isOver: () => boolean,
  counts: Counts,
): Promise<void> {
  const random = openRandom(seed, 'endpoint', at);
  while (!isOver()) {
    await pause(random.integer(soundMs.min, soundMs.max), isOver);
    if (isOver()) break;
    const how = random.pick(failings);
    counts.set(how, (counts.get(how) ?? 0) + 1);
    await endpoint.fail(how);
    await pause(random.integer(failingMs.min, failingMs.max), isOver);
    await endpoint.fail(undefined);
  }
  await endpoint.fail(undefined);
}

async function pause(ms: number, isOver: () => boolean): Promise<void> {
  for (const endMs = performance.now() + ms; performance.now() < endMs && !isOver(); ) await delay(lookMs * 5);
}

async function untilCount(count: () => number, wanted: number): Promise<void> {
  while (count() < wanted) await delay(lookMs);
}
