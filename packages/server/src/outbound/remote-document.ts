/** Fetching a JSON document that a client names, as its `jwks_uri`. */
import { runUntil } from './deadline.ts';
import { refuseTarget } from './outbound-error.ts';
import { headerBytesMax, requestPinned } from './pinned-request.ts';
import { resolveTarget, type TargetOptions } from './target.ts';

export interface RemoteOptions extends TargetOptions {
  readonly timeoutMs?: number;
}

export interface RemoteDocument {
  readonly body: Buffer;
  /** `max-age` of its Cache-Control in seconds; 0 for no-store and no-cache; undefined when it says nothing. */
  readonly maxAgeSeconds: number | undefined;
}

const timeoutMsDefault = 5_000;
export const remoteBytesMax = 65_536;

/**
 * The document at `text`, answered with 200 and JSON.
 * @throws OutboundError saying which rule or limit stood against it
 */
export async function fetchRemoteDocument(text: string, options: RemoteOptions): Promise<RemoteDocument> {
  return await runUntil(options.timeoutMs ?? timeoutMsDefault, undefined, async (signal) => {
    const target = await resolveTarget(text, options, signal);
    const { status, headers, body } = await requestPinned(target, {
      method: 'GET',
      headers: { accept: 'application/jwk-set+json, application/json' },
      answerBytesMax: remoteBytesMax + headerBytesMax,
      signal,
    });
    if (status !== 200) refuseTarget('was not answered with 200: redirects are not followed');
    if (!/^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i.test(headers['content-type'] ?? ''))
      refuseTarget('was not answered with JSON');
    if ((headers['content-encoding'] ?? 'identity') !== 'identity') refuseTarget('was answered in a content coding');
    if (body.length > remoteBytesMax) refuseTarget(`is larger than ${remoteBytesMax} bytes`);
    return { body, maxAgeSeconds: maxAgeOf(headers['cache-control']) };
  });
}

/** https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2 */
function maxAgeOf(cacheControl: string | undefined): number | undefined {
  if (cacheControl === undefined) return undefined;
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return 0;
  const seconds = /\bmax-age="?(\d{1,9})\b/i.exec(cacheControl)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}
