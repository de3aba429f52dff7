/**
 * Reading request bodies: after authentication and access checks, never more bytes than the limit.
 */
import type { IncomingMessage } from 'node:http';
import { fail } from '../../base/errors.ts';

/** Where the bytes that arrive are counted. @throws PraxisError when there is no room for them */
export interface BytesTaker {
  take(bytes: number): void;
}

/**
 * All bytes of the body.
 * @throws PraxisError `body-too-large` as soon as the declared or received size passes `bytesMax`;
 *   `media-type-unsupported` for a content encoding other than identity; `request-malformed` for a body cut short; and as
 *   `taker`. What comes after a refusal is thrown away
 */
export async function readBytes(request: IncomingMessage, bytesMax: number, taker?: BytesTaker): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) tooLarge(bytesMax);
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    fail('media-type-unsupported', { diagnostics: 'Content-Encoding must be identity: send the body uncompressed' });
  }
  const chunks: Buffer[] = [];
  let size = 0;
  let refusal: unknown;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= bytesMax) refusal ??= refusalOf(taker, chunk.length);
      if (size > bytesMax || refusal !== undefined) {
        chunks.length = 0;
        resolve();
      } else {
        chunks.push(chunk);
      }
    });
    request.once('end', resolve);
    request.once('error', reject);
    request.once('aborted', () => reject(new Error('the client went away')));
  }).catch((cause: unknown) =>
    fail('request-malformed', { diagnostics: 'The body ended before its declared length', cause }),
  );
  if (refusal !== undefined) throw refusal;
  if (size > bytesMax) tooLarge(bytesMax);
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

function refusalOf(taker: BytesTaker | undefined, bytes: number): unknown {
  try {
    taker?.take(bytes);
    return undefined;
  } catch (error) {
    return error;
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Bytes as text.
 * @throws PraxisError `request-malformed` for bytes that are not UTF-8
 */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes);
  } catch (cause) {
    return fail('request-malformed', { diagnostics: 'The body is not UTF-8', cause });
  }
}

function tooLarge(bytesMax: number): never {
  return fail('body-too-large', { diagnostics: `The body is larger than ${bytesMax} bytes, the limit of one request` });
}
