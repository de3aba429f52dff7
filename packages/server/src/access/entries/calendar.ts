/** The calendar: appointments and free slots. https://hl7.org/fhir/R4/appointment.html, https://hl7.org/fhir/R4/slot.html */
import { defineResource, type EntryArea } from './definition.ts';

export const calendar: EntryArea = {
  title: 'Calendar',
  entries: [
    defineResource('appmt', 'Appointment', 'Appointments', { letters: 'rscu', sample: 'rscu' }),
    defineResource('slot', 'Slot', 'Free slots', { letters: 's', sample: 's' }),
  ],
};
