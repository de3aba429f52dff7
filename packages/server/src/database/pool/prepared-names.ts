/**
 * Which statements are prepared, and under what name (https://www.postgresql.org/docs/current/sql-prepare.html).
 * A text is prepared from its second use on: searches come in very many shapes, most of them once, and a prepared
 * statement costs memory in every connection.
 */
import { createHash } from 'node:crypto';

export interface PreparedNames {
  /** The name to prepare `text` under, or undefined to run it unprepared. Same text, same name, for ever. */
  nameOf(text: string): string | undefined;
}

/** Remembers the `textsMax` most recently used texts. */
export function preparedNames(textsMax: number): PreparedNames {
  const names = new Map<string, string | undefined>();
  return {
    nameOf(text) {
      const known = names.has(text);
      const name = known ? (names.get(text) ?? digest(text)) : undefined;
      names.delete(text);
      names.set(text, name);
      if (names.size > textsMax) names.delete(oldest(names));
      return name;
    },
  };
}

/** Names that one connection has prepared, so that the least recently used can be given up. */
export function openNames(namesMax: number): { use(name: string): string | undefined } {
  const names = new Set<string>();
  return {
    /** Notes the use of `name`; returns the name to close in exchange, if any. */
    use(name) {
      names.delete(name);
      names.add(name);
      if (names.size <= namesMax) return undefined;
      const evicted = oldest(names);
      names.delete(evicted);
      return evicted;
    },
  };
}

function oldest(collection: ReadonlyMap<string, unknown> | ReadonlySet<string>): string {
  return collection.keys().next().value ?? '';
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 24);
}
