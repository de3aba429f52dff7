/** The types with behaviour of their own: one line each. */

import type { Behaviour } from '../resources/behaviour.ts';
import { appointment } from './booking/appointment.ts';
import { slot } from './calendars/slots/slot.ts';
import { chargeItem } from './charges/charge-item.ts';
import { serviceRequest } from './referrals/service-request.ts';
import { task } from './referrals/task.ts';
import { valueSet } from './value-sets/value-set.ts';
import { encounter } from './visits/encounter.ts';

export const behaviours: readonly Behaviour[] = [
  appointment,
  chargeItem,
  encounter,
  serviceRequest,
  slot,
  task,
  valueSet,
];
