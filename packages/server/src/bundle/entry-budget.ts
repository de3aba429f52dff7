/** What the entries of a Bundle add to the budget of its request, and spend together. */
import type { BudgetedWork, BudgetLimits } from '@praxis/fhir';
import { requestLimits } from '../limits/budgets.ts';

/**
 * Added by each entry: it could have come alone, and it costs a tenth of a request (docs/decisions/0209). So many entries
 * are no way to more steps than as many units of the rate would bring.
 */
export const entryLimits: Pick<BudgetLimits, 'steps' | 'ms'> = { steps: requestLimits.steps / 10, ms: 100 };

/** What goes on between entries. */
export const carryingOutEntries: BudgetedWork = {
  what: 'Carrying out the entries of the Bundle',
  cheaper: 'send fewer entries, and costly ones alone',
};
