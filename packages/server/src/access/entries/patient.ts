/**
 * Patients and their families. https://hl7.org/fhir/R4/patient.html
 *
 * `pat_s` finds patients and returns them whole. `pat_s_id` and `pat_s_name_dob_gen` find them by the elements that
 * their fields open, and return nothing but these elements (and id and meta). Entries combine as a union.
 */
import type { EntryArea } from './definition.ts';

export const patient: EntryArea = {
  title: 'Patients and their families',
  entries: [
    {
      kind: 'resource',
      code: 'pat',
      type: 'Patient',
      means: 'Patients',
      letters: 'rscu',
      sample: 'rscu',
      fields: {
        id: ['identifier'],
        name: ['name'],
        dob: ['birthDate'],
        gen: ['gender'],
      },
      fieldLetters: 'rs',
      published: ['s_id', 's_name_dob_gen'],
    },
    {
      kind: 'resource',
      code: 'pat_ef',
      subtype: 'ef',
      type: 'Patient',
      means: 'Patients, subtype `ef`, letter `m`: meaning not published',
      letters: 'm',
      sample: '',
      needsOperatorRow: true,
    },
    {
      kind: 'resource',
      code: 'rel_person',
      type: 'RelatedPerson',
      means: 'Persons related to a patient',
      letters: 'r',
      sample: 'r',
    },
    {
      kind: 'resource',
      code: 'fmly_his',
      type: 'FamilyMemberHistory',
      means: 'Family history',
      letters: 'rscu',
      sample: 'rs',
    },
    {
      kind: 'resource',
      code: 'fmly_his_ef',
      subtype: 'ef',
      type: 'FamilyMemberHistory',
      means: 'Family history, subtype `ef`: meaning not published',
      letters: 'cu',
      sample: 'c',
      needsOperatorRow: true,
    },
  ],
};
