/**
 * Transaction Bundles: `trans_bndl_post` posts any, the others one payload each. https://hl7.org/fhir/R4/http.html#transaction
 *
 * They open the Bundle endpoint only: every entry of a Bundle needs its own access entry as if it came alone.
 */
import type { EntryArea } from './definition.ts';

export const bundles: EntryArea = {
  title: 'Transaction Bundles',
  entries: [
    { kind: 'bundle', code: 'trans_bndl_post', means: 'Any transaction Bundle', sample: true },
    {
      kind: 'bundle',
      code: 'trans_bndl_diag_rprt_labs',
      payload: 'DiagnosticReport',
      means: 'Laboratory results',
      sample: true,
    },
    {
      kind: 'bundle',
      code: 'trans_bndl_diag_rprt_urin',
      payload: 'DiagnosticReport',
      means: 'Urinalysis',
      sample: true,
    },
    {
      kind: 'bundle',
      code: 'trans_bndl_diag_rprt_opto',
      payload: 'DiagnosticReport',
      means: 'Optometry results',
      sample: false,
    },
    {
      kind: 'bundle',
      code: 'trans_bndl_algy_intol_other',
      payload: 'AllergyIntolerance',
      means: 'Allergies',
      sample: false,
    },
    {
      kind: 'bundle',
      code: 'trans_bndl_med_stmt_other',
      payload: 'MedicationStatement',
      means: 'Medications',
      sample: false,
    },
    {
      kind: 'bundle',
      code: 'trans_bndl_appmt_remind',
      payload: 'Appointment',
      means: 'Appointment reminders',
      sample: false,
    },
  ],
};
