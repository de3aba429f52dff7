/** Every table of states: one line each. */

import type { StateTable } from '../resources/states/state-table.ts';
import { appointmentStates } from './booking/appointment-states.ts';
import { slotStates } from './calendars/slots/slot-states.ts';
import { chargeItemStates } from './charges/charge-item-states.ts';
import { intakeStates } from './intake/task-states.ts';
import { serviceRequestStates } from './referrals/service-request-states.ts';
import { taskStates } from './referrals/task-states.ts';
import { encounterStates } from './visits/encounter-states.ts';

export const stateTables: readonly StateTable[] = [
  appointmentStates,
  encounterStates,
  slotStates,
  taskStates,
  serviceRequestStates,
  intakeStates,
  chargeItemStates,
];
