/**
 * The way between service and database, which can be made slow, silent or broken. The embedded server listens on a Unix socket:
 * that is renamed, and a link in its place leads to a proxy. A server that starts again makes its socket anew, and is
 * stepped in front of again.
 */
import { lstatSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import path from 'node:path';

/** How connections are treated; `answers-held`: what the service sends arrives, what the database says does not. */
export type Treatment =
  | { readonly kind: 'open' }
  | { readonly kind: 'slow'; readonly delayMs: number }
  | { readonly kind: 'silent' }
  | { readonly kind: 'answers-held' }
  | { readonly kind: 'refused' };

export interface DatabaseWay {
  treat(treatment: Treatment): void;
  /** Cuts all connections that there are. */
  cut(): void;
  /** Where the database is reached past the proxy. */
  readonly behind: { readonly host: string; readonly port: number };
  close(): void;
}

/** In the names of sockets. */
const port = 5432;
const behindPort = 5433;
const lookEveryMs = 20;

/**
 * Steps in front of the server whose socket is, or will be, in `directory`.
 * @param proxyPath of the proxy's own socket
 */
export function openDatabaseWay(directory: string, proxyPath: string): DatabaseWay {
  const socketOf = (number: number): string => path.join(directory, `.s.PGSQL.${number}`);
  const pairs = new Set<Pair>();
  let treatment: Treatment = { kind: 'open' };
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined);
    if (treatment.kind === 'refused') return void socket.destroy();
    const pair = new Pair(socket, connect({ path: socketOf(behindPort), allowHalfOpen: true }), () => treatment);
    pairs.add(pair);
    pair.whenEnded(() => pairs.delete(pair));
  });
  server.listen(proxyPath);
  const watch = setInterval(() => stepInFront(socketOf(port), socketOf(behindPort), proxyPath), lookEveryMs);
  return {
    treat(next) {
      treatment = next;
      for (const pair of pairs) pair.goOn();
    },
    cut() {
      for (const pair of [...pairs]) pair.destroy();
    },
    behind: { host: directory, port: behindPort },
    close() {
      clearInterval(watch);
      for (const pair of [...pairs]) pair.destroy();
      server.close();
    },
  };
}

/** Puts a link to the proxy where the server has made its socket. */
function stepInFront(front: string, behind: string, proxy: string): void {
  try {
    if (!lstatSync(front).isSocket()) return;
    const link = `${front}.link`;
    rmSync(link, { force: true });
    symlinkSync(proxy, link);
    renameSync(front, behind);
    renameSync(link, front);
  } catch {
    // There is no server yet, or it is just starting: the next look is soon.
  }
}

/** A connection of the service and the one that leads on to the database. */
class Pair {
  readonly #sockets: readonly [service: Socket, database: Socket];
  readonly #ways: readonly [Oneway, Oneway];

  constructor(service: Socket, database: Socket, treatment: () => Treatment) {
    this.#sockets = [service, database];
    this.#ways = [
      new Oneway(service, database, treatment, ['silent']),
      new Oneway(database, service, treatment, ['silent', 'answers-held']),
    ];
    for (const socket of this.#sockets) {
      socket.on('error', () => this.destroy());
      socket.once('close', () => this.destroy());
    }
  }

  goOn(): void {
    for (const way of this.#ways) way.goOn();
  }

  destroy(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  whenEnded(work: () => void): void {
    this.#sockets[0].once('close', work);
  }
}

/** One direction of a connection: chunks in their order, each when the treatment lets it pass. */
class Oneway {
  readonly #to: Socket;
  readonly #treatment: () => Treatment;
  readonly #heldBy: readonly Treatment['kind'][];
  #waiting: (() => void)[] = [];
  #last: Promise<void> = Promise.resolve();

  constructor(from: Socket, to: Socket, treatment: () => Treatment, heldBy: readonly Treatment['kind'][]) {
    this.#to = to;
    this.#treatment = treatment;
    this.#heldBy = heldBy;
    from.on('data', (chunk: Buffer) => this.#pass(() => void to.write(chunk)));
    from.on('end', () => this.#pass(() => void to.end()));
    from.resume();
  }

  goOn(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  #pass(send: () => void): void {
    const treatment = this.#treatment();
    const dueMs = performance.now() + (treatment.kind === 'slow' ? treatment.delayMs : 0);
    this.#last = this.#last.then(async () => {
      const restMs = dueMs - performance.now();
      if (restMs > 0) await new Promise((resolve) => setTimeout(resolve, restMs));
      while (this.#heldBy.includes(this.#treatment().kind))
        await new Promise<void>((resolve) => this.#waiting.push(resolve));
      if (!this.#to.destroyed) send();
    });
  }
}
