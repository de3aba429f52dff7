/** The types with behaviour of their own: one line each. */
import { appointment } from './appointment.ts';
import type { Behaviour } from './behaviour.ts';
import { chargeItem } from './charge-item.ts';
import { encounter } from './encounter.ts';
import { serviceRequest } from './service-request.ts';
import { slot } from './slot.ts';
import { task } from './task.ts';
import { valueSet } from './value-set.ts';

export const behaviours: readonly Behaviour[] = [
  appointment,
  chargeItem,
  encounter,
  serviceRequest,
  slot,
  task,
  valueSet,
];
