/**
 * $cancel: an appointment is called off with the reason that the practice has a code for (docs/decisions/0189). The same PUT
 * or PATCH of `status` does it, too; this one needs no right to read the appointment.
 */

import type { Appointment, Patch } from '@praxis/fhir';
import { buildOperationRequest } from '../../../base/worst-case.ts';
import type { FhirResponse, InteractionContext } from '../../../engine/context.ts';
import { requireGrants } from '../../../engine/rights/denials.ts';
import { requireValidId } from '../../../engine/write/build-write.ts';
import { buildPatchResponse, changeResource } from '../../../engine/write/patch.ts';
import { readObjectInput, readTextInput } from '../../../operations/input.ts';
import type { Operation, OperationRequest } from '../../../operations/operation.ts';
import { refuseParameter } from '../../../operations/parameter-problem.ts';
import { findBodyParameter, seriesUnits } from './body-parameter.ts';
import { cancelledSeriesResults, cancelSeries, type SeriesScope, seriesScopes } from './cancel-series.ts';

export const cancel: Operation = {
  name: 'cancel',
  url: 'https://praxis.health/fhir/OperationDefinition/cancel',
  worstCase: {
    because: 'all of a series',
    request: ({ inSeries }) =>
      buildOperationRequest(`Appointment/${inSeries}/$cancel`, [
        { name: 'reason', valueCodeableConcept: { text: 'Siege' } },
        { name: 'scope', valueCode: 'all' },
      ]),
  },
  rateUnitsOfBody: (body) => ((findBodyParameter(body, 'scope')?.['valueCode'] ?? 'one') === 'one' ? 0 : seriesUnits),
  levels: ['instance'],
  types: ['Appointment'],
  affectsState: true,
  parameters: [
    {
      name: 'reason',
      use: 'in',
      min: 1,
      max: 1,
      type: 'CodeableConcept',
      documentation: 'Why: a code of the cancellation reasons of the practice. It becomes cancelationReason.',
    },
    {
      name: 'comment',
      use: 'in',
      min: 0,
      max: 1,
      type: 'string',
      documentation: 'More about it, for the practice. It takes the place of the comment.',
    },
    {
      name: 'scope',
      use: 'in',
      min: 0,
      max: 1,
      type: 'code',
      documentation:
        'Of a series: one (this one, if absent), following (this one and those after it in the series) or all. Those that have begun are left.',
    },
    {
      name: 'return',
      use: 'out',
      min: 0,
      max: 1,
      type: 'Appointment',
      documentation:
        'The appointment as it is now, as a PATCH answers; with another scope than one a Parameters resource tells instead.',
    },
    ...cancelledSeriesResults,
  ],
  authorize(context) {
    requireGrants(context, 'Appointment', 'u');
  },
  answer,
};

/** 200 as a PATCH. @throws PraxisError `rule-broken` for one that is over, and as a PATCH */
async function answer(context: InteractionContext, request: OperationRequest): Promise<FhirResponse> {
  requireValidId(request.id);
  const reason = readObjectInput(request.input, 'reason') ?? {};
  const comment = readTextInput(request.input, 'comment');
  const set: Partial<Appointment> = {
    status: 'cancelled',
    cancelationReason: reason,
    ...(comment === undefined ? {} : { comment }),
  };
  const patch: Patch = {
    touches: Object.keys(set).map((member) => ({ member, blind: true })),
    apply: (resource) => ({ ...resource, ...set }),
  };
  const scope = scopeOf(request);
  if (scope !== 'one') return await cancelSeries(context, request, scope, patch);
  return buildPatchResponse(context, request, await changeResource(context, request, patch));
}

function scopeOf({ input }: OperationRequest): SeriesScope {
  const asked = readTextInput(input, 'scope') ?? 'one';
  return seriesScopes.find((each) => each === asked) ?? refuseParameter('scope', `takes ${seriesScopes.join(', ')}`);
}
