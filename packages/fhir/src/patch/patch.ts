// What both kinds of patch share. A patch works on a copy and either succeeds as a whole or changes nothing.
import type { BudgetedWork, StepBudget } from '../budget.ts';
import { isRawDecimal, type JsonObject, type JsonValue } from '../json.ts';

/** A patch cannot be read or applied; the message names the operation by its number, from 1. */
export class PatchError extends Error {
  override readonly name = 'PatchError';
  /** `malformed`: the patch itself is wrong; `failed`: it does not fit the resource. */
  readonly reason: 'malformed' | 'failed';

  constructor(reason: 'malformed' | 'failed', operation: number, problem: string) {
    super(`Operation ${operation} ${problem}`);
    this.reason = reason;
  }
}

/** What one operation reads or changes, for access control. */
export interface PatchTouch {
  /** Top-level member of the resource, e.g. `telecom`; undefined: the whole resource. */
  readonly member: string | undefined;
  /**
   * The operation sets the whole member whatever it was, so its outcome tells nothing of what was there; as far as the patch
   * shows: a choice has several members (value[x]), and a repeated primitive one beside it.
   */
  readonly blind: boolean;
}

/** A parsed patch. */
export interface Patch {
  readonly touches: readonly PatchTouch[];
  /** The patched copy. Spends a step for each element that is looked at. @throws PatchError, and what the budget throws */
  apply(resource: JsonObject, budget: StepBudget): JsonValue;
}

/** Operations of one patch. */
export const patchOperationsMax = 1000;

/** Refuses a patch of too many operations. @throws PatchError */
export function requireFewOperations(operations: readonly JsonValue[]): void {
  if (operations.length > patchOperationsMax) {
    const problem = `is one too many: at most ${patchOperationsMax} are taken`;
    throw new PatchError('malformed', patchOperationsMax + 1, problem);
  }
}

/** What an operation of a patch is, for who pays for it. @param number from 1 */
export function describePatchWork(number: number): BudgetedWork {
  return {
    what: `Operation ${number} of the patch`,
    cheaper: 'select elements by their place, or send several patches',
  };
}

/** Whether a table has a row of this name. */
export function isKeyOf<T extends object>(table: T, name: string): name is keyof T & string {
  return Object.hasOwn(table, name);
}

/** A deep copy; decimals that keep their text are shared, since they are immutable. */
export function copyJson(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(copyJson);
  if (typeof value !== 'object' || value === null || isRawDecimal(value)) return value;
  const copy: JsonObject = {};
  for (const name of Object.keys(value)) copy[name] = copyJson(value[name] ?? null);
  return copy;
}
