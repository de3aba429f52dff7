/**
 * The only source of the current time. Everything that needs "now" takes a `Clock`, so tests can fix it.
 */

/** Milliseconds since 1970-01-01T00:00:00Z. */
export interface Clock {
  now(): number;
}

/** The machine's clock. */
export const systemClock: Clock = { now: () => Date.now() };

/** A clock that stands at `startMs` until `advance` moves it; for tests and deterministic data. */
export function makeFixedClock(startMs: number): Clock & { advance(ms: number): void } {
  let nowMs = startMs;
  return {
    now: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
}

/** The moment that was written last: what is done in the same millisecond has the same one. */
let last = { ms: 0, text: '1970-01-01T00:00:00.000Z' };

/** The FHIR `instant` of `ms` in UTC with milliseconds, e.g. `2026-11-21T09:30:00.000Z`. */
export function toInstant(ms: number): string {
  if (ms !== last.ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
