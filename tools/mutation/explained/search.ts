/** Why mutants of search/ survive. */
import type { Explanation } from '../explanation.ts';

export const searchExplained: readonly Explanation[] = [
  {
    file: 'search/selection.ts',
    code: 'if (key === undefined) return inOrderOfLead(wanted, lead, stretch);',
    changes: ['key === undefined → true'],
    reason: 'speed',
    why: 'A search without _sort may come in any order; the implied key only lets the shorter of two ways of finding it be taken.',
  },
  {
    file: 'search/types/date.ts',
    code: 'const dayMicros = 24 * hourMicros;',
    reason: 'speed',
    why: 'The length of a day says here only how many rows a span is taken to hold, and so which parameter leads; the width that the index is asked by is another constant.',
  },
  {
    file: 'search/types/date.ts',
    code: 'hi: compareMoments(range.hi, outer.hi) > 0 ? range.hi : outer.hi,',
    changes: ['> → >='],
    reason: 'equivalent',
    why: 'Of two equal ends it does not matter which is taken.',
  },
  {
    file: 'search/types/token.ts',
    code: 'if (codings.length === 0) rows.token(number, noSystem, presence);',
    changes: ['codings.length === 0 → true'],
    reason: 'speed',
    why: 'A row of mere presence beside rows of values is never asked for: it takes room only. It is there for concepts of text alone.',
  },
];
