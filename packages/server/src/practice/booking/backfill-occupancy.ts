/**
 * Appointments from before their practitioner, room or equipment was booked by rules, and those that an import brings: they
 * take their time like any other, whatever the capacity says, since they were agreed (docs/decisions/0190).
 *
 * Whoever writes an Appointment asks whether its participants are booked by rules, under rights that a change of calendars
 * makes old. So once every transaction that was under way after the change has ended, all know of it, and what was written
 * without can be brought in: each under the lock of its row, so that no change of it comes between.
 */
import { buildGetRequest } from '../../base/worst-case.ts';
import type { Queryable } from '../../database/database.ts';
import type { DeclaredJob } from '../../jobs/declared-job.ts';
import { type FirmWorkContext, workFirmByFirm } from '../../jobs/firm-work.ts';
import type { Job } from '../../jobs/jobs.ts';
import { openStatementRunner } from '../../storage/statement-runner.ts';
import { type Firm, getFirm } from '../../tenancy/firms.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import type { TenantScope } from '../../tenancy/scope.ts';
import {
  endBackfill,
  type FirmToBackfill,
  isOffered,
  listActorsToBackfill,
  listAppointmentsToBackfill,
  listFirmsToBackfill,
  lockAppointment,
  passBarrier,
} from './backfill-statements.ts';
import { buildAgreedClaim, toBooking } from './booking.ts';
import { findBookableActors, occupy } from './occupancy.ts';

export interface BackfillOptions extends FirmWorkContext {
  readonly baseUrlOf: (firm: Firm) => string;
}

const pauseMs = 2_000;

export const backfillOccupancyJob = {
  firmJob: 'booked-appointments',
  worstCase: {
    because: 'all appointments of the practice, with all that they refer to',
    request: () => buildGetRequest('Appointment?_count=1000&_include=*'),
  },
  open: openBackfillJob,
} as const satisfies DeclaredJob<BackfillOptions>;

/** Any number of processes may run it. */
function openBackfillJob(options: BackfillOptions): Job {
  return {
    name: 'appointments from before a calendar',
    pauseMs,
    run: workFirmByFirm(options, {
      job: backfillOccupancyJob.firmJob,
      firms: (paused) => listFirmsToBackfill(options.database, paused),
      work: (firm) => backfillFirm(options, firm),
    }),
  };
}

async function backfillFirm(options: BackfillOptions, unsettled: FirmToBackfill): Promise<'waiting' | 'done'> {
  const { database, clock } = options;
  const firm = await getFirm(database, unsettled.environment, unsettled.prefix);
  const asFirm = database.forFirm(firm.id);
  if (!(await database.transaction(firm.id, (tx) => passBarrier(tx, firm.id)))) return 'waiting';
  const actors = await listActorsToBackfill(asFirm, firm.id);
  const scope = await openOperatorScope(database, clock, firm);
  for (let afterRid = 0; ; ) {
    const places = await listAppointmentsToBackfill(asFirm, firm.id, { actors, nowMs: clock.now(), afterRid });
    for (const place of places)
      await database.transaction(firm.id, (tx) => backfillAppointment(options, tx, firm, scope, place.id));
    const last = places.at(-1);
    if (last === undefined) break;
    afterRid = last.rid;
  }
  await database.transaction(firm.id, (tx) => endBackfill(tx, firm.id, unsettled));
  return 'done';
}

async function backfillAppointment(
  { clock, baseUrlOf }: BackfillOptions,
  tx: Queryable,
  firm: Firm,
  scope: TenantScope,
  id: string,
): Promise<void> {
  const appointment = await lockAppointment(tx, firm.id, id);
  const booking = toBooking(appointment, baseUrlOf(firm));
  if (appointment?.status === 'proposed' && (await isOffered(tx, firm.id, id))) return;
  if (booking === undefined || booking.endMs <= clock.now()) return;
  const runner = openStatementRunner((_scope, statement) => tx.query(statement));
  const bookable = await findBookableActors(runner, scope, booking.actors);
  await occupy(runner, scope, {
    owner: `Appointment/${id}`,
    replaces: [],
    nowMs: clock.now(),
    expiresMs: undefined,
    forced: true,
    choices: buildAgreedClaim(booking, { bookable }),
  });
}
