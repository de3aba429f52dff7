/** The rows of a ledger that are about a patient. */
import { type Sql, sql } from '../database/sql.ts';

/**
 * The places, `at` and `seq`, of the rows of a firm's ledger that are about a patient, and of some more whose patients share its
 * key: whoever joins audit_ledger asks `namesPatient`. Each of the three parts is read in the order of time.
 */
export function selectPatientPlaces(firm: number, patient: string): Sql {
  return sql`
    SELECT at, seq FROM audit_event WHERE firm = ${firm} AND patient_key = hashtext(${patient}::text)
    UNION ALL SELECT at, seq FROM audit_patient_key WHERE firm = ${firm} AND patient_key = hashtext(${patient}::text)
    UNION ALL SELECT at, seq FROM audit_patient WHERE firm = ${firm} AND patient = ${patient}`;
}

/** Whether the row `a` of audit_ledger is about the patient. */
export function namesPatient(patient: string): Sql {
  return sql`${patient}::text = ANY (string_to_array(a.patients, ' '))`;
}
