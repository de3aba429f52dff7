import type { PracticeFeature } from '../feature.ts';
import { serviceRequest } from './service-request.ts';
import { serviceRequestStates } from './service-request-states.ts';
import { task } from './task.ts';
import { taskStates } from './task-states.ts';

/** Orders and the tasks that fulfil them. */
export const referralsFeature: PracticeFeature = {
  behaviours: [serviceRequest, task],
  states: [taskStates, serviceRequestStates],
};
