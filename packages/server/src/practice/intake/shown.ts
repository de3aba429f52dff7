/** Proposals as staff see them, and what came of one as the application sees it (docs/decisions/0197). */
import { parseStored } from '../../access/disclosure.ts';
import type { InteractionContext } from '../../engine/context.ts';
import type { ResourceStore } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { parseDecided, parseProposed, readProposalTarget, requireProposal } from './deciding.ts';
import { getCurrentValue, isOvertaken } from './fields.ts';
import { findProposal, findWaitingProposals, type Proposal } from './store.ts';

/** Those that wait, oldest first, with the elements that are to change; `limit` at most. */
export async function listProposals(store: ResourceStore, scope: TenantScope, limit: number) {
  const waiting = await findWaitingProposals(store, scope, limit);
  return waiting.map(({ status, ...proposal }) => ({
    ...listed(proposal, status),
    fields: Object.keys(parseProposed(proposal)),
  }));
}

/**
 * One with its values, old and new: `base` as the application saw it, `current`, `proposed`, `decided` by an edit.
 * @throws PraxisError `resource-not-found`
 */
export async function showProposal(store: ResourceStore, scope: TenantScope, task: string) {
  const proposal = await requireProposal(store, scope, task);
  const decided = parseDecided(proposal);
  const { row, current, base } = await readProposalTarget(store, scope, proposal);
  const proposed = parseProposed(proposal);
  const fields = Object.entries(proposed).map(([field, value]) => {
    const decision = decided[field];
    const now = getCurrentValue(current, field);
    const then = getCurrentValue(base, field);
    return {
      field,
      change: value === null ? 'remove' : 'set',
      decision: decision?.decision ?? null,
      overtaken: !proposal.closed && current !== undefined && isOvertaken(base, current, proposed, field),
      values: {
        ...(then === undefined ? {} : { base: then }),
        ...(now === undefined ? {} : { current: now }),
        ...(value === null ? {} : { proposed: value }),
        ...(decision?.decision === 'edited' ? { decided: decision.value } : {}),
      },
    };
  });
  return { ...listed(proposal, await statusOf(store, scope, task)), version: row?.versionId ?? null, fields };
}

/** What came of a proposal of the caller's own; undefined: it has none of this number. */
export async function findProposalOutcome({ store, scope }: InteractionContext, task: string) {
  const proposal = await findProposal(store, scope, task);
  if (proposal === undefined || proposal.application !== scope.application) return undefined;
  const decided = parseDecided(proposal);
  const fields = Object.keys(parseProposed(proposal)).map((field) => ({ field, decision: decided[field]?.decision }));
  return { status: await statusOf(store, scope, task), type: proposal.type, target: proposal.target, fields };
}

function listed({ task, applicationName, type, target, proposedAtMs }: Proposal, status: string) {
  const resource = target === undefined ? null : `${type}/${target}`;
  return { task, application: applicationName, type, resource, proposedAtMs, status };
}

async function statusOf(store: ResourceStore, scope: TenantScope, task: string): Promise<string> {
  const row = await store.read(scope, 'Task', task);
  return row === undefined || row.deleted ? 'entered-in-error' : (parseStored(row.content).status ?? '');
}
