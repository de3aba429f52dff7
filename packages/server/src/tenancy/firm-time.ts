/**
 * The time of a firm: that of the service, and an offset of the firm, which is 0 for all of them today. What is stored with a
 * resource, and what callers are told, is firm time; what all firms have together is service time.
 */
import type { Clock } from '../base/clock.ts';
import type { TenantScope } from './scope.ts';

/** The clock of the firm. */
export function makeFirmClock(scope: TenantScope, clock: Clock): Clock {
  return offsetMsOf(scope) === 0 ? clock : { now: () => toFirmTime(scope, clock.now()) };
}

/** Service time as the firm's, in milliseconds since 1970-01-01T00:00:00Z. */
export function toFirmTime(scope: TenantScope, serviceMs: number): number {
  return serviceMs + offsetMsOf(scope);
}

/** Firm time as the service's. */
export function toServiceTime(scope: TenantScope, firmMs: number): number {
  return firmMs - offsetMsOf(scope);
}

/** How far the firm's time is ahead of the service's. */
function offsetMsOf(_scope: TenantScope): number {
  return 0;
}
