/**
 * Accounts of the legacy password grant (contract 4.1): a username and password of one application at one firm. Passwords
 * are generated with 256 bits, so a keyed hash stores them safely, and clients that log in before every call stay cheap.
 */
import { fail } from '../../base/errors.ts';
import { makeSecret } from '../../base/ids.ts';
import type { Secrets } from '../../base/secrets.ts';
import type { Database } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import type { Application } from '../../tenancy/applications.ts';
import { requireSameEnvironment } from '../../tenancy/authorisations.ts';
import { changeRights } from '../../tenancy/epochs.ts';
import type { Firm } from '../../tenancy/firms.ts';
import { requireTitle } from '../../tenancy/names.ts';

export interface LegacyAccount {
  readonly username: string;
  /** The `sub` of its tokens. */
  readonly subject: string;
  readonly application: string;
  readonly state: 'active' | 'revoked';
  readonly createdAtMs: number;
}

export interface IssuedLegacyAccount {
  readonly username: string;
  /** The password itself; it cannot be shown again. */
  readonly password: string;
}

const subjectBytes = 9;

/**
 * Makes an account of `application` at `firm`.
 * @param username unique at the firm; made up when absent
 * @throws PraxisError `rule-broken` for a malformed username or an application of another environment, `duplicate` when
 *   the firm has the username
 */
export async function issueLegacyAccount(
  database: Database,
  secrets: Secrets,
  firm: Firm,
  application: Application,
  username?: string,
): Promise<IssuedLegacyAccount> {
  requireSameEnvironment(firm, application);
  const subject = `fhir_${makeSecret(subjectBytes)}`;
  const name = requireTitle('username', username ?? subject);
  const password = makeSecret();
  const made = await database.query(sql`
    INSERT INTO legacy_account (firm, username, application, password_hash, subject, state)
    VALUES (${firm.id}, ${name}, ${application.id}, ${secrets.hash('legacy-password', password)}, ${subject}, 'active')
    ON CONFLICT (firm, username) DO NOTHING RETURNING username`);
  if (made.length === 0)
    fail('duplicate', { diagnostics: `firm ${firm.prefix} has an account ${name}`, expression: ['username'] });
  return { username: name, password };
}

/**
 * Gives the account a new password. Refresh and access tokens got with the old one end with the next statement.
 * @throws PraxisError `resource-not-found` when the firm has no live account of this name
 */
export async function resetLegacyPassword(
  database: Database,
  secrets: Secrets,
  firm: Firm,
  username: string,
): Promise<IssuedLegacyAccount> {
  const password = makeSecret();
  const passwordHash = secrets.hash('legacy-password', password);
  await changeAccount(database, firm, username, sql`password_hash = ${passwordHash}`);
  return { username, password };
}

/**
 * Refuses the account's logins, refreshes and access tokens from the next statement on.
 * @throws PraxisError `resource-not-found` when the firm has no live account of this name
 */
export async function revokeLegacyAccount(database: Database, firm: Firm, username: string): Promise<void> {
  await changeAccount(database, firm, username, sql`state = 'revoked'`);
}

async function changeAccount(database: Database, firm: Firm, username: string, change: Sql): Promise<void> {
  await changeRights(database, { firm: firm.id }, async (tx) => {
    const changed = await tx.query(sql`
      UPDATE legacy_account SET ${change} WHERE firm = ${firm.id} AND username = ${username} AND state = 'active' RETURNING username`);
    if (changed.length === 0) {
      fail('resource-not-found', {
        diagnostics: `firm ${firm.prefix} has no live account ${username}`,
        expression: ['username'],
      });
    }
  });
}

/** The accounts at a firm by username; never their passwords. */
export async function listLegacyAccounts(database: Database, firm: Firm): Promise<LegacyAccount[]> {
  return await database.query<LegacyAccount>(sql`
    SELECT l.username, l.subject, a.name AS application, l.state, l.created_at AS "createdAtMs"
    FROM legacy_account l JOIN application a ON a.id = l.application
    WHERE l.firm = ${firm.id} ORDER BY l.username`);
}
