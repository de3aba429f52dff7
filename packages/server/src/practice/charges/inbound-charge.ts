/**
 * A charge is recorded once: an application gives the id of a transaction to one ChargeItem of the firm only, whoever writes
 * at the same moment (docs/decisions/0196).
 */
import { fail } from '../../base/errors.ts';
import type { BehaviourContext, VersionChange } from '../../resources/behaviour.ts';
import { commitUnlessConflict } from '../../resources/write-or-rollback.ts';
import type { WriteOutcome } from '../../storage/store.ts';
import { findTransactionId } from './charge-transaction.ts';
import { noteCharge, releaseCharge } from './store.ts';

/** Another charge has the id of the transaction. */
class Repeated extends Error {
  readonly first: string;
  constructor(first: string) {
    super('repeated');
    this.first = first;
  }
}

/** As `Behaviour.store`. @throws PraxisError `duplicate` naming the first charge to those who may see it */
export async function storeCharge(
  context: BehaviourContext,
  { before, after, write }: VersionChange<'ChargeItem'>,
): Promise<WriteOutcome> {
  const { scope, store, clock } = context;
  if (before !== undefined && after !== undefined && findTransactionId(before) === findTransactionId(after))
    return await store.write(scope, write);
  try {
    return await commitUnlessConflict(store, scope, async (inside) => {
      // The source of a charge stays who first recorded it, whoever changes it.
      const known = write.expectedVersion === 0 ? undefined : await releaseCharge(inside, scope, write.id);
      if (after !== undefined) {
        const source = known ?? { application: scope.application, receivedMs: clock.now() };
        const note = { charge: write.id, transaction: findTransactionId(after), ...source };
        const first = await noteCharge(inside, scope, note);
        if (first !== undefined) throw new Repeated(first);
      }
      return await inside.write(scope, write);
    });
  } catch (error) {
    if (!(error instanceof Repeated)) throw error;
    return await refuse(context, error.first);
  }
}

async function refuse({ maySee }: BehaviourContext, first: string): Promise<never> {
  const reference = `ChargeItem/${first}`;
  const named = (await maySee('ChargeItem', first)) ? `: it is ${reference}` : '';
  return fail('duplicate', {
    diagnostics: `A charge with this id of the transaction was recorded before${named}. Nothing was stored. A correction needs a new id`,
    expression: ['ChargeItem.identifier'],
    ...(named === '' ? {} : { alternative: { reference, display: 'The charge that was recorded first' } }),
  });
}
