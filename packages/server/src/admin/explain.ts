/**
 * What an application may do at a firm, as the service itself decides it, and why no call of it gets as far as its entries
 * where that is so: what `praxis access explain` and the action of that name answer from.
 */
import { explainDenial } from '../access/explain.ts';
import { type AccessPolicy, searchGrants } from '../access/policy.ts';
import type { Clock } from '../base/clock.ts';
import type { Database } from '../database/database.ts';
import type { InteractionName } from '../engine/context.ts';
import { computeEffectiveAccess, findRefusal } from '../engine/rights/effective-access.ts';
import { OAuthError } from '../oauth/errors.ts';
import { computeGrantedEntries } from '../oauth/grants/granted-entries.ts';
import { openPolicies } from '../oauth/session/policies.ts';
import { getSearchableParameters } from '../search/parameters.ts';
import type { Application } from '../tenancy/applications.ts';
import { type Authorisation, findAuthorisation } from '../tenancy/authorisations.ts';
import type { Firm } from '../tenancy/firms.ts';
import { type FirmSearchParameters, findSearchParameters } from '../tenancy/search-parameters.ts';
import { refuseField } from './input.ts';

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

/** Something that an application may want to do with resources of a type. */
export interface Question {
  readonly type: string;
  readonly interaction?: InteractionName | undefined;
  /** A search by this parameter. */
  readonly parameter?: string | undefined;
}

export interface Verdict {
  /** `Patient read`, `Patient search by identifier`. */
  readonly what: string;
  readonly allowed: boolean;
  /** The entries that open it, each once, in order; none where it is refused. */
  readonly entries: readonly string[];
  /** Why not: what is missing, and who grants it. */
  readonly reason?: string;
}

/**
 * The answer to each part of the question.
 * @throws PraxisError `rule-broken` when the type has no such search parameter at the firm
 */
export function judgeQuestion(policy: AccessPolicy, own: FirmSearchParameters, question: Question): readonly Verdict[] {
  const { type, interaction, parameter } = question;
  return [
    ...(interaction === undefined ? [] : [onInteraction(policy, type, interaction)]),
    ...(parameter === undefined ? [] : [onParameter(policy, own, type, parameter)]),
  ];
}

function onInteraction(policy: AccessPolicy, type: string, interaction: InteractionName): Verdict {
  const what = `${type} ${interaction}`;
  const refusal = findRefusal(policy, interaction, type);
  const entries = computeEffectiveAccess(policy, [], [type]).types.flatMap(({ grants }) =>
    grants.flatMap((each) => each.entries),
  );
  return refusal === undefined ? allowed(what, entries) : { what, allowed: false, entries: [], reason: refusal };
}

function onParameter(policy: AccessPolicy, own: FirmSearchParameters, type: string, parameter: string): Verdict {
  const what = `${type} search by ${parameter}`;
  const definition = getSearchableParameters(type, own).get(parameter)?.definition;
  if (definition === undefined) return refuseField('parameter', `${parameter}: ${type} has no such search parameter`);
  const entries = searchGrants(policy, type, [definition]).flatMap((grant) => grant.entries);
  if (entries.length > 0) return allowed(what, entries);
  return { what, allowed: false, entries, reason: explainDenial(policy, type, [definition]).diagnostics };
}

function allowed(what: string, entries: readonly string[]): Verdict {
  return { what, allowed: true, entries: [...new Set(entries)].toSorted() };
}

/** @throws PraxisError `rule-broken` with what the token endpoint would say of the scope */
function entriesOf(acl: readonly string[], scope: string | undefined): readonly string[] {
  try {
    return computeGrantedEntries(acl, scope);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return refuseField('scope', error.description);
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
