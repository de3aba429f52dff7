/**
 * PUT of a file to a one-time URL (docs/decisions/0192). Nothing is kept of a file that is refused or cut off, and the URL is
 * still good then.
 */
import { rm } from 'node:fs/promises';
import type { FastifyReply } from 'fastify';
import { fail } from '../../base/errors.ts';
import { detectMediaType, fitsAnnounced, mediaTypes } from '../../content/media-types.ts';
import { makeContentName } from '../../content/names.ts';
import { type ReceivedFile, receive } from '../../content/receive.ts';
import { buildContentBase } from '../../practice/documents/content-urls.ts';
import { announceObject, findUploadOffer, keepUpload, type UploadOffer } from '../../practice/documents/store.ts';
import { buildBaseUrl } from '../origins.ts';
import { parseMediaType } from '../request/media-types.ts';
import { type ContentRequest, refuseEndedLink } from './content-request.ts';

/**
 * 200 with the ETag of the content.
 * @throws PraxisError `link-ended`, `request-malformed` (no length, no bytes, cut off), `body-too-large`,
 *   `media-type-unsupported`, `header-invalid` (another digest), `unavailable` (the store does not take it: try again)
 */
export async function takeContent(asked: ContentRequest): Promise<FastifyReply> {
  const { parts, scope, id, request, reply, charge } = asked;
  const offer = await requireOffer(asked);
  const size = requireLength(asked, offer);
  const sent = requireSentType(asked, offer);
  charge(size);
  const file = await receive(request.raw, parts.content.incoming, size).catch((cause: unknown) => {
    if (request.raw.complete) throw cause;
    return fail('request-malformed', {
      diagnostics: 'The file ended before its declared length: send it again',
      cause,
    });
  });
  try {
    const mediaType = detectMediaType(file.beginning, offer.announcedType, sent) ?? refuseType(offer, 'The file is');
    requireDigest(request.headers['content-digest'], file);
    const name = makeContentName(parts.secrets, scope.firm);
    await announceObject(parts.store, scope, name, parts.clock.now());
    await parts.content.store.put(name, file).catch((cause: unknown) =>
      fail('unavailable', {
        diagnostics: 'The file could not be stored: PUT it again, the URL is still good',
        cause,
      }),
    );
    const { sha256, sha1 } = file;
    const isKept = await keepUpload(parts.store, scope, id, { name, size, mediaType, sha256, sha1 }, parts.clock.now());
    if (!isKept) refuseEndedLink('upload', 'This URL was used, or has expired, while the file came in');
    const headers = { etag: formatContentTag(sha256), 'cache-control': 'private, no-store' };
    return reply.code(200).headers(headers).send();
  } finally {
    await rm(file.path, { force: true });
  }
}

export function formatContentTag(sha256: Buffer): string {
  return `"${sha256.toString('base64url')}"`;
}

async function requireOffer({ parts, scope, id, link }: ContentRequest): Promise<UploadOffer> {
  const offer = await findUploadOffer(parts.store, scope, id);
  if (offer === undefined || parts.clock.now() >= offer.expiresMs)
    return refuseEndedLink('upload', 'This URL has expired');
  if (!offer.isUsed) return offer;
  const { environment, firmPrefix: firm, product } = scope;
  const content = `${buildContentBase(buildBaseUrl(parts.origins, { environment, firm, product }))}/${id}`;
  return refuseEndedLink(link.purpose, `This URL was used: its content is named ${content}; for another file`);
}

/** @throws PraxisError `request-malformed`, `body-too-large`, `media-type-unsupported` */
function requireLength({ request: { headers } }: ContentRequest, { sizeMax }: UploadOffer): number {
  const length = headers['content-length'];
  if (length === undefined)
    fail('request-malformed', {
      diagnostics: 'Content-Length is missing: send the file with its length, not in chunks',
    });
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    fail('media-type-unsupported', { diagnostics: 'Content-Encoding must be identity: send the file uncompressed' });
  const size = Number(length);
  if (size > sizeMax)
    fail('body-too-large', { diagnostics: `The file has ${size} bytes; this URL takes at most ${sizeMax}` });
  if (size === 0) fail('request-malformed', { diagnostics: 'The body is empty: send the bytes of the file' });
  return size;
}

/** The media type of Content-Type, '' without one. @throws PraxisError `media-type-unsupported` */
function requireSentType({ request: { headers } }: ContentRequest, offer: UploadOffer): string {
  const sent = headers['content-type'] === undefined ? '' : parseMediaType(headers['content-type']);
  return fitsAnnounced(sent, offer.announcedType) ? sent : refuseType(offer, 'Content-Type is');
}

function refuseType({ announcedType }: UploadOffer, what: string): never {
  const right =
    announcedType === undefined
      ? `none that is taken; these are: ${mediaTypes.join(', ')}`
      : `not ${announcedType}, which this URL was asked for: send such a file (with Content-Type ${announcedType}, text/plain or none), or ask for another URL`;
  return fail('media-type-unsupported', { diagnostics: `${what} ${right}` });
}

/** https://www.rfc-editor.org/rfc/rfc9530#section-2; other algorithms are not looked at. @throws PraxisError `header-invalid` */
function requireDigest(header: string | string[] | undefined, { sha256 }: ReceivedFile): void {
  const [, given] = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]*):/.exec(String(header ?? '')) ?? [];
  if (given === undefined || Buffer.from(given, 'base64').equals(sha256)) return;
  fail('header-invalid', {
    diagnostics: 'Content-Digest is not that of the bytes that arrived: send the file again, or correct the header',
    expression: ['Content-Digest'],
  });
}
