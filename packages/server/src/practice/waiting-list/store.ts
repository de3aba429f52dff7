/**
 * The waiting list as it is stored: in which order Appointments wait, which slots they were offered, and which time was given
 * up and is still to be offered (docs/decisions/0202, 0203). Who waits for what stands in the Appointments themselves.
 */
import { boxStored } from '../../access/disclosure.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { computeParameterNumber, getTypeNumber } from '../../search/numbers.ts';
import { encodeTextArray } from '../../storage/index-arrays.ts';
import type { StoredResource } from '../../storage/resources.ts';
import { buildInserts, type StatementOptions, type StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import type { Interval } from '../booking/occupancy.ts';

/** Priority of those who have none: after all others. */
export const lowestPriority = 32_767;

/** An Appointment that waits. */
export interface WaitlistEntry {
  /** Id of the Appointment. */
  readonly appointment: string;
  /** 1 is the highest. */
  readonly priority: number;
  /** When it began to wait; kept from the first time on for as long as it waits. */
  readonly sinceMs: number;
}

/** A slot that is offered to one who waits. */
export interface WaitlistOffer {
  /** Id of the Slot. */
  readonly slot: string;
  /** When it ends by itself. */
  readonly expiresMs: number;
  /** Participants that came with the offer, as Type/id. */
  readonly added: readonly string[];
}

/** Time of a practitioner that an appointment gave up. */
export interface FreedTime extends Interval {
  /** As Practitioner/id. */
  readonly actor: string;
}

/** One who waits, and for whom no offer stands. */
export interface Waiting extends WaitlistEntry {
  /** Ids of the slots that it was offered before. */
  readonly offered: readonly string[];
  /** The Appointment as it is now. */
  readonly row: StoredResource<'Appointment'>;
}

interface WaitingRow {
  readonly id: string | null;
  readonly vid: number;
  readonly lu: number;
  readonly content: string;
  readonly priority: number;
  readonly since: number;
  readonly offered: string[];
}

/** What the waiting list keeps is changed by no statement of the writes that wait. */
const reading: StatementOptions = { standsApart: true, idempotent: true };

/** The Appointments are read, too. */
const readingResources: StatementOptions = { idempotent: true };

/** Puts an Appointment on the list, or changes its priority: in the transaction of its version. */
export async function keepWaiting(store: StatementRunner, scope: TenantScope, entry: WaitlistEntry): Promise<void> {
  const kept = sql`
    INSERT INTO waitlist_entry (firm, appointment, priority, since)
    VALUES (${scope.firm}, ${entry.appointment}, ${entry.priority}, ${entry.sinceMs})
    ON CONFLICT (firm, appointment) DO UPDATE SET priority = EXCLUDED.priority`;
  await store.change(scope, [kept]);
}

/** Takes an Appointment off the list, with all that it was offered: in the transaction of its version. */
export async function dropWaiting(store: StatementRunner, scope: TenantScope, appointment: string): Promise<void> {
  await store.change(scope, [
    sql`DELETE FROM waitlist_entry WHERE firm = ${scope.firm} AND appointment = ${appointment}`,
    sql`DELETE FROM waitlist_offer WHERE firm = ${scope.firm} AND appointment = ${appointment}`,
  ]);
}

/** The offer that stands, also when its time is over; undefined: there is none. */
export async function findStandingOffer(
  store: StatementRunner,
  scope: TenantScope,
  appointment: string,
): Promise<WaitlistOffer | undefined> {
  const statement = sql`
    SELECT e.epoch, o.slot, o.expires, o.added
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT slot, expires, added FROM waitlist_offer
      WHERE firm = ${scope.firm} AND appointment = ${appointment} AND NOT ended OFFSET 0) o ON true
    WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}`;
  const [row] = await store.run<{ slot: string | null; expires: number; added: string[] }>(scope, statement, reading);
  if (row === undefined || row.slot === null) return undefined;
  return { slot: row.slot, expiresMs: row.expires, added: row.added };
}

/** Makes an offer, and sees to it that its end is noticed: in the transaction that takes its places. */
export async function keepOffer(
  store: StatementRunner,
  scope: TenantScope,
  appointment: string,
  { slot, expiresMs, added }: WaitlistOffer,
): Promise<void> {
  const kept = sql`
    INSERT INTO waitlist_offer (firm, appointment, slot, expires, added)
    VALUES (${scope.firm}, ${appointment}, ${slot}, ${expiresMs}, ${encodeTextArray(added)})`;
  await store.change(scope, [kept, noteDue(scope, expiresMs)]);
}

/** Ends the offer that stands; it is remembered. */
export async function endOffer(store: StatementRunner, scope: TenantScope, appointment: string): Promise<void> {
  const ended = sql`
    UPDATE waitlist_offer SET ended = true WHERE firm = ${scope.firm} AND appointment = ${appointment} AND NOT ended`;
  await store.change(scope, [ended]);
}

/** Ids of Appointments whose offer stands although its time is over, the oldest first. */
export async function findEndedOffers(
  store: StatementRunner,
  scope: TenantScope,
  nowMs: number,
  limit: number,
): Promise<readonly string[]> {
  const statement = sql`
    SELECT e.epoch, o.appointment
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT appointment, expires FROM waitlist_offer
      WHERE firm = ${scope.firm} AND NOT ended AND expires <= ${nowMs}::bigint ORDER BY expires LIMIT ${limit}) o ON true
    WHERE e.firm = ${scope.firm} AND e.application = ${scope.application}
    ORDER BY o.expires`;
  const rows = await store.run<{ appointment: string | null }>(scope, statement, reading);
  return rows.flatMap(({ appointment }) => appointment ?? []);
}

/** Notes time that is to be offered: in the transaction that gives it up. */
export async function noteFreed(
  store: StatementRunner,
  scope: TenantScope,
  freed: readonly FreedTime[],
  nowMs: number,
): Promise<void> {
  const rows = freed.map(({ actor, startMs, endMs }) => sql`(${scope.firm}, ${actor}, ${startMs}, ${endMs})`);
  const noted = buildInserts(sql`freed_time (firm, actor, starts, ends)`, rows);
  await store.change(scope, [...noted, noteDue(scope, nowMs)]);
}

/** Takes the freed time that was noted first: in the transaction in which its offers are made, and under its lock. */
export async function takeFreed(store: StatementRunner, scope: TenantScope): Promise<FreedTime | undefined> {
  const taken = sql`
    DELETE FROM freed_time
    WHERE firm = ${scope.firm} AND id = (SELECT id FROM freed_time WHERE firm = ${scope.firm} ORDER BY id LIMIT 1)
    RETURNING actor, starts AS "startMs", ends AS "endMs"`;
  return (await store.change<FreedTime>(scope, [taken]))[0];
}

/** Those who wait, by priority and then by time; @param after the last one that was seen */
export async function findWaiting(
  store: StatementRunner,
  scope: TenantScope,
  after: WaitlistEntry | undefined,
  limit: number,
): Promise<readonly Waiting[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, w.id, w.vid, w.lu, w.content, w.priority, w.since, w.offered
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT r.id, r.vid, r.lu, r.content, q.priority, q.since,
        ARRAY(SELECT o.slot FROM waitlist_offer o WHERE o.firm = ${firm} AND o.appointment = q.appointment) AS offered
      FROM waitlist_entry q
      JOIN resource r ON r.firm = ${firm} AND r.rtype = ${getTypeNumber('Appointment')} AND r.id = q.appointment AND r.content IS NOT NULL
      WHERE q.firm = ${firm}
        AND (q.priority, q.since, q.appointment) > (${after?.priority ?? 0}::smallint, ${after?.sinceMs ?? 0}::bigint, ${after?.appointment ?? ''}::text COLLATE "C")
        AND NOT EXISTS (SELECT FROM waitlist_offer o WHERE o.firm = ${firm} AND o.appointment = q.appointment AND NOT o.ended)
      ORDER BY q.priority, q.since, q.appointment LIMIT ${limit}) w ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY w.priority, w.since, w.id`;
  const rows = await store.run<WaitingRow>(scope, statement, readingResources);
  return rows.flatMap((row) => {
    if (row.id === null) return [];
    const { id: appointment, priority, since: sinceMs, offered } = row;
    return [{ appointment, priority, sinceMs, offered, row: appointmentOf(row, appointment) }];
  });
}

/** Appointments with the status waitlist that are not on the list, as an import leaves them. */
export async function findUnlisted(
  store: StatementRunner,
  scope: TenantScope,
  limit: number,
): Promise<readonly StoredResource<'Appointment'>[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, w.id, w.vid, w.lu, w.content
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT r.id, r.vid, r.lu, r.content
      FROM index_token t JOIN resource r ON r.firm = ${firm} AND r.rid = t.rid AND r.content IS NOT NULL
      WHERE t.firm = ${firm} AND t.param = ${computeParameterNumber('Appointment', 'status')} AND t.code = 'waitlist'
        AND NOT EXISTS (SELECT FROM waitlist_entry q WHERE q.firm = ${firm} AND q.appointment = r.id)
      ORDER BY r.rid LIMIT ${limit}) w ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const rows = await store.run<WaitingRow>(scope, statement, readingResources);
  return rows.flatMap((row) => (row.id === null ? [] : [appointmentOf(row, row.id)]));
}

function appointmentOf({ vid, lu, content }: WaitingRow, id: string): StoredResource<'Appointment'> {
  return { type: 'Appointment', id, versionId: vid, lastUpdatedMs: lu, deleted: false, content: boxStored(content) };
}

/** Has the list of the firm looked at then. */
function noteDue({ firm }: TenantScope, dueMs: number): Sql {
  return sql`INSERT INTO waitlist_due (firm, due) VALUES (${firm}, ${dueMs})`;
}
