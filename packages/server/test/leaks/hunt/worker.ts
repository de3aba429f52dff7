/**
 * One process of `npm run leak-hunt`: opens a pair of worlds, does the task of its argument, and sends lines of progress and
 * the result to the process that started it.
 */

import { guards } from './guards.ts';
import type { Counted, GuardResult } from './report.ts';

export type Task =
  | {
      readonly kind: 'hunt';
      readonly seed: number;
      readonly requests: number;
      /** Longest time to send them in. */
      readonly minutes: number;
      readonly path?: string;
    }
  | { readonly kind: 'guards'; readonly seed: number; readonly names: readonly string[] };

export interface Result {
  readonly counted?: Counted;
  readonly leak?: string;
  readonly found?: readonly GuardResult[];
}

const task: Task = JSON.parse(process.argv[2] ?? '');
// Before the server is loaded, and only where guards are taken out: a hunt is at the code as it is.
const unguarded = task.kind === 'guards' ? await import('./unguarded.ts') : undefined;
const { hunt, newTally } = await import('./hunt.ts');
const { leakText } = await import('./report.ts');
const { openWorlds } = await import('./worlds.ts');

const msPerMinute = 60_000;
/** Requests within which a missing guard is found. */
const guardRequests = 4_000;

const endings: (() => Promise<void>)[] = [];
try {
  const worlds = await openWorlds({ after: (work) => void endings.push(work) });
  process.send?.(task.kind === 'hunt' ? await huntFor(worlds, task) : { found: await takeOut(worlds, task) });
} finally {
  for (const end of endings.toReversed()) await end();
}
process.disconnect();

async function huntFor(
  worlds: Awaited<ReturnType<typeof openWorlds>>,
  { seed, requests, minutes, path }: Extract<Task, { kind: 'hunt' }>,
): Promise<Result> {
  const tally = newTally();
  const leak = await hunt(worlds, tally, {
    seed,
    requests,
    endsAt: performance.now() + minutes * msPerMinute,
    ...(path === undefined ? {} : { path }),
    progress: ({ requests: sent }) => void process.send?.(`${sent} requests`),
  });
  const { ways, callers, plots, statuses, entitled, ...rest } = tally;
  const counted: Counted = {
    ...rest,
    ways: Object.fromEntries(ways),
    callers: Object.fromEntries(callers),
    plots: Object.fromEntries(plots),
    statuses: Object.fromEntries(statuses),
    entitled: Object.fromEntries(entitled),
  };
  return { counted, ...(leak === undefined ? {} : { leak: leakText(leak) }) };
}

/** Takes the guards out in turn. */
async function takeOut(
  worlds: Awaited<ReturnType<typeof openWorlds>>,
  { seed, names }: Extract<Task, { kind: 'guards' }>,
): Promise<readonly GuardResult[]> {
  const found: GuardResult[] = [];
  for (const { name, at, by, ways, plantsAnew } of guards) {
    if (!names.includes(name)) continue;
    if (plantsAnew) worlds.spoilAll();
    unguarded?.switchOff(name);
    const tally = newTally();
    const leak = await hunt(worlds, tally, { seed, requests: guardRequests, kinds: at, by, ways, quick: true });
    found.push({ name, found: leak === undefined ? undefined : tally.requests });
    process.send?.(
      `without "${name}": ${leak === undefined ? 'nothing found' : `found after ${tally.requests} requests`}`,
    );
  }
  return found;
}
