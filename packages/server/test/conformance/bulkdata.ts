/** https://hl7.org/fhir/uv/bulkdata/export.html, of Bulk Data Access 3.0.0. */
import { fileClauses } from './bulkdata/files.ts';
import { kickOffClauses } from './bulkdata/kick-off.ts';
import type { Page } from './clause.ts';

export const bulkdata: Page = {
  name: 'bulkdata',
  title: 'Bulk Data Access: Export',
  url: 'https://hl7.org/fhir/uv/bulkdata/export.html',
  clauses: [...kickOffClauses, ...fileClauses],
};
