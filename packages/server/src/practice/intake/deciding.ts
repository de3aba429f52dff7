/**
 * What staff decide about proposals (docs/decisions/0197): field by field, until every one is decided; then the resource and
 * the Task change in one transaction, by the way that every write takes.
 */
import {
  type Budget,
  type JsonObject,
  type JsonValue,
  parseJsonObject,
  type TaskStatusCode,
  type TypedResource,
} from '@praxis/fhir';
import { parseStored } from '../../access/disclosure.ts';
import { type AccessPolicy, compilePolicy } from '../../access/policy.ts';
import { allEntry } from '../../access/registry.ts';
import type { Clock } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import { makeResourceId, makeUuid } from '../../base/ids.ts';
import { buildWrite, requireResource } from '../../engine/write/build-write.ts';
import { withSafeNarrative } from '../../engine/write/patched-narrative.ts';
import { saveVersion } from '../../engine/write/save-version.ts';
import type { ResourceStore, ResourceWrite, StoredResource } from '../../storage/store.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import {
  applyDecisions,
  type Decided,
  type FieldDecision,
  isOvertaken,
  type Proposed,
  readDecision,
} from './fields.ts';
import { buildDecidedTask } from './intake-task.ts';
import { decideProposal, findProposal, type Proposal } from './store.ts';

/** Who decides, where. */
export interface Decider {
  readonly store: ResourceStore;
  /** Of the operator at the firm. */
  readonly scope: TenantScope;
  readonly clock: Clock;
  readonly budget: Budget;
  /** The FHIR base of the firm. */
  readonly baseUrl: string;
  /** For the ledger: who it is. */
  readonly username: string;
  /** For the ledger: how they came in. */
  readonly flow: string;
}

export interface Decisions {
  readonly accept?: readonly string[];
  readonly reject?: readonly string[];
  /** Element → the value in place of the proposed one. */
  readonly edit?: Readonly<Record<string, unknown>>;
  /** What is decided about all that is still open. */
  readonly rest?: 'accept' | 'reject';
  /** The version of the resource that staff have seen: needed where it has changed since the proposal was made. */
  readonly version?: number;
}

/**
 * Keeps the decisions; carries them out when none is open.
 * @throws PraxisError `resource-not-found`, `input-invalid` (no such element, or decided twice), `rule-broken` (decided or
 *   taken back already), `resource-invalid` (what would be stored), `conflict` naming each element that has changed since
 */
export async function decide(decider: Decider, task: string, decisions: Decisions): Promise<void> {
  const { store, scope } = decider;
  const { accept = [], reject = [], edit = {}, rest } = decisions;
  if (accept.length + reject.length + Object.keys(edit).length === 0 && rest === undefined)
    fail('input-invalid', { diagnostics: 'Nothing is decided: give accept, reject, edit or rest' });
  await store.transaction(scope, async (inside) => {
    // The Task first: whoever decides in between is seen in the proposal then, or changes the version that is written here.
    const row = await inside.read(scope, 'Task', task);
    const proposal = await requireProposal(inside, scope, task);
    if (row === undefined || row.deleted) return unknownProposal(task);
    if (proposal.closed) refuseDecided(task, parseStored(row.content).status);
    const proposed = parseProposed(proposal);
    const decided = decidedNow(proposed, parseDecided(proposal), decisions);
    const status = statusOf(proposed, decided);
    const isApplied = status === 'accepted' || status === 'completed';
    const target = isApplied
      ? await apply({ ...decider, store: inside }, proposal, { proposed, decided }, decisions.version)
      : undefined;
    await advance({ ...decider, store: inside }, row, { status, type: proposal.type, decided, target, proposal });
    const closed = status !== 'in-progress';
    const decision = { task, target: target ?? proposal.target, closed, decided: JSON.stringify(decided) };
    await decideProposal(inside, scope, decision);
  });
}

/** @throws PraxisError `resource-not-found` */
export async function requireProposal(store: ResourceStore, scope: TenantScope, task: string): Promise<Proposal> {
  return (await findProposal(store, scope, task)) ?? unknownProposal(task);
}

export function parseProposed({ proposed }: Pick<Proposal, 'proposed'>): Proposed {
  return parseJsonObject(proposed);
}

export function parseDecided({ decided }: Pick<Proposal, 'decided'>): Decided {
  return Object.fromEntries(
    Object.entries(parseJsonObject(decided)).map(([field, kept]) => [field, readDecision(kept)]),
  );
}

/** The version that the application changed; nothing where there was none. */
export async function readProposalBase(
  store: ResourceStore,
  scope: TenantScope,
  proposal: Proposal,
): Promise<JsonObject> {
  const { type, target, base } = proposal;
  const row = target === undefined ? undefined : await store.readVersion(scope, type, target, base);
  return row === undefined || row.deleted ? {} : parseStored(row.content);
}

/** The live resource that is to be changed. */
export async function readProposalTarget(
  store: ResourceStore,
  scope: TenantScope,
  { type, target }: Proposal,
): Promise<StoredResource | undefined> {
  return target === undefined ? undefined : await store.read(scope, type, target);
}

function refuseDecided(task: string, status: string | undefined): never {
  return fail('rule-broken', {
    diagnostics: `Task/${task} is ${status}: nothing can be decided any more`,
    expression: ['task'],
  });
}

function unknownProposal(task: string): never {
  return fail('resource-not-found', {
    diagnostics: `No proposal has the reconciliation id ${task}`,
    expression: ['task'],
  });
}

/** @throws PraxisError `input-invalid` */
function decidedNow(proposed: Proposed, before: Decided, { accept, reject, edit, rest }: Decisions): Decided {
  const given: readonly (readonly [string, FieldDecision])[] = [
    ...(accept ?? []).map((field) => [field, { decision: 'accepted' }] as const),
    ...(reject ?? []).map((field) => [field, { decision: 'rejected' }] as const),
    // The values are parsed JSON, and checked with the resource.
    ...Object.entries(edit ?? {}).map(
      ([field, value]) => [field, { decision: 'edited', value: value as JsonValue }] as const,
    ),
  ];
  requireKnown(
    proposed,
    given.map(([field]) => field),
  );
  const decided = { ...before, ...Object.fromEntries(given) };
  if (rest === undefined) return decided;
  const open = Object.keys(proposed).filter((field) => decided[field] === undefined);
  const all = open.map((field) => [field, { decision: rest === 'accept' ? 'accepted' : 'rejected' }] as const);
  return { ...decided, ...Object.fromEntries(all) };
}

/** @throws PraxisError `input-invalid` */
function requireKnown(proposed: Proposed, fields: readonly string[]): void {
  const unknown = fields.find((field) => !Object.hasOwn(proposed, field));
  if (unknown !== undefined)
    fail('input-invalid', {
      diagnostics: `Only what is proposed can be decided: ${Object.keys(proposed).join(', ')}`,
      expression: ['accept', 'reject', 'edit'],
    });
  const twice = fields.find((field, index) => fields.indexOf(field) !== index);
  if (twice !== undefined)
    fail('input-invalid', { diagnostics: `${twice} is decided twice`, expression: ['accept', 'reject', 'edit'] });
}

function statusOf(proposed: Proposed, decided: Decided): TaskStatusCode {
  const decisions = Object.keys(proposed).map((field) => decided[field]?.decision);
  if (decisions.includes(undefined)) return 'in-progress';
  if (decisions.every((each) => each === 'rejected')) return 'rejected';
  return decisions.every((each) => each === 'accepted') ? 'accepted' : 'completed';
}

interface Applied {
  readonly proposed: Proposed;
  readonly decided: Decided;
}

/** Writes the resource as it was decided. @returns its id */
async function apply(
  decider: Decider,
  proposal: Proposal,
  { proposed, decided }: Applied,
  seen: number | undefined,
): Promise<string> {
  const { store, scope, clock } = decider;
  const { type, task } = proposal;
  const row = await readProposalTarget(store, scope, proposal);
  const current = row === undefined || row.deleted ? undefined : parseStored(row.content);
  const base = await readProposalBase(store, scope, proposal);
  if (current === undefined && Object.keys(base).length > 0)
    fail('conflict', { diagnostics: `${type}/${proposal.target} was deleted meanwhile: reject the proposal` });
  if (current !== undefined && row?.versionId !== seen)
    requireNotOvertaken(type, row, { base, current }, { proposed, decided });
  const resource = applyDecisions(type, current, proposed, decided, task);
  const safe = current === undefined ? resource : withSafeNarrative(current, resource, true);
  const id = proposal.target ?? makeResourceId(clock);
  const valid = requireResource({ ...safe, id }, type, decider.budget);
  const interaction = proposal.target === undefined ? 'create' : 'update';
  const write = await writeOf(decider, proposal, interaction, [type, id], valid, row?.versionId ?? 0);
  await storeBy(decider, write, row);
  return id;
}

/**
 * @throws PraxisError `conflict` with an issue for each element that somebody else has changed and that would be
 * overwritten
 */
function requireNotOvertaken(
  type: string,
  row: StoredResource | undefined,
  { base, current }: { readonly base: JsonObject; readonly current: JsonObject },
  { proposed, decided }: Applied,
): void {
  const overtaken = Object.keys(proposed).filter(
    (field) => decided[field]?.decision !== 'rejected' && isOvertaken(base, current, proposed, field),
  );
  const [first, ...more] = overtaken.map((field) => ({
    diagnostics: `${type}.${field} was changed by others since it was proposed: look at it again, and give version ${row?.versionId} to replace it`,
    expression: [`${type}.${field}`],
  }));
  if (first !== undefined) fail('conflict', { ...first, more });
}

interface Step {
  readonly status: TaskStatusCode;
  readonly type: string;
  readonly decided: Decided;
  readonly target: string | undefined;
  readonly proposal: Proposal;
}

/** The next version of the Task. @throws PraxisError `rule-broken` by its table of states, `conflict` */
async function advance(decider: Decider, row: StoredResource<'Task'>, { proposal, ...step }: Step): Promise<void> {
  const task = buildDecidedTask(parseStored(row.content), { ...step, nowMs: decider.clock.now() });
  const write = await writeOf(decider, proposal, 'update', ['Task', row.id], task, row.versionId);
  await storeBy(decider, write, row);
}

/** A write in the name of staff, at the request of the application that proposed it. */
async function writeOf<T extends string>(
  { scope, clock, baseUrl, username, flow, budget }: Decider,
  { applicationName, task }: Proposal,
  interaction: 'create' | 'update',
  [type, id]: readonly [T, string],
  resource: TypedResource<T>,
  version: number,
): Promise<ResourceWrite<T>> {
  const subject = `${username} on behalf of ${applicationName}`;
  const caller = { flow: 'client', tokenId: task, subject, requestId: makeUuid() } as const;
  const write = await buildWrite({ scope, clock, caller, baseUrl, budget }, interaction, type, id, resource, version);
  return { ...write, audit: { ...write.audit, flow } };
}

/** All may be written: staff decide about what is their firm's. */
const staff: AccessPolicy = compilePolicy([allEntry], [allEntry]);

async function storeBy(decider: Decider, write: ResourceWrite, current: StoredResource | undefined): Promise<void> {
  const { store, scope, clock, baseUrl, budget } = decider;
  const context = { store, scope, clock, baseUrl, budget, policy: staff };
  const outcome = await saveVersion(context, write, current, { act: { by: 'practice', on: 'write' } });
  if (outcome.outcome !== 'written')
    fail('conflict', { diagnostics: `${write.type}/${write.id} has changed at this moment: look at it again` });
}
