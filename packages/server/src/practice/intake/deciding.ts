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
import type { ResourceStore, StoredResource } from '../../storage/store.ts';
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
  const { store, scope, clock } = decider;
  const { accept = [], reject = [], edit = {}, rest } = decisions;
  if (accept.length + reject.length + Object.keys(edit).length === 0 && rest === undefined)
    fail('input-invalid', { diagnostics: 'Nothing is decided: give accept, reject, edit or rest' });
  await store.transaction(scope, async (inside) => {
    // The Task first: whoever decides in between is seen in the proposal then, or changes the version that is written here.
    const row = await inside.read(scope, 'Task', task);
    const proposal = await requireProposal(inside, scope, task);
    if (row === undefined || row.deleted) return refuseUnknown(task);
    const before = parseStored(row.content);
    if (proposal.closed)
      fail('rule-broken', {
        diagnostics: `Task/${task} is ${before.status}: it is closed`,
        expression: ['task'],
      });
    const proposed = parseProposed(proposal);
    const decided = decidedNow(proposed, parseDecided(proposal), decisions);
    const status = statusOf(proposed, decided);
    const isApplied = status === 'accepted' || status === 'completed';
    const own = { ...decider, store: inside };
    const target = isApplied ? await apply(own, proposal, { proposed, decided }, decisions.version) : undefined;
    const step = { status, type: proposal.type, decided, target, nowMs: clock.now() };
    await put(own, proposal, 'update', ['Task', task], buildDecidedTask(before, step), row);
    const closed = status !== 'in-progress';
    const decision = { task, target: target ?? proposal.target, closed, decided: JSON.stringify(decided) };
    await decideProposal(inside, scope, decision);
  });
}

/** @throws PraxisError `resource-not-found` */
export async function requireProposal(store: ResourceStore, scope: TenantScope, task: string): Promise<Proposal> {
  return (await findProposal(store, scope, task)) ?? refuseUnknown(task);
}

function refuseUnknown(task: string): never {
  return fail('resource-not-found', {
    diagnostics: `No proposal has the reconciliation id ${task}`,
    expression: ['task'],
  });
}

export function parseProposed({ proposed }: Pick<Proposal, 'proposed'>): Proposed {
  return parseJsonObject(proposed);
}

export function parseDecided({ decided }: Pick<Proposal, 'decided'>): Decided {
  return Object.fromEntries(
    Object.entries(parseJsonObject(decided)).map(([field, kept]) => [field, readDecision(kept)]),
  );
}

/**
 * What a proposal is about: the row that is to be changed, its content unless it is deleted, and the version that the
 * application changed, {} where there was none.
 */
export async function readProposalTarget(store: ResourceStore, scope: TenantScope, proposal: Proposal) {
  const { type, target, base: version } = proposal;
  if (target === undefined) return { row: undefined, current: undefined, base: {} };
  const row = await store.read(scope, type, target);
  const before = await store.readVersion(scope, type, target, version);
  return { row, current: contentOf(row), base: contentOf(before) ?? {} };
}

function contentOf(row: StoredResource | undefined): JsonObject | undefined {
  return row === undefined || row.deleted ? undefined : parseStored(row.content);
}

/** @throws PraxisError `input-invalid` */
function decidedNow(
  proposed: Proposed,
  before: Decided,
  { accept = [], reject = [], edit = {}, rest }: Decisions,
): Decided {
  const given: readonly (readonly [string, FieldDecision])[] = [
    ...accept.map((field) => [field, { decision: 'accepted' }] as const),
    ...reject.map((field) => [field, { decision: 'rejected' }] as const),
    // The values are parsed JSON, and checked with the resource.
    ...Object.entries(edit).map(
      ([field, value]) => [field, { decision: 'edited', value: value as JsonValue }] as const,
    ),
  ];
  const fields = given.map(([field]) => field);
  const place = { expression: ['accept', 'reject', 'edit'] };
  if (fields.some((field) => !Object.hasOwn(proposed, field))) {
    const known = Object.keys(proposed).join(', ');
    fail('input-invalid', { diagnostics: `Only what is proposed can be decided: ${known}`, ...place });
  }
  const twice = fields.find((field, index) => fields.indexOf(field) !== index);
  if (twice !== undefined) fail('input-invalid', { diagnostics: `${twice} is decided twice`, ...place });
  const decided = { ...before, ...Object.fromEntries(given) };
  if (rest === undefined) return decided;
  const open = Object.keys(proposed).filter((field) => decided[field] === undefined);
  const all = open.map((field) => [field, { decision: rest === 'accept' ? 'accepted' : 'rejected' }] as const);
  return { ...decided, ...Object.fromEntries(all) };
}

function statusOf(proposed: Proposed, decided: Decided): TaskStatusCode {
  const decisions = Object.keys(proposed).map((field) => decided[field]?.decision);
  if (decisions.includes(undefined)) return 'in-progress';
  if (decisions.every((each) => each === 'rejected')) return 'rejected';
  return decisions.every((each) => each === 'accepted') ? 'accepted' : 'completed';
}

/**
 * Writes the resource as it was decided. @returns its id
 * @throws PraxisError `conflict` with an issue for each element that somebody else has changed and that would be overwritten
 */
async function apply(
  decider: Decider,
  proposal: Proposal,
  { proposed, decided }: { readonly proposed: Proposed; readonly decided: Decided },
  seen: number | undefined,
): Promise<string> {
  const { store, scope, clock, budget } = decider;
  const { type, task, target } = proposal;
  const { row, current, base } = await readProposalTarget(store, scope, proposal);
  if (current === undefined && Object.keys(base).length > 0)
    fail('conflict', { diagnostics: `${type}/${target} was deleted meanwhile: reject the proposal` });
  if (current !== undefined && row?.versionId !== seen) {
    const [first, ...more] = Object.keys(proposed)
      .filter((field) => decided[field]?.decision !== 'rejected' && isOvertaken(base, current, proposed, field))
      .map((field) => ({
        diagnostics: `${type}.${field} was changed by others since it was proposed: look at it again, and give version ${row?.versionId} to replace it`,
        expression: [`${type}.${field}`],
      }));
    if (first !== undefined) fail('conflict', { ...first, more });
  }
  const resource = applyDecisions(type, current, proposed, decided, task);
  const safe = current === undefined ? resource : withSafeNarrative(current, resource, true);
  const id = target ?? makeResourceId(clock);
  const valid = requireResource({ ...safe, id }, type, budget);
  await put(decider, proposal, target === undefined ? 'create' : 'update', [type, id], valid, row);
  return id;
}

/** All may be written: staff decide about what is their firm's. */
const staff: AccessPolicy = compilePolicy([allEntry], [allEntry]);

/**
 * Writes in the name of staff, at the request of the application that proposed it.
 * @throws PraxisError `rule-broken` by the table of states, `conflict`
 */
async function put<T extends string>(
  { store, scope, clock, baseUrl, username, flow, budget }: Decider,
  { applicationName, task }: Proposal,
  interaction: 'create' | 'update',
  [type, id]: readonly [T, string],
  resource: TypedResource<T>,
  current: StoredResource | undefined,
): Promise<void> {
  const subject = `${username} on behalf of ${applicationName}`;
  const caller = { flow: 'client', tokenId: task, subject, requestId: makeUuid() } as const;
  const context = { scope, clock, baseUrl, budget };
  const expected = current?.versionId ?? 0;
  const write = await buildWrite({ ...context, caller }, interaction, type, id, resource, expected, current);
  const audited = { ...write, audit: { ...write.audit, flow } };
  const outcome = await saveVersion({ ...context, store, policy: staff }, audited, current, {
    act: { by: 'practice', on: 'write' },
  });
  if (outcome.outcome !== 'written')
    fail('conflict', { diagnostics: `${type}/${id} has changed at this moment: look at it again` });
}
