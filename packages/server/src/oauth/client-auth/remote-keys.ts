/**
 * The JWK Sets that clients publish at their `jwks_uri`, remembered by one process. A set is fetched again when it has
 * grown old or lacks the wanted key, so that a client changes keys by itself, but at most once in an interval, so that
 * nobody can make the server ask without end. Failures are remembered for the same interval.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../base/clock.ts';
import { OutboundError } from '../../outbound/outbound-error.ts';
import { fetchRemoteDocument, type RemoteOptions } from '../../outbound/remote-document.ts';
import { type ClientKeySet, readKeySet } from './client-keys.ts';

export type RemoteKeySet = ClientKeySet | { readonly problem: string };

export interface RemoteKeys {
  /**
   * The set at `uri`, fetched again if it is old or has no key `kid`.
   * @param kid undefined when any set will do
   */
  at(uri: string, kid: string | undefined): Promise<RemoteKeySet>;
}

/** Sets remembered by one process. */
const setsMax = 1_000;
/** Shortest time between two requests for the same set. */
export const refetchIntervalMs = 60_000;
/** Longest time that a set is used, whatever its Cache-Control says: a key that the client takes away ends by then. */
export const rememberedMsMax = 600_000;

interface Remembered {
  readonly set: RemoteKeySet;
  readonly fetchedAtMs: number;
  readonly freshUntilMs: number;
}

/** The published sets of clients. Fetches nothing until it is asked. */
export function openRemoteKeys(clock: Clock, options: RemoteOptions): RemoteKeys {
  const remembered = new LRUCache<string, Remembered>({ max: setsMax });
  const running = new Map<string, Promise<RemoteKeySet>>();

  const fetchSet = async (uri: string): Promise<RemoteKeySet> => {
    const { set, maxAgeSeconds } = await readRemote(uri, options);
    const fetchedAtMs = clock.now();
    const ageMs = Math.min(
      Math.max((maxAgeSeconds ?? Number.POSITIVE_INFINITY) * 1000, refetchIntervalMs),
      rememberedMsMax,
    );
    remembered.set(uri, { set, fetchedAtMs, freshUntilMs: fetchedAtMs + ageMs });
    return set;
  };

  return {
    async at(uri, kid) {
      const known = remembered.get(uri);
      if (known !== undefined && serves(known, kid, clock.now())) return known.set;
      const fetching = running.get(uri) ?? fetchSet(uri).finally(() => running.delete(uri));
      running.set(uri, fetching);
      return await fetching;
    },
  };
}

function serves({ set, fetchedAtMs, freshUntilMs }: Remembered, kid: string | undefined, nowMs: number): boolean {
  if (nowMs - fetchedAtMs < refetchIntervalMs) return true;
  return nowMs < freshUntilMs && 'keys' in set && (kid === undefined || set.keys.some((key) => key.kid === kid));
}

async function readRemote(
  uri: string,
  options: RemoteOptions,
): Promise<{ readonly set: RemoteKeySet; readonly maxAgeSeconds?: number | undefined }> {
  try {
    const { body, maxAgeSeconds } = await fetchRemoteDocument(uri, options);
    return { set: readKeySet(JSON.parse(body.toString('utf8'))), maxAgeSeconds };
  } catch (error) {
    if (error instanceof OutboundError) return { set: { problem: `jwks_uri ${error.message}` } };
    if (error instanceof SyntaxError) return { set: { problem: 'jwks_uri holds no JSON' } };
    throw error;
  }
}
