/** The calendar: appointments and free slots. https://hl7.org/fhir/R4/appointment.html, https://hl7.org/fhir/R4/slot.html */
import type { EntryArea } from './definition.ts';

export const calendar: EntryArea = {
  title: 'Calendar',
  entries: [
    { kind: 'resource', code: 'appmt', type: 'Appointment', means: 'Appointments', letters: 'rscu', sample: 'rscu' },
    { kind: 'resource', code: 'slot', type: 'Slot', means: 'Free slots', letters: 's', sample: 's' },
  ],
};
