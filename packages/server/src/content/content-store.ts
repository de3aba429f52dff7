/**
 * Where the bytes of documents lie: under a name, written once, never changed. Two stores are there, a directory
 * (directory.ts) and S3 (s3.ts); what the bytes are and who may have them is kept in the database (practice/documents/store.ts).
 */
import type { Readable } from 'node:stream';

/** Bytes on this machine's disk that are about to be stored. */
export interface SpooledFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: Buffer;
}

/** Bytes `start` to `end`, both included, counted from 0. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface ContentStore {
  /**
   * Stores the bytes under a new name; the file is gone afterwards. When it resolves they are durable; when it rejects there
   * may be something under the name, to be removed by `remove`.
   */
  put(name: string, file: SpooledFile): Promise<void>;
  /** The bytes, or those of the range, which lies within them. @throws Error when there are none under the name */
  open(name: string, range?: ByteRange): Promise<Readable>;
  /** Removes what is there, if anything is. */
  remove(name: string): Promise<void>;
}

/** Names are made by the server; the check keeps a store from leaving its place whatever the database holds. */
const namePattern = /^[0-9a-f]{16}\/[0-9a-f]{2}\/[0-9a-f]{40}$/;

/** @throws TypeError */
export function requireName(name: string): string {
  if (!namePattern.test(name)) throw new TypeError('the name of an object in the content store is malformed');
  return name;
}
