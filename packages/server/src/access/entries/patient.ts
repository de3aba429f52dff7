/**
 * Patients and their families. https://hl7.org/fhir/R4/patient.html
 *
 * `pat_s` finds patients and returns them whole. `pat_s_id` and `pat_s_name_dob_gen` find them by the elements that
 * their fields open, and return nothing but these elements (and id and meta). Entries combine as a union.
 */
import { defineResource, type EntryArea } from './definition.ts';

export const patient: EntryArea = {
  title: 'Patients and their families',
  entries: [
    defineResource('pat', 'Patient', 'Patients', {
      letters: 'rscu',
      sample: 'rscu',
      fields: { id: ['identifier'], name: ['name'], dob: ['birthDate'], gen: ['gender'] },
      fieldLetters: 'rs',
      published: ['s_id', 's_name_dob_gen'],
    }),
    defineResource('pat_ef', 'Patient', 'Patients, subtype `ef`, letter `m`: meaning not published', {
      subtype: 'ef',
      letters: 'm',
      sample: '',
      needsOperatorRow: true,
    }),
    defineResource('rel_person', 'RelatedPerson', 'Persons related to a patient', { letters: 'r', sample: 'r' }),
    defineResource('fmly_his', 'FamilyMemberHistory', 'Family history', { letters: 'rscu', sample: 'rs' }),
    defineResource('fmly_his_ef', 'FamilyMemberHistory', 'Family history, subtype `ef`: meaning not published', {
      subtype: 'ef',
      letters: 'cu',
      sample: 'c',
      needsOperatorRow: true,
    }),
  ],
};
