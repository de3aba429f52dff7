/**
 * Requests on sockets of its own, with next to no work for each: who measures a service beyond what it can do on the same machine
 * must not take the processors that it needs.
 */
import { connect, type Socket } from 'node:net';

/** A whole request, headers included. */
export type RawRequest = Buffer;

/** Status of the answer; 0: the connection ended before there was one. */
type OnStatus = (status: number) => void;

export interface RawClient {
  /** Connections that have nothing to do. */
  idle(): number;
  /** Sends on an idle connection. */
  send(request: RawRequest, onStatus: OnStatus): void;
  close(): void;
}

const endOfHead = Buffer.from('\r\n\r\n');

/** Keeps `connections` connections open; those that end are opened again. */
export function openRawClient(port: number, connections: number): RawClient {
  const idle: Line[] = [];
  const lines = new Set<Line>();
  let isOpen = true;
  const open = (): void => {
    if (!isOpen) return;
    const line = new Line(
      port,
      () => idle.push(line),
      () => {
        lines.delete(line);
        const at = idle.indexOf(line);
        if (at >= 0) idle.splice(at, 1);
        setTimeout(open, 100);
      },
    );
    lines.add(line);
  };
  for (let count = 0; count < connections; count++) open();
  return {
    idle: () => idle.length,
    send: (request, onStatus) => idle.pop()?.send(request, onStatus),
    close() {
      isOpen = false;
      for (const line of lines) line.close();
    },
  };
}

/** One connection: one request at a time. */
class Line {
  readonly #socket: Socket;
  readonly #onIdle: () => void;
  #onStatus: OnStatus | undefined;
  #head: Buffer | undefined;
  #status = 0;
  /** Bytes of the body that have not come. */
  #left = -1;

  constructor(port: number, onIdle: () => void, onEnd: () => void) {
    this.#onIdle = onIdle;
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.once('connect', onIdle);
    this.#socket.on('data', (chunk) => this.#take(chunk));
    this.#socket.on('error', () => undefined);
    this.#socket.once('close', () => {
      this.#onStatus?.(0);
      onEnd();
    });
  }

  send(request: RawRequest, onStatus: OnStatus): void {
    this.#onStatus = onStatus;
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.destroy();
  }

  #take(chunk: Buffer): void {
    if (this.#left >= 0) return this.#takeBody(chunk.length);
    const all: Buffer = this.#head === undefined ? chunk : Buffer.concat([this.#head, chunk]);
    const end = all.indexOf(endOfHead);
    if (end < 0) {
      this.#head = all;
      return;
    }
    this.#head = undefined;
    const head = all.toString('latin1', 0, end);
    this.#status = Number(head.slice(9, 12));
    this.#left = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
    this.#takeBody(all.length - end - endOfHead.length);
  }

  #takeBody(bytes: number): void {
    this.#left -= bytes;
    if (this.#left > 0) return;
    this.#left = -1;
    const onStatus = this.#onStatus;
    this.#onStatus = undefined;
    onStatus?.(this.#status);
    this.#onIdle();
  }
}
