/**
 * A series of appointments, booked by one $book (docs/decisions/0200, 0201): each stands on a slot of its own, takes its
 * places and is stored like any other; all of that happens in one transaction.
 */
import type { Identifier, JsonObject } from '@praxis/fhir';
import { type ErrorIssue, fail, PraxisError } from '../../../base/errors.ts';
import { makeResourceId, makeUuid } from '../../../base/ids.ts';
import { gatherWrites } from '../../../bundle/gathered-writes.ts';
import type { FhirResponse, InteractionContext } from '../../../engine/context.ts';
import { requireResource } from '../../../engine/write/build-write.ts';
import { createNew } from '../../../engine/write/create.ts';
import {
  declareOutput,
  declareParts,
  type OperationParameter,
  type OperationRequest,
} from '../../../operations/operation.ts';
import { buildParametersResponse, type OutputParameter } from '../../../operations/result.ts';
import { listObjects } from '../../../search/json-values.ts';
import { toPractitionerReference } from '../../calendars/slots/free-slots.ts';
import { compileSlotTest, type SlotRules } from '../../calendars/slots/offered-slot.ts';
import { listSlotGrants } from '../../calendars/slots/slot-grants.ts';
import { deriveSlot, type OfferedSlot } from '../../calendars/slots/slots.ts';
import { formatInstant } from '../../calendars/zone.ts';
import { claimSlot } from '../holding.ts';
import type { Occurrence } from '../recurrence.ts';
import { giveUpPlaces, NotReserved, type Reservation, toSlotTaken } from '../reserve.ts';
import { buildSeriesIdentifier, seriesSystem } from '../series.ts';
import { buildBookedAppointment } from './booked.ts';
import type { WantedSlot } from './parameters.ts';
import { buildReservationContext } from './placing-context.ts';
import { requireOccurrences, type SeriesParameters } from './recurrence-parameter.ts';

/** Occurrences that a refusal names, at most. */
const refusedMax = 20;

const optional = { min: 0 } as const;

export const seriesResults: readonly OperationParameter[] = [
  declareOutput('series', 'Identifier', 'For a series: the identifier that its appointments share.', optional),
  declareParts('booked', 'For a series: each appointment, in order.', [
    declareOutput('start', 'instant', 'When it starts.', optional),
    declareOutput('reference', 'Reference', 'The appointment.', optional),
    declareOutput('appointment', 'Appointment', 'The appointment itself, unless Prefer is return=minimal.', optional),
  ]),
  declareParts('skipped', 'For a series: each appointment that could not be booked.', [
    declareOutput('start', 'instant', 'When it would have started.', optional),
    declareOutput('reason', 'string', 'Why it could not be booked.', optional),
    declareOutput('alternative', 'Reference', 'Free slots as alternatives.', { min: 0, max: '*' }),
  ]),
];

/** It begins with the slot. */
export interface SeriesWanted extends WantedSlot {
  /** Who comes and why. */
  readonly given: JsonObject;
  readonly asked: SeriesParameters;
}

interface Booked {
  readonly startMs: number;
  readonly response: FhirResponse;
}

interface Skipped {
  readonly startMs: number;
  readonly error: PraxisError;
}

/**
 * 200 with what was booked and what was skipped. Inside a transaction only.
 * @throws PraxisError `slot-taken` or `slot-missing` naming each occurrence that cannot be booked (all, where they are to be
 *   skipped), and as $book
 */
export async function bookSeries(
  context: InteractionContext,
  request: OperationRequest,
  wanted: SeriesWanted,
): Promise<FhirResponse> {
  const { judged, asked } = wanted;
  const { slot } = judged;
  const occurrences = requireOccurrences(slot.timeZone, slot.startMs, asked);
  const slotFor = slotFinder(context, judged);
  const series = makeUuid();
  const booked: Booked[] = [];
  const skipped: Skipped[] = [];
  const gathered = gatherWrites(context.scope, context.store);
  const gathering = { ...context, store: gathered.store };
  for (const { startMs } of occurrences) {
    const done = await bookOne(gathering, request, wanted, { series, startMs, slotFor });
    if ('error' in done) skipped.push(done);
    else booked.push(done);
    if (!asked.skips && skipped.length === refusedMax) break;
  }
  if (booked.length === 0 || (skipped.length > 0 && !asked.skips)) refuseAll(slot, occurrences, skipped, slotFor);
  await gathered.flush();
  return seriesResponse(slot.timeZone, series, booked, skipped);
}

/** The slot of the same calendar and type at another moment, as far as the caller may see it. */
type SlotFinder = (startMs: number) => OfferedSlot | undefined;

function slotFinder(context: InteractionContext, { slot, rules }: SlotRules): SlotFinder {
  const isSeen = compileSlotTest(context, listSlotGrants(context.policy));
  const holidays = rules.calendars.flatMap((each) => each.holidays);
  return (startMs) => {
    const found = deriveSlot(slot.calendar, slot.timeZone, holidays, { type: slot.type.code, startMs });
    return found && isSeen(found) ? found : undefined;
  };
}

/** Books one occurrence, or none of it. */
async function bookOne(
  context: InteractionContext,
  request: OperationRequest,
  { given, judged: { slot: first, rules }, replaces: kept }: SeriesWanted,
  { series, startMs, slotFor }: { readonly series: string; readonly startMs: number; readonly slotFor: SlotFinder },
): Promise<Booked | Skipped> {
  const [reserving, id] = [buildReservationContext(context), makeResourceId(context.clock)];
  const owner: Pick<Reservation, 'owner' | 'replaces'> = {
    owner: `Appointment/${id}`,
    replaces: startMs === first.startMs ? kept : [],
  };
  try {
    const slot = slotFor(startMs) ?? noSlot(first, startMs);
    const places = await claimSlot(reserving, { slot, rules }, owner);
    // What is said of the time is said of the first.
    const { start: _start, end: _end, ...others } = given;
    const own = startMs === first.startMs ? given : others;
    const member = withIdentifier(own, buildSeriesIdentifier(series, formatInstant(slot.timeZone, startMs)));
    const body = buildBookedAppointment(member, slot, places.participants);
    const appointment = requireResource(body, 'Appointment', context.budget);
    const response = await createNew(context, asCreate(request, id), appointment, { extras: { places } });
    return { startMs, response };
  } catch (error) {
    const isSkipped = error instanceof NotReserved || isOfSlot(error);
    if (!isSkipped) throw error;
    // What it has taken so far is not undone by itself: the others stand in the same transaction.
    await giveUpPlaces(reserving, owner);
    return { startMs, error: error instanceof NotReserved ? await toSlotTaken(reserving, error) : error };
  }
}

function isOfSlot(error: unknown): error is PraxisError {
  return error instanceof PraxisError && (error.code === 'slot-taken' || error.code === 'slot-missing');
}

function noSlot({ calendar, type, timeZone }: OfferedSlot, startMs: number): never {
  return fail('slot-missing', {
    diagnostics: `${toPractitionerReference(calendar)} has no slot of type ${type.code} at Location/${calendar.location} that starts at ${formatInstant(timeZone, startMs)}`,
    expression: ['Appointment.start'],
  });
}

function withIdentifier(given: JsonObject, identifier: Identifier): JsonObject {
  const others = listObjects(given, 'identifier');
  return { ...given, identifier: [...others.filter(({ system }) => system !== seriesSystem), identifier] };
}

/** Each has an id of its own, and an answer with the appointment or without. */
function asCreate(request: OperationRequest, newId: string): OperationRequest {
  const { prefer, ...rest } = request;
  const isWhole = prefer.return === undefined || prefer.return === 'representation';
  return { ...rest, newId, type: 'Appointment', prefer: { ...prefer, return: isWhole ? 'representation' : 'minimal' } };
}

/** One refusal for all, which names each of them. */
function refuseAll(
  { timeZone }: OfferedSlot,
  occurrences: readonly Occurrence[],
  skipped: readonly Skipped[],
  slotFor: SlotFinder,
): never {
  const code = skipped.some(({ error }) => error.code === 'slot-taken') ? 'slot-taken' : 'slot-missing';
  const own = new Set(occurrences.flatMap(({ startMs }) => slotFor(startMs)?.id ?? []).map((id) => `Slot/${id}`));
  const issues = skipped.slice(0, refusedMax).flatMap(({ startMs, error }): ErrorIssue[] => {
    const place = occurrences.findIndex((each) => each.startMs === startMs) + 1;
    const [first, ...more] = error.issues;
    const told = `Occurrence ${place} of ${occurrences.length}: ${first?.diagnostics ?? formatInstant(timeZone, startMs)}`;
    const useful = more.filter(({ alternative }) => alternative === undefined || !own.has(alternative.reference));
    return [{ diagnostics: told, expression: first?.expression ?? [] }, ...useful.map((each) => ({ ...each }))];
  });
  const [first, ...more] = issues;
  const isCut = skipped.length >= refusedMax && occurrences.length > refusedMax;
  const cut: readonly ErrorIssue[] = isCut
    ? [{ severity: 'information', issue: 'informational', diagnostics: 'Those after it are not named' }]
    : [];
  return fail(code, { diagnostics: 'None was booked', ...first, more: [...more, ...cut] });
}

function seriesResponse(
  timeZone: string,
  series: string,
  booked: readonly Booked[],
  skipped: readonly Skipped[],
): FhirResponse {
  return buildParametersResponse([
    { name: 'series', type: 'Identifier', value: { system: seriesSystem, value: series } },
    ...booked.map(({ startMs, response: { id, body } }) => ({
      name: 'booked',
      parts: [
        { name: 'start', type: 'instant', value: formatInstant(timeZone, startMs) },
        { name: 'reference', type: 'Reference', value: { reference: `Appointment/${id}` } },
        ...(body === undefined ? [] : [{ name: 'appointment', resource: body }]),
      ],
    })),
    ...skipped.map(({ startMs, error }) => ({
      name: 'skipped',
      parts: [
        { name: 'start', type: 'instant', value: formatInstant(timeZone, startMs) },
        { name: 'reason', type: 'string', value: error.details.diagnostics },
        ...error.issues.flatMap(({ alternative }): OutputParameter[] =>
          alternative === undefined ? [] : [{ name: 'alternative', type: 'Reference', value: { ...alternative } }],
        ),
      ],
    })),
  ]);
}
