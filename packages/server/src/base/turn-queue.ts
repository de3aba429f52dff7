/**
 * A queue from which applications are served in turns, and the firms of each in turns, so that who comes waits for one piece
 * of work of each application that waits already, however much of it waits (docs/decisions/0240). It knows nothing of the
 * work: those who own the queue decide when the next piece is taken.
 */
import { LRUCache } from 'lru-cache';
import { boundEntries } from './bounded-entries.ts';

/** Whose turn it is. */
export interface Turn {
  readonly application: number;
  /** By number, or by the text of the number. */
  readonly firm: number | string;
}

/** What else decides who is next. */
export interface TurnOrder {
  /** Whether the application may be served now; without it all may. */
  readonly mayServe?: (application: number) => boolean;
  /** How much the application has used of late: the least is served first, among equals the one that has waited longest for its turn. */
  readonly useOf?: (application: number) => number;
}

/** Applications and firms whose last turn is remembered, at most; of the others it counts as long ago. */
const rememberedMax = 10_000;

type Line<T> = Map<Turn['firm'], Set<T>>;

/** Pieces of work that wait, each to be in the queue once. */
export class TurnQueue<T> {
  readonly #lines = new Map<number, Line<T>>();
  readonly #sizes = new Map<number, number>();
  readonly #lastTurns = new LRUCache<string, number>(boundEntries(rememberedMax));
  #size = 0;
  #turns = 0;

  get size(): number {
    return this.#size;
  }

  sizeOf(application: number): number {
    return this.#sizes.get(application) ?? 0;
  }

  add({ application, firm }: Turn, item: T): void {
    const line: Line<T> = this.#lines.get(application) ?? new Map();
    const items = line.get(firm) ?? new Set();
    this.#lines.set(application, line.set(firm, items.add(item)));
    this.#sizes.set(application, this.sizeOf(application) + 1);
    this.#size += 1;
  }

  /** Takes the item out, if it waits; it has had no turn. */
  remove({ application, firm }: Turn, item: T): void {
    const line = this.#lines.get(application);
    const items = line?.get(firm);
    if (line === undefined || items === undefined || !items.delete(item)) return;
    if (items.size === 0) line.delete(firm);
    if (line.size === 0) this.#lines.delete(application);
    const left = this.sizeOf(application) - 1;
    if (left === 0) this.#sizes.delete(application);
    else this.#sizes.set(application, left);
    this.#size -= 1;
  }

  /** The item that is next, still in the queue; undefined when nobody waits who may be served. */
  next({ mayServe, useOf }: TurnOrder = {}): T | undefined {
    let best:
      | { readonly line: Line<T>; readonly application: number; readonly use: number; readonly turn: number }
      | undefined;
    for (const [application, line] of this.#lines) {
      if (mayServe !== undefined && !mayServe(application)) continue;
      const use = useOf?.(application) ?? 0;
      const turn = this.#lastTurn(`${application}`);
      if (best === undefined || use < best.use || (use === best.use && turn < best.turn))
        best = { line, application, use, turn };
    }
    return best && this.#nextOf(best.application, best.line);
  }

  /** Takes the item out as served: its application and firm come after all others that wait. */
  serve(turn: Turn, item: T): void {
    this.remove(turn, item);
    this.#turns += 1;
    for (const name of [`${turn.application}`, `${turn.application}/${turn.firm}`])
      this.#lastTurns.set(name, this.#turns);
  }

  *[Symbol.iterator](): Iterator<T> {
    for (const line of this.#lines.values()) for (const items of line.values()) yield* items;
  }

  #nextOf(application: number, line: Line<T>): T | undefined {
    let best: { readonly items: Set<T>; readonly turn: number } | undefined;
    for (const [firm, items] of line) {
      const turn = line.size === 1 ? 0 : this.#lastTurn(`${application}/${firm}`);
      if (best === undefined || turn < best.turn) best = { items, turn };
    }
    return best?.items.values().next().value;
  }

  #lastTurn(name: string): number {
    return this.#lastTurns.peek(name) ?? 0;
  }
}
