/**
 * Rows of a page by resource type. Clients often ask for more: `_count` is clamped, never refused.
 * https://hl7.org/fhir/R4/search.html#count
 */

/** Rows of a page of types that are not listed. */
export const pageRowsDefault = 100;

const pageRows: Readonly<Record<string, number>> = {
  Appointment: 50,
  ChargeItem: 50,
  Coverage: 100,
  DiagnosticReport: 50,
  DocumentReference: 10,
  Encounter: 50,
  FamilyMemberHistory: 50,
  InsurancePlan: 100,
  Location: 100,
  MedicationStatement: 50,
  Organization: 100,
  Patient: 50,
  Practitioner: 100,
  ServiceRequest: 50,
  Task: 50,
};

/** The most rows that a page of the type holds, and the number it holds when `_count` is not given. */
export function pageRowsMaxOf(type: string): number {
  return Object.hasOwn(pageRows, type) ? (pageRows[type] ?? pageRowsDefault) : pageRowsDefault;
}
