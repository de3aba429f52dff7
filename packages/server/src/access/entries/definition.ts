/**
 * What one row of the access-entry registry says. A new entry is one object in a file of this folder; the grammar, the
 * policy, the field mask, the search planner and `docs/integrate/access-entries.md` follow from it.
 */

/** `r` read, vread and instance history; `s` search; `c` create; `u` update and PATCH. */
export type Permission = 'r' | 's' | 'c' | 'u';

export const permissions: readonly Permission[] = ['r', 's', 'c', 'u'];

/** Rows on which the token search parameter has one of the values; several criteria are ANDed. */
export interface Criterion {
  /** Code of a token search parameter of the type, e.g. `category`. */
  readonly parameter: string;
  /** Token search values (`system|code`, or `code` in any system), ORed. */
  readonly values: readonly string[];
}

/** `acl/{code}_{letter}` and `acl/{code}_{letter}_{field}…`: interactions of one resource type. */
export interface ResourceEntry {
  readonly kind: 'resource';
  /** Code of the entry, the subtype included: `pat`, `org_pay`. */
  readonly code: string;
  /** The end of a code that names a part of the type: `pay` of `org_pay`. */
  readonly subtype?: string;
  /** FHIR resource type; absent where the published vocabulary does not tell it. */
  readonly type?: string;
  /** In words, for `docs/integrate/access-entries.md`. */
  readonly means: string;
  /** Letters the code takes: `rscu`; `m` is a published letter of unknown meaning. */
  readonly letters: string;
  /** Those of `letters` that the published sample token holds. */
  readonly sample: string;
  /** Row criteria: the entry reaches only rows that meet all of them. */
  readonly rows?: readonly Criterion[];
  /** Words that may follow the letter, and the top-level elements that each of them opens. */
  readonly fields?: Readonly<Record<string, readonly string[]>>;
  /** Letters that fields may follow. */
  readonly fieldLetters?: string;
  /** The published combinations of letter and fields, all of them in the sample token: `s_id`. */
  readonly published?: readonly string[];
  /** The entry opens this operation instead of an interaction. */
  readonly ability?: 'upload-url';
  /** An entry of this service beside the published ones: it came with what it opens. */
  readonly isOwn?: true;
  /** Grants nothing until an operator says which rows or elements it stands for. */
  readonly needsOperatorRow?: true;
}

/** Narrows what other entries grant on a type; several filters narrow together. */
export interface FilterEntry {
  readonly kind: 'filter';
  readonly code: string;
  readonly type: string;
  readonly means: string;
  readonly sample: boolean;
  readonly rows: readonly Criterion[];
}

/** Posting a transaction Bundle; every entry of it needs its own access entry too. */
export interface TransactionEntry {
  readonly kind: 'bundle';
  readonly code: string;
  /** Resource type that the Bundle carries; absent: any. */
  readonly payload?: string;
  readonly means: string;
  readonly sample: boolean;
}

/** A published word of unknown meaning: grants nothing until an operator gives it one. */
export interface OpaqueEntry {
  readonly kind: 'opaque';
  readonly code: string;
  readonly means: string;
  readonly sample: boolean;
}

export type EntryDefinition = ResourceEntry | FilterEntry | TransactionEntry | OpaqueEntry;

/** A row of `kind` resource whose type is known. */
export function defineResource(
  code: string,
  type: string,
  means: string,
  rest: Omit<ResourceEntry, 'kind' | 'code' | 'type' | 'means'>,
): ResourceEntry {
  return { kind: 'resource', code, type, means, ...rest };
}

/** The entries of one subject of a practice. */
export interface EntryArea {
  /** Heading in `docs/integrate/access-entries.md`. */
  readonly title: string;
  readonly entries: readonly EntryDefinition[];
}
