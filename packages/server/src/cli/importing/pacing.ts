/**
 * How an import leaves the machine to requests: its transactions stay short, and when they take longer than they did, since others
 * work too, it rests between them. What it knows of others is the time that its own transactions take.
 */

export interface Pacing {
  /** Lines of a chunk, at most. */
  linesMax(): number;
  /** Takes note of a transaction; returns how long to rest after it, in ms. */
  note(ms: number, resources: number): number;
}

const linesMin = 50;
const linesLimit = 1_000;
/** A transaction is to take less, in ms: nobody waits for its locks or its place in the change feed for longer. */
const transactionMs = 200;
/** Transactions whose fastest quarter says what the machine can do when it is left alone. */
const remembered = 200;
/** Fewer resources tell little about the time of one. */
const tellingResources = 20;
/** Slower than that by this much, others are at work. */
const slowedBy = 2;
/** Longest rest, in ms. */
const restMaxMs = 500;

export function openPacing(): Pacing {
  let lines = 500;
  const times: number[] = [];
  return {
    linesMax: () => lines,
    note(ms, resources) {
      if (resources < tellingResources) return 0;
      if (ms > transactionMs) lines = Math.max(linesMin, Math.floor(lines * Math.max(0.5, transactionMs / ms)));
      else if (ms < transactionMs / 2) lines = Math.min(linesLimit, lines + linesMin);
      const each = ms / resources;
      times.push(each);
      if (times.length > remembered) times.shift();
      const usual = times.toSorted((left, right) => left - right)[Math.floor(times.length / 4)] ?? each;
      const slowed = each / usual;
      // At twice that time it begins to rest; at three times it rests as long as it works.
      return Math.min(restMaxMs, Math.max(0, slowed - slowedBy) * ms);
    },
  };
}
