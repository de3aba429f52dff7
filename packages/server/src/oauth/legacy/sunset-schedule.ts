/**
 * The operators' terms for the legacy flow as a caller's own statement reads them: in the same snapshot as its rights, so
 * that a change acts on the next request of every node (docs/decisions/0150).
 */
import { type Database, pointRead } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { BrownOutTerm, LegacyTerms, SunsetTerm } from './sunset.ts';

/** Columns that `selectLegacyTermsColumns` adds to a statement. */
export interface LegacyTermsRow {
  readonly sunsets: readonly SunsetTerm[] | null;
  readonly brownOuts: readonly BrownOutTerm[] | null;
}

/** Whom terms are looked for, as SQL: expressions of numbers that may be NULL. */
export interface TermsCaller {
  readonly environment: Sql;
  readonly firm: Sql;
  readonly application: Sql;
}

/** Two columns for a SELECT list: the terms that fit the caller and have not passed at `nowMs`. */
export function selectLegacyTermsColumns(caller: TermsCaller, nowMs: number): Sql {
  const fits = sql`t.state = 'active' AND t.environment = ${caller.environment} AND (t.firm IS NULL OR t.firm = ${caller.firm})
    AND (t.application IS NULL OR t.application = ${caller.application})`;
  return sql`
    (SELECT json_agg(json_build_object('firm', t.firm, 'application', t.application, 'link', t.link,
       'deprecatedAtMs', ${msOf(sql`t.deprecated_at`)}, 'sunsetAtMs', ${msOf(sql`t.sunset_at`)}))
     FROM legacy_sunset t WHERE ${fits}) AS sunsets,
    (SELECT json_agg(json_build_object('firm', t.firm, 'application', t.application,
       'startsAtMs', ${msOf(sql`t.starts_at`)}, 'endsAtMs', ${msOf(sql`t.ends_at`)}))
     FROM legacy_brown_out t WHERE ${fits} AND t.ends_at > ${sql.timestamp(nowMs)}) AS "brownOuts"`;
}

/** The same columns for a caller of another flow: nothing is looked for. */
export const noTermsColumns: Sql = sql`NULL::json AS sunsets, NULL::json AS "brownOuts"`;

export function toLegacyTerms({ sunsets, brownOuts }: LegacyTermsRow): LegacyTerms {
  return { sunsets: sunsets ?? [], brownOuts: brownOuts ?? [] };
}

/**
 * The terms for a caller of whom no other statement was sent: those of the environment, and of the application where one is
 * given; never those of a firm.
 * @param application expression of its number, or of NULL
 */
export async function findLegacyTerms(
  database: Database,
  environment: number,
  application: Sql,
  nowMs: number,
): Promise<LegacyTerms> {
  const caller = { environment: sql`${environment}`, firm: sql`NULL`, application: sql`c.application` };
  const [row] = await database.query<LegacyTermsRow>(
    sql`SELECT ${selectLegacyTermsColumns(caller, nowMs)} FROM (SELECT (${application}) AS application) c`,
    pointRead,
  );
  return toLegacyTerms(row ?? { sunsets: null, brownOuts: null });
}

function msOf(column: Sql): Sql {
  return sql`floor(extract(epoch FROM ${column}) * 1000)`;
}
