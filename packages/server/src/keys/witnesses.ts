/** What in a database tells the data keys that it was made with. */

import { serviceLedger } from '../audit/audit-row.ts';
import { openProofCheck } from '../audit/proof.ts';
import { beginning, type LedgerRow, openSealingKey } from '../audit/seal.ts';
import { selectRowsBetween } from '../audit/seal-statements.ts';
import { type DataKeys, openSecrets, type Secrets } from '../base/secrets.ts';
import type { Queryable } from '../database/database.ts';
import { sql } from '../database/sql.ts';
import { opensSigningKey } from '../oauth/signing/signing-keys.ts';

/** Whether the database holds anything that is worth nothing without the keys it was made with. */
export async function holdsMadeThings(owner: Pick<Queryable, 'query'>): Promise<boolean> {
  const [found] = await owner.query<{ holds: boolean }>(sql`
    SELECT EXISTS (SELECT FROM signing_key) OR EXISTS (SELECT FROM api_key) OR EXISTS (SELECT FROM client)
      OR EXISTS (SELECT FROM legacy_account) OR EXISTS (SELECT FROM administrator) OR EXISTS (SELECT FROM audit_event) AS holds`);
  return found?.holds === true;
}

/** Rows of each kind that are looked at: the first may have been changed by hand. */
const witnessesMax = 20;

/**
 * Whether the database was made with these keys; undefined when it holds nothing that tells. The first kind of what it holds
 * decides: a node that once ran with another key left rows of the ledger, and seals, but no signing key.
 */
export async function wasMadeWith(owner: Queryable, dataKeys: DataKeys): Promise<boolean | undefined> {
  return (await wasSealedWith(owner, dataKeys)) ?? (await provesRows(owner, openSecrets(dataKeys)));
}

/** The same by signing keys and seals alone, which tables of any release tell. */
export async function wasSealedWith(owner: Pick<Queryable, 'query'>, dataKeys: DataKeys): Promise<boolean | undefined> {
  const secrets = openSecrets(dataKeys);
  return (await opensSigningKeys(owner, secrets)) ?? (await signsSeals(owner, secrets));
}

async function opensSigningKeys(owner: Pick<Queryable, 'query'>, secrets: Secrets): Promise<boolean | undefined> {
  const rows = await owner.query<{ realm: string; kid: string; sealed: Buffer }>(sql`
    SELECT realm, kid, private_sealed AS sealed FROM signing_key ORDER BY created_at LIMIT ${witnessesMax}`);
  return rows.length === 0 ? undefined : rows.some((row) => opensSigningKey(secrets, row));
}

async function signsSeals(owner: Pick<Queryable, 'query'>, secrets: Secrets): Promise<boolean | undefined> {
  const rows = await owner.query<{ head: Buffer; signature: Buffer }>(sql`
    SELECT head, signature FROM audit_seal ORDER BY firm, number LIMIT ${witnessesMax}`);
  const key = openSealingKey(secrets);
  return rows.length === 0 ? undefined : rows.some(({ head, signature }) => key.verifies(head, signature));
}

async function provesRows(owner: Queryable, secrets: Secrets): Promise<boolean | undefined> {
  const isProven = openProofCheck(secrets);
  const firms = await owner.query<{ id: number }>(
    sql`SELECT id FROM firm WHERE state <> 'erased' ORDER BY id LIMIT ${witnessesMax}`,
  );
  let isAny = false;
  for (const firm of [serviceLedger, ...firms.map(({ id }) => id)]) {
    const rows = await owner.query<LedgerRow>(selectRowsBetween(firm, beginning, undefined, witnessesMax));
    // Rows from before there were proofs say nothing.
    const proven = rows.filter(({ proof }) => proof !== null);
    if (proven.some((row) => isProven(firm, row, row.proof))) return true;
    isAny ||= proven.length > 0;
  }
  return isAny ? false : undefined;
}
