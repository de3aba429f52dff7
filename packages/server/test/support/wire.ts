/**
 * HTTP as it goes over the wire, on connections that are kept: repeated headers, any method, paths as they are written,
 * several requests on one connection, requests that stop half-way.
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import net from 'node:net';
import { type Answer, toAnswer } from './service.ts';

export interface WireRequest {
  readonly method?: string;
  /** The request target exactly as it is sent. */
  readonly path: string;
  /** A list sends the header once for each value. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

export interface Wire {
  send(request: WireRequest): Promise<Answer>;
  close(): void;
}

/** A client with a few kept connections to `origin`, any number of requests waiting for them. */
export function openWire(origin: string, connectionsMax = 4): Wire {
  const { hostname, port } = new URL(origin);
  const agent = new http.Agent({ keepAlive: true, maxSockets: connectionsMax });
  return {
    send: (request) => exchange({ hostname, port, agent }, request),
    close: () => agent.destroy(),
  };
}

function exchange(
  target: http.RequestOptions,
  { method = 'GET', path, headers = {}, body }: WireRequest,
): Promise<Answer> {
  const lines = Object.entries(headers).map(([name, value]): [string, string | string[]] => [
    name,
    typeof value === 'string' ? value : [...value],
  ]);
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  return new Promise((resolve, reject) => {
    const sent = http.request({ ...target, method, path, headers: { ...length, ...Object.fromEntries(lines) } });
    sent.once('error', reject);
    sent.once('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('error', reject);
      response.once('end', () =>
        resolve(
          toAnswer(response.statusCode ?? 0, headersOf(response.headersDistinct), Buffer.concat(chunks).toString()),
        ),
      );
    });
    sent.end(body);
  });
}

function headersOf(distinct: Readonly<Record<string, readonly string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, values] of Object.entries(distinct)) for (const value of values ?? []) headers.append(name, value);
  return headers;
}

/** One connection on which a test writes bytes and reads answers. */
export interface RawConnection {
  write(bytes: string | Buffer): void;
  /** The next answer, interim ones (1xx) too. @throws AssertionError when the server closes the connection instead */
  answer(): Promise<Answer>;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  /** Sends no more, still reads. */
  end(): void;
  destroy(): void;
}

/** A raw connection to `origin`. */
export async function openRaw(origin: string): Promise<RawConnection> {
  const { hostname, port } = new URL(origin);
  const socket = net.connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  let received = Buffer.alloc(0);
  let isEnded = false;
  let wake = (): void => undefined;
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close']) {
      socket.once(event, () => {
        isEnded = true;
        wake();
        resolve();
      });
    }
  });
  socket.on('error', () => undefined); // told by `closed`
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    wake();
  });
  return {
    write: (bytes) => void socket.write(bytes),
    async answer() {
      for (;;) {
        const first = parse(received, isEnded);
        if (first !== undefined) {
          received = received.subarray(first.length);
          return first.answer;
        }
        assert.ok(!isEnded, `the connection was closed before an answer; received: ${received.toString('latin1')}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    closed,
    end: () => void socket.end(),
    destroy: () => void socket.destroy(),
  };
}

/** The first answer in `bytes` and its length; undefined while it is not whole. */
function parse(bytes: Buffer, isEnded: boolean): { readonly answer: Answer; readonly length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return undefined;
  const [statusLine = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n');
  const status = Number(statusLine.split(' ')[1]);
  const headers = new Headers(
    lines.map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const content = contentOf(bytes.subarray(end + 4), status, headers, isEnded);
  if (content === undefined) return undefined;
  return { answer: toAnswer(status, headers, content.text), length: end + 4 + content.length };
}

function contentOf(
  bytes: Buffer,
  status: number,
  headers: Headers,
  isEnded: boolean,
): { readonly text: string; readonly length: number } | undefined {
  if (status < 200 || status === 204 || status === 304) return { text: '', length: 0 };
  if (headers.get('transfer-encoding') === 'chunked') return chunksOf(bytes);
  const length = Number(headers.get('content-length') ?? (isEnded ? bytes.length : Number.NaN));
  return bytes.length >= length ? { text: bytes.subarray(0, length).toString(), length } : undefined;
}

function chunksOf(bytes: Buffer): { readonly text: string; readonly length: number } | undefined {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.subarray(at, lineEnd).toString('latin1'), 16);
    const next = lineEnd + 2 + size + 2;
    if (bytes.length < next) return undefined;
    chunks.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = next;
    if (size === 0) return { text: Buffer.concat(chunks).toString(), length: at };
  }
}
