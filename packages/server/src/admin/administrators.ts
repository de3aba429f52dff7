/**
 * Administrators: who may use the administration API, each with one role. An operator administers all of it, a practice
 * administrator one firm, a vendor one application. Usernames are unique in the installation, so that signing in asks for
 * nothing else (docs/decisions/0166).
 */
import type { Role } from '../actions/schema.ts';
import type { Clock } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import { makeSecret } from '../base/ids.ts';
import type { Database } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { type Application, getApplication } from '../tenancy/applications.ts';
import { type Firm, getFirm } from '../tenancy/firms.ts';
import { refuseField } from './input.ts';
import { requirePassword } from './password-rules.ts';
import type { Passwords } from './passwords.ts';

export interface Administrator {
  readonly username: string;
  readonly role: Role;
  /** Of the firm or application; null for operators, who belong to none. */
  readonly environment: string | null;
  /** Prefix; practice administrators have one. */
  readonly firm: string | null;
  /** Name; vendors have one. */
  readonly application: string | null;
  readonly state: 'active' | 'revoked';
  readonly createdAtMs: number;
}

export interface AdministratorDraft {
  readonly username: string;
  readonly role: Role;
  readonly environment: string;
  /** Prefix; for the role practice, and then required. */
  readonly firm?: string | undefined;
  /** Name; for the role vendor, and then required. */
  readonly application?: string | undefined;
  /** Chosen by a person; made up when absent. */
  readonly password?: string | undefined;
}

export interface IssuedAdministrator {
  readonly username: string;
  /** The password that was made up; it cannot be shown again. Absent when one was given. */
  readonly password?: string;
}

/** What the functions of this file work with. */
export interface AdministratorStore {
  readonly database: Database;
  readonly clock: Clock;
  readonly passwords: Passwords;
}

/** Lower-case letters, digits and `. _ @ -` inside: e-mail addresses fit. */
const usernamePattern = /^[a-z0-9](?:[a-z0-9._@-]{0,61}[a-z0-9])?$/;

const madeUpBytes = 24;

/**
 * Makes an administrator.
 * @throws PraxisError `rule-broken` for a malformed username, a role without its firm or application, or a password that
 *   may not be chosen; `resource-not-found` for an unknown firm or application; `duplicate` when the username is taken
 */
export async function createAdministrator(
  store: AdministratorStore,
  draft: AdministratorDraft,
): Promise<IssuedAdministrator> {
  const { database, clock, passwords } = store;
  const username = requireUsername(draft.username);
  const { firm, application } = await placeOf(database, draft);
  const given = draft.password === undefined ? undefined : requirePassword('password', draft.password, username);
  const password = given ?? makeSecret(madeUpBytes);
  const stored = await passwords.hash(password);
  const made = await database.query(sql`
    INSERT INTO administrator (username, role, firm, application, password, created_at, password_given_at)
    VALUES (${username}, ${draft.role}, ${firm?.id ?? null}, ${application?.id ?? null}, ${stored}, ${sql.timestamp(clock.now())}, ${sql.timestamp(clock.now())})
    ON CONFLICT (username) DO NOTHING RETURNING id`);
  if (made.length === 0)
    fail('duplicate', { diagnostics: `an administrator ${username} exists`, expression: ['username'] });
  return given === undefined ? { username, password } : { username };
}

/** All administrators by username, revoked ones too; never their passwords. */
export async function listAdministrators(database: Database): Promise<Administrator[]> {
  return await database.query<Administrator>(sql`
    SELECT a.username, a.role, e.name AS environment, f.prefix AS firm, p.name AS application, a.state,
           a.created_at AS "createdAtMs"
    FROM administrator a LEFT JOIN firm f ON f.id = a.firm LEFT JOIN application p ON p.id = a.application
    LEFT JOIN environment e ON e.id = COALESCE(f.environment, p.environment)
    ORDER BY a.username`);
}

/**
 * Refuses the administrator, sessions and API tokens with it, from the next request on.
 * @throws PraxisError `resource-not-found` when no live administrator has the username
 */
export async function revokeAdministrator(database: Database, username: string): Promise<void> {
  await change(database, username, sql`state = 'revoked'`);
}

/**
 * Gives the administrator another password; sessions and API tokens end.
 * @param password chosen by a person; made up when absent
 * @param by `owner`: the administrator itself, who has proved to know the current password
 * @throws PraxisError `rule-broken` for one that may not be chosen, `resource-not-found` when no live administrator has
 *   the username
 */
export async function setPassword(
  { database, clock, passwords }: AdministratorStore,
  username: string,
  password?: string,
  by: 'owner' | 'other' = 'other',
): Promise<IssuedAdministrator> {
  const given = password === undefined ? undefined : requirePassword('password', password, username);
  const chosen = given ?? makeSecret(madeUpBytes);
  const stored = await passwords.hash(chosen);
  const now = sql.timestamp(clock.now());
  const told =
    by === 'owner'
      ? sql`password_own_since = COALESCE(password_own_since, ${now}::timestamptz)`
      : sql`password_own_since = NULL, password_given_at = ${now}`;
  await change(database, username, sql`password = ${stored}, ${told}`);
  return given === undefined ? { username, password: chosen } : { username };
}

/** The role of an administrator; undefined: there is none. */
export async function findRole(database: Database, username: string): Promise<Role | undefined> {
  const [row] = await database.query<{ role: Role }>(sql`SELECT role FROM administrator WHERE username = ${username}`);
  return row?.role;
}

/** Changes a live administrator and ends all sessions and API tokens, in one transaction. */
async function change(database: Database, username: string, assignment: Sql): Promise<void> {
  await database.transaction(undefined, async (tx) => {
    const [changed] = await tx.query<{ id: number }>(
      sql`UPDATE administrator SET ${assignment} WHERE username = ${username} AND state = 'active' RETURNING id`,
    );
    if (changed === undefined)
      return fail('resource-not-found', {
        diagnostics: `administrator ${username} does not exist`,
        expression: ['username'],
      });
    await tx.query(sql`UPDATE admin_session SET state = 'revoked' WHERE administrator = ${changed.id}`);
  });
}

function requireUsername(username: string): string {
  if (usernamePattern.test(username)) return username;
  return refuseField(
    'username',
    'username must be 1 to 63 of a-z, 0-9 and . _ @ -, and begin and end with a letter or a digit (e-mail addresses in lower case fit)',
  );
}

async function placeOf(
  database: Database,
  { role, environment, firm, application }: AdministratorDraft,
): Promise<{ readonly firm?: Firm; readonly application?: Application }> {
  requirePlace('firm', firm, role === 'practice', 'practice');
  requirePlace('application', application, role === 'vendor', 'vendor');
  if (firm !== undefined) return { firm: await getFirm(database, environment, firm) };
  if (application !== undefined) return { application: await getApplication(database, environment, application) };
  return {};
}

function requirePlace(field: string, value: string | undefined, isNeeded: boolean, role: Role): void {
  if ((value !== undefined) === isNeeded) return;
  refuseField(
    field,
    isNeeded ? `${field} is missing: the role ${role} has one` : `${field} is for the role ${role} alone`,
  );
}
