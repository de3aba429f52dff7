/** Appointment (https://hl7.org/fhir/R4/appointment.html). */

import type { Behaviour } from '../../resources/behaviour.ts';
import { buildJudge } from '../../resources/states/judging.ts';
import { storeAppointment } from './appointment-places.ts';
import { appointmentStates } from './appointment-states.ts';

const { judge, judged = [] } = buildJudge([appointmentStates]);

export const appointment: Behaviour<'Appointment'> = {
  type: 'Appointment',
  ...(judge && { judge }),
  // What its places in calendars depend on (practice/booking/booking.ts).
  judged: [...judged, 'start', 'end', 'participant', 'slot', 'appointmentType'],
  store: storeAppointment,
};
