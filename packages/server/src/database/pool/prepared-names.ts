/**
 * Which statements are prepared, and under what name (https://www.postgresql.org/docs/current/sql-prepare.html).
 * A text is prepared from its second use on: searches come in very many shapes, most of them once, and a prepared
 * statement costs memory in every connection.
 */
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

export interface PreparedNames {
  /** The name to prepare `text` under, or undefined to run it unprepared. Same text, same name, for ever. */
  nameOf(text: string): string | undefined;
}

/** Remembers the `textsMax` most recently used texts. */
export function openPreparedNames(textsMax: number): PreparedNames {
  const names = new LRUCache<string, string>({ max: textsMax });
  return {
    nameOf(text) {
      const known = names.get(text);
      if (known !== undefined && known !== usedOnce) return known;
      const name = known === usedOnce ? digest(text) : undefined;
      names.set(text, name ?? usedOnce);
      return name;
    },
  };
}

/** In place of the name of a text that was used once. */
const usedOnce = '';

/** Names that one connection has prepared, so that the least recently used can be given up. */
export function openNames(namesMax: number): { use(name: string): string | undefined } {
  const names = new LRUCache<string, string>({ max: namesMax + 1 });
  return {
    /** Notes the use of `name`; returns the name to close in exchange, if any. */
    use(name) {
      if (names.get(name) !== undefined) return undefined;
      names.set(name, name);
      return names.size > namesMax ? names.pop() : undefined;
    },
  };
}

function digest(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 24);
}
