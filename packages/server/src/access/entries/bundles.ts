/**
 * Transaction Bundles: `trans_bndl_post` posts any, the others one payload each. https://hl7.org/fhir/R4/http.html#transaction
 *
 * They open the Bundle endpoint only: every entry of a Bundle needs its own access entry as if it came alone.
 */
import type { EntryArea, TransactionEntry } from './definition.ts';

export const bundles: EntryArea = {
  title: 'Transaction Bundles',
  entries: [
    { kind: 'bundle', code: 'trans_bndl_post', means: 'Any transaction Bundle', sample: true },
    carry('trans_bndl_diag_rprt_labs', 'DiagnosticReport', 'Laboratory results', true),
    carry('trans_bndl_diag_rprt_urin', 'DiagnosticReport', 'Urinalysis', true),
    carry('trans_bndl_diag_rprt_opto', 'DiagnosticReport', 'Optometry results', false),
    carry('trans_bndl_algy_intol_other', 'AllergyIntolerance', 'Allergies', false),
    carry('trans_bndl_med_stmt_other', 'MedicationStatement', 'Medications', false),
    carry('trans_bndl_appmt_remind', 'Appointment', 'Appointment reminders', false),
  ],
};

/** @param sample whether the published sample token holds the entry */
function carry(code: string, payload: string, means: string, sample: boolean): TransactionEntry {
  return { kind: 'bundle', code, payload, means, sample };
}
