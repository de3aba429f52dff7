/**
 * The budget of a request with the work that the terminology spends it on: definitions come from firms and callers, and some
 * that are small to write are endless to evaluate (docs/decisions/0215).
 */
import type { Budget, BudgetedWork } from '@praxis/fhir';

/** Each throws PraxisError `too-costly` when the budget is used up. */
export interface Effort {
  /** Spends steps: a concept looked at, a value compared. */
  spend(steps: number): void;
  /** Takes bytes until the request ends. */
  take(bytes: number): void;
  /** Lets other requests go on when this one has held the thread long enough. */
  breathe(): Promise<void>;
}

/** `budget`, spent on one piece of work. */
export function openEffort(budget: Budget, work: BudgetedWork): Effort {
  return {
    spend: (steps) => budget.spend(steps, work),
    take: (bytes) => budget.take(bytes, work),
    breathe: () => budget.breathe(work),
  };
}

/** On the evaluation of the value set `name`. */
export function openValueSetEffort(budget: Budget, name: string): Effort {
  return openEffort(budget, {
    what: `The evaluation of the value set ${name}`,
    cheaper: 'use fewer includes and filters, and shorter regular expressions',
  });
}

/** On the concepts of the code system `url`. */
export function openCodeSystemEffort(budget: Budget, url: string): Effort {
  return openEffort(budget, {
    what: `The code system ${url}`,
    cheaper: 'use one with fewer concepts, properties and parents',
  });
}
