/**
 * Limits on what comes with one page by `_include` and `_revinclude`. Reaching one is told in the answer, never silently
 * cut (docs/decisions/0116).
 */

/** Resources included with one page at most. */
export const includedRowsMax = 1000;

/** What they take together at most, in bytes of their JSON as it is stored. */
export const includedBytesMax = 33_554_432;

/** Times that references are followed from what was found before: 1 for the matches, the others by `:iterate`. */
export const includeRoundsMax = 10;
