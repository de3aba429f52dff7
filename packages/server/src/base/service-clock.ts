/**
 * The time of the service: the database's clock, carried on between two readings by this machine's monotonic clock
 * (docs/decisions/0245). The wall clock of the machine decides nothing, so a node whose wall clock is wrong does no harm; a clock
 * of the database that jumps is believed only once it has stayed there for a while.
 */
import { type Clock, systemClock } from './clock.ts';

/** The database's clock, read once. */
export interface ClockReading {
  /** What it showed, in milliseconds since 1970-01-01T00:00:00Z. */
  readonly databaseMs: number;
  /** When the reading was asked for and when it came, by the monotonic clock. */
  readonly askedAtMs: number;
  readonly cameAtMs: number;
}

export interface ClockState {
  /** How far the wall clock of this machine is ahead of the service's time, in milliseconds; negative: behind. */
  readonly wallAheadMs: number;
  /** The same of the database's clock, as it was last read; 0 where both agree within the error of a reading. */
  readonly databaseAheadMs: number;
  /** Whether the database's clock and the monotonic one have agreed for as long as a jump must last to be believed. */
  readonly isSteady: boolean;
}

export interface ServiceClock extends Clock {
  /** Takes in a reading; readings that took too long to come are ignored. */
  learn(reading: ClockReading): void;
  state(): ClockState;
}

export interface ServiceClockOptions {
  /** This machine's clock; default: systemClock. */
  readonly wall?: Clock;
  /** Milliseconds that only ever grow; default: performance.now. */
  readonly monotonic?: () => number;
}

/** A reading that took longer to come says too little. */
export const readingMaxMs = 1_000;

/** Readings that differ from the time as it is carried on by no more than this, and the error of the reading, agree with it. */
export const agreeMaxMs = 2_000;

/** How long a clock of the database that has jumped has to stay there until it is believed. */
export const believedAfterMs = 30_000;

/** Part of the time passed by which the service's time is moved towards the database's, where they agree. */
const slewRate = 0.1;

/** The clock of a node. Until the first reading it shows the wall clock; from then on it goes back only to follow the database. */
export function openServiceClock({
  wall = systemClock,
  monotonic = () => performance.now(),
}: ServiceClockOptions = {}): ServiceClock {
  let anchor: { readonly serviceMs: number; readonly atMs: number } | undefined;
  let agreedSinceMs = Number.POSITIVE_INFINITY;
  let disputed: { readonly databaseMs: number; readonly atMs: number } | undefined;
  let databaseAheadMs = 0;
  let latestMs = 0;
  const timeAt = (atMs: number): number =>
    anchor === undefined ? wall.now() : anchor.serviceMs + (atMs - anchor.atMs);
  const now = (): number => {
    latestMs = Math.max(latestMs, Math.floor(timeAt(monotonic())));
    return latestMs;
  };
  const adopt = (databaseMs: number, atMs: number): void => {
    anchor = { serviceMs: databaseMs, atMs };
    agreedSinceMs = atMs;
    disputed = undefined;
    databaseAheadMs = 0;
    latestMs = 0;
  };
  return {
    now,
    learn({ databaseMs, askedAtMs, cameAtMs }) {
      const atMs = (askedAtMs + cameAtMs) / 2;
      if (anchor === undefined) return adopt(databaseMs, atMs);
      if (cameAtMs - askedAtMs > readingMaxMs) return;
      const aheadMs = databaseMs - timeAt(atMs);
      const errorMs = (cameAtMs - askedAtMs) / 2;
      if (Math.abs(aheadMs) <= agreeMaxMs + errorMs) {
        const slewMaxMs = (atMs - anchor.atMs) * slewRate;
        anchor = { serviceMs: timeAt(atMs) + Math.max(-slewMaxMs, Math.min(slewMaxMs, aheadMs)), atMs };
        if (disputed !== undefined) agreedSinceMs = atMs;
        disputed = undefined;
        databaseAheadMs = 0;
        return;
      }
      databaseAheadMs = aheadMs;
      const carriedMs = disputed === undefined ? Number.NaN : disputed.databaseMs + (atMs - disputed.atMs);
      if (disputed === undefined || Math.abs(databaseMs - carriedMs) > agreeMaxMs + errorMs)
        disputed = { databaseMs, atMs };
      else if (atMs - disputed.atMs >= believedAfterMs) adopt(databaseMs, atMs);
    },
    state: () => ({
      wallAheadMs: wall.now() - now(),
      databaseAheadMs,
      isSteady: disputed === undefined && monotonic() - agreedSinceMs >= believedAfterMs,
    }),
  };
}

/** `clock` as the time of the service, right by definition: for tests and deterministic data. */
export function makeTrustedClock(clock: Clock): ServiceClock {
  return {
    now: () => clock.now(),
    learn: () => undefined,
    state: () => ({ wallAheadMs: 0, databaseAheadMs: 0, isSteady: true }),
  };
}
