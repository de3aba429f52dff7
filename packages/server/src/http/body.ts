/**
 * Reading request bodies: after authentication and access checks, never more bytes than the limit.
 */
import type { IncomingMessage } from 'node:http';
import { fail } from '../base/errors.ts';

/**
 * All bytes of the body.
 * @throws PraxisError `body-too-large` as soon as the declared or received size passes `bytesMax`;
 *   `media-type-unsupported` for a content encoding other than identity; `request-malformed` for a body cut short
 */
export async function readBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > bytesMax) tooLarge(bytesMax);
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    fail('media-type-unsupported', { diagnostics: 'Content-Encoding must be identity: send the body uncompressed' });
  }
  const chunks: Buffer[] = [];
  let size = 0;
  await new Promise<void>((resolve, reject) => {
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) {
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
  if (size > bytesMax) tooLarge(bytesMax);
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
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
