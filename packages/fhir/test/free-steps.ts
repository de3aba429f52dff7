import type { BudgetedWork, StepBudget } from '../src/index.ts';

/** For what a test evaluates itself. */
export const freeSteps: StepBudget = { spend: () => undefined };

export const testWork: BudgetedWork = { what: 'A test', cheaper: 'test less' };
