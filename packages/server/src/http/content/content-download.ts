/**
 * GET of content: as it was uploaded, whole or a range of it (https://www.rfc-editor.org/rfc/rfc9110#section-14), checked
 * against its hash on the way.
 */
import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import type { FastifyReply } from 'fastify';
import { fail } from '../../base/errors.ts';
import type { ByteRange } from '../../content/content-store.ts';
import { getFileExtension } from '../../content/media-types.ts';
import { findShownContent, type ShownContent } from '../../practice/documents/store.ts';
import { findRange, hasKnownTag } from '../answer/ranges.ts';
import { type ContentRequest, refuseEndedLink } from './content-request.ts';
import { formatContentTag } from './content-upload.ts';

/**
 * 200, 206 or 304.
 * @throws PraxisError `link-ended` (also when the resource is deleted or no longer open to the application), `range-invalid`,
 *   `internal` (the bytes are not where they were stored)
 */
export async function sendContent(asked: ContentRequest): Promise<FastifyReply> {
  const { parts, scope, id, link, request, reply, noted, charge } = asked;
  const content = await findShownContent(parts.store, scope, id, link.holder, parts.clock.now());
  if (content === undefined) return refuseEndedLink('download', 'The content is no longer open to the application');
  if (content.patient?.startsWith('Patient/'))
    noted.patients = { ids: [content.patient.slice('Patient/'.length)], more: false };
  const etag = formatContentTag(content.sha256);
  const headers = { ...headersOf(content), etag };
  if (hasKnownTag(request.headers, etag)) return reply.code(304).headers(headers).send();
  const range = findRange(request.headers, etag, content.size);
  const size = range === undefined ? content.size : range.end - range.start + 1;
  const bytes = request.method === 'HEAD' ? undefined : await open(asked, content, range);
  reply.code(200).headers(headers).header('content-length', size);
  if (range !== undefined) reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${content.size}`);
  if (bytes === undefined) return reply.send();
  charge(size);
  return reply.send(range === undefined ? checked(bytes, content) : bytes);
}

function headersOf({ mediaType }: ShownContent): Record<string, string> {
  return {
    'content-type': mediaType,
    'content-disposition': `attachment; filename="document.${getFileExtension(mediaType)}"`,
    'cache-control': 'private, no-store',
    'accept-ranges': 'bytes',
    // Files of others must neither be guessed to be a page nor act as one of this origin.
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'referrer-policy': 'no-referrer',
  };
}

async function open({ parts }: ContentRequest, { name }: ShownContent, range: ByteRange | undefined) {
  const diagnostics =
    'The content could not be fetched from where it was stored; the X-Request-Id of this answer finds it in the log';
  return await parts.content.store
    .open(name, range)
    .catch((cause: unknown) => fail('internal', { diagnostics, cause }));
}

/** The same bytes. The last of them are held back until all have the right hash: who gets the declared length got the file. */
function checked(bytes: Readable, { sha256 }: ShownContent): Readable {
  const hash = createHash('sha256');
  let held: Buffer | undefined;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      if (held !== undefined) this.push(held);
      held = chunk;
      done();
    },
    flush(done) {
      if (!hash.digest().equals(sha256))
        return done(new Error('stored content has another hash than what was uploaded'));
      done(null, held);
    },
  });
  bytes.once('error', (error) => check.destroy(error));
  check.once('close', () => bytes.destroy());
  return bytes.pipe(check);
}
