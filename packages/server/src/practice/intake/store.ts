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

interface RuleRow {
  readonly rtype: number | null;
  readonly application: number;
  readonly name: string | null;
}

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

/** What stands here is read by no statement of the writes that wait. */
const changing: StatementOptions = { standsApart: true };
const reading: StatementOptions = { standsApart: true, idempotent: true };

/** Proposals of one application that wait at one firm. */
export const waitingMax = 10_000;

/** In the column `application`. */
const everyApplication = 0;

/** Whether what the application of the scope writes of the type waits. */
export async function awaitsAcceptance(store: StatementRunner, scope: TenantScope, type: string): Promise<boolean> {
  const options = { ...reading, remembered: true };
  const [row] = await store.run<{ readonly waits: boolean }>(scope, waitsStatement(scope, type), options);
  return row?.waits === true;
}

/** By type, the rule for all applications first; with the names of applications as they are now. */
export async function findIntakeRules(
  store: StatementRunner,
  scope: TenantScope,
): Promise<readonly (IntakeRule & { readonly applicationName: string | undefined })[]> {
  const rows = await store.run<RuleRow>(scope, rulesStatement(scope), reading);
  return rows.flatMap(({ rtype, application, name }) =>
    rtype === null
      ? []
      : [
          {
            type: getTypeName(rtype),
            application: application === everyApplication ? undefined : application,
            applicationName: name ?? undefined,
          },
        ],
  );
}

/** Makes a rule, unless there is the same. */
export async function addIntakeRule(store: StatementRunner, scope: TenantScope, rule: IntakeRule): Promise<void> {
  await store.run(scope, addRuleStatement(scope, rule), changing);
}

/** Whether there was one to remove. */
export async function removeIntakeRule(store: StatementRunner, scope: TenantScope, rule: IntakeRule): Promise<boolean> {
  const [row] = await store.run<{ readonly gone: number }>(scope, removeRuleStatement(scope, rule), changing);
  return row?.gone === 1;
}

/**
 * Keeps a proposal of the application of the scope: in the transaction that makes its Task.
 * @returns false where as many of the application's wait as may
 */
export async function addProposal(store: StatementRunner, scope: TenantScope, draft: ProposalDraft): Promise<boolean> {
  const [row] = await store.run<{ readonly made: number }>(scope, addStatement(scope, draft), changing);
  return row?.made === 1;
}

/** Ends what was taken back: in the transaction that writes the Task. Nothing where there is no such proposal. */
export async function closeProposal(store: StatementRunner, scope: TenantScope, task: string): Promise<void> {
  await store.run(scope, closeStatement(scope, task), changing);
}

/** The proposal of a Task; undefined: it is a Task for something else. */
export async function findProposal(
  store: StatementRunner,
  scope: TenantScope,
  task: string,
): Promise<Proposal | undefined> {
  return (await store.run<ProposalRow>(scope, proposalStatement(scope, task), reading)).flatMap(proposalsOf)[0];
}

/** Those that are not closed, oldest first, with the Tasks that tell how far they are. */
export async function findWaitingProposals(
  store: StatementRunner,
  scope: TenantScope,
  limit: number,
): Promise<readonly (Proposal & { readonly status: string })[]> {
  const rows = await store.run<ProposalRow>(scope, waitingStatement(scope, limit), { idempotent: true });
  return rows.flatMap((row) => proposalsOf(row).map((proposal) => ({ ...proposal, status: row.status ?? '' })));
}

/** Keeps what was decided: in the transaction that writes the Task. */
export async function decideProposal(
  store: StatementRunner,
  scope: TenantScope,
  decision: ProposalDecision,
): Promise<void> {
  await store.run(scope, decideStatement(scope, decision), changing);
}

function proposalsOf(row: ProposalRow): readonly Proposal[] {
  const { task, application, name, rtype, target, base, proposed_at, closed, proposed, decided } = row;
  if (task === null) return [];
  const type = getTypeName(rtype);
  const made = { task, application, applicationName: name, type, target: target ?? undefined };
  return [{ ...made, base, proposedAtMs: proposed_at, closed, proposed, decided }];
}

function waitsStatement({ firm, application }: TenantScope, type: string): Sql {
  return sql`
    SELECT e.epoch, EXISTS (SELECT FROM intake_rule
      WHERE firm = ${firm} AND rtype = ${getTypeNumber(type)} AND application IN (${everyApplication}, ${application})) AS waits
    FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
}

function rulesStatement({ firm, application }: TenantScope): Sql {
  return sql`
    SELECT e.epoch, r.rtype, r.application, a.name
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT rtype, application FROM intake_rule WHERE firm = ${firm} OFFSET 0) r ON true
    LEFT JOIN application a ON a.id = r.application
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY r.rtype, a.name NULLS FIRST`;
}

function addRuleStatement({ firm, application, epoch }: TenantScope, rule: IntakeRule): Sql {
  return sql`
    WITH made AS (
      INSERT INTO intake_rule (firm, application, rtype)
      SELECT ${firm}, ${rule.application ?? everyApplication}::int, ${getTypeNumber(rule.type)}::smallint
      FROM access_epoch WHERE firm = ${firm} AND application = ${application} AND epoch = ${epoch}::bigint
      ON CONFLICT DO NOTHING)
    SELECT e.epoch FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
}

function removeRuleStatement({ firm, application, epoch }: TenantScope, rule: IntakeRule): Sql {
  return sql`
    WITH gone AS (
      DELETE FROM intake_rule r USING access_epoch a
      WHERE r.firm = ${firm} AND r.application = ${rule.application ?? everyApplication}::int AND r.rtype = ${getTypeNumber(rule.type)}::smallint
        AND a.firm = ${firm} AND a.application = ${application} AND a.epoch = ${epoch}::bigint
      RETURNING 1)
    SELECT e.epoch, (SELECT count(*)::int FROM gone) AS gone
    FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
}

function addStatement({ firm, application, epoch }: TenantScope, draft: ProposalDraft): Sql {
  const { task, type, target, base, proposedAtMs, proposed } = draft;
  return sql`
    WITH made AS (
      INSERT INTO intake_proposal (proposed_at, firm, application, base, rtype, task, target, proposed)
      SELECT ${proposedAtMs}::bigint, ${firm}, ${application}, ${base}::int, ${getTypeNumber(type)}::smallint, ${task}, ${target ?? null}, ${proposed}
      FROM access_epoch WHERE firm = ${firm} AND application = ${application} AND epoch = ${epoch}::bigint
        AND (SELECT count(*) FROM (SELECT FROM intake_proposal
          WHERE firm = ${firm} AND application = ${application} AND NOT closed LIMIT ${waitingMax}) w) < ${waitingMax}
      RETURNING 1)
    SELECT e.epoch, (SELECT count(*)::int FROM made) AS made
    FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
}

function closeStatement({ firm, application, epoch }: TenantScope, task: string): Sql {
  return sql`
    WITH made AS (
      UPDATE intake_proposal p SET closed = true FROM access_epoch a
      WHERE p.firm = ${firm} AND p.task = ${task}
        AND a.firm = ${firm} AND a.application = ${application} AND a.epoch = ${epoch}::bigint)
    SELECT e.epoch FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
}

function proposalStatement({ firm, application }: TenantScope, task: string): Sql {
  return sql`
    SELECT e.epoch, p.*, a.name
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT task, application, rtype, target, base, proposed_at, closed, proposed, decided FROM intake_proposal
      WHERE firm = ${firm} AND task = ${task} OFFSET 0) p ON true
    LEFT JOIN application a ON a.id = p.application
    WHERE e.firm = ${firm} AND e.application = ${application}`;
}

/** Whoever proposed it may have taken it back: the Task tells. */
function waitingStatement({ firm, application }: TenantScope, limit: number): Sql {
  return sql`
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
}

function decideStatement({ firm, application, epoch }: TenantScope, decision: ProposalDecision): Sql {
  return sql`
    WITH made AS (
      UPDATE intake_proposal p SET target = ${decision.target ?? null}, closed = ${decision.closed}, decided = ${decision.decided}
      FROM access_epoch a
      WHERE p.firm = ${firm} AND p.task = ${decision.task}
        AND a.firm = ${firm} AND a.application = ${application} AND a.epoch = ${epoch}::bigint)
    SELECT e.epoch FROM access_epoch e WHERE e.firm = ${firm} AND e.application = ${application}`;
}
