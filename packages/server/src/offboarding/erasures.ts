/**
 * Erasures of firms, as two operators agree on them (docs/decisions/0317): one requests, another confirms in time, and anyone may cancel
 * before that. From the confirmation on the firm is nobody's to enter; a job removes its rows (erase-firm.ts).
 */
import type { Clock } from '../base/clock.ts';
import { toInstant } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import type { Database, Queryable } from '../database/database.ts';
import { type Sql, sql } from '../database/sql.ts';
import { raiseEpochs } from '../tenancy/epochs.ts';
import type { Firm } from '../tenancy/firms.ts';

/** How long a request waits for its confirmation; and so long before it nobody else may have set the password of who asks. */
export const requestMs = 3 * 24 * 60 * 60 * 1000;

/** Rows that are counted for a request, of each kind: more of them take too long for whoever waits. */
export const countedMax = 1_000_000;

/** What a firm holds; one more than `countedMax` stands for all that are more. */
export interface FirmCounts {
  readonly resources: number;
  readonly versions: number;
  readonly documents: number;
  readonly auditRows: number;
  readonly applications: number;
}

export type ErasureState = 'requested' | 'cancelled' | 'expired' | 'confirmed' | 'erased';

export interface Erasure {
  readonly id: number;
  /** Number of the firm. */
  readonly firmNumber: number;
  readonly environment: string;
  /** Prefix. */
  readonly firm: string;
  readonly name: string;
  readonly state: ErasureState;
  readonly reason: string;
  readonly requestedBy: string;
  readonly requestedAtMs: number;
  readonly expiresAtMs: number;
  readonly confirmedBy: string | null;
  readonly confirmedAtMs: number | null;
  readonly cancelledBy: string | null;
  readonly cancelledAtMs: number | null;
  readonly finishedAtMs: number | null;
  readonly counts: FirmCounts;
  /** Rows removed so far, by table. */
  readonly erased: Readonly<Record<string, number>>;
  /** What was erased, as it was signed. */
  readonly proof: string | null;
  readonly signature: Buffer | null;
}

export interface ErasureStore {
  readonly database: Database;
  readonly clock: Clock;
}

/**
 * Requests that a firm be erased.
 * @param by username of the operator, who has proved to be one
 * @throws PraxisError `rule-broken` where the firm is not suspended, or the password of the operator may be known to another one;
 *   `duplicate` where its erasure is requested already
 */
export async function requestErasure(
  { database, clock }: ErasureStore,
  firm: Firm,
  { reason, by }: { readonly reason: string; readonly by: string },
): Promise<Erasure> {
  requireSuspended(firm);
  const counts = await countHoldings(database, firm.id);
  const nowMs = clock.now();
  const id = await database.transaction(undefined, async (tx) => {
    const [operator] = await listOperators(tx, [by]);
    requireOwnPassword(operator, by, nowMs, 'operator');
    await tx.query(sql`
      UPDATE firm_erasure SET state = 'expired' WHERE firm = ${firm.id} AND state = 'requested' AND expires_at <= ${nowMs}::bigint`);
    // Nobody resumes it meanwhile: that would not see this request.
    const [held] = await tx.query<Pick<Firm, 'state'>>(sql`SELECT state FROM firm WHERE id = ${firm.id} FOR SHARE`);
    requireSuspended({ prefix: firm.prefix, state: held?.state ?? 'active' });
    const [made] = await tx.query<{ id: number }>(sql`
      INSERT INTO firm_erasure (firm, requested_at, expires_at, environment, prefix, name, reason, requested_by, counts)
      SELECT ${firm.id}::int, ${nowMs}::bigint, ${nowMs + requestMs}::bigint, ${firm.environment}::text, ${firm.prefix}::text, ${firm.name}::text,
        ${reason}::text, ${by}::text, ${sql.json(counts)}::jsonb
      WHERE NOT EXISTS (SELECT FROM firm_erasure WHERE firm = ${firm.id} AND state IN ('requested', 'confirmed'))
      ON CONFLICT (firm) WHERE state IN ('requested', 'confirmed') DO NOTHING RETURNING id`);
    return made?.id;
  });
  if (id === undefined)
    return fail('duplicate', {
      diagnostics: `the erasure of firm ${firm.prefix} is requested already: firm erase list shows it`,
      expression: ['firm'],
    });
  return await getErasure({ database, clock }, id);
}

function requireSuspended({ prefix, state }: Pick<Firm, 'prefix' | 'state'>): void {
  if (state === 'suspended') return;
  fail('rule-broken', {
    diagnostics: `firm ${prefix} is active: suspend it first, so that nobody works there any more`,
    expression: ['firm'],
  });
}

/**
 * Confirms an erasure. When it resolves nobody enters the firm any more; its rows are then removed by the job.
 * @param given the prefix of the firm, and who confirms
 * @throws PraxisError `resource-not-found`; `rule-broken` where the firm is another one or active again, the operator is the one who
 *   requested it or was made after that, the password of one of them may be known to the other one, or who requested it is no operator
 *   any more; `conflict` where it is not waiting for a confirmation
 */
export async function confirmErasure(
  store: ErasureStore,
  id: number,
  given: { readonly firm: string; readonly by: string },
): Promise<Erasure> {
  const { database, clock } = store;
  await database.transaction(undefined, async (tx) => {
    const erasure = await lockErasure(tx, store, id);
    requireWaiting(erasure);
    await requireSecondOperator(tx, erasure, given);
    const nowMs = clock.now();
    const [closed] = await tx.query<{ id: number }>(
      sql`UPDATE firm SET state = 'erasing' WHERE id = ${erasure.firmNumber} AND state = 'suspended' RETURNING id`,
    );
    if (closed === undefined) requireSuspended({ prefix: erasure.firm, state: 'active' });
    await tx.query(
      sql`UPDATE authorisation SET state = 'revoked' WHERE firm = ${erasure.firmNumber} AND state <> 'revoked'`,
    );
    await raiseEpochs(tx, { firm: erasure.firmNumber });
    await tx.query(sql`
      UPDATE firm_erasure SET state = 'confirmed', confirmed_at = ${nowMs}, confirmed_by = ${given.by},
        confirmed_xid = pg_current_xact_id(), order_epoch = (SELECT o.epoch FROM order_epoch o)
      WHERE id = ${id}`);
  });
  return await getErasure(store, id);
}

async function requireSecondOperator(
  tx: Queryable,
  { firm, requestedBy, requestedAtMs }: Erasure,
  given: { readonly firm: string; readonly by: string },
): Promise<void> {
  const refuse = (diagnostics: string, field: string): never =>
    fail('rule-broken', { diagnostics, expression: [field] });
  if (given.firm !== firm)
    refuse('firm is not that of this erasure: give the prefix of the firm that is to be erased', 'firm');
  if (given.by === requestedBy)
    refuse(`${requestedBy} has requested this erasure: another operator has to confirm it`, 'operator');
  const operators = await listOperators(tx, [requestedBy, given.by]);
  const find = (username: string) => operators.find((each) => each.username === username);
  if (find(requestedBy) === undefined)
    refuse(`${requestedBy}, who requested this erasure, is no operator any more: request it anew`, 'erasure');
  // Else whoever requests it could make the second operator, too.
  if ((find(given.by)?.createdAtMs ?? Number.POSITIVE_INFINITY) > requestedAtMs)
    refuse(
      `${given.by} became an operator after this erasure was requested: one who was an operator before confirms it`,
      'operator',
    );
  requireOwnPassword(find(given.by), given.by, requestedAtMs, 'operator');
  requireOwnPassword(find(requestedBy), requestedBy, requestedAtMs, 'erasure');
}

interface OperatorPassword {
  readonly username: string;
  readonly createdAtMs: number;
  /** When somebody else has set it last. */
  readonly givenAtMs: number | null;
  /** Since when its owner alone has set it; null: somebody else has. */
  readonly ownSinceMs: number | null;
}

/** Live ones; locked, so that no password changes until the transaction ends. */
async function listOperators(tx: Queryable, usernames: readonly string[]): Promise<readonly OperatorPassword[]> {
  return await tx.query<OperatorPassword>(sql`
    SELECT username, created_at AS "createdAtMs", password_given_at AS "givenAtMs", password_own_since AS "ownSinceMs"
    FROM administrator WHERE role = 'operator' AND state = 'active' AND username = ANY (${usernames}::text[])
    ORDER BY id FOR NO KEY UPDATE`);
}

/**
 * That nobody else knows the password, as far as a service can tell: else one operator would act as two. Whose password was set by
 * another one has three days to notice.
 * @throws PraxisError `rule-broken`
 */
function requireOwnPassword(
  operator: OperatorPassword | undefined,
  username: string,
  requestedAtMs: number,
  field: string,
): void {
  const { givenAtMs = null, ownSinceMs = null } = operator ?? {};
  const refuse = (diagnostics: string): never => fail('rule-broken', { diagnostics, expression: [field] });
  if (ownSinceMs === null)
    return refuse(
      `somebody else has set the password of ${username}: ${username} changes it by PUT /me/password, and the erasure is requested after that`,
    );
  if (ownSinceMs > requestedAtMs)
    return refuse(
      `${username} has changed a password of somebody else after this erasure was requested: request it anew`,
    );
  if (givenAtMs !== null && givenAtMs > requestedAtMs - requestMs)
    refuse(
      `somebody else has set a password of ${username} within three days before the request: request it after ${toInstant(givenAtMs + requestMs)}`,
    );
}

/** @throws PraxisError `resource-not-found`; `conflict` where it does not wait for a confirmation any more */
export async function cancelErasure(store: ErasureStore, id: number, by: string): Promise<Erasure> {
  await store.database.transaction(undefined, async (tx) => {
    requireWaiting(await lockErasure(tx, store, id));
    await tx.query(sql`
      UPDATE firm_erasure SET state = 'cancelled', cancelled_at = ${store.clock.now()}, cancelled_by = ${by} WHERE id = ${id}`);
  });
  return await getErasure(store, id);
}

const saidOf: Readonly<Record<Exclude<ErasureState, 'requested'>, string>> = {
  cancelled: 'was cancelled',
  expired: 'has expired, since nobody confirmed it in time',
  confirmed: 'is confirmed already, and rows are being removed',
  erased: 'is done',
};

function requireWaiting({ id, state, expiresAtMs }: Erasure): void {
  if (state === 'requested') return;
  const when = state === 'expired' ? ` (it ended ${toInstant(expiresAtMs)})` : '';
  fail('conflict', { diagnostics: `erasure ${id} ${saidOf[state]}${when}` });
}

async function lockErasure(tx: Queryable, { clock }: ErasureStore, id: number): Promise<Erasure> {
  await tx.query(sql`SELECT id FROM firm_erasure WHERE id = ${id} FOR UPDATE`);
  return findOrFail(await readErasures(tx, clock.now(), sql`WHERE id = ${id}`), id);
}

/** @throws PraxisError `resource-not-found` */
export async function getErasure(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  id: number,
): Promise<Erasure> {
  return findOrFail(await readErasures(database, clock.now(), sql`WHERE id = ${id}`), id);
}

/** The latest first. */
export async function listErasures({ database, clock }: ErasureStore, limit: number): Promise<readonly Erasure[]> {
  return await readErasures(database, clock.now(), sql`ORDER BY id DESC LIMIT ${limit}`);
}

function findOrFail([found]: readonly Erasure[], id: number): Erasure {
  return found ?? fail('resource-not-found', { diagnostics: `there is no erasure ${id}`, expression: ['erasure'] });
}

async function readErasures(query: Queryable, nowMs: number, condition: Sql): Promise<readonly Erasure[]> {
  return await query.query<Erasure>(sql`
    SELECT id, firm AS "firmNumber", environment, prefix AS firm, name, reason,
      CASE WHEN state = 'requested' AND expires_at <= ${nowMs}::bigint THEN 'expired' ELSE state END AS state,
      requested_by AS "requestedBy", requested_at AS "requestedAtMs", expires_at AS "expiresAtMs",
      confirmed_by AS "confirmedBy", confirmed_at AS "confirmedAtMs", cancelled_by AS "cancelledBy",
      cancelled_at AS "cancelledAtMs", finished_at AS "finishedAtMs", counts, erased, proof, signature
    FROM firm_erasure ${condition}`);
}

async function countHoldings(database: Database, firm: number): Promise<FirmCounts> {
  const counted = (from: Sql): Sql => sql`(SELECT count(*)::int FROM (SELECT FROM ${from} LIMIT ${countedMax + 1}) c)`;
  const [counts] = await database.forFirm(firm).query<FirmCounts>(sql`
    SELECT ${counted(sql`resource WHERE firm = ${firm} AND content IS NOT NULL`)} AS resources,
      ${counted(sql`resource_version WHERE firm = ${firm}`)} AS versions,
      ${counted(sql`document_content WHERE firm = ${firm} AND object_key IS NOT NULL`)} AS documents,
      ${counted(sql`audit_event WHERE firm = ${firm}`)} AS "auditRows",
      ${counted(sql`authorisation WHERE firm = ${firm} AND state <> 'revoked'`)} AS applications`);
  if (counts === undefined) throw new TypeError('nothing was counted');
  return counts;
}
