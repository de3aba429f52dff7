/**
 * $check-in, $check-out, $no-show and $fulfil: an appointment and its Encounter change together or not at all. R4 has no
 * operations for this; docs/decisions/0187 says why there are some, practice/booking/appointment-states.ts what each does.
 */
import { buildOperationRequest, type WorstCase } from '../../base/worst-case.ts';
import { requireGrants } from '../../engine/rights/denials.ts';
import { discloseReadable } from '../../engine/rights/disclosing.ts';
import { requireValidId } from '../../engine/write/build-write.ts';
import { declareOutput, type Operation } from '../../operations/operation.ts';
import { buildParametersResponse, type OutputParameter } from '../../operations/result.ts';
import { moveAppointment, requireStatusReadable } from './moving.ts';

const results = [
  declareOutput('appointment', 'Appointment', 'The appointment as it is now, as far as the application may read it.', {
    min: 0,
  }),
  declareOutput(
    'encounter',
    'Encounter',
    'Each Encounter that was made or changed with it, as far as the application may read it.',
    { min: 0, max: '*' },
  ),
];

export const checkIn = visitOperation('check-in');
export const checkOut = visitOperation('check-out');
export const fulfil = visitOperation('fulfil');
export const noShow = visitOperation('no-show');

function visitOperation(name: string): Operation {
  return defineAppointmentOperation(name, {
    because: 'a visit with all that changes with it',
    parameters: results,
    /**
     * 200 with the new versions.
     * @throws PraxisError `rule-broken` (the state does not allow it), `resource-not-found`, `resource-deleted`, `access-denied`,
     *   `precondition-failed`, `conflict`
     */
    async answer(context, request) {
      requireValidId(request.id);
      const { appointment, encounters } = await moveAppointment(context, request, `$${name}`);
      const shown = [['appointment', appointment] as const, ...encounters.map((each) => ['encounter', each] as const)];
      const parameters = shown.flatMap(([part, row]): OutputParameter[] => {
        const resource = discloseReadable(context, row);
        return resource === undefined ? [] : [{ name: part, resource }];
      });
      const { versionId, lastUpdatedMs } = appointment;
      return { ...buildParametersResponse(parameters), versionId, lastUpdatedMs };
    },
  });
}

/** An operation that moves an appointment from one state to another: it needs the rights of a PATCH of its status. */
export function defineAppointmentOperation(
  name: string,
  { because, parameters, answer }: Pick<Operation, 'parameters' | 'answer'> & { readonly because: string },
): Operation {
  const request: WorstCase['request'] = ({ appointment }) =>
    buildOperationRequest(`Appointment/${appointment}/$${name}`, []);
  return {
    name,
    url: `https://praxis.health/fhir/OperationDefinition/${name}`,
    worstCase: { because, request },
    levels: ['instance'],
    types: ['Appointment'],
    affectsState: true,
    parameters,
    authorize(context) {
      requireGrants(context, 'Appointment', 'u');
      requireStatusReadable(context, () => true);
    },
    answer,
  };
}
