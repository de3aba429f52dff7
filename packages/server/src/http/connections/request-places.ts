/**
 * Places of requests of the data API that a process works on at once (docs/decisions/0258, 0262). Who finds none waits at the
 * door, before anything is done for the request, and is refused there when none becomes free in time: under more load than the
 * service can bear, what waits and what is refused must cost next to nothing beside what is done.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { boundEntries } from '../../base/bounded-entries.ts';
import { PraxisError } from '../../base/errors.ts';
import { openWaitingRoom, type WaitingRoom } from './waiting-room.ts';

/** Of one process: enough to keep it and its connections to the database busy. Who waits for bytes or changes has none. */
const placesMax = 48;

/** Requests that wait for a place: their heads, and what the kernel holds of their bodies. */
const waitingMax = 3_000;

/** Less than most clients wait for an answer: what is answered later was done for nobody. */
const waitMaxMs = 2_000;

/** An application may hold as many times the places that it leaves free: alone 32, two of them 20 and 19. */
const timesTheFree = 2;

/** Retry-After for a request that finds no place. */
const retrySeconds = 1;

/** API keys whose application is remembered. */
const keysMax = 10_000;

/** The place of one request. */
export interface RequestPlace {
  /** Gives it back while `waiting`: whoever waits for a change, or for the bytes of a body, costs nothing. */
  during<T>(waiting: () => Promise<T>): Promise<T>;
  /** How long it has waited so, in ms. */
  waitedMs(): number;
  /** Gives it back for good. */
  leave(): void;
}

/** What becomes of a request at the door; one of them is called, once, or none when its connection ends before. */
export interface AtTheDoor {
  readonly proceed: () => void;
  readonly refuse: (error: PraxisError) => void;
}

export type PlacedRequest = Pick<IncomingMessage, 'headers'>;

export interface RequestPlaces {
  /**
   * Lets a request in at once, when it has waited for a place, or not at all. Applications that wait are let in by turns. The
   * place is its until it is taken, or until the response closes.
   */
  enter(request: PlacedRequest, response: Pick<ServerResponse, 'once' | 'closed'>, then: AtTheDoor): void;
  /** A place for an application that has proven its credentials. @throws PraxisError `rate-exceeded`, `unavailable` */
  take(application: number, request: PlacedRequest): RequestPlace;
  /** Requests that have a place. */
  countHeld(): number;
  /** Requests that wait for one. */
  countWaiting(): number;
  /** Ends the waiting; nobody is told. */
  close(): void;
}

export interface PlacesOptions {
  readonly placesMax?: number;
  readonly waitingMax?: number;
  readonly waitMaxMs?: number;
}

/** Callers whose application is not known yet share one name. */
const unknown = -1;

export function openRequestPlaces(options: PlacesOptions = {}): RequestPlaces {
  const max = options.placesMax ?? placesMax;
  const held = new Map<number, number>();
  const applications = new LRUCache<string, number>(boundEntries(keysMax));
  const reserved = new WeakMap<PlacedRequest, { readonly application: number; readonly key: string }>();
  let heldByAll = 0;
  const add = (application: number, count: 1 | -1): void => {
    const of = (held.get(application) ?? 0) + count;
    if (of === 0) held.delete(application);
    else held.set(application, of);
    heldByAll += count;
  };
  const give = (application: number): void => {
    add(application, -1);
    room.admit();
  };
  const hasPlace = (application: number): boolean =>
    heldByAll < max && (application === unknown || (held.get(application) ?? 0) < timesTheFree * (max - heldByAll));
  const refusal = (): PraxisError => (heldByAll >= max ? full() : tooMany());
  const room: WaitingRoom = openWaitingRoom({
    max: options.waitingMax ?? waitingMax,
    waitMaxMs: options.waitMaxMs ?? waitMaxMs,
    timesTheFree,
    hasPlace,
  });
  return {
    enter(request, response, { proceed, refuse }) {
      const key = nameOf(request.headers['x-api-key']);
      const application = applications.get(key) ?? unknown;
      const letIn = (): void => {
        reserved.set(request, { application, key });
        add(application, 1);
        response.once('close', () => {
          if (reserved.delete(request)) give(application);
        });
        proceed();
      };
      if (hasPlace(application) && !room.isAwaitedBy(application)) return letIn();
      const expire = (): void => refuse(refusal());
      if (!room.enter(application, { isGone: () => response.closed, admit: letIn, expire })) expire();
    },
    take(application, request) {
      const reservation = reserved.get(request);
      const key = reservation?.key ?? nameOf(request.headers['x-api-key']);
      reserved.delete(request);
      if (reservation?.application !== application) {
        if (reservation !== undefined) add(reservation.application, -1);
        if (!hasPlace(application)) {
          room.admit();
          throw refusal();
        }
        add(application, 1);
      }
      if (applications.get(key) !== application) applications.set(key, application);
      let isHeld = true;
      let waitedMs = 0;
      return {
        leave() {
          if (isHeld) give(application);
          isHeld = false;
        },
        waitedMs: () => waitedMs,
        async during(waiting) {
          if (!isHeld) return await waiting();
          const sinceMs = performance.now();
          give(application);
          try {
            return await waiting();
          } finally {
            add(application, 1);
            waitedMs += performance.now() - sinceMs;
          }
        },
      };
    },
    countHeld: () => heldByAll,
    countWaiting: () => room.count(),
    close: () => room.close(),
  };
}

const headers = { 'retry-after': String(retrySeconds) };

/** Keys are not kept. */
function nameOf(key: string | string[] | undefined): string {
  return hash('sha256', String(key), 'base64');
}

function tooMany(): PraxisError {
  const diagnostics =
    'Too many requests of this application are being worked on at once: send another when one is answered';
  return new PraxisError('rate-exceeded', { diagnostics, headers, limit: 'application-requests' });
}

function full(): PraxisError {
  const diagnostics = 'Too many requests are being worked on: try again';
  return new PraxisError('unavailable', { diagnostics, headers, limit: 'requests' });
}
