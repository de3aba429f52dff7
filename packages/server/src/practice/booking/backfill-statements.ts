/**
 * Statements of the job that brings appointments into occupancy which were there before it was kept
 * (practice/booking/backfill-occupancy.ts). All run as the firm.
 */
import type { Appointment } from '@praxis/fhir';
import { boxStored, parseStored } from '../../access/disclosure.ts';
import type { Queryable } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { computeParameterNumber, getTypeNumber } from '../../search/numbers.ts';
import { encodeTextArray } from '../../storage/index-arrays.ts';
import { isKept } from '../../tenancy/firms.ts';
import { occupancyMaxMs } from './occupancy.ts';

/** Appointments that are looked for at once. */
const portionMax = 200;

/** Those whose appointments from before are still to be brought in. */
export async function listActorsToBackfill(query: Queryable, firm: number): Promise<readonly string[]> {
  const rows = await query.query<{ actor: string }>(
    sql`SELECT actor FROM bookable_actor WHERE firm = ${firm} AND NOT settled ORDER BY actor`,
  );
  return rows.map(({ actor }) => actor);
}

/** Whether all transactions have ended that were under way when this was first asked. */
export async function passBarrier(tx: Queryable, firm: number): Promise<boolean> {
  await tx.query(sql`
    UPDATE bookable_actor SET barrier = pg_snapshot_xmax(pg_current_snapshot())
    WHERE firm = ${firm} AND NOT settled AND barrier IS NULL`);
  const [row] = await tx.query<{ passed: boolean }>(sql`
    SELECT bool_and(pg_snapshot_xmin(pg_current_snapshot()) >= barrier) AS passed
    FROM bookable_actor WHERE firm = ${firm} AND NOT settled`);
  return row?.passed ?? true;
}

/**
 * Appointments of the actors (Type/id) that have no place of one of them yet, in the order of rid: those that may end later
 * than `nowMs` and have a higher rid than `afterRid`.
 */
export async function listAppointmentsToBackfill(
  query: Queryable,
  firm: number,
  wanted: { readonly actors: readonly string[]; readonly nowMs: number; readonly afterRid: number },
): Promise<readonly { readonly rid: number; readonly id: string }[]> {
  const { actors, nowMs, afterRid } = wanted;
  const references = actors.map((actor) => {
    const [type = '', id = ''] = actor.split('/');
    return { type: getTypeNumber(type), id };
  });
  return await query.query(sql`
    SELECT DISTINCT r.rid, r.id
    FROM unnest(${encodeTextArray(actors)}::text[], ${references.map(({ type }) => type)}::smallint[], ${encodeTextArray(references.map(({ id }) => id))}::text[]) AS a(actor, rtype, id)
    JOIN index_reference i ON i.firm = ${firm} AND i.param = ${computeParameterNumber('Appointment', 'actor')} AND i.target_rtype = a.rtype AND i.target_id = a.id
    JOIN resource r ON r.firm = ${firm} AND r.rid = i.rid AND r.rid > ${afterRid} AND r.content IS NOT NULL
    WHERE NOT EXISTS (SELECT FROM occupancy o WHERE o.firm = ${firm} AND o.owner = 'Appointment/' || r.id AND o.actor = a.actor AND o.expires IS NULL)
      AND EXISTS (SELECT FROM index_date d WHERE d.firm = ${firm} AND d.rid = r.rid AND d.param = ${computeParameterNumber('Appointment', 'date')}
        AND d.lo > ${(nowMs - occupancyMaxMs) * 1000}::bigint)
    ORDER BY r.rid LIMIT ${portionMax}`);
}

/** Whether the appointment is only offered to one who waits: its places end by themselves. */
export async function isOffered(tx: Queryable, firm: number, id: string): Promise<boolean> {
  const rows = await tx.query(
    sql`SELECT 1 AS found FROM waitlist_offer WHERE firm = ${firm} AND appointment = ${id} AND NOT ended`,
  );
  return rows.length > 0;
}

/** The appointment as it is, held against writers until the transaction ends. */
export async function lockAppointment(tx: Queryable, firm: number, id: string): Promise<Appointment | undefined> {
  const [row] = await tx.query<{ content: string | null }>(sql`
    SELECT content FROM resource WHERE firm = ${firm} AND rtype = ${getTypeNumber('Appointment')} AND id = ${id} FOR UPDATE`);
  const content = row?.content ?? undefined;
  return content === undefined ? undefined : parseStored(boxStored<'Appointment'>(content));
}

/** A firm whose appointments are to be looked at. */
export interface FirmToBackfill {
  readonly id: number;
  readonly environment: string;
  readonly prefix: string;
  /** Counts the reasons to look: another one may come meanwhile. */
  readonly changes: number;
}

/** Firms with appointments to look at. @param paused firms that are left out */
export async function listFirmsToBackfill(database: Queryable, paused: Sql): Promise<readonly FirmToBackfill[]> {
  return await database.query<FirmToBackfill>(sql`
    SELECT f.id, e.name AS environment, f.prefix, c.changes
    FROM occupancy_change c JOIN firm f ON f.id = c.firm JOIN environment e ON e.id = f.environment
    WHERE f.id NOT IN ${paused} AND ${isKept} ORDER BY f.id`);
}

/** Notes that all is brought in, unless there was another reason to look meanwhile. */
export async function endBackfill(tx: Queryable, firm: number, { changes }: FirmToBackfill): Promise<void> {
  const [row] = await tx.query(
    sql`DELETE FROM occupancy_change WHERE firm = ${firm} AND changes = ${changes} RETURNING firm`,
  );
  if (row === undefined) return;
  await tx.query(sql`UPDATE bookable_actor SET settled = true, barrier = NULL WHERE firm = ${firm} AND NOT settled`);
}

/**
 * Gives back the time that earlier versions of these appointments took: in the transaction that imports later ones. The job that looks
 * at imported appointments takes the time of now.
 */
export function freeImportedAppointments(firm: number, ids: readonly string[]): Sql {
  const owners = encodeTextArray(ids.map((id) => `Appointment/${id}`));
  return sql`DELETE FROM occupancy WHERE firm = ${firm} AND owner = ANY (${owners}::text[]) AND expires IS NULL`;
}

/**
 * Has the appointments of all actors of the firm looked at again: an expression that is true, for a statement of the transaction that
 * imports some. The job that looks sees the reason when it can see the appointments.
 */
export function noteImportedAppointments(firm: number): Sql {
  return sql`praxis_note_appointments(in_firm => ${firm})`;
}

/** One reason more to look at the appointments of the firm. */
export function noteOccupancyChange(firm: number): Sql {
  return sql`
    INSERT INTO occupancy_change (firm) VALUES (${firm}) ON CONFLICT (firm) DO UPDATE SET changes = occupancy_change.changes + 1`;
}
