/**
 * Offers of the waiting list: time that an appointment gave up is offered to those who wait, in the order of their priority
 * and then of their waiting, each for a short time (docs/decisions/0203). What is still to be offered stands in a table since
 * the transaction that gave it up, so that nothing is lost when a process dies; the job may run in any number of processes.
 */
import { parseStored } from '../../access/disclosure.ts';
import { compilePolicy } from '../../access/policy.ts';
import { allEntry } from '../../access/registry.ts';
import { makeUuid } from '../../base/ids.ts';
import { buildJsonRequest } from '../../base/worst-case.ts';
import type { DeclaredJob } from '../../jobs/declared-job.ts';
import { type FirmWorkContext, workFirmByFirm } from '../../jobs/firm-work.ts';
import type { Progress } from '../../jobs/jobs.ts';
import { jobLimits, type OpenBudget } from '../../limits/budgets.ts';
import { CostlyParameters } from '../../search/index/costly-parameters.ts';
import type { ResourceStore } from '../../storage/store.ts';
import { makeFirmClock } from '../../tenancy/firm-time.ts';
import { type Firm, getFirm } from '../../tenancy/firms.ts';
import { openOperatorScope } from '../../tenancy/operator.ts';
import { findBookableActors } from '../booking/occupancy.ts';
import { readScheduledCalendars } from '../calendars/scheduled-calendars.ts';
import { freeSlots, type ScheduledCalendar, toPractitionerReference } from '../calendars/slots/free-slots.ts';
import type { OfferedSlot } from '../calendars/slots/slots.ts';
import { minuteMs } from '../calendars/zone.ts';
import { type DueFirm, listDueFirms, settleDue } from './due.ts';
import { makeOffer, type OfferingContext, withdrawOffer } from './offer.ts';
import {
  dropWaiting,
  type FreedTime,
  findEndedOffers,
  findUnlisted,
  findWaiting,
  keepWaiting,
  takeFreed,
  type Waiting,
  type WaitlistEntry,
} from './store.ts';
import { computePriority, fitsWish, offerMs, toWish, type Wish } from './waitlist.ts';

export interface WaitlistOptions extends FirmWorkContext {
  readonly store: ResourceStore;
  readonly baseUrlOf: (firm: Firm) => string;
  readonly openBudget: OpenBudget;
}

/** Those who wait that are looked at by one statement. */
const portionMax = 100;
/** Offers that have ended, and entries that an import has brought, that are looked at by one statement. */
const endedMax = 200;
/** Freed times of one firm that are offered before other firms have their turn. */
const freedMax = 100;
const pauseMs = 1_000;

const firmJob = 'waiting-list';

export const waitlistJob: DeclaredJob<WaitlistOptions> = {
  firmJob,
  worstCase: {
    because: 'who waits for anything, at any time',
    request: ({ next, patient, appointmentType }) =>
      buildJsonRequest('POST', 'Appointment', {
        resourceType: 'Appointment',
        status: 'waitlist',
        appointmentType: { coding: [{ code: appointmentType }] },
        description: `Siege ${next()}`,
        participant: [{ actor: { reference: `Patient/${patient}` }, status: 'accepted' }],
      }),
  },
  /** Nothing but how soon an offer is made depends on when it runs. */
  open: (options) => ({
    name: 'offers of the waiting list',
    pauseMs,
    run: workFirmByFirm(options, {
      job: firmJob,
      firms: (paused) => listDueFirms(options.database, options.clock.now(), paused),
      work: (due) => lookAt(options, due),
    }),
  }),
};

async function lookAt(options: WaitlistOptions, due: DueFirm): Promise<Progress> {
  const { database, store, clock, baseUrlOf, openBudget } = options;
  const firm = await getFirm(database, due.environment, due.prefix);
  const scope = await openOperatorScope(database, clock, firm);
  const open = () => openBudget(scope, jobLimits);
  const context: OfferingContext = {
    scope,
    budget: open(),
    store,
    clock: makeFirmClock(scope, clock),
    baseUrl: baseUrlOf(firm),
    policy: compilePolicy([allEntry], [allEntry]),
    caller: { flow: 'client', tokenId: makeUuid(), subject: 'praxis waitlist', requestId: makeUuid() },
  };
  try {
    await endOffers(context);
    await listUnlisted(context);
    for (let count = 1; await offerNext({ ...context, budget: open() }); count += 1) {
      if (count === freedMax) return 'more';
    }
  } catch (error) {
    // A definition of the firm's that costs too much keeps nobody waiting: what is due is looked at again without it.
    if (!(error instanceof CostlyParameters)) throw error;
    await store.failParameters(context.scope, error.failed);
    return 'more';
  }
  await settleDue(database, due);
  return 'more';
}

async function endOffers(context: OfferingContext): Promise<void> {
  const { store, scope, clock } = context;
  for (;;) {
    const ended = await findEndedOffers(store, scope, clock.now(), endedMax);
    for (const appointment of ended) await withdrawOffer(context, appointment);
    if (ended.length < endedMax) return;
  }
}

/** Those whom an import has brought: they wait since they were stored. */
async function listUnlisted({ store, scope }: OfferingContext): Promise<void> {
  for (;;) {
    const rows = await findUnlisted(store, scope, endedMax);
    for (const { id: appointment, content, lastUpdatedMs: sinceMs } of rows)
      await keepWaiting(store, scope, { appointment, priority: computePriority(parseStored(content)), sinceMs });
    if (rows.length < endedMax) return;
  }
}

/** What one holds who makes offers: those of one firm are made one after another, so that they keep to the order. */
const lock = 'waitlist';

/** Takes the next freed time and makes its offers, in one transaction. False: there is none. */
async function offerNext(context: OfferingContext): Promise<boolean> {
  return await context.store.exclusively(context.scope, lock, async (store) => {
    const freed = await takeFreed(store, context.scope);
    if (freed !== undefined) await offerFreed({ ...context, store }, freed);
    return freed !== undefined;
  });
}

/** At no instant more than one offer: the time was one appointment's. */
async function offerFreed(context: OfferingContext, freed: FreedTime): Promise<void> {
  if ((await findWaiting(context.store, context.scope, undefined, 1)).length === 0) return; // nobody waits
  const calendars = await readScheduledCalendars(context.store, context.scope, [freed.actor]);
  const own = calendars.filter(({ calendar }) => calendar.active && toPractitionerReference(calendar) === freed.actor);
  let open = await coming(context, own, freed);
  if (open.length === 0) return;
  for await (const { waiting, wish } of inRank(context)) {
    const rooms = await roomsAmong(context, wish);
    const fitting = open.filter((slot) => !waiting.offered.includes(slot.id) && fitsWish(slot, wish, rooms));
    for (const slot of fitting) {
      if (!(await makeOffer(context, waiting, slot))) continue;
      open = open.filter(({ startMs, endMs }) => endMs <= slot.startMs || startMs >= slot.endMs);
      break;
    }
    if (open.length === 0) return;
  }
}

/** Free slots that overlap the freed time, also longer ones that it had stood in the way of, and leave time for an answer. */
async function coming(
  context: OfferingContext,
  calendars: readonly ScheduledCalendar[],
  { startMs, endMs }: FreedTime,
): Promise<readonly OfferedSlot[]> {
  const nowMs = context.clock.now();
  const lengths = calendars.flatMap(({ calendar }) => calendar.appointmentTypes.map(({ minutes }) => minutes));
  const wanted = { fromMs: startMs - Math.max(0, ...lengths) * minuteMs, toMs: endMs };
  const slots = await Array.fromAsync(freeSlots({ ...context, nowMs }, calendars, wanted));
  return slots.filter((slot) => slot.endMs > startMs && slot.startMs >= nowMs + offerMs);
}

/** Those who wait for something, in the order in which they are offered what fits. */
async function* inRank(context: OfferingContext): AsyncGenerator<{ readonly waiting: Waiting; readonly wish: Wish }> {
  let after: WaitlistEntry | undefined;
  for (;;) {
    const portion = await findWaiting(context.store, context.scope, after, portionMax);
    for (const waiting of portion) {
      const wish = toWish(parseStored(waiting.row.content), context.baseUrl);
      if (wish !== undefined && wish.types.length > 0) yield { waiting, wish };
      // An import has changed it since.
      if (wish === undefined) await dropWaiting(context.store, context.scope, waiting.appointment);
    }
    after = portion.at(-1);
    if (portion.length < portionMax) return;
  }
}

/** Whether a Location is a room that is booked, rather than the place of a calendar. */
async function roomsAmong({ store, scope }: OfferingContext, { actors }: Wish): Promise<(location: string) => boolean> {
  const locations = actors.filter((actor) => actor.startsWith('Location/'));
  if (locations.length === 0) return () => false;
  const rooms = await findBookableActors(store, scope, locations);
  return (location) => rooms.has(location);
}
