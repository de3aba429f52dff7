/**
 * A version and what goes with it, written in one transaction: when the version loses against another one, all is undone.
 */
import type { ResourceStore, WriteOutcome } from '../storage/store.ts';
import type { TenantScope } from '../tenancy/scope.ts';

class Overtaken extends Error {
  readonly outcome: WriteOutcome;
  constructor(outcome: WriteOutcome) {
    super('overtaken');
    this.outcome = outcome;
  }
}

/** Runs `work`; where it ends in a conflict nothing of it remains. @returns its outcome. @throws what it throws */
export async function commitUnlessConflict(
  store: ResourceStore,
  scope: TenantScope,
  work: (inside: ResourceStore) => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  try {
    return await store.transaction(scope, async (inside) => {
      const outcome = await work(inside);
      if (outcome.outcome === 'conflict') throw new Overtaken(outcome);
      return outcome;
    });
  } catch (error) {
    if (error instanceof Overtaken) return error.outcome;
    throw error;
  }
}
