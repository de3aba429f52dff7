/**
 * Authorisations: what a firm lets an application do, with purpose and end. Without a live one the application is refused
 * at the firm, whatever its token says (contract 1.3).
 */
import type { Clock } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import type { Database } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import type { Application } from './applications.ts';
import { changing } from './epochs.ts';
import type { Firm } from './firms.ts';
import { type EntryProblem, requireEntries, requireTitle } from './names.ts';

export interface Authorisation {
  /** Prefix of the firm. */
  readonly firm: string;
  /** Name of the application. */
  readonly application: string;
  /** Access entries, sorted; a subset of the application's when they were authorised. */
  readonly acl: readonly string[];
  readonly state: 'active' | 'revoked';
  /** 1 at first, one more with each change. */
  readonly version: number;
  readonly purpose: string;
  /** End of the authorisation in ms since 1970, or null for none. */
  readonly expiresAtMs: number | null;
}

export interface AuthorisationTerms {
  /** Entries; what the application holds when absent. */
  readonly acl?: readonly string[];
  readonly purpose: string;
  readonly expiresAtMs?: number;
}

/** The operator's entry, which stands for all others. */
const everything = 'acl/*';

/**
 * Lets `application` act at `firm` on `terms`, from the next request on. Replaces the terms of an earlier authorisation,
 * also of a revoked one; several at once leave the last.
 * @throws PraxisError `rule-broken` when firm and application are of different environments, the application does not hold
 *   an entry, the purpose is malformed or the end has passed
 */
export async function authorise(
  database: Database,
  clock: Clock,
  firm: Firm,
  application: Application,
  terms: AuthorisationTerms,
  problemOf: EntryProblem,
): Promise<void> {
  if (firm.environment !== application.environment) {
    fail('rule-broken', {
      diagnostics: `firm ${firm.prefix} is in ${firm.environment}, application ${application.name} in ${application.environment}: they cannot meet`,
    });
  }
  requireTitle('purpose', terms.purpose);
  const acl = requireHeld(application, requireEntries(terms.acl ?? application.acl, problemOf));
  const expiresAtMs = terms.expiresAtMs ?? null;
  if (expiresAtMs !== null && expiresAtMs <= clock.now())
    fail('rule-broken', { diagnostics: 'expiresAt has passed', expression: ['expiresAt'] });
  await changing(database, { pair: { firm: firm.id, application: application.id } }, async (tx) => {
    await tx.query(sql`
      INSERT INTO authorisation (firm, application, acl, state, version, purpose, expires_at)
      VALUES (${firm.id}, ${application.id}, ${acl}::text[], 'active', 1, ${terms.purpose}, ${toTimestamp(expiresAtMs)})
      ON CONFLICT (firm, application) DO UPDATE
      SET acl = EXCLUDED.acl, state = 'active', version = authorisation.version + 1, purpose = EXCLUDED.purpose, expires_at = EXCLUDED.expires_at`);
  });
}

/**
 * Refuses `application` at `firm` from the next statement on.
 * @throws PraxisError `resource-not-found` when there is no authorisation to revoke
 */
export async function revokeAuthorisation(database: Database, firm: Firm, application: Application): Promise<void> {
  await changing(database, { pair: { firm: firm.id, application: application.id } }, async (tx) => {
    const changed = await tx.query(sql`
      UPDATE authorisation SET state = 'revoked', version = version + 1
      WHERE firm = ${firm.id} AND application = ${application.id} AND state = 'active' RETURNING version`);
    if (changed.length === 0)
      fail('resource-not-found', { diagnostics: `firm ${firm.prefix} has not authorised ${application.name}` });
  });
}

/** What a firm has authorised, by application; revoked ones too. */
export async function listAuthorisations(database: Database, firm: Firm): Promise<Authorisation[]> {
  return await database.query<Authorisation>(sql`${selectAuthorisation} WHERE z.firm = ${firm.id} ORDER BY a.name`);
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
         z.expires_at AS "expiresAtMs"
  FROM authorisation z JOIN firm f ON f.id = z.firm JOIN application a ON a.id = z.application`;

function requireHeld(application: Application, acl: readonly string[]): readonly string[] {
  const held = new Set(application.acl);
  const missing = held.has(everything) ? undefined : acl.find((entry) => !held.has(entry));
  if (missing !== undefined)
    fail('rule-broken', {
      diagnostics: `${missing} is not held by application ${application.name}`,
      expression: ['acl'],
    });
  return acl;
}

function toTimestamp(ms: number | null): Sql {
  return ms === null ? sql`NULL::timestamptz` : sql`to_timestamp(${ms}::float8 / 1000)`;
}
