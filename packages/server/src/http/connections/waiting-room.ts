/**
 * Those who wait for a place (docs/decisions/0262): by application, which are let in by turns, and within one in order of arrival.
 */

/** What becomes of who waits; `admit` or `expire` is called, once, unless it is gone by then. */
export interface Waiting {
  /** Its connection has ended. It is asked instead of telling: a listener on each response costs more than the rest of waiting. */
  readonly isGone: () => boolean;
  /** There is a place, which it has to take at once. */
  readonly admit: () => void;
  /** It has waited as long as anybody may. */
  readonly expire: () => void;
}

export interface WaitingRoom {
  isAwaitedBy(application: number): boolean;
  /**
   * Waits from now on. @returns false when the room has no more for this application: it has as many times as it leaves free
   */
  enter(application: number, waiting: Waiting): boolean;
  /** Lets in whom there is a place for. */
  admit(): void;
  /** How many wait; some of them may be gone. */
  count(): number;
  /** Ends the waiting of all; nobody is told. */
  close(): void;
}

export interface WaitingRoomOptions {
  readonly max: number;
  readonly waitMaxMs: number;
  /** How many times what it leaves free an application may have. */
  readonly timesTheFree: number;
  readonly hasPlace: (application: number) => boolean;
}

/** Between two looks at who has waited too long, or is gone. */
const lookMs = 100;

export function openWaitingRoom({ max, waitMaxMs, timesTheFree, hasPlace }: WaitingRoomOptions): WaitingRoom {
  /** In order of arrival, and the applications in order of their turns. */
  const queues = new Map<number, Map<Waiting, number>>();
  let waitingCount = 0;
  let timer: NodeJS.Timeout | undefined;

  const leave = (application: number, queue: Map<Waiting, number>, waiting: Waiting): void => {
    queue.delete(waiting);
    if (queue.size === 0) queues.delete(application);
    waitingCount -= 1;
    if (waitingCount > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const admitNext = (): boolean => {
    for (const [application, queue] of queues) {
      if (!hasPlace(application)) continue;
      for (const first of queue.keys()) {
        leave(application, queue, first);
        if (first.isGone()) continue;
        if (queues.delete(application)) queues.set(application, queue); // the last of all next time
        first.admit();
        return true;
      }
    }
    return false;
  };
  const expire = (): void => {
    const sinceMs = performance.now() - waitMaxMs;
    for (const [application, queue] of queues)
      for (const [waiting, enteredMs] of queue) {
        const isGone = waiting.isGone();
        if (!isGone && enteredMs > sinceMs) continue;
        leave(application, queue, waiting);
        if (!isGone) waiting.expire();
      }
  };
  return {
    isAwaitedBy: (application) => queues.has(application),
    enter(application, waiting) {
      const queue = queues.get(application) ?? new Map<Waiting, number>();
      if (queue.size >= timesTheFree * (max - waitingCount)) return false;
      queues.set(application, queue.set(waiting, performance.now()));
      waitingCount += 1;
      timer ??= setInterval(expire, lookMs).unref();
      return true;
    },
    admit() {
      while (waitingCount > 0 && admitNext());
    },
    count: () => waitingCount,
    close() {
      queues.clear();
      waitingCount = 0;
      clearInterval(timer);
      timer = undefined;
    },
  };
}
