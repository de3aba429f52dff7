/**
 * Places of requests of the data API that a process works on at once (docs/decisions/0258). Who finds none is refused before anything is
 * done for the request: under more load than the service can bear, what it refuses must cost next to nothing beside what it
 * does.
 */
import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { PraxisError } from '../base/errors.ts';

/** Of one process. Those who wait for the database are among them: enough to keep it busy, and answered within a second or so. */
const placesMax = 600;

/** An application may hold as many times the places that it leaves free: alone 400, two of them 240 each. */
const timesTheFree = 2;

/** API keys whose application is remembered. */
const keysMax = 10_000;

/** The place of one request. */
export interface Place {
  /** Gives it back while `waiting`: whoever waits for a change costs nothing. */
  during<T>(waiting: () => Promise<T>): Promise<T>;
  /** Gives it back for good. */
  leave(): void;
}

export interface RequestPlaces {
  /** Why the request would find no place, as far as its key is known; undefined: it may, or is to be asked for its credentials. */
  refusalOf(request: Pick<IncomingMessage, 'headers'>): PraxisError | undefined;
  /** A place for an application that has proven its credentials. @throws PraxisError `rate-exceeded`, `unavailable` */
  take(application: number, request: Pick<IncomingMessage, 'headers'>): Place;
}

export function openRequestPlaces(max = placesMax): RequestPlaces {
  const held = new Map<number, number>();
  const applications = new Map<string, number>();
  let heldByAll = 0;
  const add = (application: number, count: 1 | -1): void => {
    const of = (held.get(application) ?? 0) + count;
    if (of === 0) held.delete(application);
    else held.set(application, of);
    heldByAll += count;
  };
  const refusal = (application: number | undefined): PraxisError | undefined => {
    if (heldByAll >= max) return full();
    if (application === undefined) return undefined;
    return (held.get(application) ?? 0) >= timesTheFree * (max - heldByAll) ? tooMany() : undefined;
  };
  return {
    refusalOf: ({ headers }) => {
      // Nobody waits for room, so as long as nearly all of it is free nobody is refused.
      if (heldByAll < max / 2) return undefined;
      return refusal(applications.get(nameOf(headers['x-api-key'])));
    },
    take(application, { headers }) {
      const error = refusal(application);
      if (error !== undefined) throw error;
      remember(applications, nameOf(headers['x-api-key']), application);
      add(application, 1);
      let isHeld = true;
      const leave = (): void => {
        if (isHeld) add(application, -1);
        isHeld = false;
      };
      return {
        leave,
        async during(waiting) {
          if (!isHeld) return await waiting();
          add(application, -1);
          try {
            return await waiting();
          } finally {
            add(application, 1);
          }
        },
      };
    },
  };
}

/** Keys are not kept. */
function nameOf(key: string | string[] | undefined): string {
  return hash('sha256', String(key), 'base64');
}

function remember(applications: Map<string, number>, name: string, application: number): void {
  if (applications.get(name) === application) return;
  applications.set(name, application);
  for (const oldest of applications.keys()) {
    if (applications.size <= keysMax) break;
    applications.delete(oldest);
  }
}

const headers = { 'retry-after': '1' } as const;

function tooMany(): PraxisError {
  const diagnostics =
    'Too many requests of this application are being worked on at once: send another when one is answered';
  return new PraxisError('rate-exceeded', { diagnostics, headers });
}

function full(): PraxisError {
  return new PraxisError('unavailable', { diagnostics: 'Too many requests are being worked on: try again', headers });
}
