/** Every table of states: one line each. */
import { appointmentStates } from './appointment.ts';
import { chargeItemStates } from './charge-item.ts';
import { encounterStates } from './encounter.ts';
import { intakeStates } from './intake.ts';
import { serviceRequestStates } from './service-request.ts';
import { slotStates } from './slot.ts';
import type { StateTable } from './state-table.ts';
import { taskStates } from './task.ts';

export const stateTables: readonly StateTable[] = [
  appointmentStates,
  encounterStates,
  slotStates,
  taskStates,
  serviceRequestStates,
  intakeStates,
  chargeItemStates,
];
