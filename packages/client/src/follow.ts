/** The change feed as pages to iterate over. docs/integrate/follow-changes.md */
import type { Caller } from './caller.ts';
import { type CursorStore, makeMemoryCursor } from './cursor.ts';
import { InvalidError, makeCause } from './errors.ts';
import type { Bundle, BundleEntry } from './generated/resources.ts';
import { findLink } from './links.ts';
import type { ResourceType, Saved } from './resource.ts';
import type { CallOptions } from './settings.ts';

/** What is followed. */
export interface FollowOptions<T extends ResourceType> extends CallOptions {
  /** Types; all that the application may search if absent. A cursor continues with the types that it began with. */
  readonly types?: readonly T[];
  /** Where the follower goes on after a restart. Without one each call begins anew. */
  readonly cursor?: CursorStore;
  /** Where a follower without a saved cursor begins: a date or an instant. With all resources if absent. */
  readonly since?: string;
  /** Changes of a page: 100 if absent, 500 at most. */
  readonly count?: number;
  /** Seconds that a request waits for a change: 30 if absent. 0 ends the loop when all changes have been told. */
  readonly waitSeconds?: number;
}

/** A resource as it is now. */
export interface SavedChange<T extends ResourceType> {
  readonly kind: 'saved';
  readonly type: T;
  readonly id: string;
  readonly versionId: string;
  readonly resource: Saved<T>;
}

/** A resource that was deleted, or that the application may not see any more. */
export interface DeletedChange<T extends ResourceType> {
  readonly kind: 'deleted';
  readonly type: T;
  readonly id: string;
  readonly versionId: string;
}

/** A change of the copy that a follower keeps. */
export type FollowedChange<T extends ResourceType> = SavedChange<T> | DeletedChange<T>;

/** Changes that are told together. */
export interface ChangePage<T extends ResourceType> {
  /** In their order; at least one. */
  readonly changes: readonly FollowedChange<T>[];
  /** Where the next page begins. */
  readonly cursor: string;
  /** Saves the cursor now, before the loop asks for the next page: do it before you leave the loop. */
  commit(): Promise<void>;
}

const waitSecondsDefault = 30;
const emptyPagesAtEnd = 2;
/** What lies between two requests at least where a page is empty: a proxy may answer at once in place of the service. */
const emptyPageMs = 1_000;

/**
 * Yields the changes page by page, for ever or until all have been told. A page counts as done when the next one is asked for:
 * then its cursor is saved. So what is told again after a restart are changes of the page that was not done, and nothing is missed.
 * @throws FeedEndedError when the copy has to be made anew
 */
export async function* followChanges<T extends ResourceType>(
  caller: Caller,
  options: FollowOptions<T>,
): AsyncGenerator<ChangePage<T>, void, undefined> {
  const { types, count, signal, waitSeconds = waitSecondsDefault, cursor: store = makeMemoryCursor() } = options;
  const fixed = [
    ...(types === undefined ? [] : [['_type', types.join(',')]]),
    ...(count === undefined ? [] : [['_count', String(count)]]),
    ...(waitSeconds === 0 ? [] : [['_wait', String(waitSeconds)]]),
  ];
  let since = (await store.load()) ?? options.since;
  for (let emptyPages = 0; ; ) {
    const query = new URLSearchParams(since === undefined ? fixed : [['since', since], ...fixed]);
    // The service waits; then the time of an attempt begins.
    const beginMs = caller.clock.now();
    const timeoutMs = caller.timeoutMs + waitSeconds * 1000;
    const { bundle, completeUntil } = await caller.getPage(`$changes?${query}`, { signal, timeoutMs });
    const cursor = readSince(bundle);
    const changes = (bundle.entry ?? []).map((entry) => readChange<T>(entry));
    let isSaved = false;
    const commit = async (): Promise<void> => {
      if (!isSaved) await store.save(cursor);
      isSaved = true;
    };
    if (changes.length > 0) yield { changes, cursor, commit };
    await commit();
    since = cursor;
    emptyPages = changes.length > 0 ? 0 : emptyPages + 1;
    // The last page says so. Where the operator has turned that off, two empty ones do: one may hold hidden changes alone.
    if (waitSeconds === 0 && (completeUntil !== undefined || emptyPages === emptyPagesAtEnd)) return;
    const earlyMs = Math.min(emptyPageMs, emptyPageMs - (caller.clock.now() - beginMs));
    if (waitSeconds > 0 && changes.length === 0 && earlyMs > 0) await caller.clock.sleep(earlyMs, signal);
  }
}

/** The part of the link next that changes. */
function readSince(bundle: Bundle): string {
  const since = new URLSearchParams(findLink(bundle, 'next')?.split('?')[1]).get('since');
  if (since !== null) return since;
  const cause = makeCause('not-fhir', 'The answer is no page of the change feed: it has no link next');
  throw new InvalidError({ method: 'GET', path: '$changes', ...cause });
}

function readChange<T extends ResourceType>({ fullUrl = '', resource, response }: BundleEntry): FollowedChange<T> {
  const [id = '', type = ''] = fullUrl.split('/').reverse();
  const versionId = response?.etag?.replaceAll(/[^\d]/g, '') ?? '';
  const change = { type: type as T, id, versionId };
  return resource === undefined
    ? { kind: 'deleted', ...change }
    : { kind: 'saved', ...change, resource: resource as Saved<T> };
}
