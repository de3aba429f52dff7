/**
 * The clinical record: encounters, problems, allergies, medications, findings and reports.
 * https://hl7.org/fhir/R4/resourcelist.html
 */
import { defineResource, type EntryArea } from './definition.ts';

export const clinical: EntryArea = {
  title: 'Clinical record',
  entries: [
    defineResource('enc', 'Encounter', 'Visits', { letters: 'rs', sample: 'rs' }),
    defineResource('cond', 'Condition', 'Problems and diagnoses', { letters: 'rscu', sample: 'rsc' }),
    defineResource('algy_intol', 'AllergyIntolerance', 'Allergies and intolerances', {
      letters: 'rscu',
      sample: 'rsc',
    }),
    defineResource('med_state', 'MedicationStatement', 'Medications taken', { letters: 'rscu', sample: 'rsc' }),
    defineResource('comp', 'Composition', 'Notes for a visit or the chart', { letters: 'c', sample: 'c' }),
    defineResource('diag_rprt', 'DiagnosticReport', 'Diagnostic reports', { letters: 'rsc', sample: 'rs' }),
    defineResource('obsv_ef', 'Observation', 'Observations, subtype `ef`: meaning not published', {
      subtype: 'ef',
      letters: 'rscu',
      sample: 'rs',
      needsOperatorRow: true,
    }),
    defineResource('proc_ef', 'Procedure', 'Procedures, subtype `ef`: meaning not published', {
      subtype: 'ef',
      letters: 'rsc',
      sample: 'rs',
      needsOperatorRow: true,
    }),
    {
      kind: 'resource',
      code: 'pmc_ocu_ef',
      subtype: 'ocu_ef',
      means: 'Uncertain: past ocular conditions, subtype `ef`; the resource type is not published',
      letters: 'rsc',
      sample: 'rs',
      needsOperatorRow: true,
    },
  ],
};
