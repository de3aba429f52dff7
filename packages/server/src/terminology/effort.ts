/**
 * How much work one question to the terminology may be: definitions come from firms and callers, and some that are small
 * to write are endless to evaluate.
 */
import { fail } from '../base/errors.ts';

/** Units: a concept looked at, or one step of a regular expression tried on one character. About a second. */
export const effortMax = 5_000_000;

/** Spends units. @throws PraxisError `expansion-too-costly` when none are left */
export type Spend = (units: number) => void;

/** The budget of one question. */
export function openEffort(): Spend {
  let left = effortMax;
  return (units) => {
    left -= units;
    if (left >= 0) return;
    fail('expansion-too-costly', {
      diagnostics: `The value set takes too much work (more than ${effortMax} steps): it has too many parts, or costly filters`,
    });
  };
}
