/**
 * Who still uses the legacy flow of an environment, from the counts that all nodes have stored.
 */
import type { Database } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import type { Environment } from '../../tenancy/environments.ts';

/** One program of an application at a firm, or, without any use, the pair alone. */
export interface LegacyUseRow {
  readonly firm: string;
  readonly application: string;
  /** Null: nobody used the flow. */
  readonly agent: string | null;
  readonly lastUsedAtMs: number | null;
  /** Calls with a legacy token. */
  readonly calls7Days: number;
  readonly calls30Days: number;
  /** Token answers. */
  readonly tokens7Days: number;
  readonly tokens30Days: number;
  /** Calls and token requests that a brown-out or the end refused. */
  readonly refused30Days: number;
}

export interface LegacyReport {
  /** The last days in UTC, today among them; most calls first, pairs without any use last. */
  readonly rows: readonly LegacyUseRow[];
  /** Prefixes of the firms with a live account of the flow that nobody uses. */
  readonly firmsWithoutUse: readonly string[];
  /** Names of the applications with a live account of the flow that do not use it anywhere. */
  readonly applicationsWithoutUse: readonly string[];
}

/** The report as of `nowMs`. A pair is listed when it has a live account, or was used within the time that counts are kept. */
export async function readLegacyReport(
  database: Database,
  environment: Environment,
  nowMs: number,
): Promise<LegacyReport> {
  const today = sql`${new Date(nowMs).toISOString().slice(0, 10)}::date`;
  const sums = sql.join(
    (['calls', 'tokens', 'refused'] as const).map((column) => {
      const name = sql.identifier(column);
      const within = (days: number) =>
        sql`COALESCE(sum(u.${name}) FILTER (WHERE u.day > ${today} - ${days}::int), 0)::bigint`;
      return sql`${within(7)} AS ${sql.identifier(`${column}_7`)}, ${within(30)} AS ${sql.identifier(`${column}_30`)}`;
    }),
    sql`, `,
  );
  const rows = await database.query<LegacyUseRow>(sql`
    WITH pair AS (
      SELECT firm, application FROM legacy_account WHERE state = 'active' UNION SELECT firm, application FROM legacy_use),
    used AS (
      SELECT p.firm, p.application, u.agent, max(u.last_used_at) AS last_used_at, ${sums}
      FROM pair p LEFT JOIN legacy_use u ON u.firm = p.firm AND u.application = p.application
      GROUP BY p.firm, p.application, u.agent)
    SELECT f.prefix AS firm, a.name AS application, x.agent, x.last_used_at AS "lastUsedAtMs",
      x.calls_7 AS "calls7Days", x.calls_30 AS "calls30Days", x.tokens_7 AS "tokens7Days", x.tokens_30 AS "tokens30Days",
      x.refused_30 AS "refused30Days"
    FROM used x JOIN firm f ON f.id = x.firm JOIN application a ON a.id = x.application
    WHERE f.environment = ${environment.id}
    ORDER BY x.agent IS NULL, x.calls_30 DESC, x.tokens_30 DESC, f.prefix, a.name, x.agent`);
  return {
    rows,
    firmsWithoutUse: withoutUse(rows, 'firm'),
    applicationsWithoutUse: withoutUse(rows, 'application'),
  };
}

function withoutUse(rows: readonly LegacyUseRow[], name: 'firm' | 'application'): string[] {
  const used = new Set(rows.filter((row) => row.agent !== null).map((row) => row[name]));
  return [...new Set(rows.map((row) => row[name]))].filter((each) => !used.has(each)).sort();
}
