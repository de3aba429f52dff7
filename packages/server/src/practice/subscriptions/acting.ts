/** Acting for an application that is not there: with the rights that it has at the firm now, as a request of it would. */
import { LRUCache } from 'lru-cache';
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

/**
 * What applications may do, as a process has read it just now. Statements that go by it see whether it is old (docs/decisions/0022):
 * then it is forgotten and read again.
 */
export interface RecentRights {
  /** What the application may do, as it was read a second ago at most; undefined: nothing. */
  open(subscriber: Subscriber): Promise<InteractionContext | undefined>;
  /** What it may do now. */
  openNow(subscriber: Subscriber): Promise<InteractionContext | undefined>;
}

const rememberedMs = 1_000;
const rememberedMax = 1_000;

export function openRecentRights(services: ActingServices): RecentRights {
  const sessions = new LRUCache<string, ApplicationSession>({ max: rememberedMax, ttl: rememberedMs });
  const openNow = async (subscriber: Subscriber): Promise<InteractionContext | undefined> => {
    const { firm, application, entries } = subscriber;
    const session = await services.applications.read({ firm, application, tokenEntries: entries ?? undefined });
    if (session === undefined) sessions.delete(keyOf(subscriber));
    else sessions.set(keyOf(subscriber), session);
    return session === undefined ? undefined : buildContext(services, session, entries === null);
  };
  return {
    openNow,
    async open(subscriber) {
      const session = sessions.get(keyOf(subscriber));
      const isOver =
        session === undefined || (session.scope.rightsEndAtMs ?? Number.POSITIVE_INFINITY) <= services.clock.now();
      return isOver ? await openNow(subscriber) : buildContext(services, session, subscriber.entries === null);
    },
  };
}

function keyOf({ firm, application, entries }: Subscriber): string {
  return JSON.stringify([firm, application, entries]);
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
