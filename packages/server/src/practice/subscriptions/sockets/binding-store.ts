/**
 * Which process holds the socket of a subscription: rows that it writes for its own sockets. The last that binds a subscription has it
 * from then on; a process that dies holds none a few seconds later (docs/decisions/0320).
 */
import { type Database, pointRead, type Queryable } from '../../../database/database.ts';
import { type Sql, sql } from '../../../database/sql.ts';
import { encodeIntegerArray, encodeTextArray } from '../../../storage/index-arrays.ts';
import { buildInserts, type StatementRunner } from '../../../storage/statement-runner.ts';
import type { TenantScope } from '../../../tenancy/scope.ts';

/** How long a process holds its sockets' subscriptions, unless it renews that. */
export const heldMs = 5_000;

/** On which processes with sockets are told that one of their subscriptions has something to send, or is bound elsewhere. */
const bindingsChannel = 'praxis_bindings';

/** Tells the processes with sockets to look. */
export const tellHolders: Sql = sql`SELECT pg_notify(${bindingsChannel}, '')`;

/** The channel of `tellHolders`. */
export const holdersChannel: string = bindingsChannel;

/** Tells them where one of the subscriptions is bound. */
export function tellHoldersAbout(firm: number, ids: readonly string[], nowMs: number): Sql {
  return sql`
    SELECT pg_notify(${bindingsChannel}, '') WHERE EXISTS (
      SELECT FROM subscription_binding WHERE firm = ${firm} AND id = ANY (${encodeTextArray(ids)}::text[]) AND held > ${nowMs})`;
}

/** No process holds a socket of it any more. */
export function releaseBinding(firm: number, id: string): Sql {
  return sql`DELETE FROM subscription_binding WHERE firm = ${firm} AND id = ${id}`;
}

/** What a binding token is good for. */
export interface TokenRights {
  readonly application: number;
  /** Id of the API key of the call that asked for it. */
  readonly apiKey: number;
  /** Id of the access token of that call. */
  readonly accessToken: string;
  readonly subscriptions: readonly string[];
}

export interface KeptToken extends TokenRights {
  /** Of the token: it is not kept itself. */
  readonly hash: Buffer;
  readonly expiresMs: number;
}

/** Keeps a token, and forgets those of the firm whose time is over. */
export async function keepToken(
  store: StatementRunner,
  scope: TenantScope,
  { hash, expiresMs, apiKey, accessToken, subscriptions }: KeptToken,
  nowMs: number,
): Promise<void> {
  const { firm, application } = scope;
  await store.change(scope, [
    sql`
      INSERT INTO websocket_token (firm, application, hash, expires, api_key, access_token, subscriptions)
      VALUES (${firm}, ${application}, ${hash}, ${expiresMs}, ${apiKey}, ${accessToken}, ${encodeTextArray(subscriptions)}::text[])
      RETURNING 1 AS kept`,
    sql`DELETE FROM websocket_token WHERE firm = ${firm} AND expires <= ${nowMs}`,
  ]);
}

/** Forgets tokens whose time is over. */
export async function forgetTokens(query: Queryable, firm: number, nowMs: number): Promise<void> {
  await query.query(sql`DELETE FROM websocket_token WHERE firm = ${firm} AND expires <= ${nowMs}`);
}

/** What the token was good for, which it is no longer; undefined: it was never one of the firm, or was used. */
export async function takeToken(tx: Queryable, firm: number, hash: Buffer): Promise<KeptToken | undefined> {
  const [token] = await tx.query<KeptToken>(sql`
    DELETE FROM websocket_token WHERE firm = ${firm} AND hash = ${hash}
    RETURNING application, api_key AS "apiKey", access_token AS "accessToken", subscriptions, hash, expires AS "expiresMs"`);
  return token;
}

/** The access epoch under which key, access token and application are good; undefined: one of them is not. */
export async function readTokenEpoch(
  tx: Queryable,
  firm: number,
  { application, apiKey, accessToken }: TokenRights,
): Promise<number | undefined> {
  const [row] = await tx.query<{ epoch: number }>(sql`
    SELECT e.epoch FROM access_epoch e JOIN application a ON a.id = e.application AND a.state = 'active'
    JOIN authorisation z ON z.firm = e.firm AND z.application = e.application AND z.state = 'active'
    JOIN api_key k ON k.id = ${apiKey} AND k.application = e.application AND k.state = 'active'
    WHERE e.firm = ${firm} AND e.application = ${application}
      AND NOT EXISTS (SELECT FROM revoked_token r WHERE r.token_id = ${accessToken})`);
  return row?.epoch;
}

/**
 * Takes the subscriptions for this process, also those that others hold. Something is to be done for them at once.
 * @returns the ids of those that can be bound: websockets that were asked for and have not ended
 */
export async function takeBindings(
  tx: Queryable,
  { firm, application, holder }: { readonly firm: number; readonly application: number; readonly holder: string },
  ids: readonly string[],
  nowMs: number,
): Promise<readonly string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    SELECT id FROM subscription WHERE firm = ${firm} AND application = ${application} AND id = ANY (${encodeTextArray(ids)}::text[])
      AND status IN ('requested', 'active') AND NOT suspended AND NOT vendor_suspended AND definition->>'endpoint' IS NULL
    ORDER BY id FOR UPDATE`);
  const taken = rows.map(({ id }) => id);
  if (taken.length === 0) return [];
  const list = encodeTextArray(taken);
  await tx.query(sql`UPDATE subscription SET retry = NULL WHERE firm = ${firm} AND id = ANY (${list}::text[])`);
  const kept = taken.map((id) => sql`(${firm}, ${id}, ${holder}, ${nowMs + heldMs})`);
  const conflict = sql`ON CONFLICT (firm, id) DO UPDATE SET holder = excluded.holder, held = excluded.held`;
  for (const statement of buildInserts(sql`subscription_binding (firm, id, holder, held)`, kept, conflict))
    await tx.query(statement);
  await tx.query(sql`
    UPDATE subscription_due SET due = LEAST(due, ${nowMs}), leased = 0 WHERE firm = ${firm} AND id = ANY (${list}::text[])`);
  await tx.query(tellHolders);
  return taken;
}

/** A subscription as a process believes to hold it. */
export interface Held {
  readonly firm: number;
  readonly application: number;
  readonly id: string;
  readonly apiKey: number;
  readonly accessToken: string;
  /** The access epoch under which it was looked at last. */
  readonly epoch: number;
}

/** What is no longer as a process believes. */
export interface HeldChange {
  readonly firm: number;
  readonly id: string;
  /** Another process has it. */
  readonly isElsewhere: boolean;
  /** The time to renew it was missed. */
  readonly isLapsed: boolean;
  /** The application ended or deleted it, or its run has ended. */
  readonly isEnded: boolean;
  /** The API key or the access token by which it was bound has ended. */
  readonly isRevoked: boolean;
  /** Null: the application is not authorised. */
  readonly epoch: number | null;
}

/** Looks at all that a process holds; what is as it was is left out. */
export async function listHeldChanges(
  database: Pick<Database, 'query'>,
  holder: string,
  held: readonly Held[],
  nowMs: number,
): Promise<readonly HeldChange[]> {
  return await database.query<HeldChange>(
    sql`
    SELECT b.firm, b.id, COALESCE(h.holder <> ${holder}, false) AS "isElsewhere", COALESCE(h.held <= ${nowMs}, true) AS "isLapsed",
      d.id IS NULL AS "isEnded", e.epoch, (e.epoch IS DISTINCT FROM b.epoch AND (
        NOT EXISTS (SELECT FROM api_key k WHERE k.id = b.key AND k.state = 'active')
        OR EXISTS (SELECT FROM revoked_token r WHERE r.token_id = b.token))) AS "isRevoked"
    FROM unnest(${encodeIntegerArray(held.map(({ firm }) => firm))}::int[],
      ${encodeIntegerArray(held.map(({ application }) => application))}::int[], ${encodeTextArray(held.map(({ id }) => id))}::text[],
      ${encodeIntegerArray(held.map(({ apiKey }) => apiKey))}::int[], ${encodeTextArray(held.map(({ accessToken }) => accessToken))}::text[],
      ${encodeIntegerArray(held.map(({ epoch }) => epoch))}::int[]) AS b(firm, application, id, key, token, epoch)
    LEFT JOIN subscription_binding h ON h.firm = b.firm AND h.id = b.id
    LEFT JOIN subscription_due d ON d.firm = b.firm AND d.id = b.id
    LEFT JOIN access_epoch e ON e.firm = b.firm AND e.application = b.application
    WHERE h.holder IS DISTINCT FROM ${holder} OR h.held <= ${nowMs} OR d.id IS NULL OR e.epoch IS DISTINCT FROM b.epoch`,
    pointRead,
  );
}

/** Holds them for longer. */
export async function renewBindings(
  database: Pick<Database, 'query'>,
  holder: string,
  held: readonly Pick<Held, 'firm' | 'id'>[],
  nowMs: number,
): Promise<void> {
  const firms = encodeIntegerArray(held.map(({ firm }) => firm));
  const ids = encodeTextArray(held.map(({ id }) => id));
  await database.query(sql`
    UPDATE subscription_binding b SET held = ${nowMs + heldMs} FROM unnest(${firms}::int[], ${ids}::text[]) AS h(firm, id)
    WHERE b.firm = h.firm AND b.id = h.id AND b.holder = ${holder} AND b.held > ${nowMs}`);
}

/** Holds them no longer. Some process looks at them, since what waits may wait for so long only. Each firm by itself. */
export async function releaseBindings(
  database: Pick<Database, 'transaction'>,
  holder: string,
  held: readonly Pick<Held, 'firm' | 'id'>[],
  nowMs: number,
): Promise<void> {
  for (const [firm, those] of Map.groupBy(held, (each) => each.firm)) {
    const ids = encodeTextArray(those.map(({ id }) => id));
    await database.transaction(firm, async (tx) => {
      const released = await tx.query<{ id: string }>(sql`
        DELETE FROM subscription_binding WHERE firm = ${firm} AND id = ANY (${ids}::text[]) AND holder = ${holder} RETURNING id`);
      if (released.length === 0) return;
      await tx.query(sql`
        UPDATE subscription_due SET due = LEAST(due, ${nowMs})
        WHERE firm = ${firm} AND id = ANY (${encodeTextArray(released.map(({ id }) => id))}::text[])`);
    });
  }
}

/** Something is to be done for it at once: its rights may be others. */
export async function makeDueNow(
  database: Pick<Database, 'forFirm'>,
  { firm, id }: Pick<Held, 'firm' | 'id'>,
  nowMs: number,
): Promise<void> {
  await database
    .forFirm(firm)
    .query(sql`UPDATE subscription_due SET due = LEAST(due, ${nowMs}) WHERE firm = ${firm} AND id = ${id}`);
}

/**
 * Notes since when nobody takes what waits for the subscription, and when to look again; nothing where a process holds it.
 * @param untilMs how long it may wait
 */
export async function noteUnbound(
  tx: Queryable,
  firm: number,
  id: string,
  { nowMs, untilMs }: { readonly nowMs: number; readonly untilMs: number },
): Promise<void> {
  // Who binds it holds this row first: what is read after it is true of both.
  await tx.query(sql`SELECT FROM subscription WHERE firm = ${firm} AND id = ${id} FOR UPDATE`);
  // Who held it is late: it does not renew what is gone, but takes it anew.
  await tx.query(sql`DELETE FROM subscription_binding WHERE firm = ${firm} AND id = ${id} AND held <= ${nowMs}`);
  await tx.query(sql`
    UPDATE subscription SET failing = COALESCE(failing, ${nowMs}), retry = ${untilMs}
    WHERE firm = ${firm} AND id = ${id} AND status IN ('requested', 'active') AND NOT EXISTS (
      SELECT FROM subscription_binding b WHERE b.firm = ${firm} AND b.id = ${id} AND b.held > ${nowMs})`);
}
