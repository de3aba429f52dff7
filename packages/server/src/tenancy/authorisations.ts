/**
 * Authorisations: what a firm lets an application do, with purpose and end. Without a live one the application is refused
 * at the firm, whatever its token says (contract 1.3).
 */
import type { Clock } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import type { Database, Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { Application } from './applications.ts';
import { changeRights, raiseEpochs } from './epochs.ts';
import { type Firm, isKept } from './firms.ts';
import { type EntryProblem, requireEntries, requireTitle } from './names.ts';

export interface Authorisation {
  /** Prefix of the firm. */
  readonly firm: string;
  /** Name of the application. */
  readonly application: string;
  /** Access entries, sorted; they granted no more than the application's when they were authorised. */
  readonly acl: readonly string[];
  /** Suspended: refused at the firm until it is resumed on the same terms. */
  readonly state: 'active' | 'suspended' | 'revoked';
  /** 1 at first, one more with each change. */
  readonly version: number;
  readonly purpose: string;
  /** End of the authorisation in ms since 1970, or null for none. */
  readonly expiresAtMs: number | null;
  /** What operators say about its entries, by access code. */
  readonly operatorRows: StoredOperatorRows;
}

/** Access code → what its entries reach, in the form that `access` knows. */
export type StoredOperatorRows = Readonly<Record<string, object>>;

export interface AuthorisationTerms {
  /** Entries; what the application holds when absent. */
  readonly acl?: readonly string[];
  readonly purpose: string;
  readonly expiresAtMs?: number;
  /** Replaces what operators have said before; absent: that stays. The caller has checked it. */
  readonly operatorRows?: StoredOperatorRows;
  /** Who makes the change, for the history. */
  readonly by?: string;
}

/** A version as it was; the last one is current. */
export interface AuthorisationVersion extends Omit<Authorisation, 'firm' | 'application'> {
  readonly changedBy: string;
  readonly changedAtMs: number;
}

/** Who changes what no administrator is named for. */
const commandLine = 'command line';

/**
 * Lets `application` act at `firm` on `terms`, from the next request on. Replaces the terms of an earlier authorisation,
 * also of a revoked one; several at once leave the last.
 * @throws PraxisError `rule-broken` when firm and application are of different environments, the application does not hold
 *   what an entry grants, the purpose is malformed or the end has passed
 */
export async function authorise(
  database: Database,
  clock: Clock,
  firm: Firm,
  application: Application,
  terms: AuthorisationTerms,
  problemOf: EntryProblem,
): Promise<void> {
  await database.transaction(undefined, (tx) => insertAuthorisation(tx, clock, firm, application, terms, problemOf));
}

/** The same in the transaction `tx`. */
export async function insertAuthorisation(
  tx: Queryable,
  clock: Clock,
  firm: Firm,
  application: Application,
  terms: AuthorisationTerms,
  problemOf: EntryProblem,
): Promise<void> {
  requireSameEnvironment(firm, application);
  requireTitle('purpose', terms.purpose);
  const acl = requireEntries(terms.acl ?? application.acl, problemOf);
  const missing = problemOf.firstNotHeld(acl, application.acl);
  if (missing !== undefined)
    fail('rule-broken', {
      diagnostics: `${missing} is not held by application ${application.name}`,
      expression: ['acl'],
    });
  const expiresAtMs = terms.expiresAtMs ?? null;
  if (expiresAtMs !== null && expiresAtMs <= clock.now())
    fail('rule-broken', { diagnostics: 'expiresAt has passed', expression: ['expiresAt'] });
  const rows = terms.operatorRows === undefined ? sql`NULL::jsonb` : sql`${sql.json(terms.operatorRows)}::jsonb`;
  // Asked in the statement that adds the row: none comes to a firm that is being erased.
  const added = await tx.query(sql`
      INSERT INTO authorisation (firm, application, acl, state, version, purpose, expires_at, operator_rows)
      SELECT f.id, ${application.id}::int, ${acl}::text[], 'active', 1, ${terms.purpose}::text, ${sql.timestamp(expiresAtMs)}, COALESCE(${rows}, '{}')
      FROM firm f WHERE f.id = ${firm.id} AND ${isKept}
      ON CONFLICT (firm, application) DO UPDATE
      SET acl = EXCLUDED.acl, state = 'active', version = authorisation.version + 1, purpose = EXCLUDED.purpose, expires_at = EXCLUDED.expires_at,
          operator_rows = COALESCE(${rows}, authorisation.operator_rows)
      RETURNING 1 AS added`);
  if (added.length === 0)
    fail('resource-not-found', {
      diagnostics: `firm ${firm.prefix} does not exist in environment ${firm.environment}`,
      expression: ['firm'],
    });
  await keepVersion(tx, firm, application, terms.by);
  await raiseEpochs(tx, { pair: { firm: firm.id, application: application.id } });
}

/** @throws PraxisError `rule-broken` when firm and application are of different environments */
export function requireSameEnvironment(firm: Firm, application: Application): void {
  if (firm.environment === application.environment) return;
  fail('rule-broken', {
    diagnostics: `firm ${firm.prefix} is in ${firm.environment}, application ${application.name} in ${application.environment}: they cannot meet`,
  });
}

/**
 * Replaces what operators say about the entries of an authorisation, from the next statement on; the caller has checked it.
 * @throws PraxisError `resource-not-found` when the firm has never authorised the application
 */
export async function setOperatorRows(
  database: Database,
  firm: Firm,
  application: Application,
  rows: StoredOperatorRows,
  by?: string,
): Promise<void> {
  const missing = `firm ${firm.prefix} has not authorised ${application.name}`;
  await change(database, firm, application, sql`operator_rows = ${sql.json(rows)}`, sql`true`, missing, by);
}

/**
 * Refuses `application` at `firm` from the next statement on.
 * @throws PraxisError `resource-not-found` when there is no authorisation to revoke
 */
export async function revokeAuthorisation(
  database: Database,
  firm: Firm,
  application: Application,
  by?: string,
): Promise<void> {
  const missing = `firm ${firm.prefix} has not authorised ${application.name}`;
  await change(database, firm, application, sql`state = 'revoked'`, sql`state <> 'revoked'`, missing, by);
}

/**
 * Refuses `application` at `firm` from the next statement on, until it is resumed.
 * @throws PraxisError `resource-not-found` when there is no live authorisation
 */
export async function suspendAuthorisation(
  database: Database,
  firm: Firm,
  application: Application,
  by?: string,
): Promise<void> {
  const missing = `firm ${firm.prefix} has no active authorisation of ${application.name}`;
  await change(database, firm, application, sql`state = 'suspended'`, sql`state = 'active'`, missing, by);
}

/**
 * Ends a suspension: the terms are those of before.
 * @throws PraxisError `resource-not-found` when the authorisation is not suspended
 */
export async function resumeAuthorisation(
  database: Database,
  firm: Firm,
  application: Application,
  by?: string,
): Promise<void> {
  const missing = `firm ${firm.prefix} has no suspended authorisation of ${application.name}`;
  await change(database, firm, application, sql`state = 'active'`, sql`state = 'suspended'`, missing, by);
}

async function change(
  database: Database,
  firm: Firm,
  application: Application,
  assignment: Sql,
  condition: Sql,
  missing: string,
  by: string | undefined,
): Promise<void> {
  await changeRights(database, { pair: { firm: firm.id, application: application.id } }, async (tx) => {
    const changed = await tx.query(sql`
      UPDATE authorisation SET ${assignment}, version = version + 1
      WHERE firm = ${firm.id} AND application = ${application.id} AND ${condition} RETURNING version`);
    if (changed.length === 0) fail('resource-not-found', { diagnostics: missing });
    await keepVersion(tx, firm, application, by);
  });
}

/** Keeps what is now current, in the transaction that made it so. */
async function keepVersion(tx: Queryable, firm: Firm, application: Application, by = commandLine): Promise<void> {
  await tx.query(sql`
    INSERT INTO authorisation_version (firm, application, version, acl, state, purpose, expires_at, operator_rows, changed_by, changed_at)
    SELECT firm, application, version, acl, state, purpose, expires_at, operator_rows, ${by}::text, now()
    FROM authorisation WHERE firm = ${firm.id} AND application = ${application.id}`);
}

/** Every version of an authorisation, newest first; none when the firm never authorised the application. */
export async function listAuthorisationVersions(
  database: Database,
  firm: Firm,
  application: Application,
): Promise<AuthorisationVersion[]> {
  return await database.query<AuthorisationVersion>(sql`
    SELECT acl, state, version, purpose, expires_at AS "expiresAtMs", operator_rows AS "operatorRows",
           changed_by AS "changedBy", changed_at AS "changedAtMs"
    FROM authorisation_version WHERE firm = ${firm.id} AND application = ${application.id} ORDER BY version DESC`);
}

/** What a firm has authorised, by application; revoked ones too. */
export async function listAuthorisations(database: Database, firm: Firm): Promise<Authorisation[]> {
  return await database.query<Authorisation>(sql`${selectAuthorisation} WHERE z.firm = ${firm.id} ORDER BY a.name`);
}

/** The firms that let an application act now, by prefix. */
export async function listAuthorisingFirms(
  database: Database,
  clock: Clock,
  application: Application,
): Promise<Pick<Firm, 'prefix' | 'name'>[]> {
  return await database.query<Pick<Firm, 'prefix' | 'name'>>(sql`
    SELECT f.prefix, f.name FROM authorisation z JOIN firm f ON f.id = z.firm
    WHERE z.application = ${application.id} AND z.state = 'active' AND f.state = 'active'
      AND (z.expires_at IS NULL OR z.expires_at > ${sql.timestamp(clock.now())}) ORDER BY f.prefix`);
}

/** The firms that have authorised the application at any time, by prefix. @param prefix only the firm with it */
export async function listFirmsOfApplication(
  database: Pick<Database, 'query'>,
  application: Pick<Application, 'id'>,
  prefix?: string,
): Promise<Pick<Firm, 'id' | 'prefix'>[]> {
  const named = prefix === undefined ? sql.empty : sql`AND f.prefix = ${prefix}`;
  return await database.query<Pick<Firm, 'id' | 'prefix'>>(sql`
    SELECT f.id, f.prefix FROM authorisation z JOIN firm f ON f.id = z.firm
    WHERE z.application = ${application.id} ${named} ORDER BY f.prefix`);
}

/** The authorisation of a pair, or undefined when there never was one. */
export async function findAuthorisation(
  database: Database,
  firm: Firm,
  application: Application,
): Promise<Authorisation | undefined> {
  const [row] = await database.query<Authorisation>(
    sql`${selectAuthorisation} WHERE z.firm = ${firm.id} AND z.application = ${application.id}`,
  );
  return row;
}

const selectAuthorisation: Sql = sql`
  SELECT f.prefix AS firm, a.name AS application, z.acl, z.state, z.version, z.purpose,
         z.expires_at AS "expiresAtMs", z.operator_rows AS "operatorRows"
  FROM authorisation z JOIN firm f ON f.id = z.firm JOIN application a ON a.id = z.application`;
