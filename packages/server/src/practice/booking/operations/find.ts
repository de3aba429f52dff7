/**
 * $find: free slots over weeks, of any of several practitioners and locations, with all who have to be there at once
 * (docs/decisions/0191). A search for Slot looks at a few days; R4 has no operation for more, and the Argonaut Scheduling
 * guide's has the same name and other parameters.
 */

import { buildGetRequest } from '../../../base/worst-case.ts';
import type { BundleEntry, BundleLink } from '../../../engine/bundle-text.ts';
import type { FhirResponse, InteractionContext } from '../../../engine/context.ts';
import { listResponse } from '../../../engine/list-response.ts';
import { requireGrants } from '../../../engine/rights/denials.ts';
import { discloseRow } from '../../../engine/rights/disclosing.ts';
import { encodeQuery } from '../../../engine/search/search-links.ts';
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../../../operations/operation.ts';
import { mergeSlots, requireResourcesToo } from '../../calendars/joint-availability.ts';
import { readScheduledCalendars } from '../../calendars/scheduled-calendars.ts';
import {
  freeSlots,
  RestUnseen,
  type ScheduledCalendar,
  stepsOfAnswer,
  toPractitionerReference,
} from '../../calendars/slots/free-slots.ts';
import { compileSlotTest, toStoredSlot } from '../../calendars/slots/offered-slot.ts';
import { listSlotGrants, requireSlotGrants } from '../../calendars/slots/slot-grants.ts';
import { derivingSlots, type OfferedSlot } from '../../calendars/slots/slots.ts';
import { buildOtherStarts, buildPreferredStarts } from '../preferred-times.ts';
import {
  type FindParameters,
  type FindPlace,
  findCountMax,
  findDaysMax,
  placeText,
  readFind,
} from './find-parameters.ts';

const many = { max: '*' } as const;

export const find: Operation = {
  name: 'find',
  url: 'https://praxis.health/fhir/OperationDefinition/find',
  worstCase: {
    because: 'all calendars for as long as may be asked, for times that are nowhere (F5)',
    request: ({ appointmentType }) =>
      buildGetRequest(`Slot/$find?appointment-type=${appointmentType}&time=00:01-00:02&others=true`),
  },
  rateUnits: 9, // up to 90 days of every calendar
  levels: ['type'],
  types: ['Slot'],
  affectsState: false,
  isList: true,
  parameters: [
    declareInput('appointment-type', 'string', 'Codes of appointment types. A slot matches if it has any of them.', {
      min: 1,
      max: '*',
    }),
    declareInput('start', 'string', 'The start of the search: a date or a time. The default is now.'),
    declareInput(
      'end',
      'string',
      `The end of the search: at most ${findDaysMax} days after start, which is the default.`,
    ),
    declareInput('practitioner', 'string', 'Practitioners to choose from. The default is all with a calendar.', many),
    declareInput('location', 'string', 'Locations to choose from. The default is all.', many),
    declareInput(
      'with',
      'string',
      'More practitioners, rooms and equipment. All of them must be free at the same time.',
      many,
    ),
    declareInput('day', 'code', 'Preferred days of the week: mon, tue, wed, thu, fri, sat, sun.', many),
    declareInput('time', 'string', 'Preferred start times of the day, such as 08:00-12:00, in local time.', many),
    declareInput('others', 'boolean', 'Whether slots at other times follow the preferred ones. The default is false.'),
    declareInput(
      'first-available',
      'boolean',
      'Return only the first slot of each practitioner and location, on one page.',
    ),
    declareInput('_count', 'integer', `Slots per page, at most ${findCountMax}.`),
    declareInput('_cursor', 'string', 'The value from the link next of the previous page.'),
    declareOutput('return', 'Bundle', 'A searchset of free slots, sorted by start, practitioner and appointment type.'),
  ],
  authorize(context) {
    requireGrants(context, 'Slot', 's');
    requireSlotGrants(context, 'Slot/$find');
  },
  answer,
};

/** @throws PraxisError `operation-parameter-invalid`, `too-costly` */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  const asked = readFind(context, request);
  const all = await readScheduledCalendars(context.store, context.scope);
  const { slots, next } = await findPage(context, asked, all);
  return listResponse(context, {
    type: 'searchset',
    links: linksOf(context, request, next),
    entries: slots.flatMap((slot) => entryOf(context, slot)),
  });
}

/** Steps of a budget that it takes to tell whether the caller may see a slot. */
const stepsPerSight = 200;

/**
 * The slots of a page. Where the budget does not suffice for all of it, those that were found, with a place to go on from.
 * @throws PraxisError `too-costly` where there is no such place: `first-available` has one page
 */
async function findPage(
  context: InteractionContext,
  asked: FindParameters,
  calendars: readonly ScheduledCalendar[],
): Promise<{ readonly slots: readonly OfferedSlot[]; readonly next?: FindPlace }> {
  const slots: OfferedSlot[] = [];
  const phases = asked.others ? [false, true] : [false];
  for (const isOther of phases.filter((phase) => phase || asked.after?.isOther !== true)) {
    try {
      const next = await fillPage(context, asked, calendars, isOther, slots);
      if (next !== undefined) return { slots, next: { ...next, isOther } };
    } catch (error) {
      if (!(error instanceof RestUnseen)) throw error;
      return { slots, next: { startMs: error.fromMs, calendar: { number: 0 }, type: { code: '' }, isOther } };
    }
    if (asked.firstAvailable && slots.length === calendars.length) break;
  }
  return { slots };
}

/**
 * Adds the slots at other times than the preferred ones, or those at preferred ones, to those found before.
 * @returns the last that was looked at, unless all were
 */
async function fillPage(
  context: InteractionContext,
  asked: FindParameters,
  calendars: readonly ScheduledCalendar[],
  isOther: boolean,
  slots: OfferedSlot[],
): Promise<OfferedSlot | undefined> {
  const { budget } = context;
  const isSeen = compileSlotTest(context, listSlotGrants(context.policy));
  const done = new Set(slots.map(({ calendar }) => calendar.number));
  const isDone = (calendar: number): boolean => asked.firstAvailable && done.has(calendar);
  let last: OfferedSlot | undefined;
  for await (const slot of walk(context, asked, calendars, isOther, isDone)) {
    const isShort = !asked.firstAvailable && budget.stepsLeft < stepsOfAnswer;
    if (isShort && last !== undefined) return last;
    last = slot;
    budget.spend(stepsPerSight, derivingSlots);
    if (isDone(slot.calendar.number) || !isSeen(slot)) continue;
    done.add(slot.calendar.number);
    const told = slots.at(-1);
    if (slots.length === asked.count && told !== undefined) return told;
    slots.push(slot);
    if (asked.firstAvailable && slots.length === calendars.length) return undefined;
  }
  return undefined;
}

/** All that are free in order, after the place where the page before ended in this phase. */
function walk(
  context: InteractionContext,
  asked: FindParameters,
  calendars: readonly ScheduledCalendar[],
  isOther: boolean,
  isDone: (calendar: number) => boolean,
): AsyncGenerator<OfferedSlot> {
  const { fromMs, toMs, appointmentTypes, practitioners, locations, after, preferred } = asked;
  const seeking = { ...context, nowMs: context.clock.now() };
  const place = after?.isOther === isOther ? { after } : {};
  const others = asked.together.filter((actor) => actor.startsWith('Practitioner/'));
  const things = asked.together.filter((actor) => !actor.startsWith('Practitioner/'));
  const startsOn = isOther ? buildOtherStarts(preferred) : buildPreferredStarts(preferred);
  const wanted = { fromMs, toMs, appointmentTypes, endsEarly: !asked.firstAvailable };
  const own = calendars
    .filter(({ calendar }) => practitioners.size === 0 || practitioners.has(calendar.practitioner))
    .filter(({ calendar }) => locations.size === 0 || locations.has(calendar.location))
    .filter(({ calendar }) => !others.includes(toPractitionerReference(calendar)))
    .map((scheduled) => requireResourcesToo(scheduled, things));
  const theirs = { ...wanted, fromMs: Math.max(fromMs, place.after?.startMs ?? fromMs) };
  const walks = others.map((actor) => {
    const companions = calendars.filter(({ calendar }) => toPractitionerReference(calendar) === actor);
    return freeSlots(seeking, companions, theirs);
  });
  return mergeSlots([freeSlots(seeking, own, { ...wanted, startsOn, ...place, isDone }), ...walks]);
}

function entryOf(context: InteractionContext, slot: OfferedSlot): readonly BundleEntry[] {
  const resource = discloseRow(context, 's', toStoredSlot(context, slot, 'free'), {});
  if (resource === undefined) return [];
  return [{ fullUrl: `${context.baseUrl}/Slot/${slot.id}`, resource, search: { mode: 'match' } }];
}

function linksOf(
  { baseUrl }: InteractionContext,
  { parameters }: OperationRequest,
  next: FindPlace | undefined,
): BundleLink[] {
  const linkTo = (query: OperationRequest['parameters']): string => `${baseUrl}/Slot/$find?${encodeQuery(query)}`;
  const asked = parameters.filter(([name]) => !['_format', '_pretty'].includes(name));
  const self: BundleLink = { relation: 'self', url: linkTo(asked) };
  if (next === undefined) return [self];
  const rest = asked.filter(([name]) => name !== '_cursor');
  return [self, { relation: 'next', url: linkTo([...rest, ['_cursor', placeText(next)]]) }];
}
