/**
 * Changing a realm's signing key without a request that fails (https://www.rfc-editor.org/rfc/rfc7517#section-4.5 on `kid`):
 *
 *     publish    a new key is in the JWK Set, so that all who cache the set learn it, and signs nothing yet
 *     activate   it signs; the key before it goes on verifying what it signed
 *     retire     the old key verifies nothing any more and leaves the set
 *
 * Each step waits for what was cached before it: JWK Sets by those who verify, signers by processes, tokens by clients.
 */

import type { Clock } from '../../base/clock.ts';
import { fail } from '../../base/errors.ts';
import type { Secrets } from '../../base/secrets.ts';
import { settings } from '../../base/settings.ts';
import type { Database, Queryable } from '../../database/database.ts';
import { sql } from '../../database/sql.ts';
import { changeRights } from '../../tenancy/epochs.ts';
import { makeSealedKey, signerRememberedMs } from './signing-keys.ts';

export interface SigningKeyRow {
  readonly kid: string;
  readonly state: 'published' | 'active' | 'verifying' | 'retired';
  readonly createdAtMs: number;
  readonly stateSinceMs: number;
}

export interface RotationContext {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

/** How long a JWK Set may be cached by those who fetch it; `Cache-Control: max-age` of the answer, in seconds. */
export const jwkSetSecondsMax = 60;
/** Shortest time between publishing and signing: twice what a JWK Set is cached for. */
export const publishedMsMin = 2 * jwkSetSecondsMax * 1000;
/** The longest that a token of a key can be set to live, in ms. */
const tokenMsMax = settings.clientTokenSeconds.max * 1000;
/** Shortest time between the end of signing and retirement. */
export const verifyingMsMin = tokenMsMax + signerRememberedMs + jwkSetSecondsMax * 1000;

/** The keys of a realm, newest first. */
export async function listSigningKeys(database: Queryable, realm: string): Promise<SigningKeyRow[]> {
  return await database.query<SigningKeyRow>(sql`
    SELECT kid, state, created_at AS "createdAtMs", state_since AS "stateSinceMs"
    FROM signing_key WHERE realm = ${realm} ORDER BY created_at DESC, kid`);
}

/**
 * Makes the realm's next key and publishes it.
 * @returns its `kid`
 * @throws PraxisError `rule-broken` when the realm has a next key already
 */
export async function publishSigningKey({ database, secrets, clock }: RotationContext, realm: string): Promise<string> {
  const { jwk, sealed } = await makeSealedKey(secrets, realm);
  const made = await database.query(sql`
    INSERT INTO signing_key (kid, realm, algorithm, public_jwk, private_sealed, state, state_since)
    VALUES (${jwk.kid}, ${realm}, ${jwk.alg}, ${sql.json(jwk)}, ${sealed}, 'published', ${sql.timestamp(clock.now())})
    ON CONFLICT (realm) WHERE state = 'published' DO NOTHING RETURNING kid`);
  if (made.length === 0)
    fail('rule-broken', { diagnostics: `realm ${realm} already has a published key: activate or retire it` });
  return jwk.kid;
}

/**
 * Lets the published key sign; processes follow within `signerRememberedMs`.
 * @param force also when it was published just now: those who verify by a cached JWK Set may refuse tokens for a while
 * @throws PraxisError `rule-broken` when the realm has no published key, or it was published too lately
 */
export async function activateSigningKey(
  { database, clock }: RotationContext,
  realm: string,
  force: boolean,
): Promise<string> {
  return await database.transaction(undefined, async (tx) => {
    const next = (await lockKeys(tx, realm)).find(({ state }) => state === 'published');
    if (next === undefined)
      fail('rule-broken', { diagnostics: `realm ${realm} has no published key: publish one first` });
    const nowMs = clock.now();
    if (!force) requireAge(next, publishedMsMin, nowMs, 'may sign');
    // First the old key, since a realm has one active key at any moment.
    await tx.query(sql`
      UPDATE signing_key SET state = 'verifying', state_since = ${sql.timestamp(nowMs)} WHERE realm = ${realm} AND state = 'active'`);
    await tx.query(sql`
      UPDATE signing_key SET state = 'active', state_since = ${sql.timestamp(nowMs)} WHERE kid = ${next.kid}`);
    return next.kid;
  });
}

/**
 * Ends a key that does not sign: with the next statement nothing that it signed is taken.
 * @param force also when tokens that it signed may still be valid: for a key that has become known
 * @throws PraxisError `resource-not-found` for a key that the realm has not, `rule-broken` for the active key, for one that
 *   is retired, and for one that ended signing too lately
 */
export async function retireSigningKey(
  { database, clock }: RotationContext,
  realm: string,
  kid: string,
  force: boolean,
): Promise<void> {
  await changeRights(database, { realm }, async (tx) => {
    const key = (await lockKeys(tx, realm)).find((each) => each.kid === kid);
    if (key === undefined)
      return fail('resource-not-found', { diagnostics: `realm ${realm} has no signing key ${kid}` });
    if (key.state === 'active')
      fail('rule-broken', { diagnostics: 'the active key cannot be retired: publish and activate the next one first' });
    if (key.state === 'retired') fail('rule-broken', { diagnostics: `signing key ${kid} is retired already` });
    const nowMs = clock.now();
    if (key.state === 'verifying' && !force) requireAge(key, verifyingMsMin, nowMs, 'may be retired');
    await tx.query(
      sql`UPDATE signing_key SET state = 'retired', state_since = ${sql.timestamp(nowMs)} WHERE kid = ${kid}`,
    );
  });
}

/** The realm's keys, held to the end of the transaction. */
async function lockKeys(tx: Queryable, realm: string): Promise<SigningKeyRow[]> {
  await tx.query(sql`SELECT kid FROM signing_key WHERE realm = ${realm} ORDER BY kid FOR UPDATE`);
  return await listSigningKeys(tx, realm);
}

function requireAge({ kid, state, stateSinceMs }: SigningKeyRow, ageMs: number, nowMs: number, what: string): void {
  const fromMs = stateSinceMs + ageMs;
  if (nowMs >= fromMs) return;
  fail('rule-broken', {
    diagnostics: `signing key ${kid} is ${state} since ${new Date(stateSinceMs).toISOString()}: it ${what} from ${new Date(fromMs).toISOString()}, or with --force`,
  });
}
