/**
 * Sessions and API tokens of administrators: random bearer tokens (https://www.rfc-editor.org/rfc/rfc6750), stored as keyed
 * hashes and read from the database at every request, so that one that was ended is refused by every node from then on.
 */

import type { Clock } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import { makeSecret } from '../base/ids.ts';
import type { Secrets } from '../base/secrets.ts';
import type { Database, Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { requireTitle } from '../tenancy/names.ts';
import type { Administrator } from './administrators.ts';
import { refuseField } from './input.ts';

const hourMs = 3_600_000;

/** A session ends when it was not used for this long. */
export const sessionIdleMs = 8 * hourMs;
/** A session ends, however much it is used. */
export const sessionMsMax = 24 * hourMs;
/** Longest life of an API token. */
export const tokenMsMax = 366 * 24 * hourMs;
/** Live sessions of an administrator; a further one ends the oldest. */
export const sessionsMax = 50;
/** Live API tokens of an administrator. */
export const tokensMax = 20;

/** Time between two notes of when a token was last used. */
const noteMs = 60_000;

/** Tells people and scanners for leaked secrets what they have found. */
const tokenPrefix = 'pxa_';
const tokenPattern = /^pxa_[A-Za-z0-9_-]{43}$/;

/** Who asks, by a live session or API token of a live administrator. */
export interface SignedInCaller
  extends Pick<Administrator, 'username' | 'role' | 'environment' | 'firm' | 'application'> {
  readonly administrator: number;
  /** Number of the session or API token. */
  readonly session: number;
  readonly kind: 'session' | 'token';
}

export interface SessionStore {
  readonly database: Database;
  readonly secrets: Secrets;
  readonly clock: Clock;
}

export interface IssuedSession {
  readonly id: number;
  /** The token itself; it cannot be shown again. */
  readonly token: string;
  readonly expiresAtMs: number;
}

export interface ApiToken {
  readonly id: number;
  readonly label: string;
  readonly createdAtMs: number;
  readonly lastUsedAtMs: number | null;
  readonly expiresAtMs: number;
}

/** Whose password is asked for: a live administrator whose firm or application is live, too. */
export interface SignIn {
  readonly administrator: number;
  /** As it is stored. */
  readonly password: string;
}

const place = sql`
  LEFT JOIN firm f ON f.id = a.firm LEFT JOIN application p ON p.id = a.application
  LEFT JOIN environment e ON e.id = COALESCE(f.environment, p.environment)`;
/** A firm or application that is suspended is nobody's to administer but the operators'. */
const isLive = sql`a.state = 'active' AND COALESCE(f.state, p.state, 'active') = 'active'`;

export async function findSignIn({ database }: SessionStore, username: string): Promise<SignIn | undefined> {
  const [row] = await database.query<SignIn>(sql`
    SELECT a.id AS administrator, a.password FROM administrator a ${place} WHERE a.username = ${username} AND ${isLive}`);
  return row;
}

/** Begins a session; undefined when the password that was checked is no longer the administrator's. */
export async function beginSession(store: SessionStore, signIn: SignIn): Promise<IssuedSession | undefined> {
  const { database, clock } = store;
  const nowMs = clock.now();
  return await database.transaction(undefined, async (tx) => {
    const [live] = await tx.query(sql`
      SELECT id FROM administrator WHERE id = ${signIn.administrator} AND password = ${signIn.password} AND state = 'active' FOR UPDATE`);
    if (live === undefined) return undefined;
    await tx.query(
      sql`DELETE FROM admin_session WHERE administrator = ${signIn.administrator} AND ends_at <= ${sql.timestamp(nowMs)}`,
    );
    await tx.query(sql`
      UPDATE admin_session SET state = 'revoked' WHERE id IN (
        SELECT id FROM admin_session WHERE administrator = ${signIn.administrator} AND kind = 'session' AND state = 'active'
        ORDER BY id DESC OFFSET ${sessionsMax - 1})`);
    const times = { expiresAtMs: nowMs + sessionIdleMs, endsAtMs: nowMs + sessionMsMax };
    return await insert(store, tx, signIn.administrator, sql`'session'`, '', times);
  });
}

/**
 * Makes an API token of the caller.
 * @throws PraxisError `rule-broken` for a malformed label, an end that has passed or is too far, or one token too many
 */
export async function issueToken(
  store: SessionStore,
  { administrator, session }: SignedInCaller,
  label: string,
  expiresAtMs: number,
): Promise<IssuedSession> {
  requireTitle('label', label);
  const nowMs = store.clock.now();
  if (expiresAtMs <= nowMs || expiresAtMs > nowMs + tokenMsMax) {
    const days = tokenMsMax / (24 * hourMs);
    refuseField('expiresAt', `expiresAt must be in the future, at most ${days} days from now`);
  }
  return await store.database.transaction(undefined, async (tx) => {
    // A change of the password waits or has ended this session: then its tokens would outlive it.
    await tx.query(sql`SELECT id FROM administrator WHERE id = ${administrator} FOR UPDATE`);
    const [row] = await tx.query<{ live: number; ended: boolean }>(sql`
      SELECT (SELECT count(*) FROM admin_session WHERE administrator = ${administrator} AND ${liveTokens(nowMs)}) AS live,
        state <> 'active' AS ended FROM admin_session WHERE id = ${session}`);
    if (row?.ended !== false) fail('credentials-invalid', { diagnostics: 'The session has ended: sign in again' });
    if (row.live >= tokensMax)
      fail('rule-broken', { diagnostics: `an administrator has at most ${tokensMax} live API tokens: end one first` });
    return await insert(store, tx, administrator, sql`'token'`, label, { expiresAtMs, endsAtMs: expiresAtMs });
  });
}

/** The live API tokens of the caller, newest first; never the tokens themselves. */
export async function listTokens(
  { database, clock }: SessionStore,
  { administrator }: SignedInCaller,
): Promise<ApiToken[]> {
  return await database.query<ApiToken>(sql`
    SELECT id, label, created_at AS "createdAtMs", last_used_at AS "lastUsedAtMs", expires_at AS "expiresAtMs"
    FROM admin_session WHERE administrator = ${administrator} AND ${liveTokens(clock.now())} ORDER BY id DESC`);
}

/**
 * Refuses an API token of the caller from the next request on.
 * @throws PraxisError `resource-not-found` when the caller has no live one of this id
 */
export async function revokeToken(store: SessionStore, caller: SignedInCaller, id: number): Promise<void> {
  const revoked = await store.database.query(sql`
    UPDATE admin_session SET state = 'revoked'
    WHERE id = ${id} AND administrator = ${caller.administrator} AND ${liveTokens(store.clock.now())} RETURNING id`);
  if (revoked.length === 0)
    fail('resource-not-found', { diagnostics: `there is no active API token ${id}`, expression: ['token'] });
}

/** Ends the session or API token that the caller asks by. */
export async function endSession({ database }: SessionStore, { session }: SignedInCaller): Promise<void> {
  await database.query(sql`UPDATE admin_session SET state = 'revoked' WHERE id = ${session}`);
}

/** Whose token this is; undefined for one that is unknown, over or ended. Notes that it was used. */
export async function findSignedInCaller(store: SessionStore, token: string): Promise<SignedInCaller | undefined> {
  if (!tokenPattern.test(token)) return undefined;
  const { database, secrets, clock } = store;
  const nowMs = clock.now();
  const [row] = await database.query<SignedInCaller & { readonly lastUsedAtMs: number | null }>(
    sql`
    SELECT a.id AS administrator, a.username, a.role, e.name AS environment, f.prefix AS firm, p.name AS application,
           s.id AS session, s.kind, s.last_used_at AS "lastUsedAtMs"
    FROM admin_session s JOIN administrator a ON a.id = s.administrator ${place}
    WHERE s.hash = ${secrets.hash('admin-session', token)} AND s.state = 'active' AND s.expires_at > ${sql.timestamp(nowMs)} AND ${isLive}`,
    { idempotent: true },
  );
  if (row === undefined) return undefined;
  const { lastUsedAtMs, ...caller } = row;
  if (lastUsedAtMs === null || lastUsedAtMs <= nowMs - noteMs) await noteUse(database, caller, nowMs);
  return caller;
}

async function noteUse(database: Database, { session, kind }: SignedInCaller, nowMs: number): Promise<void> {
  const expiry =
    kind === 'token' ? sql.empty : sql`, expires_at = LEAST(ends_at, ${sql.timestamp(nowMs + sessionIdleMs)})`;
  await database.query(
    sql`UPDATE admin_session SET last_used_at = ${sql.timestamp(nowMs)} ${expiry} WHERE id = ${session} AND state = 'active'`,
  );
}

function liveTokens(nowMs: number): Sql {
  return sql`kind = 'token' AND state = 'active' AND expires_at > ${sql.timestamp(nowMs)}`;
}

async function insert(
  { secrets, clock }: SessionStore,
  tx: Queryable,
  administrator: number,
  kind: Sql,
  label: string,
  { expiresAtMs, endsAtMs }: { readonly expiresAtMs: number; readonly endsAtMs: number },
): Promise<IssuedSession> {
  const token = `${tokenPrefix}${makeSecret()}`;
  const [row] = await tx.query<{ id: number }>(sql`
    INSERT INTO admin_session (hash, administrator, kind, label, created_at, expires_at, ends_at)
    VALUES (${secrets.hash('admin-session', token)}, ${administrator}, ${kind}, ${label}, ${sql.timestamp(clock.now())},
      ${sql.timestamp(expiresAtMs)}, ${sql.timestamp(endsAtMs)})
    RETURNING id`);
  return row === undefined
    ? fail('internal', { diagnostics: 'The session was not stored' })
    : { id: row.id, token, expiresAtMs };
}
