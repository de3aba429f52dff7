/**
 * The event loop, shared in slices. Work that may be long asks for its next slice; one is given per turn of the loop,
 * so that requests that are cheap are answered between any two. Applications come one after another, and the firms of
 * each.
 */
import { performance } from 'node:perf_hooks';
import { setImmediate } from 'node:timers';
import { setTimeout as delay } from 'node:timers/promises';
import { openFairQueue, type TurnOf } from './fair-queue.ts';

export interface Slices {
  /**
   * Resolves when it is the turn of `of`, in a turn of the event loop in which no other slice begins. Of the work of one application
   * at one firm, the oldest comes first; work without an age begins now.
   */
  next(of: TurnOf, age?: WorkAge): Promise<void>;
  /**
   * As `next`, for work that has taken many slices: while others have requests under way, the event loop has time for everything
   * else before each of them, four times as long as it was busy since the last one began, up to `restMaxMs`.
   */
  nextOfLong(of: TurnOf, age: WorkAge): Promise<void>;
  /** Resolves as `work` does, which takes many slices and much memory: no other such work is under way meanwhile. */
  alone<T>(of: TurnOf, work: () => Promise<T>): Promise<T>;
  /** How many slices have begun so far of work that is large: it takes more than `slicesOfLong`, or is alone. */
  countLarge(): number;
}

/** In ms of `performance.now()`. */
export interface WorkAge {
  /** When the work began; 0: before all others, since only its end is left. */
  readonly sinceMs: number;
  /** When its time is over: it comes before all others then, to be ended. */
  readonly untilMs: number;
  /** Slices that it has taken; infinitely many for the body of a large request. */
  readonly slices: number;
}

/** Waiting work has been admitted already, so none is refused. */
const unlimited = {
  ofFirmMax: Number.POSITIVE_INFINITY,
  ofApplicationMax: Number.POSITIVE_INFINITY,
  allMax: Number.POSITIVE_INFINITY,
  what: 'slices',
  retrySeconds: 1,
};

/** Work that takes more of them is large: it holds the event loop for more than a tenth of a second. */
const slicesOfLong = 24;

/** Long work makes progress however busy the event loop is with other work. */
const restMaxMs = 200;

/** Rests below the resolution of timers are none. */
const restMinMs = 1;

/**
 * The slices of one event loop.
 * @param hasOthers whether requests are under way beside those whose long work waits for a slice, which then rests
 */
export function openSlices(hasOthers: (waiting: readonly TurnOf[]) => boolean = () => true): Slices {
  const inTurn = openFairQueue(unlimited);
  const line = openOldestFirst();
  const next: Slices['next'] = (of, age = beginNow()) => {
    const begun = line.wait(of, age);
    void inTurn(of, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      line.begin(of);
    });
    return begun;
  };
  const longInTurn = openFairQueue(unlimited);
  let largeBegun = 0;
  const rest = openRest();
  const longLine = openOldestFirst();
  const nextOfLong: Slices['nextOfLong'] = (of, age) => {
    const begun = longLine.wait(of, age);
    void longInTurn(of, async () => {
      await rest(hasOthers(longLine.listWaiting()));
      await next(of);
      if (age.slices > slicesOfLong) largeBegun += 1;
      longLine.begin(of);
    });
    return begun;
  };
  const alone = openFairQueue(unlimited);
  return {
    next,
    nextOfLong,
    alone: (of, work) =>
      alone(of, async () => {
        await next(of);
        largeBegun += 1;
        return await work();
      }),
    countLarge: () => largeBegun,
  };
}

function beginNow(): WorkAge {
  return { sinceMs: performance.now(), untilMs: Number.POSITIVE_INFINITY, slices: 0 };
}

/**
 * Pieces of work that wait, by application and firm: of each, the oldest begins first. What is done one after another ends sooner and
 * holds less memory than what is done all at once.
 */
function openOldestFirst() {
  const lines = new Map<string, (WorkAge & { readonly of: TurnOf; readonly begin: () => void })[]>();
  const nameLine = ({ application, firm }: TurnOf): string => `${application}/${firm}`;
  return {
    listWaiting: (): readonly TurnOf[] => [...lines.values()].flatMap((line) => line.map(({ of }) => of)),
    wait(of: TurnOf, age: WorkAge): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const line = lines.get(nameLine(of)) ?? [];
      lines.set(nameLine(of), line);
      line.push({ ...age, of, begin: resolve });
      return promise;
    },
    begin(of: TurnOf): void {
      const line = lines.get(nameLine(of)) ?? [];
      const nowMs = performance.now();
      line.sort((left, right) => left.sinceMs - right.sinceMs);
      const over = line.findIndex(({ untilMs }) => untilMs <= nowMs);
      line.splice(Math.max(0, over), 1)[0]?.begin();
      if (line.length === 0) lines.delete(nameLine(of));
    },
  };
}

/** @returns a function that resolves, at once or after a rest in proportion to how long the event loop was busy since the last one */
function openRest(): (isNeeded: boolean) => Promise<void> {
  let beganMs = performance.now();
  let began = performance.eventLoopUtilization();
  return async (isNeeded) => {
    const { active } = performance.eventLoopUtilization(began);
    const restMs = Math.min(restMaxMs, 4 * active - (performance.now() - beganMs));
    if (isNeeded && restMs >= restMinMs) await delay(restMs);
    beganMs = performance.now();
    began = performance.eventLoopUtilization();
  };
}
