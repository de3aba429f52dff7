/**
 * Identifiers that the server makes.
 * Resource ids are UUIDs of version 7 (https://www.rfc-editor.org/rfc/rfc9562#section-5.7): their leading timestamp keeps
 * neighbours in time together in B-tree indexes; they fit R4's id format ([A-Za-z0-9\-\.]{1,64}).
 */
import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

const pool = Buffer.alloc(4096);
let poolUsed = pool.length;

/**
 * Random bytes for use at once: later calls write over them. Drawn in blocks, since one system call per id costs more than the
 * id. @param length 256 at most
 */
export function drawRandomBytes(length: number): Buffer {
  if (poolUsed + length > pool.length) {
    randomFillSync(pool);
    poolUsed = 0;
  }
  poolUsed += length;
  return pool.subarray(poolUsed - length, poolUsed);
}

/** A UUID version 7 of the clock's millisecond, 36 lower-case characters. */
export function makeResourceId(clock: Clock): string {
  const time = clock.now().toString(16).padStart(12, '0');
  const bytes = drawRandomBytes(10);
  const hex = bytes.toString('hex');
  const variant = (8 + ((bytes[2] ?? 0) & 3)).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hex.slice(1, 4)}-${variant}${hex.slice(5, 8)}-${hex.slice(8, 20)}`;
}

/** A UUID version 4 for token ids, request ids and the like. */
export function makeUuid(): string {
  const hex = drawRandomBytes(16).toString('hex');
  const variant = (8 + (Number.parseInt(hex.charAt(16), 16) & 3)).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20)}`;
}

/** A secret of `bytes` random bytes (default 32 = 256 bits) in base64url. */
export function makeSecret(bytes = 32): string {
  return randomBytes(bytes).toString('base64url');
}
