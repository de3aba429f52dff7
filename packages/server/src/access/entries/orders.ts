/**
 * Orders, and the filters by order type. https://hl7.org/fhir/R4/servicerequest.html
 *
 * A filter grants nothing; it narrows every entry on ServiceRequest (also `acl/*`) to one category of the practice's
 * value set of order types. It says nothing about other types: DiagnosticReport.category is bound to the sections of a
 * diagnostic service (HL7 v2 table 0074), not to that value set. See docs/decisions/0042.
 */
import type { EntryArea } from './definition.ts';

export const orders: EntryArea = {
  title: 'Orders',
  entries: [
    { kind: 'resource', code: 'serv_req', type: 'ServiceRequest', means: 'Orders', letters: 'rscu', sample: 'rs' },
    {
      kind: 'resource',
      code: 'req_grp',
      type: 'RequestGroup',
      means: 'Requisitions: groups of orders',
      letters: 'rscu',
      sample: 'rs',
    },
    {
      kind: 'filter',
      code: 'lab_type_path',
      type: 'ServiceRequest',
      means: 'Pathology orders only',
      sample: false,
      rows: [{ parameter: 'category', values: ['PATHOLOGY'] }],
    },
    {
      kind: 'filter',
      code: 'lab_type_radio',
      type: 'ServiceRequest',
      means: 'Radiology orders only',
      sample: false,
      rows: [{ parameter: 'category', values: ['RADIOLOGY'] }],
    },
    {
      kind: 'filter',
      code: 'lab_type_surg',
      type: 'ServiceRequest',
      means: 'Surgical orders only',
      sample: false,
      rows: [{ parameter: 'category', values: ['SURGICAL'] }],
    },
    {
      kind: 'filter',
      code: 'lab_type_ther',
      type: 'ServiceRequest',
      means: 'Therapy orders only',
      sample: false,
      rows: [{ parameter: 'category', values: ['THERAPIES'] }],
    },
    {
      kind: 'filter',
      code: 'lab_type_clinic',
      type: 'ServiceRequest',
      means: 'Clinical laboratory orders only',
      sample: false,
      rows: [{ parameter: 'category', values: ['CLINICAL_LAB'] }],
    },
  ],
};
