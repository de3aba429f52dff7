/** Budgets for what is tested without a request. */
import { type Budget, openBudget } from '@praxis/fhir';
import { makeTooCostlyError, requestLimits } from '../../src/limits/budgets.ts';

/** What one request may cost, with all slices of the event loop for itself. */
export function openRequestBudget(): Budget {
  return openBudget(requestLimits, {
    now: () => performance.now(),
    nextSlice: async () => undefined,
    errorOf: makeTooCostlyError,
  });
}
