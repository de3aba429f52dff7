/**
 * What PostgreSQL says that slots are, from the definition alone: a slot starts at an instant at which the clocks show a time
 * on the grid of the rule, and at every minute of it they show a time within the rule. Nothing of the engine is used here.
 */
import type { Database } from '../../../src/database/database.ts';
import { sql } from '../../../src/database/sql.ts';

/** A rule for every day of the week; times as HH:MM, lengths in minutes. */
export interface DailyRule {
  readonly from: string;
  readonly to: string;
  readonly minutes: number;
  readonly step: number;
}

export const rules = {
  /** All night. */
  A: { from: '00:00', to: '06:00', minutes: 30, step: 30 },
  /** Steps that do not meet the change. */
  B: { from: '01:10', to: '03:40', minutes: 45, step: 20 },
  /** Begins in an hour that is missing or doubled. */
  C: { from: '02:30', to: '05:00', minutes: 30, step: 30 },
  /** Ends in such an hour. */
  D: { from: '00:30', to: '02:30', minutes: 60, step: 30 },
  /** Up to midnight. */
  E: { from: '22:00', to: '24:00', minutes: 40, step: 40 },
} as const satisfies Readonly<Record<string, DailyRule>>;

export type RuleName = keyof typeof rules;

/** Hours before and after a change of the clocks that are looked at. */
export const hoursBefore = 5;
export const hoursAfter = 7;

/** Starts of slots around an instant, in UTC as HH:MM, by PostgreSQL's own time zones. */
export async function startsByDefinition(
  database: Database,
  zone: string,
  at: string,
  rule: DailyRule,
): Promise<string> {
  const [row] = await database.query<{ starts: string }>(sql`
    WITH minute AS (
      SELECT t, (t AT TIME ZONE ${zone})::date AS day, extract(epoch FROM (t AT TIME ZONE ${zone})::time)::int / 60 AS clock
      FROM generate_series(${at}::timestamptz - make_interval(hours => ${hoursBefore}),
        ${at}::timestamptz + make_interval(hours => ${hoursAfter + 3}), '1 minute') t),
    open AS (
      SELECT t, day, clock FROM minute
      WHERE clock >= extract(epoch FROM ${rule.from}::interval) / 60 AND clock < extract(epoch FROM ${rule.to}::interval) / 60)
    SELECT COALESCE(string_agg(to_char(s.t AT TIME ZONE 'UTC', 'HH24:MI'), ' ' ORDER BY s.t), '') AS starts
    FROM open s
    WHERE s.t < ${at}::timestamptz + make_interval(hours => ${hoursAfter})
      AND (s.clock - extract(epoch FROM ${rule.from}::interval)::int / 60) % ${rule.step} = 0
      AND (SELECT count(*) FROM open o WHERE o.day = s.day AND o.t >= s.t AND o.t < s.t + make_interval(mins => ${rule.minutes}))
        = ${rule.minutes}`);
  return row?.starts ?? '';
}

/** Changes of the clocks in two years, by PostgreSQL's own time zones: the first instant that is different. */
export async function changesByDefinition(database: Database, zone: string): Promise<readonly string[]> {
  const rows = await database.query<{ at: string }>(sql`
    SELECT to_char(t AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI"Z"') AS at
    FROM generate_series('2026-01-01T00:00Z'::timestamptz, '2027-12-31T23:30Z'::timestamptz, '30 minutes') t
    WHERE (t AT TIME ZONE ${zone}) - ((t - interval '30 minutes') AT TIME ZONE ${zone}) <> interval '30 minutes'
    ORDER BY t`);
  return rows.map(({ at }) => at);
}
