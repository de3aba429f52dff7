/**
 * The intersection of two sets of entries: of a token, and of what a firm authorised. Of two entries, one of each side, the
 * narrower is effective where one covers the other, else none.
 */
import { type EntryRefusal, isFilterLike, parseEntry, splitEntry } from './grammar.ts';
import type { OperatorRows } from './operator-rows.ts';
import { covers, interpretEntry, type Meaning } from './rights.ts';

/** The entries of a token or of an authorisation. */
export interface EntrySide {
  readonly meanings: readonly Meaning[];
  readonly filters: readonly string[];
  /** A filter was not understood: everything that filters narrow is closed. */
  readonly closed: boolean;
  readonly refused: readonly EntryRefusal[];
}

/** Reads one side; texts that are no entries are kept apart. */
export function readSide(texts: readonly string[], operatorRows: OperatorRows): EntrySide {
  const meanings: Meaning[] = [];
  const filters: string[] = [];
  const refused: EntryRefusal[] = [];
  for (const text of new Set(texts)) {
    const entry = parseEntry(text);
    if (entry.kind === 'refused') refused.push(entry);
    else if (entry.kind === 'filter') filters.push(text);
    else meanings.push(...splitEntry(entry).map((each) => interpretEntry(each, operatorRows)));
  }
  return { meanings, filters, closed: refused.some((entry) => isFilterLike(entry.text)), refused };
}

/** What both sides hold, sorted by text. Commutative; nothing in the result is wider than what either side holds. */
export function intersectEntries(token: readonly Meaning[], firm: readonly Meaning[]): readonly Meaning[] {
  const met = new Map<string, Meaning>();
  for (const a of token) {
    for (const b of firm) {
      const narrower = narrowerOf(a, b);
      if (narrower) met.set(narrower.text, narrower);
    }
  }
  return [...met.values()].toSorted((a, b) => (a.text < b.text ? -1 : 1));
}

function narrowerOf(a: Meaning, b: Meaning): Meaning | undefined {
  const aCovers = covers(a, b);
  const bCovers = covers(b, a);
  if (aCovers && bCovers) return a.text <= b.text ? a : b;
  if (aCovers) return b;
  return bCovers ? a : undefined;
}
