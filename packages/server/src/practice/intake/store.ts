/**
 * Writes that wait until the practice accepts them: of which types and applications, and what was proposed and decided field
 * by field (docs/decisions/0197). How far a proposal is stands in its Task.
 */
import { type Sql, sql } from '../../database/sql.ts';
import { getTypeNumber } from '../../search/numbers.ts';
import { getTypeName } from '../../storage/rows.ts';
import type { StatementOptions, StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';

export interface IntakeRule {
  /** The resource type. */
  readonly type: string;
  /** Number of the application; undefined: all. */
  readonly application: number | undefined;
}

export interface ProposalDraft {
  /** Id of the Task. */
  readonly task: string;
  readonly type: string;
  /** Id of the resource that is to be changed; undefined: it is to be made. */
  readonly target: string | undefined;
  /** Version that the application changed; 0: there was none. */
  readonly base: number;
  readonly proposedAtMs: number;
  /** JSON text: element → its new value, or null where it is to go. */
  readonly proposed: string;
}

export interface Proposal extends ProposalDraft {
  /** Number of the application that proposed it. */
  readonly application: number;
  /** Its name as it is now. */
  readonly applicationName: string;
  readonly closed: boolean;
  /** JSON text: element → what was decided about it. */
  readonly decided: string;
}

export type ProposalDecision = Pick<Proposal, 'task' | 'target' | 'closed' | 'decided'>;

type RuleRow = { rtype: number | null; application: number; name: string | null };

interface ProposalRow {
  readonly task: string | null;
  readonly application: number;
  readonly name: string;
  readonly rtype: number;
  readonly target: string | null;
  readonly base: number;
  readonly proposed_at: number;
  readonly closed: boolean;
  readonly proposed: string;
  readonly decided: string;
  readonly status: string | null;
}

/** What stands here is changed by no statement of the writes that wait. */
const reading: StatementOptions = { standsApart: true, idempotent: true };

/** Proposals of one application that wait at one firm. */
export const waitingMax = 10_000;

/** In the column `application`. */
const everyApplication = 0;

/** Whether what the application of the scope writes of the type waits. */
export async function awaitsAcceptance(store: StatementRunner, scope: TenantScope, type: string): Promise<boolean> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, EXISTS (SELECT FROM intake_rule
      WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND application IN (${everyApplication}, ${application})) AS waits
    FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<{ readonly waits: boolean }>(scope, statement, {
    ...reading,
    short: true,
    remembered: true,
  });
  return row?.waits === true;
}

/** By type, the rule for all applications first; with the names of applications as they are now. */
export async function findIntakeRules(
  store: StatementRunner,
  scope: TenantScope,
): Promise<readonly (IntakeRule & { readonly applicationName: string | undefined })[]> {
  const statement = sql`
    SELECT e.epoch, r.rtype, r.application, a.name
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT rtype, application FROM intake_rule WHERE firm = ${scope.firm} OFFSET 0) r ON true
    LEFT JOIN application a ON a.id = r.application
    WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}
    ORDER BY r.rtype, a.name NULLS FIRST`;
  const rows = await store.run<RuleRow>(scope, statement, reading);
  return rows.flatMap(({ rtype, application: number, name }) => {
    if (rtype === null) return [];
    const application = number === everyApplication ? undefined : number;
    return [{ type: getTypeName(rtype), application, applicationName: name ?? undefined }];
  });
}

/** Makes a rule, unless there is the same. */
export async function addIntakeRule(store: StatementRunner, scope: TenantScope, rule: IntakeRule): Promise<void> {
  const made = sql`
    INSERT INTO intake_rule (firm, application, rtype)
    VALUES (${scope.firm}, ${rule.application ?? everyApplication}, ${getTypeNumber(rule.type)})
    ON CONFLICT DO NOTHING`;
  await store.change(scope, [made]);
}

/** Whether there was one to remove. */
export async function removeIntakeRule(store: StatementRunner, scope: TenantScope, rule: IntakeRule): Promise<boolean> {
  const gone = sql`
    DELETE FROM intake_rule
    WHERE firm = ${scope.firm} AND application = ${rule.application ?? everyApplication} AND rtype = ${getTypeNumber(rule.type)}
    RETURNING 1 AS gone`;
  return (await store.change(scope, [gone])).length === 1;
}

/**
 * Keeps a proposal of the application of the scope: in the transaction that makes its Task.
 * @returns false where as many of the application's wait as may
 */
export async function addProposal(store: StatementRunner, scope: TenantScope, draft: ProposalDraft): Promise<boolean> {
  const { firm, application } = scope;
  const { task, type, target = null, base, proposedAtMs, proposed } = draft;
  const counting = sql`
    SELECT e.epoch, (SELECT count(*)::int FROM (SELECT FROM intake_proposal
      WHERE firm = ${firm} AND application = ${application} AND NOT closed LIMIT ${waitingMax}) w) AS waiting
    FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
  const [row] = await store.run<{ readonly waiting: number }>(scope, counting, reading);
  if (row === undefined || row.waiting >= waitingMax) return false;
  const made = sql`
    INSERT INTO intake_proposal (firm, proposed_at, application, base, rtype, task, target, proposed)
    VALUES (${firm}, ${proposedAtMs}, ${application}, ${base}, ${getTypeNumber(type)}, ${task}, ${target}, ${proposed})`;
  await store.change(scope, [made]);
  return true;
}

/** Ends what was taken back: in the transaction that writes the Task. Nothing where there is no such proposal. */
export async function closeProposal(store: StatementRunner, scope: TenantScope, task: string): Promise<void> {
  await change(store, scope, task, sql`closed = true`);
}

/** Keeps what was decided: in the transaction that writes the Task. */
export async function decideProposal(
  store: StatementRunner,
  scope: TenantScope,
  { task, target, closed, decided }: ProposalDecision,
): Promise<void> {
  await change(store, scope, task, sql`target = ${target ?? null}, closed = ${closed}, decided = ${decided}`);
}

async function change(store: StatementRunner, scope: TenantScope, task: string, changes: Sql): Promise<void> {
  await store.change(scope, [sql`UPDATE intake_proposal SET ${changes} WHERE firm = ${scope.firm} AND task = ${task}`]);
}

/** The proposal of a Task; undefined: it is a Task for something else. */
export async function findProposal(
  store: StatementRunner,
  scope: TenantScope,
  task: string,
): Promise<Proposal | undefined> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, p.*, a.name
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT task, application, rtype, target, base, proposed_at, closed, proposed, decided FROM intake_proposal
      WHERE firm = ${firm} AND task = ${task} OFFSET 0) p ON true
    LEFT JOIN application a ON a.id = p.application
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  return (await store.run<ProposalRow>(scope, statement, reading)).flatMap(proposalsOf)[0];
}

/**
 * Those that are not closed, oldest first, with the Tasks that tell how far they are: whoever proposed one may have taken it
 * back.
 */
export async function findWaitingProposals(
  store: StatementRunner,
  scope: TenantScope,
  limit: number,
): Promise<readonly (Proposal & { readonly status: string })[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, p.*, a.name
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT p.task, p.application, p.rtype, p.target, p.base, p.proposed_at, p.closed, p.proposed, p.decided,
        t.content::json ->> 'status' AS status
      FROM intake_proposal p JOIN resource t ON t.firm = ${firm} AND t.rtype = ${getTypeNumber('Task')} AND t.id = p.task
      WHERE p.firm = ${firm} AND NOT p.closed AND t.content::json ->> 'status' IN ('requested', 'in-progress')
      ORDER BY p.proposed_at, p.task LIMIT ${limit}) p ON true
    LEFT JOIN application a ON a.id = p.application
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY p.proposed_at, p.task`;
  const rows = await store.run<ProposalRow>(scope, statement, { idempotent: true });
  return rows.flatMap((row) => proposalsOf(row).map((proposal) => ({ ...proposal, status: row.status ?? '' })));
}

function proposalsOf(row: ProposalRow): readonly Proposal[] {
  const { task, application, name, rtype, target, base, proposed_at, closed, proposed, decided } = row;
  if (task === null) return [];
  const made = { task, application, applicationName: name, type: getTypeName(rtype), target: target ?? undefined };
  return [{ ...made, base, proposedAtMs: proposed_at, closed, proposed, decided }];
}
