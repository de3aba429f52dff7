/** Where a follower has come to, kept over restarts. */

/** Keeps one cursor. A text is opaque, and of at most 8,000 characters. */
export interface CursorStore {
  /** The cursor that was saved last; undefined where none was, or `undefined` itself. */
  load(): Promise<string | undefined>;
  /** Resolves when the cursor is kept; `undefined` forgets it. */
  save(cursor: string | undefined): Promise<void>;
}

/** A store that ends with the program. */
export function makeMemoryCursor(cursor?: string): CursorStore {
  let kept = cursor;
  return {
    load: async () => kept,
    async save(saved) {
      kept = saved;
    },
  };
}
