/**
 * Fetching a document that a client names, without becoming its tool (https://www.rfc-editor.org/rfc/rfc9728#section-7.7 is the
 * same concern): https only, names resolved once and the connection pinned to the address that was checked, no redirects,
 * no proxies, no cookies, and limits on time, bytes and headers.
 */
import { lookup } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { isLoopbackAddress, isPublicAddress } from './remote-address.ts';

export interface RemoteOptions {
  /** Lets URLs of this machine be fetched, by http too: for development and tests. */
  readonly loopback: boolean;
  /** All addresses of a host name; the system's resolver when absent. */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
  readonly timeoutMs?: number;
}

export interface RemoteDocument {
  readonly body: Buffer;
  /** `max-age` of its Cache-Control in seconds; 0 for no-store and no-cache; undefined when it says nothing. */
  readonly maxAgeSeconds: number | undefined;
}

/** Why a document was not fetched, in words that follow its name; tells nothing that the remote host said. */
export class RemoteDocumentError extends Error {
  override readonly name = 'RemoteDocumentError';
}

const timeoutMsDefault = 5_000;
export const remoteBytesMax = 65_536;
const headerBytesMax = 16_384;
const urlCharactersMax = 2_000;

/**
 * The URL, when it is one that may be fetched as far as it tells by itself.
 * @throws RemoteDocumentError naming the rule it breaks
 */
export function requireRemoteUrl(text: string, { loopback }: Pick<RemoteOptions, 'loopback'>): URL {
  if (text.length > urlCharactersMax) refuse(`is longer than ${urlCharactersMax} characters`);
  const url = URL.canParse(text) ? new URL(text) : refuse('is not a URL');
  if (url.username !== '' || url.password !== '' || url.hash !== '') refuse('must have no user, password or fragment');
  const host = hostOf(url);
  const own = host === 'localhost' || isLoopbackAddress(host);
  if (url.protocol !== 'https:' && !(loopback && own && url.protocol === 'http:')) refuse('must begin with https://');
  if (!(loopback && own) && (host === 'localhost' || (isIP(host) !== 0 && !isPublicAddress(host))))
    refuse('names an address that is not of the public Internet');
  return url;
}

/**
 * The document at `text`, answered with 200 and JSON.
 * @throws RemoteDocumentError saying which rule or limit stood against it
 */
export async function fetchRemoteDocument(text: string, options: RemoteOptions): Promise<RemoteDocument> {
  const url = requireRemoteUrl(text, options);
  const timeout = AbortSignal.timeout(options.timeoutMs ?? timeoutMsDefault);
  const timedOut = new Promise<never>((_resolve, reject) => {
    timeout.addEventListener('abort', () => reject(new RemoteDocumentError('was not answered in time')), {
      once: true,
    });
  });
  return await Promise.race([timedOut, fetchPinned(url, options, timeout)]);
}

async function fetchPinned(url: URL, options: RemoteOptions, signal: AbortSignal): Promise<RemoteDocument> {
  const address = await pinnedAddress(url, options);
  const response = await answerOf(url, address, signal);
  try {
    if (response.statusCode !== 200) refuse('was not answered with 200: redirects are not followed');
    if (!/^application\/(?:[a-z0-9.-]+\+)?json\s*(?:;|$)/i.test(response.headers['content-type'] ?? ''))
      refuse('was not answered with JSON');
    if ((response.headers['content-encoding'] ?? 'identity') !== 'identity') refuse('was answered in a content coding');
    return { body: await bytesOf(response), maxAgeSeconds: maxAgeOf(response.headers['cache-control']) };
  } finally {
    response.destroy();
  }
}

/** The address to connect to; all addresses of the name are checked, since the next connection could take another. */
async function pinnedAddress(url: URL, { loopback, resolve = resolveByName }: RemoteOptions): Promise<string> {
  const host = hostOf(url);
  const addresses =
    isIP(host) === 0 ? await resolve(host).catch(() => refuse('names a host that is not found')) : [host];
  const [first] = addresses;
  if (first === undefined) return refuse('names a host that is not found');
  const open = addresses.every((address) => isPublicAddress(address) || (loopback && isLoopbackAddress(address)));
  return open ? first : refuse('names an address that is not of the public Internet');
}

async function resolveByName(hostname: string): Promise<readonly string[]> {
  return (await lookup(hostname, { all: true, verbatim: true })).map(({ address }) => address);
}

async function answerOf(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  const family = isIP(address);
  const options: RequestOptions = {
    agent: false,
    family,
    headers: { accept: 'application/jwk-set+json, application/json', 'accept-encoding': 'identity' },
    lookup: (_hostname, { all }, callback) => {
      if (all === true) callback(null, [{ address, family }]);
      else callback(null, address, family);
    },
    maxHeaderSize: headerBytesMax,
    method: 'GET',
    signal,
  };
  // To import it loads a client of WebSockets as well, which few processes have a use for.
  const request = url.protocol === 'https:' ? httpsRequest : (await import('node:http')).request;
  return await new Promise((resolve, reject) => {
    const sent: ClientRequest = request(url, options);
    sent.once('response', resolve);
    sent.once('error', (cause) => reject(new RemoteDocumentError('cannot be reached', { cause })));
    sent.end();
  });
}

async function bytesOf(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      size += chunk.length;
      if (size > remoteBytesMax) break;
      chunks.push(chunk);
    }
  } catch (cause) {
    throw new RemoteDocumentError('ended before its end', { cause });
  }
  return size > remoteBytesMax ? refuse(`is larger than ${remoteBytesMax} bytes`) : Buffer.concat(chunks);
}

/** https://www.rfc-editor.org/rfc/rfc9111#section-5.2.2 */
function maxAgeOf(cacheControl: string | undefined): number | undefined {
  if (cacheControl === undefined) return undefined;
  if (/\bno-(?:store|cache)\b/i.test(cacheControl)) return 0;
  const seconds = /\bmax-age="?(\d{1,9})\b/i.exec(cacheControl)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/** The host without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname.replace(/\.$/, '');
}

function refuse(reason: string): never {
  throw new RemoteDocumentError(reason);
}
