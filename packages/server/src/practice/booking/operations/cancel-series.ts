/** $cancel of more than one appointment of a series (docs/decisions/0201): in one transaction, all of them or none. */
import type { Appointment, Patch } from '@praxis/fhir';
import type { FhirResponse, InteractionContext } from '../../../engine/context.ts';
import { discloseReadable } from '../../../engine/rights/disclosing.ts';
import { changeResource } from '../../../engine/write/patch.ts';
import {
  declareOutput,
  declareParts,
  type OperationParameter,
  type OperationRequest,
} from '../../../operations/operation.ts';
import { buildParametersResponse, type OutputParameter } from '../../../operations/result.ts';
import { seriesSystem } from '../series.ts';
import { listSeriesMembers, requireSeriesMember, type SeriesMember } from '../series-members.ts';

/** Which appointments are meant. */
export const seriesScopes = ['one', 'following', 'all'] as const;

const reference = declareOutput('reference', 'Reference', 'The appointment.');

export const cancelledSeriesResults: readonly OperationParameter[] = [
  declareOutput('series', 'Identifier', 'The series, unless scope is one.', { min: 0 }),
  declareParts('cancelled', 'Each appointment that this request cancelled.', [
    reference,
    declareOutput(
      'appointment',
      'Appointment',
      'The appointment after the change, as far as the application may read it.',
      { min: 0 },
    ),
  ]),
  declareParts('left', 'Each appointment that did not change: it has begun, is over, or was cancelled before.', [
    reference,
    declareOutput('status', 'code', 'Its status.'),
  ]),
];

/** Statuses in which an appointment is still to come. */
const coming: ReadonlySet<string> = new Set(['proposed', 'pending', 'booked', 'waitlist']);

/**
 * 200 with those that were cancelled and those that were left.
 * @throws PraxisError `rule-broken` for one that is part of no series, `access-denied`, `resource-not-found`, and as a PATCH
 */
export async function cancelSeries(
  context: InteractionContext,
  request: OperationRequest,
  scope: 'following' | 'all',
  patch: Patch,
): Promise<FhirResponse> {
  const touched = patch.touches.flatMap(({ member }) => member ?? []);
  return await context.store.transaction(context.scope, async (store) => {
    const inside = { ...context, store };
    const { place } = await requireSeriesMember(inside, request, touched);
    const members = await listSeriesMembers(inside, place.series);
    const meant = members.filter(({ place: { startMs } }) => scope === 'all' || startMs >= place.startMs);
    const told: OutputParameter[] = [];
    for (const member of meant) told.push(await cancelMember(inside, request, member, patch));
    return buildParametersResponse([
      { name: 'series', type: 'Identifier', value: { system: seriesSystem, value: place.series } },
      ...told,
    ]);
  });
}

async function cancelMember(
  context: InteractionContext,
  request: OperationRequest,
  { id, appointment }: SeriesMember,
  patch: Patch,
): Promise<OutputParameter> {
  const named = { name: 'reference', type: 'Reference', value: { reference: `Appointment/${id}` } } as const;
  const { status = '' } = appointment;
  if (!isComing(context, appointment, status))
    return { name: 'left', parts: [named, { name: 'status', type: 'code', value: status }] };
  const row = await changeResource(context, { ...request, id, ifMatch: undefined, ifNoneMatch: undefined }, patch);
  const resource = request.prefer.return === 'minimal' ? undefined : discloseReadable(context, row);
  return { name: 'cancelled', parts: [named, ...(resource ? [{ name: 'appointment', resource }] : [])] };
}

/** Those who wait for a time have none that could be past. */
function isComing({ clock }: InteractionContext, { start = '' }: Appointment, status: string): boolean {
  const startMs = Date.parse(start);
  return coming.has(status) && (status === 'waitlist' || !(startMs <= clock.now()));
}
