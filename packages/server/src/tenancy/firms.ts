/**
 * Firms: the practices. A firm belongs to one environment and is named in paths by its prefix (contract 4.1
 * `firm_url_prefix`).
 */
import { fail } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { getEnvironment } from './environments.ts';
import { changeRights } from './epochs.ts';
import { requireSegment, requireTimeZone, requireTitle } from './names.ts';

export interface Firm {
  /** Unique over all environments; first column of every key of the firm's data. */
  readonly id: number;
  readonly environment: string;
  readonly prefix: string;
  readonly name: string;
  /** IANA time zone in which dates without an offset are read. */
  readonly timeZone: string;
  readonly state: 'active' | 'suspended';
  /** Whether writes are refused that refer to a resource of the firm that does not exist. */
  readonly requiresReferences: boolean;
}

export type FirmDraft = Pick<Firm, 'environment' | 'prefix' | 'name' | 'timeZone'>;

/**
 * @throws PraxisError `rule-broken` for a malformed prefix, name or time zone, `resource-not-found` for an unknown
 *   environment, `duplicate` when the environment has a firm of this prefix
 */
export async function createFirm(database: Database, draft: FirmDraft): Promise<Firm> {
  requireSegment('firm', draft.prefix);
  requireTitle('name', draft.name);
  requireTimeZone(draft.timeZone);
  const environment = await getEnvironment(database, draft.environment);
  const made = await database.query(sql`
    INSERT INTO firm (environment, prefix, name, time_zone, state)
    VALUES (${environment.id}, ${draft.prefix}, ${draft.name}, ${draft.timeZone}, 'active')
    ON CONFLICT (environment, prefix) DO NOTHING RETURNING id`);
  if (made.length === 0)
    fail('duplicate', {
      diagnostics: `environment ${draft.environment} has a firm ${draft.prefix}`,
      expression: ['firm'],
    });
  return await getFirm(database, draft.environment, draft.prefix);
}

/** Not one that is being erased: nobody is told that it is there. Of `firm f`. */
export const isKept: Sql = sql`f.state IN ('active', 'suspended')`;

/** The firms of an environment by prefix. */
export async function listFirms(database: Database, environment: string): Promise<Firm[]> {
  const { name } = await getEnvironment(database, environment);
  return await database.query<Firm>(sql`${selectFirm} WHERE e.name = ${name} AND ${isKept} ORDER BY f.prefix`);
}

/** @throws PraxisError `resource-not-found` naming firm and environment */
export async function getFirm(database: Pick<Database, 'query'>, environment: string, prefix: string): Promise<Firm> {
  return (
    (await findFirm(database, environment, prefix)) ??
    fail('resource-not-found', {
      diagnostics: `firm ${prefix} does not exist in environment ${environment}`,
      expression: ['firm'],
    })
  );
}

/** Undefined: there is none. */
export async function findFirm(
  database: Pick<Database, 'query'>,
  environment: string,
  prefix: string,
): Promise<Firm | undefined> {
  const [firm] = await database.query<Firm>(
    sql`${selectFirm} WHERE e.name = ${environment} AND f.prefix = ${prefix} AND ${isKept}`,
  );
  return firm;
}

/** Refuses every application at the firm from the next statement on; nothing is deleted. */
export async function suspendFirm(database: Database, firm: Firm): Promise<void> {
  await change(database, firm, sql`state = 'suspended'`);
}

/** Ends a suspension, and in the same transaction a request to erase the firm that waits. @param by username */
export async function resumeFirm(
  database: Database,
  { id }: Firm,
  { by, nowMs }: { readonly by: string; readonly nowMs: number },
): Promise<void> {
  const waiting = sql`firm = ${id} AND state = 'requested'`;
  await changeRights(database, { firm: id }, async (tx) => {
    // In the order in which a confirmation takes them.
    await tx.query(sql`SELECT id FROM firm_erasure WHERE ${waiting} FOR UPDATE`);
    await tx.query(sql`UPDATE firm f SET state = 'active' WHERE f.id = ${id} AND ${isKept}`);
    await tx.query(sql`
      UPDATE firm_erasure SET state = 'cancelled', cancelled_at = ${nowMs}, cancelled_by = ${by}
      WHERE ${waiting} AND expires_at > ${nowMs}::bigint`);
  });
}

/** Changes the zone in which dates without an offset are read, from the next request on; stored index rows are not rewritten. */
export async function setFirmTimeZone(database: Database, firm: Firm, timeZone: string): Promise<void> {
  requireTimeZone(timeZone);
  await change(database, firm, sql`time_zone = ${timeZone}`);
}

/** Has writes refused that refer to a resource of the firm that does not exist, or not, from the next request on. */
export async function setRequiredReferences(database: Database, firm: Firm, isOn: boolean): Promise<void> {
  await change(database, firm, sql`requires_references = ${isOn}`);
}

async function change(database: Database, { id }: Firm, assignment: Sql): Promise<void> {
  await changeRights(database, { firm: id }, (tx) =>
    tx.query(sql`UPDATE firm f SET ${assignment} WHERE f.id = ${id} AND ${isKept}`),
  );
}

const selectFirm: Sql = sql`
  SELECT f.id, e.name AS environment, f.prefix, f.name, f.time_zone AS "timeZone", f.state,
         f.requires_references AS "requiresReferences"
  FROM firm f JOIN environment e ON e.id = f.environment`;
