/** Acting for an application that is not there: with the rights that it has at the firm now, as a request of it would. */
import { makeUuid } from '../../base/ids.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { InteractionContext, InteractionLimits } from '../../engine/context.ts';
import { jobLimits, type OpenBudget } from '../../limits/budgets.ts';
import type { ApplicationSession, ApplicationSessions } from '../../oauth/session/application-session.ts';
import type { ResourceStore } from '../../storage/store.ts';
import { makeFirmClock } from '../../tenancy/firm-time.ts';
import type { Validator } from '../../validation/validation.ts';
import type { FeatureServices } from '../feature.ts';

/** What acting needs of the services of a job. */
export interface ActingServices extends Pick<FeatureServices, 'clock' | 'database' | 'log' | 'baseUrlOf'> {
  readonly store: ResourceStore;
  readonly secrets: Secrets;
  readonly openBudget: OpenBudget;
  readonly limits: InteractionLimits;
  readonly validator: Validator;
  readonly applications: ApplicationSessions;
}

/** Whose subscription it is. */
export interface Subscriber {
  readonly firm: number;
  readonly application: number;
  /** As `SubscriptionState.entries`. */
  readonly entries: readonly string[] | null;
}

/** What the application may do now; undefined: nothing. */
export async function openContext(
  services: ActingServices,
  { firm, application, entries }: Subscriber,
): Promise<InteractionContext | undefined> {
  const session = await services.applications.read({ firm, application, tokenEntries: entries ?? undefined });
  return session === undefined ? undefined : buildContext(services, session, entries === null);
}

function buildContext(services: ActingServices, session: ApplicationSession, isLegacy: boolean): InteractionContext {
  const { store, clock, secrets, limits, validator, openBudget, baseUrlOf } = services;
  const { scope, policy, settings } = session;
  const { environment, firmPrefix: prefix } = scope;
  return {
    scope,
    policy,
    settings,
    caller: {
      flow: isLegacy ? 'legacy' : 'client',
      tokenId: '',
      subject: 'praxis subscription',
      requestId: makeUuid(),
    },
    store,
    clock: makeFirmClock(scope, clock),
    secrets,
    validator,
    limits,
    budget: openBudget(scope, jobLimits),
    baseUrl: baseUrlOf({ environment, prefix }),
    trail: [],
  };
}
