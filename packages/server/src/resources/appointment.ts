/** Appointment (https://hl7.org/fhir/R4/appointment.html). */
import { storeAppointment } from './appointment-places.ts';
import type { Behaviour } from './behaviour.ts';
import { appointmentStates } from './states/appointment.ts';
import { judgedBy } from './states/judging.ts';

export const appointment: Behaviour = {
  type: 'Appointment',
  ...judgedBy([appointmentStates]),
  store: storeAppointment,
};
