/**
 * Who still uses the legacy flow: uses counted in memory by firm, application, program and day, and stored in batches off
 * the way of requests. A batch is stored once, also when its answer was lost and it is sent again; a process that is killed
 * loses at most one interval.
 */
import type { Clock } from '../../base/clock.ts';
import { PraxisError } from '../../base/errors.ts';
import { makeUuid } from '../../base/ids.ts';
import type { Log } from '../../base/log.ts';
import type { Database } from '../../database/database.ts';
import { parseUserAgent } from './agent.ts';
import { type LegacyUseBatch, type LegacyUseCount, storeLegacyUse } from './use-store.ts';

export interface LegacyUseEvent {
  readonly firm: number;
  readonly application: number;
  /** A call with a legacy token, a token answer of the legacy endpoint, or one of both that a brown-out or the end refused. */
  readonly kind: 'call' | 'token' | 'refused';
  readonly userAgent: string | undefined;
}

export type OnLegacyUse = (use: LegacyUseEvent) => void;

export interface LegacyUseCounter {
  readonly count: OnLegacyUse;
  /** Stores what was counted. Never rejects: what the database could not take now is kept for the next time. */
  flush(): Promise<void>;
  /** Stops the timer and flushes. */
  close(): Promise<void>;
}

/** Time between flushes, in ms. */
export const flushIntervalMs = 10_000;
/** Counters of one batch; a use that would need one more is not counted, and the log says so. */
const countersMax = 50_000;

const counterOf = { call: 'calls', token: 'tokens', refused: 'refused' } as const;

/** The counter of one process. */
export function openLegacyUse(options: {
  readonly database: Database;
  readonly clock: Clock;
  readonly log: Log;
}): LegacyUseCounter {
  const { database, clock, log } = options;
  let counts = new Map<string, LegacyUseCount>();
  const writer = makeUuid();
  let sequence = 0;
  let unsure: LegacyUseBatch | undefined;
  let flushing: Promise<void> = Promise.resolve();
  let lost = 0;

  const count: OnLegacyUse = ({ firm, application, kind, userAgent }) => {
    const nowMs = clock.now();
    const [agent, day] = [parseUserAgent(userAgent), new Date(nowMs).toISOString().slice(0, 10)];
    const name = `${firm} ${application} ${day} ${agent}`;
    let counter = counts.get(name);
    if (!counter) {
      if (counts.size >= countersMax) {
        lost += 1;
        return;
      }
      counter = { firm, application, agent, day, calls: 0, tokens: 0, refused: 0, lastUsedAtMs: nowMs };
      counts.set(name, counter);
    }
    counter[counterOf[kind]] += 1;
    counter.lastUsedAtMs = nowMs;
  };

  /** A batch whose fate is unknown goes first and under its old number: the table of writers tells whether it arrived. */
  const storeAll = async (): Promise<void> => {
    while (unsure !== undefined || counts.size > 0) {
      if (unsure === undefined) {
        sequence += 1;
        unsure = { writer, sequence, counts: [...counts.values()] };
        counts = new Map();
      }
      await storeLegacyUse(database, unsure, clock.now());
      unsure = undefined;
    }
  };

  const flush = (): Promise<void> => {
    flushing = flushing.then(storeAll).catch((error: unknown) => {
      const code = error instanceof PraxisError ? error.code : 'internal';
      if (code === 'internal') unsure = undefined; // it would fail again, and hold up what comes after it
      log.error({ code, isKept: unsure !== undefined }, 'legacy uses could not be stored');
    });
    return flushing.then(() => {
      if (lost > 0) log.warn({ lost }, 'legacy uses were not counted: too many counters');
      lost = 0;
    });
  };

  const timer = setInterval(() => void flush(), flushIntervalMs);
  timer.unref();
  return {
    count,
    flush,
    async close() {
      clearInterval(timer);
      await flush();
    },
  };
}
