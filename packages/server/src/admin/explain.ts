/**
 * What an application may do at a firm, as the service itself decides it, and why no call of it gets as far as its entries
 * where that is so: what `praxis access explain` and the action of that name answer from.
 */
import type { AccessPolicy } from '../access/policy.ts';
import type { Clock } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { OAuthError } from '../oauth/errors.ts';
import { grantedEntries } from '../oauth/granted-entries.ts';
import { openPolicies } from '../oauth/policies.ts';
import type { Application } from '../tenancy/applications.ts';
import { type Authorisation, findAuthorisation } from '../tenancy/authorisations.ts';
import type { Firm } from '../tenancy/firms.ts';
import { type FirmSearchParameters, findSearchParameters } from '../tenancy/search-parameters.ts';

export interface ExplainedAccess {
  /** Why every call is refused; none when calls are let in. */
  readonly closed: readonly string[];
  /** Undefined when the firm has never authorised the application. */
  readonly policy: AccessPolicy | undefined;
  /** Search parameters of the firm's own. */
  readonly own: FirmSearchParameters;
}

/** @param scope of a token that was asked for with this one; all entries when absent. Its entries are well-formed. */
export async function explainAccess(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  firm: Firm,
  application: Application,
  scope: string | undefined,
): Promise<ExplainedAccess> {
  const authorisation = await findAuthorisation(database, firm, application);
  const closed = closedBecause(firm, application, authorisation, clock.now());
  const own = await findSearchParameters(database, firm);
  if (authorisation === undefined) return { closed, policy: undefined, own };
  const carried = entriesOf(application.acl, scope);
  const { acl, operatorRows } = authorisation;
  return { closed, policy: openPolicies(1).effective(carried, application.acl, acl, operatorRows), own };
}

/** @throws PraxisError `rule-broken` with what the token endpoint would say of the scope */
function entriesOf(acl: readonly string[], scope: string | undefined): readonly string[] {
  try {
    return grantedEntries(acl, scope);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return fail('rule-broken', { diagnostics: error.description, expression: ['scope'] });
  }
}

function closedBecause(
  firm: Firm,
  application: Application,
  authorisation: Authorisation | undefined,
  nowMs: number,
): readonly string[] {
  const ended = authorisation?.expiresAtMs !== null && (authorisation?.expiresAtMs ?? nowMs) <= nowMs;
  const reasons: readonly (readonly [boolean, string])[] = [
    [application.state !== 'active', `${application.name} is suspended`],
    [firm.state !== 'active', `${firm.prefix} is suspended`],
    [authorisation === undefined, `${firm.prefix} has not authorised ${application.name}`],
    [authorisation?.state === 'revoked', `${firm.prefix} has revoked what it authorised`],
    [authorisation?.state === 'suspended', `${firm.prefix} has suspended what it authorised`],
    [authorisation?.state === 'active' && ended, `what ${firm.prefix} authorised has ended`],
  ];
  return reasons.filter(([applies]) => applies).map(([, reason]) => reason);
}
