/**
 * Slots that are derived from calendars (docs/decisions/0182, 0183): of a firm that keeps calendars, a search finds what the
 * rules offer less what is taken, without pages unless pages are asked for, and a read tells what stands there now.
 */
import type { StepBudget } from '@praxis/fhir';
import { searchGrants } from '../../../access/policy.ts';
import { fail } from '../../../base/errors.ts';
import type { BundleEntry } from '../../../engine/bundle-text.ts';
import type { FhirRequest, FhirResponse, InteractionContext } from '../../../engine/context.ts';
import type { ResourceHooks } from '../../../engine/hooks.ts';
import { listResponse } from '../../../engine/list-response.ts';
import { discloseRow, parseElementFilter } from '../../../engine/rights/disclosing.ts';
import { findRequestScope } from '../../../engine/search/compartment.ts';
import { searchLinks } from '../../../engine/search/search-links.ts';
import { isLenient, planSearch } from '../../../engine/search/searching.ts';
import { matchesToken } from '../../../search/index/match.ts';
import { getStandardParameters } from '../../../search/parameters.ts';
import type { SearchQuery } from '../../../search/query/query.ts';
import { refuseValue } from '../../../search/query/search-values.ts';
import type { SearchTarget } from '../../../search/sql/plan.ts';
import type { StoredResource } from '../../../storage/store.ts';
import { findBookableActors, findBusyIntervals } from '../../booking/occupancy.ts';
import { measureDepth } from '../busy.ts';
import { readScheduledCalendars } from '../scheduled-calendars.ts';
import { dayMs } from '../zone.ts';
import { compareSlots, isFree, listCalendarActors, type ScheduledCalendar } from './free-slots.ts';
import { toStoredSlot } from './offered-slot.ts';
import { getSlotSample, isAskedOfSlots, readSlotConditions, type SlotConditions } from './slot-conditions.ts';
import { readSlotId } from './slot-id.ts';
import { type SlotStatus, slotStatuses } from './slot-resource.ts';
import { closeSpans, computeSearchWindow, isWithin, type TimeSpan } from './slot-window.ts';
import { deriveSlot, deriveSlots, derivingSlots, type OfferedSlot } from './slots.ts';

/** Slots of one answer without pages. */
const foundMax = 5_000;
/** Steps of a budget: to find the slot of an id among all calendars. */
const stepsPerId = 200;

export const slotHooks: ResourceHooks = { types: ['Slot'], computed: { search, read } };

interface DerivedSlot extends OfferedSlot {
  readonly status: SlotStatus;
}

async function read(context: InteractionContext, id: string): Promise<StoredResource | undefined> {
  if (readSlotId(id) === undefined) return undefined;
  const [slot] = await slotsById(context, await readScheduledCalendars(context.store, context.scope), [id]);
  if (slot === undefined) return undefined;
  const [found] = await withStatus(context, [slot]);
  return found && toStoredSlot(context, found, found.status);
}

async function search(context: InteractionContext, request: FhirRequest): Promise<FhirResponse | undefined> {
  const calendars = await readScheduledCalendars(context.store, context.scope);
  if (calendars.length === 0) return undefined;
  const target = await planned(context, request);
  const { query } = target;
  requireSimple(query);
  const slots = await matching(context, calendars, target);
  const found = query.sort[0]?.descending === true ? slots.toReversed() : slots;
  const page = pageOf(query, request, found);
  return listResponse(context, {
    type: 'searchset',
    ...totalOf(context, request, query, { all: found.length, shown: page.slots.length }),
    links: searchLinks(context, request, query, page),
    entries: query.countOnly ? [] : entries(context, request, page.slots),
  });
}

/** The search with the caller's rights. Unless status or id is asked for, free slots alone are meant: the link `self` says so. */
async function planned(context: InteractionContext, request: FhirRequest): Promise<SearchTarget> {
  const plan = (parameters: FhirRequest['parameters']): Promise<SearchTarget> =>
    planSearch(context, request.type, parameters, request.prefer, findRequestScope(request));
  // Lenient handling ignores what this server does not search by: https://hl7.org/fhir/R4/search.html#errors
  const parameters = isLenient(context, request.prefer)
    ? request.parameters.filter(([name]) => isAskedOfSlots(context, name))
    : request.parameters;
  const target = await plan(parameters);
  const isNamed = parameters.some(([name]) => /^(?:_id|status)(?::|$)/.test(name));
  const status = getStandardParameters(request.type).get('status')?.definition;
  if (isNamed || status === undefined) return target;
  const used = [...target.query.usedParameters, status];
  // Who may not search by status is not told it by what is found, either.
  if (searchGrants(context.policy, request.type, used).length === 0) return target;
  return await plan([...parameters, ['status', 'free']]);
}

/** @throws PraxisError `search-invalid`, `cursor-invalid` */
function requireSimple({ includes, sort, cursor }: SearchQuery): void {
  if (cursor !== undefined)
    fail('cursor-invalid', {
      diagnostics: 'Pages of derived slots have no cursor: repeat the search',
      expression: ['_cursor'],
    });
  const [include] = includes;
  if (include !== undefined)
    refuseValue(
      include.name,
      'is not followed where slots are derived from calendars: search the other type by itself',
    );
  const [first, ...more] = sort;
  if (more.length > 0 || (first !== undefined && !['start', 'date'].includes(first.parameter.code)))
    refuseValue('_sort', 'takes start or -start where slots are derived from calendars');
}

/** The slots that match and that the caller may see, by start, calendar and appointment type. */
async function matching(
  context: InteractionContext,
  calendars: readonly ScheduledCalendar[],
  target: SearchTarget,
): Promise<readonly DerivedSlot[]> {
  const conditions = readSlotConditions(context, target.query);
  const shown = shownStatuses(conditions, target.mandatory, context.budget);
  const { ids, spans } = conditions;
  const slots =
    ids === undefined
      ? await slotsWithin(context, calendars, shown, spans)
      : (await slotsById(context, calendars, [...ids])).filter(({ startMs }) => isWithin(spans, startMs));
  const all = await withStatus(context, slots);
  return all.filter((slot) => shown(slot.calendar, slot.type).has(slot.status));
}

type ShownStatuses = (calendar: OfferedSlot['calendar'], type: OfferedSlot['type']) => ReadonlySet<SlotStatus>;

/** In which statuses slots of a type in a calendar are found. @param mandatory rows that the caller may see */
function shownStatuses(
  { admits }: SlotConditions,
  mandatory: SearchTarget['mandatory'],
  budget: StepBudget,
): ShownStatuses {
  const known = new Map<OfferedSlot['type'], ReadonlySet<SlotStatus>>();
  return (calendar, type) => {
    const found = known.get(type);
    if (found !== undefined) return found;
    const statuses = slotStatuses.filter((status) => {
      const sample = getSlotSample(calendar, type, status, budget);
      const isSeen = mandatory.some((group) =>
        group.every(({ parameter, values }) => matchesToken(sample.rows, 'Slot', parameter, values)),
      );
      return isSeen && admits(sample);
    });
    const shown = new Set(statuses);
    known.set(type, shown);
    return shown;
  };
}

/** @throws PraxisError `search-invalid`, `too-costly` */
async function slotsWithin(
  { budget, settings, clock }: InteractionContext,
  calendars: readonly ScheduledCalendar[],
  shown: ShownStatuses,
  given: readonly TimeSpan[],
): Promise<readonly OfferedSlot[]> {
  const spans = settings.halfOpenSlots ? closeSpans(given, clock.now()) : given;
  const window = computeSearchWindow(spans);
  if (window === undefined) return [];
  const slots: OfferedSlot[] = [];
  for (const { calendar, timeZone, holidays } of calendars) {
    const types = calendar.appointmentTypes.filter((type) => shown(calendar, type).size > 0);
    const range = { ...window, appointmentTypes: new Set(types.map(({ code }) => code)) };
    for (const slot of deriveSlots(calendar, timeZone, holidays, range, budget)) {
      budget.spend(spans.length, derivingSlots);
      if (isWithin(spans, slot.startMs)) slots.push(slot);
    }
    await budget.breathe(derivingSlots);
  }
  return slots.sort(compareSlots);
}

async function slotsById(
  { budget }: InteractionContext,
  calendars: readonly ScheduledCalendar[],
  ids: readonly string[],
): Promise<readonly OfferedSlot[]> {
  const slots: OfferedSlot[] = [];
  for (const id of ids) {
    budget.spend(stepsPerId, derivingSlots);
    const number = readSlotId(id)?.calendar;
    const scheduled = calendars.find(({ calendar }) => calendar.number === number);
    const slot = scheduled && deriveSlot(scheduled.calendar, scheduled.timeZone, scheduled.holidays, id);
    if (slot !== undefined) slots.push(slot);
    await budget.breathe(derivingSlots);
  }
  return slots.sort(compareSlots);
}

/** What stands in the way of each slot now. */
async function withStatus(
  { scope, store, clock }: InteractionContext,
  slots: readonly OfferedSlot[],
): Promise<readonly DerivedSlot[]> {
  const nowMs = clock.now();
  const coming = slots.filter(({ startMs }) => startMs > nowMs);
  const begun = slots.filter(({ startMs }) => startMs <= nowMs).map((slot) => ({ ...slot, status: slotStatuses[2] }));
  if (coming.length === 0) return begun;
  const actors = listCalendarActors(coming);
  const bookable = await findBookableActors(store, scope, actors);
  const startMs = Math.min(...coming.map((slot) => slot.startMs)) - dayMs;
  const endMs = Math.max(...coming.map((slot) => slot.endMs)) + dayMs;
  const depth = measureDepth(await findBusyIntervals(store, scope, actors, { startMs, endMs }, nowMs));
  return [
    ...begun,
    ...coming.map((slot) => ({ ...slot, status: isFree(slot, depth, bookable) ? slotStatuses[0] : slotStatuses[1] })),
  ];
}

/** All slots, or where `_count` is given those of the page that is asked for. */
function pageOf({ count, offset, page = 1 }: SearchQuery, { parameters }: FhirRequest, slots: readonly DerivedSlot[]) {
  const isPaged = parameters.some(([name]) => name === '_count');
  if (!isPaged) {
    if (slots.length > foundMax)
      fail('too-costly', {
        diagnostics: `The search finds more than ${foundMax} slots, too many for one response. Nothing was changed. To make it cheaper: name an appointment-type, practitioner or location (identifier), a shorter window, or _count=${foundMax}`,
        expression: ['date'],
      });
    return { slots: page === 1 ? slots : [], previous: undefined, next: undefined };
  }
  const shown = slots.slice(offset, offset + count);
  return {
    slots: shown,
    previous: page > 1 ? { page: page - 1 } : undefined,
    next: offset + count < slots.length ? { page: page + 1 } : undefined,
  };
}

function totalOf(
  { settings }: InteractionContext,
  { contentFlags }: FhirRequest,
  { total }: SearchQuery,
  { all, shown }: { readonly all: number; readonly shown: number },
): { readonly total?: number } {
  const isExact = contentFlags?.has('Pagination_optimization_disabled') === true;
  if (!isExact && settings.totalOfPage) return { total: shown };
  return !isExact && total === 'none' ? {} : { total: all };
}

function entries(context: InteractionContext, request: FhirRequest, slots: readonly DerivedSlot[]): BundleEntry[] {
  const filter = parseElementFilter(request.parameters);
  return slots.flatMap((slot) => {
    const resource = discloseRow(context, 's', toStoredSlot(context, slot, slot.status), filter);
    if (resource === undefined) return [];
    return [{ fullUrl: `${context.baseUrl}/Slot/${slot.id}`, resource, search: { mode: 'match' as const } }];
  });
}
