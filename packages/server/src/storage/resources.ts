/**
 * What storage takes and gives. Content is the JSON text of a resource as it is stored and returned, ids and meta included;
 * it stays in a `Stored` box until the field mask has seen it (access/disclosure.ts).
 */
import type { InvariantBreach } from '@praxis/fhir';
import { getStoredText, type Stored } from '../access/disclosure.ts';
import type { AuditRow, WriteInteraction } from '../audit/audit-row.ts';
import type { IndexRows } from '../search/index/index-rows.ts';

/** A version of a resource: the current one, or the one that was asked for. */
export interface StoredResource<T extends string = string> {
  readonly type: T;
  readonly id: string;
  /** meta.versionId: 1, 2, … without gaps, through deletion and revival. */
  readonly versionId: number;
  readonly lastUpdatedMs: number;
  readonly deleted: boolean;
  /** Empty text for a deletion. */
  readonly content: Stored<T>;
  /** How this version came about; known of versions (`readVersion`, `history`) only. */
  readonly method?: WriteInteraction;
}

/** What is known to be of the type, so that its elements can be named. @throws TypeError for another type */
export function requireType<T extends string>(resource: StoredResource, type: T): StoredResource<T>;
export function requireType<T extends string>(resource: ResourceWrite, type: T): ResourceWrite<T>;
export function requireType(resource: StoredResource | ResourceWrite, type: string): StoredResource | ResourceWrite {
  if (resource.type !== type) throw new TypeError(`${resource.type} is not ${type}`);
  return resource;
}

/** Bytes of the contents together, as they are stored. */
export function countBytes(resources: readonly Pick<StoredResource, 'content'>[]): number {
  return resources.reduce((sum, { content }) => sum + Buffer.byteLength(getStoredText(content)), 0);
}

/** Which versions of a history are wanted, in milliseconds since 1970. */
export interface HistoryPeriod {
  /** Only versions made at this moment or later. */
  readonly sinceMs?: number;
  /** Only versions made before this moment. */
  readonly beforeMs?: number;
  /** Only versions that were still current after this moment, and deletions made at it or later. */
  readonly currentAfterMs?: number;
}

/** A page of the history of many resources. */
export interface HistoryWalk extends HistoryPeriod {
  /** Versions at most. */
  readonly limit: number;
  /** Where the page before ended; absent: the first page. */
  readonly after?: HistoryPosition;
}

/** A place in a history, and the moment whose history it is: that of the first page. */
export interface HistoryPosition {
  readonly lastUpdatedMs: number;
  /** Number of the version among all changes. */
  readonly seq: number;
  readonly moment: {
    /** The order epoch (storage/order-epoch.ts). */
    readonly epoch: number;
    /** The transactions that had ended, as PostgreSQL writes a pg_snapshot. */
    readonly snapshot: string;
    /** The transaction that asked, which sees what it wrote; null outside of one that writes. */
    readonly own: string | null;
  };
}

/** Versions of one resource, newest first. */
export interface VersionsPage {
  readonly versions: readonly StoredResource[];
  /** Older versions follow. */
  readonly hasMore: boolean;
}

/** Versions newest first. */
export interface HistoryVersions {
  readonly versions: readonly StoredResource[];
  /** Present when older versions follow. */
  readonly next: HistoryPosition | undefined;
}

/** A row of a search page. */
export interface PageRow<T extends string = string> extends StoredResource<T> {
  /** Number of the resource in its firm, the last sort key. */
  readonly rid: number;
  /** Sort keys as text, in the order of the statement's columns k0, k1, …; null where the resource lacks the value. */
  readonly keys: readonly (string | null)[];
}

/** A new version of a resource. */
export interface ResourceWrite<T extends string = string> {
  readonly type: T;
  readonly id: string;
  /**
   * The version that must be the current one, deleted or not; 0 = there must be none, not even a deleted one. The new
   * version is `expectedVersion + 1`, and `content` must say so in meta.versionId.
   */
  readonly expectedVersion: number;
  readonly lastUpdatedMs: number;
  /** null = delete. */
  readonly content: Stored<T> | null;
  /** Every index row of the new version; none for a delete. Repeated rows count once. */
  readonly index: IndexRows;
  /** By which rules they were made (search/index/index-rules.ts); absent: by others than can be told. */
  readonly indexRules?: number;
  /** Every index row of the version before by the same rules: what both have stays. Absent: the database compares. */
  readonly indexBefore?: IndexRows;
  readonly audit: AuditRow;
  /** R4's invariants that the content breaks; absent: none that is known. Storage leaves the verdict to interactions. */
  readonly breaches?: readonly InvariantBreach[];
}

export type WriteOutcome =
  | { readonly outcome: 'written'; readonly versionId: number }
  /** Nothing was changed; `currentVersion` is undefined where the resource does not exist. */
  | { readonly outcome: 'conflict'; readonly currentVersion: number | undefined };

/** Names one resource of a firm. */
export interface ResourceKey {
  readonly type: string;
  readonly id: string;
}

/** The current version of a resource, without its content. */
export interface CurrentVersion extends ResourceKey {
  readonly versionId: number;
  readonly deleted: boolean;
}

/** A number of matches that is cheap to tell. */
export interface Estimate {
  readonly total: number;
  /** Not all were asked whether they match. */
  readonly sampled: boolean;
  /** There are more than were counted. */
  readonly bounded: boolean;
}
