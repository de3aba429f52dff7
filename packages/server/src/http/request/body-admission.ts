/**
 * How request bodies come in without taking the memory or the thread of others: the bytes that have arrived are counted by
 * API key, and bodies that are large are worked on one after another, applications and their firms in turns
 * (docs/decisions/0242). Token and administration requests are small by their own limits.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { PraxisError } from '../../base/errors.ts';
import { requestLimits } from '../../limits/budgets.ts';
import { openFairQueue, type TurnOf } from '../../limits/fair-queue.ts';
import type { Slices, WorkAge } from '../../limits/slices.ts';

/** Bodies from this size on take turns, in bytes: the thread is held for some milliseconds to read and check one. */
export const largeBodyBytes = 256 * 1024;

/**
 * Bodies from this size on are read in a slice of the event loop, in bytes: it takes longer than most requests
 * altogether.
 */
export const slicedBodyBytes = 16 * 1024;

/**
 * Who was given a turn keeps those of other applications from beginning so long at most, in ms: what waits for others does not
 * hold them up. Of its own application the next one begins when it is answered.
 */
const turnMaxMs = 5_000;

/** Who has waited so long for a turn is refused, in ms: others of its application took all the time, or too many do. */
const waitMaxMs = 15_000;

/** An API key gets this part of what all may take, or one whole body if that is more. */
const partOfOneKey = 1 / 4;

const retrySeconds = 2;

const turnLimits = { ofFirmMax: 16, ofApplicationMax: 16, allMax: 64, what: 'large bodies', retrySeconds };

/** The body of one request. */
export interface BodyRoom {
  /** Tells whose it is, before the first byte is read. A repeated attempt tells it again. */
  admit(caller: { readonly apiKey: number; readonly of: TurnOf }): void;
  /**
   * Counts bytes that have arrived. When it throws, those of this body are given back: it is not kept.
   * @throws PraxisError `rate-exceeded` when bodies of this API key take its part, `unavailable` when all are taken
   */
  take(bytes: number): void;
  /** Resolves when the body may be worked on. @throws PraxisError `rate-exceeded`, `unavailable` as `openFairQueue`, or after `waitMaxMs` */
  turn(): Promise<void>;
  /** Between two pieces of work on a body that take long: lets others go on. */
  pause(): Promise<void>;
  /** The request is answered. */
  close(): void;
}

export interface BodyAdmission {
  open(): BodyRoom;
  /** Bytes that have arrived of requests that are not answered yet. */
  bytesUnderWay(): number;
  /** Large bodies that wait for their turn. */
  countWaiting(): number;
}

export interface BodyLimits {
  /** Of one body. */
  readonly bodyBytesMax: number;
  /** Of all that the process has under way. */
  readonly bodiesBytesMax: number;
}

/** The admission of one process. */
export function openBodyAdmission({ bodyBytesMax, bodiesBytesMax }: BodyLimits, slices: Slices): BodyAdmission {
  const begin = openTurns();
  const ofOneKey = Math.max(bodyBytesMax, bodiesBytesMax * partOfOneKey);
  const ofAll = Math.max(bodyBytesMax, bodiesBytesMax);
  const taken = new Map<number, number>();
  let takenByAll = 0;
  let waiting = 0;
  const add = (apiKey: number, bytes: number): void => {
    const sum = (taken.get(apiKey) ?? 0) + bytes;
    if (sum === 0) taken.delete(apiKey);
    else taken.set(apiKey, sum);
    takenByAll += bytes;
  };
  return {
    bytesUnderWay: () => takenByAll,
    countWaiting: () => waiting,
    open() {
      const sinceMs = performance.now();
      const age: WorkAge = { sinceMs, untilMs: sinceMs + requestLimits.ms, slices: Number.POSITIVE_INFINITY };
      let caller: { readonly apiKey: number; readonly of: TurnOf } | undefined;
      let bytes = 0;
      let turn: Promise<() => void> | undefined;
      let isClosed = false;
      const giveBack = (): void => {
        if (caller !== undefined) add(caller.apiKey, -bytes);
        bytes = 0;
      };
      const requireRoom = (apiKey: number, count: number): void => {
        if ((taken.get(apiKey) ?? 0) + count > ofOneKey) throw tooManyBytes(ofOneKey);
        if (takenByAll + count > ofAll) throw noRoom();
      };
      return {
        admit(admitted) {
          caller ??= admitted;
        },
        take(count) {
          if (caller === undefined || isClosed) return;
          try {
            requireRoom(caller.apiKey, count);
          } catch (error) {
            giveBack(); // else bodies that come at once would all be refused, each for the bytes of the others
            throw error;
          }
          add(caller.apiKey, count);
          bytes += count;
        },
        async turn() {
          if (caller === undefined || bytes < slicedBodyBytes) return;
          if (bytes >= largeBodyBytes) {
            turn ??= begin(caller.of);
            waiting += 1;
            const end = await refuseLate(turn).finally(() => {
              waiting -= 1;
            });
            if (isClosed) end();
          }
          await slices.next(caller.of);
        },
        async pause() {
          if (caller === undefined || bytes < slicedBodyBytes) return;
          await (bytes < largeBodyBytes ? slices.next(caller.of) : slices.nextOfLong(caller.of, age));
        },
        close() {
          if (isClosed) return;
          isClosed = true;
          giveBack();
          turn?.then(
            (end) => end(),
            () => undefined, // it was refused
          );
        },
      };
    },
  };
}

type Queue = ReturnType<typeof openFairQueue>;

/**
 * Turns of large bodies: one of each application at a time until it is answered, and one of all for `turnMaxMs`. The event loop
 * has turned once before each, so others are answered between two bodies.
 * @returns a function that resolves when the turn begins, with what ends it
 */
function openTurns(): (of: TurnOf) => Promise<() => void> {
  const inTurn = openFairQueue(turnLimits);
  const ofApplications = new Map<number, { readonly inTurn: Queue; bodies: number }>();
  return (of) => {
    const ofApplication = ofApplications.get(of.application) ?? { inTurn: openFairQueue(turnLimits), bodies: 0 };
    ofApplications.set(of.application, ofApplication);
    ofApplication.bodies += 1;
    const { promise: begun, resolve, reject } = Promise.withResolvers<() => void>();
    const work = async (): Promise<void> => {
      const { promise: answered, resolve: end } = Promise.withResolvers<void>();
      await inTurn(of, async () => {
        await new Promise((turned) => setImmediate(turned));
        resolve(end);
        const over = new AbortController();
        await Promise.race([answered, delay(turnMaxMs, undefined, { ref: false, signal: over.signal })]);
        over.abort();
      });
      await answered;
    };
    ofApplication
      .inTurn(of, work)
      .catch(reject)
      .finally(() => {
        ofApplication.bodies -= 1;
        if (ofApplication.bodies === 0) ofApplications.delete(of.application);
      });
    return begun;
  };
}

/** @throws PraxisError `rate-exceeded` after `waitMaxMs`; the turn is given back when the request is answered */
async function refuseLate<T>(turn: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(waitMaxMs, undefined, { ref: false, signal: over.signal }).then(() => {
    const diagnostics = `A large body waited ${waitMaxMs / 1000} s for others of its application: send another when one is answered`;
    throw new PraxisError('rate-exceeded', { diagnostics, headers, limit: 'bodies' });
  });
  try {
    return await Promise.race([turn, late]);
  } finally {
    over.abort();
  }
}

const headers = { 'retry-after': String(retrySeconds) };

function tooManyBytes(max: number): PraxisError {
  const diagnostics = `Request bodies of this API key that are being worked on may have ${max} bytes together: send another when one is answered`;
  return new PraxisError('rate-exceeded', { diagnostics, headers, limit: 'bodies' });
}

function noRoom(): PraxisError {
  const diagnostics = 'Too many large requests are being worked on: try again in a moment';
  return new PraxisError('unavailable', { diagnostics, headers, limit: 'bodies' });
}
