/**
 * Work of one thread, shared among firms in turns: applications one after another, and for each of them its firms one after
 * another. So who comes waits for what is under way, and for one piece of work of each firm that waits already, however
 * many of that firm wait (docs/decisions/0213).
 */
import { fail } from '../base/errors.ts';
import { TurnQueue } from '../base/turn-queue.ts';

/** Whose turn it is: application and firm, by number. */
export interface TurnOf {
  readonly application: number;
  readonly firm: number;
}

/** Pieces of work under way and waiting, at most. */
export interface FairQueueLimits {
  /** Of one application at one firm. */
  readonly ofFirmMax: number;
  /** Of one application at all firms. */
  readonly ofApplicationMax: number;
  /** Of all. */
  readonly allMax: number;
  /** Of what, for who is refused. */
  readonly what: string;
  /** When to come again. */
  readonly retrySeconds: number;
}

/**
 * Runs what it is given, one piece after another.
 * @returns a function that resolves as `work` does when its turn has come; @throws PraxisError `rate-exceeded` when too much
 *   of the application waits, `unavailable` when too much of all does
 */
export function openFairQueue(limits: FairQueueLimits): <T>(of: TurnOf, work: () => Promise<T>) => Promise<T> {
  const waiting = new TurnQueue<Waiting>();
  const counts = new Map<string, number>();
  let isRunning = false;

  const run = async (): Promise<void> => {
    if (isRunning) return;
    isRunning = true;
    // Nothing is awaited between finding no work and saying so: what came in between would wait for ever.
    for (let next = waiting.next(); next !== undefined; next = waiting.next()) {
      waiting.serve(next.of, next);
      await next.work();
    }
    isRunning = false;
  };

  return async (of, work) => {
    requireRoom(limits, counts, of);
    const names = namesOf(of);
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    try {
      return await new Promise((resolve, reject) => {
        waiting.add(of, { of, work: () => work().then(resolve, reject) });
        void run();
      });
    } finally {
      for (const name of names) {
        const left = (counts.get(name) ?? 1) - 1;
        if (left === 0) counts.delete(name);
        else counts.set(name, left);
      }
    }
  };
}

interface Waiting {
  readonly of: TurnOf;
  readonly work: () => Promise<void>;
}

const everything = 'all';

function namesOf({ application, firm }: TurnOf): readonly [ofFirm: string, ofApplication: string, all: string] {
  return [`${application}/${firm}`, `${application}`, everything];
}

function requireRoom(limits: FairQueueLimits, counts: ReadonlyMap<string, number>, of: TurnOf): void {
  const { ofFirmMax, ofApplicationMax, allMax, what, retrySeconds } = limits;
  const headers = { 'retry-after': String(retrySeconds) };
  const [ofFirm = 0, ofApplication = 0, all = 0] = namesOf(of).map((name) => counts.get(name) ?? 0);
  const refuse = (max: number, where: string): never =>
    fail('rate-exceeded', {
      diagnostics: `At most ${max} ${what} of an application may wait at once ${where}, and as many do: send another when one is answered`,
      headers,
      limit: 'work',
    });
  if (ofFirm >= ofFirmMax) refuse(ofFirmMax, 'at one practice');
  if (ofApplication >= ofApplicationMax) refuse(ofApplicationMax, 'at all practices together');
  if (all >= allMax)
    fail('unavailable', { diagnostics: `Too many ${what} are waiting: try again in a moment`, headers, limit: 'work' });
}
