/** Why mutants of search/ survive. */
import type { Explanation } from '../explanation.ts';

export const searchExplained: readonly Explanation[] = [
  {
    file: 'search/sql/choose-driving-index.ts',
    code: 'if (span?.to !== undefined && (to === undefined || compareMoments(span.to, to) < 0)) to = span.to;',
    changes: ['span?.to !== undefined && (to === undefined || compareMoments(span.to, to) < 0) → true'],
    reason: 'speed',
    why: 'How long the common span is taken to be says only which parameter drives the search; every driving index finds the same.',
  },
  {
    file: 'search/parameters.ts',
    code: 'if (parameters.size > 0) byType.set(type, parameters);',
    changes: ['> → >='],
    reason: 'speed',
    why: 'That names of no type have no parameters may be remembered or found out anew; not to remember bounds the memory.',
  },
  {
    file: 'search/query/parse-condition.ts',
    code: 'if (dot >= 0) return { condition: parseChain(parameter, modifier, path.slice(dot + 1), step), used };',
    changes: ['0 → (0 + 1)'],
    reason: 'equivalent',
    why: 'A path that begins with a dot was answered before: no parameter has an empty code.',
  },
  {
    file: 'search/sql/page-strategy.ts',
    code: 'if (key === undefined) return inOrderOfDrivingIndex(wanted, driving, range);',
    changes: ['key === undefined → true'],
    reason: 'speed',
    why: 'A search without _sort may come in any order; the implied key only lets the shorter of two ways of finding it be taken.',
  },
  {
    file: 'search/kinds/composite.ts',
    code: 'const columnLengthMax = 120;',
    reason: 'accepted',
    why: 'A code of more characters than any in practice is not found by a composite; where exactly that begins matters only to the size of a key, which has room.',
  },
  {
    file: 'search/kinds/date.ts',
    code: 'const dayMicros = 24 * hourMicros;',
    reason: 'speed',
    why: 'The length of a day says here only how many rows a span is taken to hold, and so which parameter leads; the width that the index is asked by is another constant.',
  },
  {
    file: 'search/kinds/date.ts',
    code: 'hi: compareMoments(range.hi, outer.hi) > 0 ? range.hi : outer.hi,',
    changes: ['> → >='],
    reason: 'equivalent',
    why: 'Of two equal ends it does not matter which is taken.',
  },
  {
    file: 'search/kinds/date.ts',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of source, as it stands there
    code: 'return points ? { where: sql`lo >= ${to}` } : endingAfter(to, sql`hi > ${to}`);',
    changes: ['points → false'],
    reason: 'speed',
    why: 'An instant ends a microsecond after it begins, so both conditions find the same; the shorter one is one stretch of the index.',
  },
  {
    file: 'search/kinds/quantity.ts',
    code: "if (unit !== '' && unit !== code) rows.number(number, range, noSystem, unit);",
    changes: ["unit !== '' && unit !== code → unit !== ''", '&& → ||'],
    reason: 'speed',
    why: 'A unit is asked for in any system, so a second row with the same text, or with none, finds what the first one does: it takes room only.',
  },
  {
    file: 'search/kinds/token.ts',
    code: "'canonical',",
    reason: 'accepted',
    why: 'No token parameter of R4 selects canonicals; one of a firm that mixes them with texts would find nothing by a | instead of saying that there is no system.',
  },
  {
    file: 'search/kinds/token.ts',
    code: 'if (codings.length === 0) rows.token(number, noSystem, presence);',
    changes: ['codings.length === 0 → true'],
    reason: 'speed',
    why: 'A row of mere presence beside rows of values is never asked for: it takes room only. It is there for concepts of text alone.',
  },
];
