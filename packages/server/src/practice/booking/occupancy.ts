/**
 * What is taken of the time of practitioners, rooms and equipment. Places are taken by one database function, under an
 * exclusion constraint: nobody looks first and writes then (docs/decisions/0188).
 */
import { fail } from '../../base/errors.ts';
import { boundedRead } from '../../database/database.ts';
import { type Sql, sql } from '../../database/sql.ts';
import { encodeIntegerArray, encodeTextArray } from '../../storage/index-arrays.ts';
import { refuseStale } from '../../storage/rows.ts';
import type { StatementOptions, StatementRunner } from '../../storage/statement-runner.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import type { Hold } from './holds.ts';

/** The longest interval that can be taken, in milliseconds; the table checks it, too. */
export const occupancyMaxMs = 31 * 24 * 60 * 60 * 1000;

/** Who has a place: never a bare id. */
export type PlaceOwner = `Appointment/${string}` | `hold/${string}`;

/** [startMs, endMs), in milliseconds since 1970. */
export interface Interval {
  readonly startMs: number;
  readonly endMs: number;
}

export interface BusyInterval extends Interval {
  /** Reference as Type/id. */
  readonly actor: string;
  /** Appointment/id, or hold/id. */
  readonly owner: PlaceOwner;
}

/** How an actor is booked. */
export interface BookableActor {
  /** Of the rules. */
  readonly version: number;
  /** Intervals that the actor may have at one instant. */
  readonly capacity: number;
}

/** One of the actors that a place may be taken of, by the rules that the claim was made by. */
export interface ActorClaim extends Interval, BookableActor {
  readonly actor: string;
}

export interface OccupancyClaim {
  /** Appointment/id, or hold/id; what it had before is given up. */
  readonly owner: PlaceOwner;
  /** Others that give up what they have in the same step; a hold of the application is no more then. */
  readonly replaces: readonly PlaceOwner[];
  /** The hold that the places are for, where the owner is one: made or renewed in the same step. */
  readonly hold?: Hold;
  readonly nowMs: number;
  /** When a hold ends; undefined: never. */
  readonly expiresMs: number | undefined;
  /** Takes places whatever the capacity: for what was agreed elsewhere. */
  readonly forced: boolean;
  /** Of each the first actor that has room is taken; they have no actor in common. None: all is given up. */
  readonly choices: readonly (readonly ActorClaim[])[];
}

export type OccupyOutcome =
  /** The actor of each choice. */
  | { readonly outcome: 'placed'; readonly actors: readonly string[] }
  /** The rules by which an actor is booked are not those of the claim any more. */
  | { readonly outcome: 'changed' }
  /** No actor of a choice has room: what stands in the way of the first one. */
  | { readonly outcome: 'taken'; readonly choice: number; readonly blocked: Interval };

interface BusyRow {
  readonly actor: string | null;
  readonly owner: PlaceOwner;
  readonly starts: number;
  readonly ends: number;
}

interface PlaceRow {
  readonly outcome: 'stale' | 'changed' | 'taken' | 'placed';
  readonly choice: number;
  readonly actor: string;
  readonly starts: number;
  readonly ends: number;
}

/** What is taken is read and changed by no write of a resource. */
const reading: StatementOptions = { ...boundedRead, standsApart: true };
const taking: StatementOptions = { tellsStale: true, standsApart: true };

/** What is taken of the actors between two moments, in the order of actor and start; ended holds do not count. */
export async function findBusyIntervals(
  store: StatementRunner,
  scope: TenantScope,
  actors: readonly string[],
  { startMs, endMs }: Interval,
  nowMs: number,
): Promise<readonly BusyInterval[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, o.actor, o.owner, o.starts, o.ends
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT t.actor, t.owner, t.starts, t.ends
      FROM unnest(${encodeTextArray(actors)}::text[]) AS a(actor) CROSS JOIN LATERAL (
        SELECT actor, owner, starts, ends FROM occupancy
        WHERE firm = ${firm} AND actor = a.actor AND starts < ${endMs}::bigint AND starts > ${startMs - occupancyMaxMs}::bigint
          AND ends > ${startMs}::bigint AND (expires IS NULL OR expires > ${nowMs}::bigint) OFFSET 0) t
      OFFSET 0) o ON true
    WHERE e.firm = ${firm} AND e.application = ${application}
    ORDER BY o.actor, o.starts, o.owner`;
  return (await store.run<BusyRow>(scope, statement, reading)).flatMap(({ actor, owner, starts, ends }) =>
    actor === null ? [] : [{ actor, owner, startMs: starts, endMs: ends }],
  );
}

/** Whose time an owner takes, and the places of their calendars, as Type/id. */
export async function findParticipants(
  store: StatementRunner,
  scope: TenantScope,
  owner: PlaceOwner,
): Promise<readonly string[]> {
  const { firm, application } = scope;
  const statement = sql`
    SELECT e.epoch, p.participant
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT actor AS participant FROM occupancy WHERE firm = ${firm} AND owner = ${owner}
      UNION SELECT 'Location/' || location FROM calendar WHERE firm = ${firm} AND practitioner = ANY (ARRAY(
        SELECT substr(actor, 14) FROM occupancy WHERE firm = ${firm} AND owner = ${owner} AND actor LIKE 'Practitioner/%'))
      OFFSET 0) p ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  const rows = await store.run<{ readonly participant: string | null }>(scope, statement, reading);
  return rows.flatMap(({ participant }) => participant ?? []);
}

/** Those of `actors` whose time is kept, as Type/id, in no order. For none nothing is asked. */
export async function findBookableActors(
  store: StatementRunner,
  scope: TenantScope,
  actors: readonly string[],
): Promise<ReadonlyMap<string, BookableActor>> {
  const { firm, application } = scope;
  const bookable = new Map<string, BookableActor>();
  if (actors.length === 0) return bookable;
  const statement = sql`
    SELECT e.epoch, b.actor, b.version, b.capacity
    FROM access_epoch e LEFT JOIN LATERAL (
      SELECT actor, version, capacity FROM bookable_actor
      WHERE firm = ${firm} AND actor = ANY (${encodeTextArray(actors)}::text[]) OFFSET 0) b ON true
    WHERE e.firm = ${firm} AND e.application = ${application}`;
  for (const row of await store.run<BookableActor & { readonly actor: string | null }>(scope, statement, reading))
    if (row.actor !== null) bookable.set(row.actor, row);
  return bookable;
}

/**
 * Takes places for one owner. Only inside `transaction`: unless all are `placed` the caller must throw, since what the
 * owner had is given up already.
 * @throws PraxisError `stale-access`, `rule-broken` where an interval is longer than `occupancyMaxMs`
 */
export async function occupy(
  store: StatementRunner,
  scope: TenantScope,
  claim: OccupancyClaim,
): Promise<OccupyOutcome> {
  const rows = await store.run<PlaceRow>(scope, occupyStatement(scope, claim), taking);
  const last = rows.at(-1);
  switch (last?.outcome) {
    case 'stale':
      return refuseStale();
    case 'changed':
      return { outcome: 'changed' };
    case 'taken':
      return { outcome: 'taken', choice: last.choice, blocked: { startMs: last.starts, endMs: last.ends } };
    default:
      return { outcome: 'placed', actors: rows.map(({ actor }) => actor) };
  }
}

function occupyStatement(scope: TenantScope, claim: OccupancyClaim): Sql {
  const { firm, application, epoch } = scope;
  const { owner, replaces, hold } = claim;
  const claims = claim.choices.flatMap((choice, number) => choice.map((each) => ({ ...each, number })));
  if (claims.some(({ startMs, endMs }) => endMs - startMs > occupancyMaxMs))
    fail('rule-broken', { diagnostics: 'An appointment of those who have a calendar takes 31 days at most' });
  // A hold stands as long as it has places.
  const ended = claims.length === 0 ? [owner, ...replaces] : replaces;
  return sql`
    SELECT outcome, choice, actor, starts, ends FROM praxis_occupy(
      in_firm => ${firm}, in_application => ${application}, in_access_epoch => ${epoch}::bigint,
      in_owner => ${owner}, in_replaces => ${encodeTextArray(replaces)}, in_now => ${claim.nowMs}::bigint,
      in_expires => ${claim.expiresMs ?? null}::bigint, in_forced => ${claim.forced},
      in_choice => ${encodeIntegerArray(claims.map(({ number }) => number))},
      in_actor => ${encodeTextArray(claims.map(({ actor }) => actor))},
      in_version => ${encodeIntegerArray(claims.map(({ version }) => version))},
      in_from => ${encodeIntegerArray(claims.map(({ startMs }) => startMs))},
      in_until => ${encodeIntegerArray(claims.map(({ endMs }) => endMs))},
      in_capacity => ${encodeIntegerArray(claims.map(({ capacity }) => capacity))},
      in_hold => ${hold?.id ?? null}, in_hold_slot => ${hold?.slot ?? null}, in_hold_renewals => ${hold?.renewals ?? null},
      in_ended_holds => ${encodeTextArray(ended.flatMap((each) => /^hold\/(.+)$/.exec(each)?.[1] ?? []))})`;
}
