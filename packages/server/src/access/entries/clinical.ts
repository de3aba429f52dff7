/**
 * The clinical record: encounters, problems, allergies, medications, findings and reports.
 * https://hl7.org/fhir/R4/resourcelist.html
 */
import type { EntryArea } from './definition.ts';

export const clinical: EntryArea = {
  title: 'Clinical record',
  entries: [
    { kind: 'resource', code: 'enc', type: 'Encounter', means: 'Visits', letters: 'rs', sample: 'rs' },
    {
      kind: 'resource',
      code: 'cond',
      type: 'Condition',
      means: 'Problems and diagnoses',
      letters: 'rscu',
      sample: 'rsc',
    },
    {
      kind: 'resource',
      code: 'algy_intol',
      type: 'AllergyIntolerance',
      means: 'Allergies and intolerances',
      letters: 'rscu',
      sample: 'rsc',
    },
    {
      kind: 'resource',
      code: 'med_state',
      type: 'MedicationStatement',
      means: 'Medications taken',
      letters: 'rscu',
      sample: 'rsc',
    },
    {
      kind: 'resource',
      code: 'comp',
      type: 'Composition',
      means: 'Notes for a visit or the chart',
      letters: 'c',
      sample: 'c',
    },
    {
      kind: 'resource',
      code: 'diag_rprt',
      type: 'DiagnosticReport',
      means: 'Diagnostic reports',
      letters: 'rsc',
      sample: 'rs',
    },
    {
      kind: 'resource',
      code: 'obsv_ef',
      subtype: 'ef',
      type: 'Observation',
      means: 'Observations, subtype `ef`: meaning not published',
      letters: 'rscu',
      sample: 'rs',
      needsOperatorRow: true,
    },
    {
      kind: 'resource',
      code: 'proc_ef',
      subtype: 'ef',
      type: 'Procedure',
      means: 'Procedures, subtype `ef`: meaning not published',
      letters: 'rsc',
      sample: 'rs',
      needsOperatorRow: true,
    },
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
