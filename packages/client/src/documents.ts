/** Files: up by a URL that takes one file, down by a URL that opens for a while. docs/integrate/documents.md */
import { type Caller, requireResource } from './caller.ts';
import { GoneError, InvalidError, makeCause, NoAnswerError, NotFoundError, ServiceError } from './errors.ts';
import type { Attachment } from './generated/resources.ts';
import { parseUrl } from './links.ts';
import { findParameter } from './parameters.ts';
import { readResource } from './records.ts';
import type { CallOptions } from './settings.ts';

/** What a file is. */
export interface UploadOptions extends CallOptions {
  /** One of the types that the service takes, such as `application/pdf`. */
  readonly contentType: string;
  readonly title?: string;
}

/** Files of the practice. */
export interface Documents {
  /**
   * Uploads a file. Name the Attachment in a resource within a day, for instance in `DocumentReference.content`.
   * @throws InvalidError for a type that is not taken, or too many bytes
   */
  upload(file: Blob | ArrayBuffer | Uint8Array | string, options: UploadOptions): Promise<Attachment>;
  /**
   * Opens a file of a DocumentReference; its first one if `index` is absent. Read it with `blob()`, `text()` or `body`.
   * @throws NotFoundError, GoneError
   */
  download(documentId: string, options?: CallOptions & { readonly index?: number }): Promise<Response>;
  /**
   * Opens the file of an Attachment of a resource that was just read: its URL works for five minutes.
   * @throws GoneError where the URL has ended
   */
  open(attachment: Attachment, options?: CallOptions): Promise<Response>;
}

/** Time for the transfer of a file, in ms: the service itself waits for a minute. */
const transferMs = 90_000;
/** Upload URLs that are tried: a second one where it is not known what became of the first. */
const uploadUrlsMax = 2;

/** The documents of a practice. */
export function openDocuments(caller: Caller): Documents {
  async function open({ url = '' }: Attachment, { signal }: CallOptions = {}): Promise<Response> {
    requireSameOrigin(caller, 'GET', url);
    return await caller.sender.open({ kind: 'content', method: 'GET', url, isRepeatable: true, signal });
  }
  return {
    open,
    async download(documentId, { index = 0, signal } = {}) {
      const { content = [] } = await readResource(caller, 'DocumentReference', documentId, { signal });
      const attachment = content[index]?.attachment;
      if (attachment !== undefined) return await open(attachment, { signal });
      const path = `DocumentReference/${documentId}`;
      const cause = makeCause('resource-not-found', `DocumentReference.content has ${content.length} files`);
      throw new NotFoundError({ method: 'GET', path, ...cause });
    },
    async upload(file, { contentType, title, signal }) {
      // Without the cast the types exclude views of shared memory, which Blob copies like any other.
      const blob = new Blob([file as Exclude<typeof file, Uint8Array>], { type: contentType });
      const { hash, digest } = await computeDigests(blob);
      const headers = { 'content-type': contentType, ...(digest === undefined ? {} : { 'content-digest': digest }) };
      const url = await transfer(caller, blob, headers, { signal });
      return {
        contentType,
        url,
        size: blob.size,
        ...(hash === undefined ? {} : { hash }),
        ...(title === undefined ? {} : { title }),
      };
    },
  };
}

/** Asks for an upload URL and PUTs the file there. @returns the URL for resources */
async function transfer(
  caller: Caller,
  body: Blob,
  headers: { readonly 'content-type': string },
  { signal }: CallOptions,
): Promise<string> {
  for (let attempt = 1; ; attempt += 1) {
    const binary = { resourceType: 'Binary', contentType: headers['content-type'] };
    const answer = await caller.write('POST', 'Binary', binary, { signal });
    const offer = requireResource(answer, 'Parameters', { method: 'POST', path: 'Binary' });
    const url = findParameter(offer, 'url')?.valueUrl ?? '';
    requireSameOrigin(caller, 'PUT', url);
    try {
      const call = { kind: 'content', method: 'PUT', url, headers, body, timeoutMs: transferMs } as const;
      await caller.sender.send({ ...call, isRepeatable: false, signal });
      return findParameter(offer, 'attachment')?.valueUrl ?? url;
    } catch (error) {
      const isFault = error instanceof ServiceError && error.status !== 503;
      const isUncertain = isFault || error instanceof NoAnswerError || error instanceof GoneError;
      if (!isUncertain || attempt === uploadUrlsMax) throw error;
    }
  }
}

/**
 * A resource may name any place, which an application should not be led to.
 * @throws InvalidError `foreign-link`: it tells no more than the origin, since the URL of a file is a right in itself
 */
function requireSameOrigin({ base }: Caller, method: string, url: string): void {
  const { origin } = new URL(base);
  const found = parseUrl(url)?.origin;
  if (found === origin) return;
  const diagnostics =
    found === undefined ? 'The file has no URL: read its resource again' : `The file is at ${found}, not at ${origin}`;
  throw new InvalidError({ method, path: '', ...makeCause('foreign-link', diagnostics) });
}

/**
 * SHA-1 for the resource (https://hl7.org/fhir/R4/datatypes.html#attachment), SHA-256 for the transfer (RFC 9530); neither
 * on pages of plain http, where browsers compute none.
 */
async function computeDigests(blob: Blob): Promise<{ readonly hash?: string; readonly digest?: string }> {
  if (globalThis.crypto.subtle === undefined) return {};
  const bytes = await blob.arrayBuffer();
  const [sha1, sha256] = await Promise.all(['SHA-1', 'SHA-256'].map((name) => crypto.subtle.digest(name, bytes)));
  return { hash: encodeBase64(sha1), digest: `sha-256=:${encodeBase64(sha256)}:` };
}

function encodeBase64(bytes: ArrayBuffer = new ArrayBuffer(0)): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}
