/** The charges that applications have recorded, as those who do the billing see them (docs/decisions/0196). */
import { parseStored } from '../../access/disclosure.ts';
import type { ResourceStore } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { type ChargeFacts, chargeFacts } from './charge-transaction.ts';
import { type ChargeFilter, findInboundCharges } from './store.ts';

export interface ListedCharge extends ChargeFacts {
  /** Id of the ChargeItem. */
  readonly id: string;
  /** Name of the application that recorded it. */
  readonly application: string;
  readonly transaction: string | undefined;
  readonly receivedMs: number;
}

/** Newest first; `limit` at most. */
export async function listCharges(
  store: ResourceStore,
  scope: TenantScope,
  filter: ChargeFilter,
  limit: number,
): Promise<readonly ListedCharge[]> {
  const found = await findInboundCharges(store, scope, filter, limit);
  return found.map(({ charge, application, transaction, receivedMs, content }) => ({
    ...{ id: charge, application, transaction, receivedMs },
    ...chargeFacts(parseStored(content)),
  }));
}
