/** ServiceRequest (https://hl7.org/fhir/R4/servicerequest.html): judged by its table of states. */
import type { Behaviour } from './behaviour.ts';
import { judgedBy } from './states/judging.ts';
import { serviceRequestStates } from './states/service-request.ts';

export const serviceRequest: Behaviour = { type: 'ServiceRequest', ...judgedBy([serviceRequestStates]) };
