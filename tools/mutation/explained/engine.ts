/** Why mutants of engine/ survive. */
import type { Explanation } from '../explanation.ts';

export const engineExplained: readonly Explanation[] = [
  {
    file: 'engine/write/idempotency.ts',
    code: "const asked = JSON.stringify(['request', await idempotency.asked()]);",
    changes: ["'request' → ''"],
    reason: 'equivalent',
    why: 'The word keeps the hash of a request apart from that of a key, which begins with another word: any other does so, too.',
  },
  {
    file: 'engine/search/search-system-cursor.ts',
    code: 'const cursorLengthMax = 17_000;',
    reason: 'equivalent',
    why: 'A cursor that was sealed here is shorter; a text of either length is refused, as its seal does not open.',
  },
  {
    file: 'engine/audit-recorder.ts',
    code: 'if (second === undefined && first.entries.length < 2) return first.entries;',
    changes: ['return first.entries; → {}'],
    reason: 'speed',
    why: 'Most requests rest on one grant of one entry, which needs no set; the set of that one entry is the same.',
  },
  {
    file: 'practice/intake/proposing.ts',
    code: "if (outcome.outcome !== 'written') fail('conflict', { diagnostics: 'The new id is taken: repeat the request' });",
    changes: ["'conflict' → ''"],
    reason: 'shown elsewhere',
    why: 'The type check refuses a code that the table of errors does not have. No test runs the line: a UUID that was just made up would have to be taken.',
  },
];
