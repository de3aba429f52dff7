/**
 * A stored resource for the server's own judgement, asked for by someone who may read all of it.
 */
import type { TypedResource } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { describeNextStep, listGrantingEntries } from '../../access/explain.ts';
import type { InteractionContext } from '../context.ts';
import { denyAccess, refuseNotFound } from './denials.ts';
import { compileCriterionTest } from './disclosing.ts';

/**
 * The current version. What is said about it may tell of every element, so a caller who reads some only is refused.
 * @throws PraxisError `access-denied`, `resource-not-found` (also outside of the rows that the caller reads in full)
 */
export async function readWhole<T extends string>(
  context: InteractionContext,
  type: T,
  id: string,
): Promise<TypedResource<T>> {
  const { policy } = context;
  const grants = [...policy.grants(type, 'r'), ...policy.grants(type, 's')];
  const whole = grants.filter(({ elements }) => elements === 'all');
  if (whole.length === 0) {
    const entries = listGrantingEntries(policy, type, 'r');
    denyAccess(
      `Judging a stored ${type} needs all of its elements, so ${entries.join(' or ')}; ${describeNextStep(policy, entries)}`,
    );
  }
  const row = await context.store.read(context.scope, type, id);
  if (row === undefined || row.deleted) return refuseNotFound(type, id);
  const test = compileCriterionTest(context, type, row.content);
  if (!whole.some(({ criteria }) => criteria.every((criterion) => test(criterion)))) return refuseNotFound(type, id);
  return parseStored(row.content);
}
