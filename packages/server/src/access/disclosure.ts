/**
 * Two boxes that keep stored data apart from what may leave the server.
 * `Stored<T>` is what storage returns: nobody can send it. `Disclosed<T>` is what http, bundles and exports send: only
 * the field mask (`mask.ts`) makes it from a `Stored<T>`; `serverWritten` makes it from what the server itself writes.
 * `tools/check-architecture.ts` holds the list of modules that may call each function of this file.
 */

declare const storedBox: unique symbol;
declare const disclosedBox: unique symbol;

export interface Stored<T> {
  readonly [storedBox]: T;
}

export interface Disclosed<T> {
  readonly [disclosedBox]: T;
}

/** Boxes content as it lies in the database. Called by storage, and by interactions for what they are about to store. */
export function stored<T>(content: T): Stored<T> {
  return content as unknown as Stored<T>;
}

/** The content of a stored box, for validation, indexing and merging inside the server; never to be sent. */
export function contentOf<T>(box: Stored<T>): T {
  return box as unknown as T;
}

/** Marks as sendable what passed the field mask. Called by `mask.ts` alone. */
export function masked<T>(content: T): Disclosed<T> {
  return content as unknown as Disclosed<T>;
}

/** Marks as sendable what the server itself wrote: OperationOutcome, CapabilityStatement, Bundle shells, counts. */
export function serverWritten<T>(content: T): Disclosed<T> {
  return content as unknown as Disclosed<T>;
}

/** The sendable content. Called where answers are assembled and sent. */
export function textOf<T>(box: Disclosed<T>): T {
  return box as unknown as T;
}
