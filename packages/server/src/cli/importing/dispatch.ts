/**
 * Hands chunks to importers that work side by side. Of the same resource the versions are stored in the order of the files: a chunk
 * waits for those before it that are about one of its resources.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ChunkImporter, ChunkOutcome } from './chunk-importer.ts';
import type { Chunk } from './chunks.ts';
import type { Pacing } from './pacing.ts';

interface DispatchOptions {
  readonly pacing: Pacing;
  /** How many more problems are kept in the database. */
  readonly keepMax: () => number;
  readonly onOutcome: (chunk: Chunk, outcome: ChunkOutcome) => void;
}

/** Chunks of one importer at once: while one is stored, another is prepared and a third may wait for its turn. */
const chunksAtOnce = 3;

/** Imports all chunks. @throws the first error, when what was under way has ended; what `onOutcome` has told is stored */
export async function dispatchChunks(
  chunks: AsyncGenerator<Chunk>,
  importers: readonly ChunkImporter[],
  options: DispatchOptions,
): Promise<void> {
  const order = new StoringOrder();
  let failure: { readonly error: unknown } | undefined;
  const source = shareSource(chunks, order);
  const work = async (importer: ChunkImporter, lock: Lock): Promise<void> => {
    while (failure === undefined) {
      const taken = await source();
      if (taken === undefined) return;
      let isStored = false;
      try {
        await importChunk(importer, lock, taken, order, options);
        isStored = true;
      } finally {
        taken.turn.end(isStored);
      }
    }
  };
  const workers = importers.flatMap((importer) => {
    const lock = new Lock();
    return Array.from({ length: chunksAtOnce }, () =>
      work(importer, lock).catch((error: unknown) => {
        failure ??= { error };
      }),
    );
  });
  await Promise.all(workers);
  await chunks.return(undefined);
  if (failure !== undefined) throw failure.error;
}

interface Taken {
  readonly chunk: Chunk;
  readonly turn: Turn;
}

/** The next chunk for whoever asks, one after the other, with its place in the order. */
function shareSource(chunks: AsyncGenerator<Chunk>, order: StoringOrder): () => Promise<Taken | undefined> {
  let last: Promise<unknown> = Promise.resolve();
  return () => {
    const next = last.then(async (): Promise<Taken | undefined> => {
      const { done, value } = await chunks.next();
      return done === true ? undefined : { chunk: value, turn: order.begin() };
    });
    last = next.catch(() => undefined);
    return next;
  };
}

async function importChunk(
  importer: ChunkImporter,
  lock: Lock,
  { chunk, turn }: Taken,
  order: StoringOrder,
  { pacing, keepMax, onOutcome }: DispatchOptions,
): Promise<void> {
  // What one importer prepares first it stores first.
  const own = lock.queue();
  try {
    const keys = await importer.prepare(chunk);
    await order.announce(turn, keys);
    await own.reached;
    const outcome = await importer.store(keepMax());
    onOutcome(chunk, outcome);
    const restMs = pacing.note(outcome.slowest.ms, outcome.slowest.resources);
    if (restMs > 0) await delay(restMs);
  } finally {
    own.leave();
  }
}

/** One after the other, in the order of asking. */
class Lock {
  #last: Promise<void> = Promise.resolve();

  queue(): { readonly reached: Promise<void>; leave(): void } {
    const reached = this.#last;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last = promise;
    return { reached, leave: resolve };
  }
}

interface Turn {
  /** Undefined when it is known what they are about. */
  before: Turn | undefined;
  readonly announced: PromiseWithResolvers<void>;
  /** Whether it is stored. */
  readonly ended: PromiseWithResolvers<boolean>;
  end(isStored: boolean): void;
}

/** Which chunks are under way, and which resources they are about. */
class StoringOrder {
  #last: Turn | undefined;
  /** The last chunk under way about each resource. */
  readonly #about = new Map<string, Turn>();

  begin(): Turn {
    const announced = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<boolean>();
    const end = (isStored: boolean): void => {
      announced.resolve();
      ended.resolve(isStored);
    };
    const turn: Turn = { before: this.#last, announced, ended, end };
    this.#last = turn;
    return turn;
  }

  /**
   * Resolves when no chunk before is under way that is about one of the resources.
   * @throws Error when such a chunk has failed: what is behind it may not be stored before it
   */
  async announce(turn: Turn, keys: readonly string[]): Promise<void> {
    await turn.before?.announced.promise;
    turn.before = undefined;
    const others = new Set(keys.flatMap((key) => this.#about.get(key) ?? []));
    for (const key of keys) this.#about.set(key, turn);
    void turn.ended.promise.then(() => {
      for (const key of keys) if (this.#about.get(key) === turn) this.#about.delete(key);
    });
    turn.announced.resolve();
    const stored = await Promise.all([...others].map(({ ended }) => ended.promise));
    if (stored.includes(false)) throw new Error('an earlier part of the import has failed');
  }
}
