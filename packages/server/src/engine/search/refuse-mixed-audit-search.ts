/**
 * The audit ledger is searched by itself (docs/decisions/0156): what would look at the AuditEvents that were imported alone,
 * and say nothing of it, is refused with the way that shows all of them.
 */

import { isIncludeName } from '../../search/includes/include.ts';
import type { SearchParameters } from '../../search/query/query.ts';
import { refuseValue } from '../../search/query/search-values.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import type { RightsContext } from '../rights/denials.ts';

/**
 * Passes a search that is led to no AuditEvent by a reverse chain, a typed chain or a reverse include. Who may not search
 * AuditEvents is refused elsewhere, for that.
 * @throws PraxisError `search-invalid`
 */
export function requireNoLedger({ policy }: RightsContext, parameters: SearchParameters): void {
  for (const type of ledgerTypes) {
    if (!policy.allows(type, 's')) continue;
    const ways = [`_has:${type}:`, `:${type}.`];
    for (const [name, value] of parameters) {
      const included = isIncludeName(name) && name.startsWith('_revinclude') && value.split(':')[0] === type;
      if (included || ways.some((way) => name.includes(way))) refuseLedger(name, 'would look at', type);
    }
  }
}

/** @param place where the type is searched, below the base: `AuditEvent`, or `Patient/1/AuditEvent` */
export function refuseLedger(name: string, verb: 'names' | 'would look at', type: string, place = type): never {
  return refuseValue(
    name,
    `${verb} ${type}, of which only what was imported could be found so: the audit ledger is searched by itself, GET …/${place}?…`,
  );
}

/** The history of a type of the ledger. @throws PraxisError `search-invalid` */
export function requireOtherHistory(type: string): void {
  if (ledgerTypes.has(type)) refuseLedger('_history', 'would look at', type);
}
