// A budget for tests, which count the steps that are spent.
import { type Budget, openBudget } from '../src/index.ts';

/** Steps that are enough for any example. */
export const enoughSteps = 100_000_000;

/** Exceeding it is an Error that names the limit. */
export function openTestBudget(steps = enoughSteps): Budget {
  const limits = { steps, bytes: Number.POSITIVE_INFINITY, ms: Number.POSITIVE_INFINITY };
  return openBudget(limits, {
    now: () => 0,
    nextSlice: async () => undefined,
    errorOf: ({ what, limit, max }) => new Error(`${what}: more than ${max} ${limit}`),
  });
}
