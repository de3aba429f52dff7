/**
 * The port of a node. The supervisor accepts connections and hands each to the worker that has the fewest, of those that get
 * connections (placement.ts); no byte of it is read here. A connection belongs to a worker once that worker says so: until then it
 * is kept, and goes to another worker if the first one dies (docs/decisions/0235). While there is no worker, connections wait.
 */
import { createServer, type Socket } from 'node:net';

/** A worker, as far as the door sees it. */
export interface Taker {
  /** Connections that it had when it said so last. */
  connections(): number;
  /** Sends it the socket, which stays open here. */
  give(id: number, socket: Socket): void;
}

export interface FrontDoor {
  /** Where it listens, `http://127.0.0.1:8080`. */
  readonly origin: string;
  /** The worker gets connections from now on. */
  admit(taker: Taker): void;
  /** Connections go to these workers while one of them takes what it is given; at first to all. */
  prefer(takers: readonly Taker[]): void;
  /** It gets no more of them; what it was given before, it will take. */
  dismiss(taker: Taker): void;
  /** The worker is gone: connections that it had not taken go to others. */
  bury(taker: Taker): void;
  /** It has taken the connection. */
  taken(taker: Taker, id: number): void;
  /** Accepts no more. */
  close(): void;
}

/** Connections that the kernel keeps before they are accepted. */
const backlog = 511;
/** Connections that wait for a worker; more are cut. */
const waitingMax = 10_000;
/** A worker that has not taken a connection for so long gets no more of them while another one can have them. */
const promptMs = 250;

interface Place {
  readonly given: Map<number, { readonly socket: Socket; readonly atMs: number }>;
  isAdmitted: boolean;
}

/** Listens. @throws the error of listening, EADDRINUSE for instance */
export async function openFrontDoor(host: string, port: number): Promise<FrontDoor> {
  const places = new Map<Taker, Place>();
  const waiting: Socket[] = [];
  let preferred: readonly Taker[] | undefined;
  let nextId = 1;
  const choose = (): [Taker, Place] | undefined => {
    const admitted = [...places].filter(([, { isAdmitted }]) => isAdmitted);
    const nowMs = performance.now();
    const prompt = admitted.filter(([, place]) => isPrompt(place, nowMs));
    const wanted = prompt.filter(([taker]) => preferred?.includes(taker) ?? true);
    const candidates = [wanted, prompt, admitted].find(({ length }) => length > 0) ?? [];
    return candidates.toSorted((left, right) => loadOf(left) - loadOf(right))[0];
  };
  const hand = (socket: Socket): void => {
    const chosen = choose();
    if (chosen === undefined) {
      if (waiting.length < waitingMax) waiting.push(socket);
      else socket.destroy();
      return;
    }
    const [taker, { given }] = chosen;
    const id = nextId++;
    given.set(id, { socket, atMs: performance.now() });
    taker.give(id, socket);
  };
  const server = createServer({ pauseOnConnect: true, noDelay: true }, (socket) => {
    // What becomes of the connection is seen by the worker that has it.
    socket.on('error', () => undefined);
    hand(socket);
  });
  const listening = await listen(server, host, port);
  return {
    origin: `http://${host.includes(':') ? `[${host}]` : host}:${listening}`,
    admit(taker) {
      places.set(taker, { given: new Map(), isAdmitted: true });
      for (const socket of waiting.splice(0)) hand(socket);
    },
    prefer(takers) {
      preferred = takers;
    },
    dismiss(taker) {
      const place = places.get(taker);
      if (place !== undefined) place.isAdmitted = false;
    },
    bury(taker) {
      const place = places.get(taker);
      places.delete(taker);
      for (const { socket } of place?.given.values() ?? []) hand(socket);
    },
    taken(taker, id) {
      const place = places.get(taker);
      // This process's copy alone: the connection lives on in the worker.
      place?.given.get(id)?.socket.destroy();
      place?.given.delete(id);
    },
    close() {
      server.close();
      for (const socket of waiting.splice(0)) socket.destroy();
    },
  };
}

function loadOf([taker, { given }]: [Taker, Place]): number {
  return taker.connections() + given.size;
}

function isPrompt({ given }: Place, nowMs: number): boolean {
  const [oldest] = given.values();
  return oldest === undefined || nowMs - oldest.atMs < promptMs;
}

/** The port that it listens on. */
async function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog }, resolve);
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
