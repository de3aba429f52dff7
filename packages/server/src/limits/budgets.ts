/**
 * The budgets of requests and jobs: who exceeds one is refused with 422 `too-costly`, which names the limit and what would
 * cost less (docs/decisions/0215).
 */
import { type Budget, type BudgetExcess, type BudgetLimits, openBudget, type StepBudget } from '@praxis/fhir';
import { fail, PraxisError } from '../base/errors.ts';
import type { TurnOf } from './fair-queue.ts';
import { watchLoopTurn } from './loop-turn.ts';
import type { Slices } from './slices.ts';

/** Of one request: about a tenth of a second of one core, and what waits for the database included. */
export const requestLimits: BudgetLimits = { steps: 2_000_000, bytes: 64 * 1024 * 1024, ms: 30_000 };

/** Of one portion of a job. */
export const jobLimits: BudgetLimits = { steps: 5_000_000, bytes: 64 * 1024 * 1024, ms: 60_000 };

/** Slices after which work is long: more than a transaction of 100 entries takes, some 50 ms of the event loop (docs/decisions/0301). */
const slicesOfShort = 8;

/**
 * Opens the budget of a piece of work.
 * @param of whose turns its slices take
 * @param isGone whether nobody waits for the work any longer: it then ends at its next slice, by PraxisError
 *   `request-malformed`, which is sent to nobody (docs/decisions/0224)
 */
export type OpenBudget = (of: TurnOf, limits: BudgetLimits, isGone?: () => boolean) => Budget;

/** Budgets that share the event loop by `slices`. */
export function openBudgets(slices: Slices): OpenBudget {
  const heldMs = watchLoopTurn();
  return (of, limits, isGone = () => false) => {
    const sinceMs = performance.now();
    heldMs(sinceMs);
    let taken = 0;
    return openBudget(limits, {
      now: () => performance.now(),
      // Work for which nobody waits asks for a slice at its next pause, and ends there.
      heldMs: (nowMs) => (isGone() ? Number.POSITIVE_INFINITY : heldMs(nowMs)),
      errorOf: makeTooCostlyError,
      async nextSlice(untilMs) {
        taken += 1;
        const age = { sinceMs, untilMs, slices: taken };
        if (!isGone()) await (taken > slicesOfShort ? slices.nextOfLong(of, age) : slices.next(of, age));
        if (isGone()) fail('request-malformed', { diagnostics: 'The connection ended before the answer was ready' });
      },
    });
  };
}

/** The budget of a command that an operator runs in a process of its own: none but the memory of that process. */
export function openOperatorBudget(): Budget {
  const unlimited = Number.POSITIVE_INFINITY;
  const limits: BudgetLimits = { steps: unlimited, bytes: unlimited, ms: unlimited };
  return openBudget(limits, {
    now: () => performance.now(),
    nextSlice: async () => undefined,
    errorOf: makeTooCostlyError,
  });
}

/** For what the server computes of values of its own, and once in a process: nobody chooses what it costs. */
export function makeUnlimitedSteps(): StepBudget {
  return { spend: () => undefined };
}

/** @returns PraxisError `too-costly` */
export function makeTooCostlyError({ what, cheaper, limit, max }: BudgetExcess): PraxisError {
  return new PraxisError('too-costly', {
    diagnostics: `${what} costs more than one request may: ${limitTexts[limit](max)}. Nothing was changed. To make it cheaper: ${cheaper}`,
  });
}

const limitTexts: Readonly<Record<keyof BudgetLimits, (max: number) => string>> = {
  steps: (max) => `the limit is ${max} steps of computing`,
  bytes: (max) => `the limit is ${max} bytes`,
  ms: (max) => `the limit is ${max / 1000} s`,
};
