/**
 * The status of a subscription, in its resource and in its state: both change in one transaction, which the service makes. Only
 * the service says that a subscription is active or in error.
 */
import { isJsonObject, type JsonObject } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { makeUuid } from '../../base/ids.ts';
import type { Sql } from '../../database/sql.ts';
import { buildWrite } from '../../engine/write/build-write.ts';
import { jobLimits } from '../../limits/budgets.ts';
import { makeFirmClock } from '../../tenancy/firm-time.ts';
import { getFirm } from '../../tenancy/firms.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import type { ActingServices } from './acting.ts';
import { type EndReason, holdFeed, lockState, type SubscriptionState, type SubscriptionStatus } from './store.ts';

/** A firm, as it is found. */
export interface FirmPlace {
  readonly id: number;
  readonly environment: string;
  readonly prefix: string;
}

/** What Subscription.error says of a reason. */
export const reasonTexts: Readonly<Record<EndReason, string>> = {
  'handshake-failed':
    'handshake-failed: the endpoint did not accept the handshake, or no client was bound for 72 hours',
  unsearchable: 'unsearchable: the criteria can no longer be searched by, or cost more than one search may',
  undeliverable: 'undeliverable: nothing was accepted for 72 hours; ask again by the status requested',
  'rights-changed':
    'rights-changed: the rights of the application at the practice have changed; begin anew by the status requested',
  gone: 'gone: the endpoint answered 410',
  end: 'end: the time of the subscription is over',
  requested: 'requested: the application ended it',
  suspended: 'suspended: the practice, the operator of the service or the vendor of the application ended it',
};

export interface StatusChange {
  readonly status: SubscriptionStatus;
  /** Absent: nothing is wrong. */
  readonly error?: string;
}

/**
 * Stores a version with the status, and what goes with it, all or nothing. False: the application has asked for something else since
 * `seen` was read, or the resource is no longer there, and nothing is done. So what an endpoint answered says nothing of another one.
 */
export async function storeStatus(
  services: ActingServices,
  place: FirmPlace,
  seen: Pick<SubscriptionState, 'id' | 'status' | 'definition'>,
  { status, error }: StatusChange,
  changes: readonly Sql[],
): Promise<boolean> {
  const { id } = seen;
  const { database, clock, store, openBudget, baseUrlOf } = services;
  const firm = await getFirm(database, place.environment, place.prefix);
  const scope = await openOperatorScope(database, clock, firm);
  const current = await store.read(scope, 'Subscription', id);
  if (current === undefined || current.deleted) return false;
  const context = {
    scope,
    clock: makeFirmClock(scope, clock),
    budget: openBudget(scope, jobLimits),
    baseUrl: baseUrlOf(firm),
    caller: { flow: 'client', tokenId: makeUuid(), subject: 'praxis subscriptions', requestId: makeUuid() },
    isPrepared: true,
  } as const;
  const resource = withStatus(parseStored(current.content), status, error);
  const write = await buildWrite(context, 'update', 'Subscription', id, resource, current.versionId, current);
  return await store.transaction(scope, async (inside) => {
    if (changes.length > 0) await holdFeed(inside, scope);
    if (!(await lockState(inside, scope, seen))) return false;
    const { outcome } = await inside.write(scope, write);
    if (outcome !== 'written') return false;
    await inside.change(scope, changes);
    return true;
  });
}

function withStatus(resource: JsonObject, status: SubscriptionStatus, error: string | undefined): JsonObject {
  const { error: _error, ...rest } = resource;
  if (!isJsonObject(rest)) return resource;
  return { ...rest, status, ...(error === undefined ? {} : { error }) };
}
