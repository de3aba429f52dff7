/**
 * How much each application has used of late, by which those who wait are put in order: what is long ago counts less and less.
 * Of this process, in memory (docs/decisions/0241).
 */
import { LRUCache } from 'lru-cache';
import { boundEntries } from './bounded-entries.ts';

export interface RecentUse {
  /** Adds what the application has used. */
  add(application: number, ms: number): void;
  /** What it has used, in ms of now: half of it is forgotten with each half-life. */
  of(application: number): number;
}

/** After this time a use counts half. */
const halfLifeMs = 10_000;

/** Applications that are remembered, at most. */
const applicationsMax = 10_000;

/** @param now monotonic time in ms */
export function openRecentUse(now: () => number = () => performance.now()): RecentUse {
  const uses = new LRUCache<number, { ms: number; atMs: number }>(boundEntries(applicationsMax));
  const decayed = (use: { readonly ms: number; readonly atMs: number }, nowMs: number): number =>
    use.ms * 2 ** ((use.atMs - nowMs) / halfLifeMs);
  return {
    add(application, ms) {
      const nowMs = now();
      const use = uses.get(application);
      if (use !== undefined) {
        use.ms = decayed(use, nowMs) + ms;
        use.atMs = nowMs;
        return;
      }
      uses.set(application, { ms, atMs: nowMs });
    },
    of(application) {
      const use = uses.get(application);
      return use === undefined ? 0 : decayed(use, now());
    },
  };
}
