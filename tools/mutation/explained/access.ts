/** Why mutants of access/ survive. */
import type { Explanation } from '../explanation.ts';

export const accessExplained: readonly Explanation[] = [
  {
    file: 'access/grants.ts',
    code: 'return [...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, criterion]) => criterion);',
    changes: ['< → <=', '1 → (1 + 1)'],
    reason: 'equivalent',
    why: 'The keys of a map are never equal, and only the sign of what a comparison returns counts.',
  },
  {
    file: 'access/mask.ts',
    code: "if (tags.includes('SUBSETTED') && holdsSubsetted(JSON.parse(tags))) return tags;",
    changes: ["tags.includes('SUBSETTED') && holdsSubsetted(JSON.parse(tags)) → holdsSubsetted(JSON.parse(tags))"],
    reason: 'speed',
    why: 'Tags that do not have the word need not be parsed.',
  },
  {
    file: 'access/intersect-entries.ts',
    code: 'if (aCovers && bCovers) return a.text <= b.text ? a : b;',
    changes: ['<= → <'],
    reason: 'equivalent',
    why: 'Entries of the same text have the same meaning: it does not matter which is taken.',
  },
  {
    file: 'access/open-rights.ts',
    code: 'closed: [...open.closed].toSorted(),',
    reason: 'equivalent',
    why: 'What is closed is either nothing or the types of all filters, in the order of the registry; sorted so that the fingerprint does not rest on that.',
  },
];
