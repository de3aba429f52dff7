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
import { declareInput, declareOutput, type Operation, type OperationRequest } from '../../../operations/operation.ts';
import { refuseParameter } from '../../../operations/parameter-problem.ts';
import { cancelledSeriesResults, cancelSeries, seriesScopes } from './cancel-series.ts';
import { findBodyParameter, seriesUnits } from './parameters.ts';

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
    declareInput(
      'reason',
      'CodeableConcept',
      'The reason: a code of the cancellation reasons of the practice. It becomes cancelationReason.',
      { min: 1 },
    ),
    declareInput('comment', 'string', 'A comment for the practice. It replaces the current comment.'),
    declareInput(
      'scope',
      'code',
      'For a series: one (this one, the default), following (this one and later ones) or all. Appointments that have begun do not change.',
    ),
    declareOutput(
      'return',
      'Appointment',
      'The appointment after the change, as in the response to PATCH. With a scope other than one, the response is a Parameters resource.',
      { min: 0 },
    ),
    ...cancelledSeriesResults,
  ],
  authorize: (context) => requireGrants(context, 'Appointment', 'u'),
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
  const asked = readTextInput(request.input, 'scope') ?? 'one';
  const scope =
    seriesScopes.find((each) => each === asked) ?? refuseParameter('scope', `takes ${seriesScopes.join(', ')}`);
  if (scope !== 'one') return await cancelSeries(context, request, scope, patch);
  return buildPatchResponse(context, request, await changeResource(context, request, patch));
}
