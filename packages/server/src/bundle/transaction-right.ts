/**
 * Who may post a transaction (decision 0046): holders of `trans_bndl_post`, of a kind of Bundle that carries one of the
 * types it writes, or of `acl/*`. Every entry needs its own access entry beside that.
 */
import { bundleEntries } from '../access/registry.ts';
import type { InteractionContext } from '../engine/context.ts';
import { refuse } from '../engine/rights/denials.ts';
import type { EntryRequest } from './entry-request.ts';

/** @throws PraxisError `access-denied` naming the access entries of which one is needed */
export function requireTransactionRight(context: InteractionContext, entries: readonly EntryRequest[]): void {
  const writing = entries.filter(({ resource, interaction }) => resource !== undefined && interaction !== 'operation');
  const written = new Set(writing.map(({ type }) => type));
  const opening = bundleEntries.filter(({ payload }) => payload === undefined || written.has(payload));
  if (opening.some(({ code }) => context.policy.bundles.has(code))) return;
  const needed = opening.map(({ code }) => `acl/${code}`);
  refuse(context, 'Posting this transaction', needed);
}
