/**
 * Text as a key of a B-tree index, whose entries are at most about 2,700 bytes long
 * (https://www.postgresql.org/docs/current/btree.html).
 */
import { hash } from 'node:crypto';

/** Bytes of UTF-8 up to which a value is its own key. */
export const keyBytesMax = 1000;

/** Bytes that are kept of a longer value; its hash follows them. */
export const keptBytes = 900;

/** No character of a stored value sorts before it, so a cut value sorts right before what it would have been. */
const hashMark = '\u0001';

/** U+0000, which PostgreSQL cannot store in text. */
const nul = '\0';

/** The value itself, or its first 900 bytes and its hash: equal for equal values, and still found by a prefix. */
export function boundKey(value: string): string {
  const text = value.includes(nul) ? value.replaceAll(nul, '') : value;
  if (text.length * 3 <= keyBytesMax || Buffer.byteLength(text) <= keyBytesMax) return text;
  return firstBytes(text, keptBytes) + hashMark + hash('sha256', text, 'base64url');
}

/** The key prefix that stands for every value beginning with `prefix`; beyond 900 bytes it tells no more. */
export function boundPrefix(prefix: string): string {
  const text = prefix.includes(nul) ? prefix.replaceAll(nul, '') : prefix;
  return text.length * 3 <= keptBytes ? text : firstBytes(text, keptBytes);
}

/** The longest beginning of `text` of at most `bytesMax` bytes that ends between two characters. */
function firstBytes(text: string, bytesMax: number): string {
  const bytes = Buffer.from(text.slice(0, bytesMax + 1)); // a character takes a byte at least
  if (bytes.length <= bytesMax) return text;
  let end = bytesMax;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}
