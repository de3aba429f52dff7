/** Why mutants of interactions/ survive. */
import type { Explanation } from '../explanation.ts';

export const interactionsExplained: readonly Explanation[] = [
  {
    file: 'interactions/once.ts',
    code: "const asked = JSON.stringify(['request', await idempotency.asked()]);",
    changes: ["'request' → ''"],
    reason: 'equivalent',
    why: 'The word keeps the hash of a request apart from that of a key, which begins with another word: any other does so, too.',
  },
  {
    file: 'interactions/search-system-cursor.ts',
    code: 'const cursorLengthMax = 17_000;',
    reason: 'equivalent',
    why: 'A cursor that was sealed here is shorter; a text of either length is refused, as its seal does not open.',
  },
];
