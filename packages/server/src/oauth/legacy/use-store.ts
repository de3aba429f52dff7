/**
 * Stores counts of uses of the legacy flow, each batch exactly once.
 */
import { toInstant } from '../../base/clock.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { agentsPerApplicationMax, otherAgent } from './agent.ts';

export interface LegacyUseCount {
  readonly firm: number;
  readonly application: number;
  readonly agent: string;
  /** `2026-11-21`, in UTC. */
  readonly day: string;
  calls: number;
  tokens: number;
  refused: number;
  lastUsedAtMs: number;
}

export interface LegacyUseBatch {
  /** UUID of the process's counter. */
  readonly writer: string;
  /** 1, 2, 3, … per writer: a batch is sent until it is stored, then the next. */
  readonly sequence: number;
  readonly counts: readonly LegacyUseCount[];
}

/** Key of the advisory lock: the ASCII bytes of "lgcy". Batches of all nodes are stored one after another. */
const lockKey = 0x6c676379;

/**
 * Adds the counts of `batch` to the table, or does nothing when it was added before: both in one transaction.
 * @throws PraxisError `unavailable` when it is not known whether it was added: send the same batch again
 */
export async function storeLegacyUse(database: Database, batch: LegacyUseBatch, nowMs: number): Promise<void> {
  await database.transaction(undefined, async (tx) => {
    await tx.query(sql`SELECT pg_advisory_xact_lock(${lockKey})`);
    const next = await tx.query(sql`
      INSERT INTO legacy_use_writer (id, sequence, stored_at)
      VALUES (${batch.writer}, ${batch.sequence}, ${sql.timestamp(nowMs)})
      ON CONFLICT (id) DO UPDATE SET sequence = EXCLUDED.sequence, stored_at = EXCLUDED.stored_at
      WHERE legacy_use_writer.sequence < EXCLUDED.sequence RETURNING id`);
    if (next.length === 0) return;
    await addCounts(tx, await withKnownAgents(tx, batch.counts));
  });
}

/** The counts with programs beyond the limit of their application folded into one. */
async function withKnownAgents(tx: Queryable, counts: readonly LegacyUseCount[]): Promise<LegacyUseCount[]> {
  const applications = [...new Set(counts.map((count) => count.application))];
  const rows = await tx.query<{ application: number; agent: string }>(
    sql`SELECT application, agent FROM legacy_agent WHERE application = ANY(${applications}::int[])`,
  );
  const known = new Map(applications.map((application) => [application, new Set<string>()]));
  for (const { application, agent } of rows) known.get(application)?.add(agent);
  const folded = foldAgents(counts, known);
  const agents = [...known].flatMap(([application, names]) => [...names].map((agent) => ({ application, agent })));
  await tx.query(sql`
    INSERT INTO legacy_agent (application, agent)
    SELECT * FROM unnest(${agents.map((each) => each.application)}::int[], ${agents.map((each) => each.agent)}::text[])
    ON CONFLICT DO NOTHING`);
  return folded;
}

/** @param known programs of each application; those that are new are added while there is room */
function foldAgents(counts: readonly LegacyUseCount[], known: Map<number, Set<string>>): LegacyUseCount[] {
  const folded = new Map<string, LegacyUseCount>();
  for (const count of counts) {
    const names = known.get(count.application) ?? new Set();
    const fits = names.has(count.agent) || names.size < agentsPerApplicationMax || count.agent === otherAgent;
    if (fits && count.agent !== otherAgent) names.add(count.agent);
    const agent = fits ? count.agent : otherAgent;
    const name = `${count.firm} ${count.application} ${count.day} ${agent}`;
    const sum = folded.get(name);
    folded.set(name, sum === undefined ? { ...count, agent } : added(sum, count));
  }
  return [...folded.values()];
}

function added(sum: LegacyUseCount, count: LegacyUseCount): LegacyUseCount {
  return {
    ...sum,
    calls: sum.calls + count.calls,
    tokens: sum.tokens + count.tokens,
    refused: sum.refused + count.refused,
    lastUsedAtMs: Math.max(sum.lastUsedAtMs, count.lastUsedAtMs),
  };
}

async function addCounts(tx: Queryable, counts: readonly LegacyUseCount[]): Promise<void> {
  const column = <N extends keyof LegacyUseCount>(name: N): LegacyUseCount[N][] => counts.map((count) => count[name]);
  await tx.query(sql`
    INSERT INTO legacy_use (firm, application, agent, day, calls, tokens, refused, last_used_at)
    SELECT * FROM unnest(${column('firm')}::int[], ${column('application')}::int[], ${column('agent')}::text[],
      ${column('day')}::date[], ${column('calls')}::bigint[], ${column('tokens')}::bigint[], ${column('refused')}::bigint[],
      ${column('lastUsedAtMs').map(toInstant)}::timestamptz[])
    ON CONFLICT (firm, application, agent, day) DO UPDATE
    SET calls = legacy_use.calls + EXCLUDED.calls, tokens = legacy_use.tokens + EXCLUDED.tokens,
      refused = legacy_use.refused + EXCLUDED.refused,
      last_used_at = GREATEST(legacy_use.last_used_at, EXCLUDED.last_used_at)`);
}
