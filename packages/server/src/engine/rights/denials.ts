/**
 * The access checks that every interaction begins with, and their refusals: a 403 names the missing entry and who can
 * grant it; what may not be seen is answered like what does not exist.
 */
import { describeNextStep, explainDenial } from '../../access/explain.ts';
import type { Permission } from '../../access/policy.ts';
import { fail } from '../../base/errors.ts';
import type { InteractionContext } from '../context.ts';

/** All that a check of access looks at. */
export type RightsContext = Pick<InteractionContext, 'policy'>;

const insufficientScope = { 'www-authenticate': 'Bearer error="insufficient_scope"' };

/**
 * Passes when the caller may do `letter` on some rows of `type`.
 * @throws PraxisError `access-denied` naming the entries that would allow it.
 */
export function requireGrants(context: RightsContext, type: string, letter: Permission): void {
  if (context.policy.grants(type, letter).length > 0) return;
  denyAccess(explainDenial(context.policy, type, letter).diagnostics);
}

/** Refuses with 403; `entries` are those of which one is needed. */
export function refuse({ policy }: RightsContext, what: string, entries: readonly string[]): never {
  const needed = entries.length === 0 ? 'an access entry that this service does not offer' : entries.join(' or ');
  return denyAccess(`${what} needs ${needed}; ${describeNextStep(policy, entries)}`);
}

/** The 403 of RFC 6750 §3.1. */
export function denyAccess(diagnostics: string): never {
  return fail('access-denied', { diagnostics, headers: insufficientScope });
}

/** The answer for what does not exist and for what may not be seen: one text, so neither can be told from the other. */
export function refuseNotFound(type: string, id: string): never {
  return fail('resource-not-found', { diagnostics: `${type}/${id} is not known`, expression: [type] });
}
