/**
 * The one way by which interactions save a version: what the resource type does of its own (resources/) comes with it.
 */
import { getStoredText, parseStored } from '../../access/disclosure.ts';
import { coversRow } from '../../access/mask.ts';
import type { ChangeExtras } from '../../resources/behaviour.ts';
import { isCopy } from '../../resources/states/judging.ts';
import type { Act } from '../../resources/states/state-table.ts';
import type { ResourceWrite, StoredResource, WriteOutcome } from '../../storage/store.ts';
import type { InteractionContext } from '../context.ts';
import { findHook, listHooks, type StoringContext } from '../hooks.ts';
import { compileCriterionTest } from '../rights/disclosing.ts';
import { boundMembers, requireBound } from './bindings.ts';
import { buildingWrite } from './build-write.ts';
import { requireInvariants } from './invariants.ts';
import { requireReferences } from './required-references.ts';

/** Attempts of a write without If-Match before a concurrent change is reported. */
export const attemptsMax = 5;

export interface SaveOptions {
  /** Absent: the caller makes the change, by a plain write. */
  readonly act?: Act;
  /** What is stored with the version. */
  readonly extras?: ChangeExtras;
}

/**
 * Stores the version, or nothing.
 * @param current the version before, deleted or not; undefined: there is none
 * @returns as `ResourceStore.write`
 * @throws PraxisError `invariant-broken`, or of the rule of the type that the change breaks, e.g. `rule-broken`, `slot-taken`
 */
export async function saveVersion(
  context: StoringContext,
  write: ResourceWrite,
  current: StoredResource | undefined,
  options: SaveOptions = {},
): Promise<WriteOutcome> {
  await context.budget.turn(buildingWrite);
  await requireInvariants(context, write, current);
  if (write.content !== null) {
    const before = current === undefined || current.deleted ? undefined : getStoredText(current.content);
    await requireReferences(context, write, getStoredText(write.content), before);
  }
  const store = listHooks('wrapStore', write.type).reduceRight<(inside: StoringContext) => Promise<WriteOutcome>>(
    (work, wrap) => (inside) => wrap(inside, write, work),
    (inside) => saveWithBehaviour(inside, write, current, options),
  );
  return await store(context);
}

/** With what the type does of its own. */
async function saveWithBehaviour(
  context: StoringContext,
  write: ResourceWrite,
  current: StoredResource | undefined,
  { act = { by: resolveActor(context), on: 'write' }, extras = {} }: SaveOptions,
): Promise<WriteOutcome> {
  const behaviour = findHook('behaviour', write.type);
  const isBound = boundMembers(write.type).length > 0;
  if (behaviour === undefined && !isBound) return await context.store.write(context.scope, write);
  const before = current === undefined || current.deleted ? undefined : parseStored(current.content);
  const after = write.content === null ? undefined : parseStored(write.content);
  const change = { write, before, after, act, extras };
  behaviour?.judge?.(change);
  if (isBound && after !== undefined && !isCopy(change) && act.by !== 'server')
    await requireBound(context, write.type, before, after);
  if (behaviour?.store === undefined) return await context.store.write(context.scope, write);
  const { scope, clock, store, baseUrl, policy, budget } = context;
  const maySee = (type: string, id: string) => maySeeNow(context, type, id);
  const inside = { scope, clock, store, baseUrl, budget, maySeeSlots: maySeeSlots(policy), maySee };
  return await behaviour.store(inside, change);
}

/** What the caller is in the tables of states. */
export function resolveActor({ policy }: Pick<InteractionContext, 'policy'>): Act['by'] {
  return policy.unrestricted ? 'operator' : 'application';
}

/** Whether the caller may search for any slot and read all of it. */
export function maySeeSlots(policy: InteractionContext['policy']): boolean {
  return policy.grants('Slot', 's').some(({ criteria, elements }) => criteria.length === 0 && elements === 'all');
}

async function maySeeNow(context: StoringContext, type: string, id: string): Promise<boolean> {
  const { policy, store, scope } = context;
  const row = await store.read(scope, type, id);
  if (row === undefined || row.deleted) return false;
  const test = compileCriterionTest(context, type, row.content);
  return coversRow(policy, 'r', type, test) || coversRow(policy, 's', type, test);
}
