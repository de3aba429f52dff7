/**
 * Orders, and the filters by order type. https://hl7.org/fhir/R4/servicerequest.html
 *
 * A filter grants nothing; it narrows every entry on ServiceRequest (also `acl/*`) to one category of the practice's
 * value set of order types. It says nothing about other types: DiagnosticReport.category is bound to the sections of a
 * diagnostic service (HL7 v2 table 0074), not to that value set. See docs/decisions/0042.
 */
import { defineResource, type EntryArea, type FilterEntry } from './definition.ts';

export const orders: EntryArea = {
  title: 'Orders',
  entries: [
    defineResource('serv_req', 'ServiceRequest', 'Orders', { letters: 'rscu', sample: 'rs' }),
    defineResource('req_grp', 'RequestGroup', 'Requisitions: groups of orders', { letters: 'rscu', sample: 'rs' }),
    filterOrders('lab_type_path', 'Pathology orders only', 'PATHOLOGY'),
    filterOrders('lab_type_radio', 'Radiology orders only', 'RADIOLOGY'),
    filterOrders('lab_type_surg', 'Surgical orders only', 'SURGICAL'),
    filterOrders('lab_type_ther', 'Therapy orders only', 'THERAPIES'),
    filterOrders('lab_type_clinic', 'Clinical laboratory orders only', 'CLINICAL_LAB'),
  ],
};

function filterOrders(code: string, means: string, category: string): FilterEntry {
  const rows = [{ parameter: 'category', values: [category] }];
  return { kind: 'filter', code, type: 'ServiceRequest', means, sample: false, rows };
}
