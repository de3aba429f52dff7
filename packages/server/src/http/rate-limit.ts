/**
 * Requests per minute and API key, in windows that start with the key's first request.
 */
import type { Clock } from '../base/clock.ts';
import { fail } from '../base/errors.ts';

const windowMs = 60_000;
/** Keys remembered at once; beyond it the oldest windows are forgotten. */
const keysMax = 100_000;

export interface RateLimit {
  /** Counts one request of the key. @throws PraxisError `rate-exceeded` with Retry-After (RFC 9110 §10.2.3) */
  count(apiKeyId: number): void;
}

/** A limit of `requestsMax` per window and key; 0 = none. */
export function openRateLimit(requestsMax: number, clock: Clock): RateLimit {
  const windows = new Map<number, { startMs: number; requests: number }>();
  if (requestsMax === 0) return { count: () => undefined };
  return {
    count(apiKeyId) {
      const nowMs = clock.now();
      let window = windows.get(apiKeyId);
      if (!window || nowMs - window.startMs >= windowMs) {
        window = { startMs: nowMs, requests: 0 };
        windows.delete(apiKeyId);
        windows.set(apiKeyId, window);
        if (windows.size > keysMax) forgetOldest(windows);
      }
      window.requests += 1;
      if (window.requests > requestsMax) refuse(requestsMax, window.startMs + windowMs - nowMs);
    },
  };
}

function forgetOldest(windows: Map<number, unknown>): void {
  const oldest = windows.keys().next();
  if (!oldest.done) windows.delete(oldest.value);
}

function refuse(requestsMax: number, remainingMs: number): never {
  const seconds = Math.max(1, Math.ceil(remainingMs / 1000));
  fail('rate-exceeded', {
    diagnostics: `More than ${requestsMax} requests in this minute with this API key: wait ${seconds} s`,
    headers: { 'retry-after': String(seconds) },
  });
}
