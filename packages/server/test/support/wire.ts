/**
 * HTTP as it goes over the wire, for tests that `fetch` is too polite for: repeated headers, any method, any host, paths
 * as they are written, broken requests. Connections are kept and reused.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';

/** Name → value, or several values for a header that is sent several times. */
export type WireHeaders = Readonly<Record<string, string | readonly string[]>>;

export interface WireRequest {
  readonly method?: string;
  /** The request target exactly as it is sent. */
  readonly path: string;
  readonly headers?: WireHeaders;
  readonly body?: string | Buffer;
}

export interface WireAnswer {
  readonly status: number;
  /** Lower-case names; repeated ones joined as HTTP joins them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The body as JSON; undefined when empty or no JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests assert on whole bodies of many shapes.
  readonly json: any;
}

export interface Wire {
  send(request: WireRequest): Promise<WireAnswer>;
  close(): void;
}

/** A client with a few kept connections to `origin`. */
export function openWire(origin: string, connectionsMax = 4): Wire {
  const { hostname, port } = new URL(origin);
  const agent = new http.Agent({ keepAlive: true, maxSockets: connectionsMax });
  return {
    send: (request) => exchange({ hostname, port, agent }, request),
    close: () => agent.destroy(),
  };
}

function exchange(target: http.RequestOptions, request: WireRequest): Promise<WireAnswer> {
  const { method = 'GET', path, body } = request;
  const headers: http.OutgoingHttpHeaders = {};
  for (const [name, value] of Object.entries(request.headers ?? {}))
    headers[name] = typeof value === 'string' ? value : [...value];
  if (body !== undefined) headers['content-length'] ??= Buffer.byteLength(body);
  return new Promise((resolve, reject) => {
    const sent = http.request({ ...target, method, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const { statusCode = 0, headersDistinct } = response;
        const joined = Object.entries(headersDistinct).map(([name, values]) => [name, values?.join(', ') ?? '']);
        resolve(answer(statusCode, Object.fromEntries(joined), Buffer.concat(chunks).toString('utf8')));
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

function answer(status: number, headers: Readonly<Record<string, string>>, text: string): WireAnswer {
  return {
    status,
    headers,
    text,
    json: /json/.test(headers['content-type'] ?? '') ? JSON.parse(text || 'null') : undefined,
  };
}

/** One connection on which a test writes bytes and reads answers. */
export interface RawConnection {
  write(bytes: string | Buffer): void;
  /** The next answer on the connection; `head`: it has no body whatever its headers say. */
  answer(options?: { readonly head?: true }): Promise<WireAnswer>;
  /** Resolves when the server has closed its side. */
  readonly closed: Promise<void>;
  /** Ends the connection from this side, without waiting. */
  destroy(): void;
}

/** A raw connection to `origin`. */
export async function openRaw(origin: string): Promise<RawConnection> {
  const { hostname, port } = new URL(origin);
  const socket = net.connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  let received = Buffer.alloc(0);
  let isClosed = false;
  let wake = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => {
      isClosed = true;
      wake();
      resolve();
    });
  });
  socket.on('error', () => undefined); // told by `closed`
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  const more = (): Promise<void> =>
    new Promise((resolve) => {
      wake = resolve;
    });
  return {
    write: (bytes) => void socket.write(bytes),
    async answer(options = {}) {
      for (;;) {
        const parsed = parse(received, isClosed, options.head === true);
        if (parsed !== undefined) {
          received = received.subarray(parsed.length);
          return parsed.answer;
        }
        assert.equal(isClosed, false, `the connection was closed before an answer: ${received.toString('latin1')}`);
        await more();
      }
    },
    closed,
    destroy: () => void socket.destroy(),
  };
}

/** The first answer in `bytes` and its length; undefined while it is not whole. */
function parse(bytes: Buffer, isClosed: boolean, head: boolean): { answer: WireAnswer; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(first.split(' ')[1]);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const at = line.indexOf(':');
    headers[line.slice(0, at).toLowerCase()] = line.slice(at + 1).trim();
  }
  const start = end + 4;
  const isEmpty = head || status < 200 || status === 204 || status === 304;
  const size = isEmpty ? 0 : Number(headers['content-length'] ?? (isClosed ? bytes.length - start : Number.NaN));
  if (Number.isNaN(size) || bytes.length < start + size) return undefined;
  const text = bytes.subarray(start, start + size).toString('utf8');
  return { answer: answer(status, headers, text), length: start + size };
}
