import type { PracticeFeature } from '../feature.ts';
import { appointment } from './appointment.ts';
import { appointmentStates } from './appointment-states.ts';
import { backfillOccupancyJob } from './backfill-occupancy.ts';
import { holdExpiryJob } from './holds.ts';
import { book } from './operations/book.ts';
import { cancel } from './operations/cancel.ts';
import { find } from './operations/find.ts';
import { hold, release, renew } from './operations/holds.ts';
import { reschedule } from './operations/reschedule.ts';

/** Appointments: find a time, hold it, book, move and cancel it, one by one and in series. */
export const bookingFeature: PracticeFeature = {
  behaviours: [appointment],
  states: [appointmentStates],
  operations: [book, cancel, find, hold, release, renew, reschedule],
  jobs: [backfillOccupancyJob, holdExpiryJob],
};
