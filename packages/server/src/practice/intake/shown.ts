/** Proposals as staff see them, and what came of one as the application sees it (docs/decisions/0197). */
import type { JsonValue } from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import type { InteractionContext } from '../../engine/context.ts';
import type { ResourceStore } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import { parseDecided, parseProposed, readProposalBase, readProposalTarget, requireProposal } from './deciding.ts';
import { getCurrentValue, isOvertaken } from './fields.ts';
import { findProposal, findWaitingProposals, type Proposal } from './store.ts';

export interface ListedProposal {
  /** Id of the Task, and the reconciliation id. */
  readonly task: string;
  readonly application: string;
  readonly type: string;
  /** Type/id of what is to be changed. */
  readonly resource: string | undefined;
  readonly proposedAtMs: number;
  readonly status: string;
  /** Elements. */
  readonly fields: readonly string[];
}

export interface ShownField {
  readonly field: string;
  readonly change: 'set' | 'remove';
  readonly decision: string | undefined;
  /** Others have changed it since. */
  readonly overtaken: boolean;
  /** Those that there are: `base` as the application saw it, `current`, `proposed`, `decided`. */
  readonly values: Readonly<Record<string, JsonValue>>;
}

export interface ShownProposal extends Omit<ListedProposal, 'fields'> {
  /** Version of the resource now; undefined: there is none. */
  readonly version: number | undefined;
  readonly fields: readonly ShownField[];
}

/** Those that wait, oldest first; `limit` at most. */
export async function listProposals(
  store: ResourceStore,
  scope: TenantScope,
  limit: number,
): Promise<readonly ListedProposal[]> {
  const waiting = await findWaitingProposals(store, scope, limit);
  return waiting.map(({ status, ...proposal }) => ({
    ...listed(proposal, status),
    fields: Object.keys(parseProposed(proposal)),
  }));
}

/** One with its values, old and new. @throws PraxisError `resource-not-found` */
export async function showProposal(store: ResourceStore, scope: TenantScope, task: string): Promise<ShownProposal> {
  const proposal = await requireProposal(store, scope, task);
  const proposed = parseProposed(proposal);
  const decided = parseDecided(proposal);
  const row = await readProposalTarget(store, scope, proposal);
  const current = row === undefined || row.deleted ? undefined : parseStored(row.content);
  const base = await readProposalBase(store, scope, proposal);
  const fields = Object.entries(proposed).map(([field, value]): ShownField => {
    const decision = decided[field];
    const now = getCurrentValue(current, field);
    const then = getCurrentValue(base, field);
    return {
      field,
      change: value === null ? 'remove' : 'set',
      decision: decision?.decision,
      overtaken: !proposal.closed && current !== undefined && isOvertaken(base, current, proposed, field),
      values: {
        ...(then === undefined ? {} : { base: then }),
        ...(now === undefined ? {} : { current: now }),
        ...(value === null ? {} : { proposed: value }),
        ...(decision?.decision === 'edited' ? { decided: decision.value } : {}),
      },
    };
  });
  return { ...listed(proposal, await statusOf(store, scope, task)), version: row?.versionId, fields };
}

export interface ProposalOutcome {
  /** That of the Task: docs/integrate/states.md. */
  readonly status: string;
  readonly type: string;
  /** Id of the resource, once there is one. */
  readonly target: string | undefined;
  readonly fields: readonly { readonly field: string; readonly decision: string | undefined }[];
}

/** What came of a proposal of the caller's own; undefined: it has none of this number. */
export async function findProposalOutcome(
  { store, scope }: InteractionContext,
  task: string,
): Promise<ProposalOutcome | undefined> {
  const proposal = await findProposal(store, scope, task);
  if (proposal === undefined || proposal.application !== scope.application) return undefined;
  const decided = parseDecided(proposal);
  const fields = Object.keys(parseProposed(proposal)).map((field) => ({ field, decision: decided[field]?.decision }));
  return { status: await statusOf(store, scope, task), type: proposal.type, target: proposal.target, fields };
}

function listed(proposal: Proposal, status: string): Omit<ListedProposal, 'fields'> {
  const { task, applicationName, type, target, proposedAtMs } = proposal;
  const resource = target === undefined ? undefined : `${type}/${target}`;
  return { task, application: applicationName, type, resource, proposedAtMs, status };
}

async function statusOf(store: ResourceStore, scope: TenantScope, task: string): Promise<string> {
  const row = await store.read(scope, 'Task', task);
  return row === undefined || row.deleted ? 'entered-in-error' : (parseStored(row.content).status ?? '');
}
