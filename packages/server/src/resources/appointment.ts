/** Appointment (https://hl7.org/fhir/R4/appointment.html). */
import { storeAppointment } from './appointment-places.ts';
import type { Behaviour } from './behaviour.ts';
import { appointmentStates } from './states/appointment.ts';
import { judgedBy } from './states/judging.ts';

const { judge, judged = [] } = judgedBy([appointmentStates]);

export const appointment: Behaviour = {
  type: 'Appointment',
  ...(judge && { judge }),
  // What its places in calendars depend on (scheduling/booking.ts).
  judged: [...judged, 'start', 'end', 'participant', 'slot', 'appointmentType'],
  store: storeAppointment,
};
