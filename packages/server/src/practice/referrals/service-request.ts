/** ServiceRequest (https://hl7.org/fhir/R4/servicerequest.html): judged by its table of states. */
import type { Behaviour } from '../../resources/behaviour.ts';
import { buildJudge } from '../../resources/states/judging.ts';
import { serviceRequestStates } from './service-request-states.ts';

export const serviceRequest: Behaviour<'ServiceRequest'> = {
  type: 'ServiceRequest',
  ...buildJudge([serviceRequestStates]),
};
