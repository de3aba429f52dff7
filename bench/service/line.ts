/**
 * A kept connection to a server, with next to no work for each request: who shares the processors with what it
 * measures must leave them to it.
 */
import { connect, type Socket } from 'node:net';
import { connect as connectSecurely } from 'node:tls';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An answer with what it said. */
export interface WholeAnswer {
  readonly status: number;
  /** The status line and the headers, as they came. */
  readonly head: string;
  readonly body: string;
}

const endOfHead = Buffer.from('\r\n\r\n');
/** What a body in chunks ends with. JSON, which all bodies here are, holds no line break followed by a return. */
const lastChunk = '\r\n0\r\n\r\n';
const noBody: ReadonlySet<number> = new Set([204, 304]);

/** One request at a time. */
export class Line {
  readonly #origin: URL;
  #socket: Socket | undefined;
  #answer: PromiseWithResolvers<number> | undefined;
  /** What has come of the head; undefined: it has come. */
  #head: Buffer | undefined;
  #status = 0;
  #isKept = true;
  /** Bytes of the body that have not come; undefined: it comes in chunks, the last bytes of which are `#tail`. */
  #left: number | undefined;
  #tail = '';
  /** The head of the last answer. */
  #headText = '';
  /** What has come of a body that is wanted. */
  #parts: Buffer[] | undefined;

  constructor(origin: string) {
    this.#origin = new URL(origin);
  }

  /** The status of the answer, when its last byte has come. */
  send(call: Call): Promise<number> {
    this.#socket ??= this.#open();
    this.#head = Buffer.alloc(0);
    this.#answer = Promise.withResolvers();
    this.#socket.write(this.#textOf(call));
    return this.#answer.promise;
  }

  /** The answer, head and body with it. */
  async exchange(call: Call): Promise<WholeAnswer> {
    const parts: Buffer[] = [];
    this.#parts = parts;
    const status = await this.send(call);
    const body = Buffer.concat(parts);
    return { status, head: this.#headText, body: this.#left === undefined ? joinChunks(body) : body.toString() };
  }

  close(): void {
    this.#socket?.destroy();
  }

  #textOf({ method, path, headers, body }: Call): string {
    const head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#origin.host}\r\n${textOfHeaders(headers)}`;
    return body === undefined ? `${head}\r\n` : `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }

  #open(): Socket {
    const socket = openSocket(this.#origin);
    let cause: unknown;
    socket.on('data', (chunk) => this.#take(chunk));
    socket.on('error', (error) => {
      cause = error;
    });
    socket.once('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#answer?.reject(new Error('the connection ended before the answer', { cause }));
      this.#answer = undefined;
      this.#parts = undefined;
    });
    return socket;
  }

  #take(chunk: Buffer): void {
    if (this.#head === undefined) return this.#takeBody(chunk);
    const all = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = all.indexOf(endOfHead);
    if (end < 0) {
      this.#head = all;
      return;
    }
    this.#head = undefined;
    this.#headText = all.toString('latin1', 0, end);
    this.#readHead(this.#headText.toLowerCase());
    // The break before the body is a part of it: a body in chunks may be the last chunk alone.
    this.#tail = '\r\n';
    this.#takeBody(all.subarray(end + endOfHead.length));
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12));
    this.#isKept = !head.includes('\r\nconnection: close');
    const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
    this.#left = noBody.has(this.#status) ? 0 : length === undefined ? undefined : Number(length);
  }

  #takeBody(bytes: Buffer): void {
    this.#parts?.push(bytes);
    if (this.#left === undefined) {
      const from = Math.max(0, bytes.length - lastChunk.length);
      this.#tail = `${this.#tail}${bytes.toString('latin1', from)}`.slice(-lastChunk.length);
      if (this.#tail === lastChunk) this.#end();
      return;
    }
    this.#left -= bytes.length;
    if (this.#left <= 0) this.#end();
  }

  #end(): void {
    if (!this.#isKept) {
      this.#socket?.destroy();
      this.#socket = undefined;
    }
    const answer = this.#answer;
    this.#answer = undefined;
    this.#parts = undefined;
    answer?.resolve(this.#status);
  }
}

function openSocket({ protocol, hostname, port }: URL): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  if (protocol === 'http:') return connect({ host, port: Number(port || 80), noDelay: true });
  const socket = connectSecurely({ host, port: Number(port || 443), servername: host, ALPNProtocols: ['http/1.1'] });
  return socket.setNoDelay();
}

/** The text of a body in chunks (https://www.rfc-editor.org/rfc/rfc9112#section-7.1). */
function joinChunks(bytes: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; ; ) {
    const from = bytes.indexOf('\r\n', at) + 2;
    const length = Number.parseInt(bytes.toString('latin1', at, from), 16);
    if (from < 2 || !(length > 0)) return Buffer.concat(parts).toString();
    parts.push(bytes.subarray(from, from + length));
    at = from + length + 2;
  }
}

/** Callers send the same headers again and again. */
const texts = new WeakMap<object, string>();

function textOfHeaders(headers: Call['headers']): string {
  const known = texts.get(headers);
  if (known !== undefined) return known;
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const text = lines.join('');
  texts.set(headers, text);
  return text;
}
