/**
 * HMAC-SHA-256 (https://www.rfc-editor.org/rfc/rfc2104) by one-shot hashes: every request pays for some, and `createHmac` takes
 * several times as long.
 */
import { hash } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;
const [innerPad, outerPad] = [0x36, 0x5c];

/** Texts up to this size share one buffer by key; longer ones get a buffer of their own. */
const sharedTextBytes = 2_048;

/** UTF-8 takes so many bytes for a UTF-16 unit at most. */
const bytesPerUnitMax = 3;

/** A key, padded for both hashes. Behind each pad there is room for what is hashed with it. */
interface Pads {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

const padsOf = new WeakMap<Buffer, Pads>();

/**
 * The 32 bytes of HMAC-SHA-256 over the UTF-8 of `text`.
 * @param key its contents must not change
 */
export function computeHmac(key: Buffer, text: string): Buffer {
  const { inner, outer } = padsOf.get(key) ?? makePads(key);
  const padded = fill(inner, text);
  outer.set(hash('sha256', padded, 'buffer'), blockBytes);
  padded.fill(0, blockBytes); // it may be a secret
  return hash('sha256', outer, 'buffer');
}

function fill(inner: Buffer, text: string): Buffer {
  if (text.length * bytesPerUnitMax > sharedTextBytes)
    return Buffer.concat([inner.subarray(0, blockBytes), Buffer.from(text)]);
  return inner.subarray(0, blockBytes + inner.write(text, blockBytes));
}

function makePads(key: Buffer): Pads {
  const block = key.length > blockBytes ? hash('sha256', key, 'buffer') : key;
  const pads = { inner: Buffer.alloc(blockBytes + sharedTextBytes), outer: Buffer.alloc(blockBytes + digestBytes) };
  for (let at = 0; at < blockBytes; at += 1) {
    const byte = block[at] ?? 0;
    pads.inner[at] = byte ^ innerPad;
    pads.outer[at] = byte ^ outerPad;
  }
  padsOf.set(key, pads);
  return pads;
}
