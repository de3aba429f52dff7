/**
 * One request to a host that others name, without becoming their tool
 * (https://www.rfc-editor.org/rfc/rfc9728#section-7.7 is the same concern): to the addresses that were checked and no others,
 * TLS always verified, no redirects, no proxies, no cookies, no TLS session of another connection (docs/decisions/0311), and
 * limits on the bytes of answer and headers.
 */
import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  Agent as PlainAgent,
  RequestOptions,
} from 'node:http';
import { request as requestByTls } from 'node:https';
import { isIP, type TcpSocketConnectOpts } from 'node:net';
import type { KeptConnections, PinnedRequestOptions } from './kept-connections.ts';
import { OutboundError, refuseTarget } from './outbound-error.ts';
import { readHost } from './public-url.ts';
import type { Target } from './target.ts';

export interface PinnedRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** Bytes that are read, of headers, body and all that comes between them. */
  readonly answerBytesMax: number;
  /** Connections that may be used again; without them each request has one of its own. */
  readonly connections?: KeptConnections | undefined;
  /** Ends the request, and the reading of its answer. */
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Options of the request, which Node hands on to what makes the connection. */
type ConnectingOptions = PinnedRequestOptions &
  Pick<TcpSocketConnectOpts, 'autoSelectFamily' | 'autoSelectFamilyAttemptTimeout'>;

export const headerBytesMax = 16_384;
/** Until the next address of the host is tried, if it has more. */
const connectTimeoutMs = 3_000;

/**
 * The whole answer of the first address that takes the connection. A kept connection that the host closes as it is used says
 * nothing of the host: the request is sent again, by a new one.
 * @throws OutboundError whose cause is what Node says; `ended its answer early` if the status came, but not all after it
 */
export async function requestPinned(target: Target, request: PinnedRequest): Promise<Answer> {
  const isTls = target.url.protocol === 'https:';
  // To import it loads a client of WebSockets as well, which few processes have a use for.
  const plain = isTls ? undefined : await import('node:http');
  const open = plain?.request ?? requestByTls;
  const send = async (agent: PlainAgent | false): Promise<Answer | 'stale'> => {
    const sent = open(target.url, { ...optionsOf(target, request), agent });
    try {
      return await answerOf(sent, request);
    } catch (error) {
      if (sent.reusedSocket && !request.signal.aborted && isClosed(error)) return 'stale';
      throw error;
    } finally {
      sent.destroy();
    }
  };
  const kept =
    plain === undefined
      ? request.connections?.agent
      : request.connections?.openPlain((options) => new plain.Agent(options));
  const answer = await send(kept ?? false);
  if (answer !== 'stale') return answer;
  const again = await send(false);
  return again === 'stale' ? refuseTarget('cannot be reached') : again;
}

/** Whether the connection was closed before anything of an answer came. */
function isClosed(error: unknown): boolean {
  if (!(error instanceof OutboundError) || error.message !== 'cannot be reached') return false;
  const { cause } = error;
  return cause instanceof Error && 'code' in cause && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE');
}

function optionsOf({ url, addresses }: Target, { method, headers, signal }: PinnedRequest): ConnectingOptions {
  const host = readHost(url);
  const pinned = addresses.map((address) => ({ address, family: isIP(address) }));
  const lookup: RequestOptions['lookup'] = (hostname, { all }, callback) => {
    const [first] = pinned;
    if (first === undefined) callback(new Error(`${hostname} has no address`), '');
    else if (all === true) callback(null, pinned);
    else callback(null, first.address, first.family);
  };
  return {
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: connectTimeoutMs,
    headers: { ...headers, 'accept-encoding': 'identity' },
    lookup,
    maxHeaderSize: headerBytesMax,
    method,
    pinnedTo: addresses.toSorted().join(),
    // The environment can turn it off for all that leave it open.
    rejectUnauthorized: true,
    servername: isIP(host) === 0 ? host : '',
    signal,
  };
}

async function answerOf(sent: ClientRequest, { body, answerBytesMax }: PinnedRequest): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const fail = (reason: string) => (cause: unknown) => reject(new OutboundError(reason, { cause }));
    sent.once('response', (response) => {
      readBody(response).then((read) => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: read });
      }, fail('ended its answer early'));
    });
    // More than one can come, and one that nobody hears ends the process.
    sent.on('error', fail('cannot be reached'));
    // No error tells that the host wants to speak another protocol.
    sent.once('upgrade', (_response, socket) => {
      socket.destroy();
      reject(new OutboundError('did not answer in HTTP/1.1'));
    });
    sent.once('socket', (socket) => {
      let bytes = 0;
      const count = (chunk: Buffer): void => {
        bytes += chunk.length;
        if (bytes <= answerBytesMax) return;
        reject(new OutboundError(`answered with more than ${answerBytesMax} bytes`));
        sent.destroy();
      };
      socket.on('data', count);
      sent.once('close', () => socket.off('data', count));
    });
    sent.end(body);
  });
}

async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return Buffer.concat(chunks);
}
