/** The operations of R4 and of this service that are about resources of any kind; features of the practice add theirs. */
import { exportAttachment } from './bulk-export/attachments.ts';
import { exportFile } from './bulk-export/export-file.ts';
import { exportRemoval, exportStatus } from './bulk-export/export-status.ts';
import { groupExport, patientExport, systemExport } from './bulk-export/kick-off.ts';
import { changes } from './changes/changes.ts';
import { document } from './document.ts';
import { effectiveAccessOperation } from './effective-access.ts';
import { encounterEverything, patientEverything } from './everything/everything.ts';
import { lastn } from './lastn.ts';
import { meta, metaAdd, metaDelete } from './meta.ts';
import type { Operation } from './operation.ts';
import { searchParameterStatus } from './search-parameter-status.ts';
import { expand } from './terminology/expand.ts';
import { lookup } from './terminology/lookup.ts';
import { validateCodeInCodeSystem, validateCodeInValueSet } from './terminology/validate-code.ts';
import { validateOperation } from './validate.ts';
import { writeOutcome } from './write-outcome.ts';

export const engineOperations: readonly Operation[] = [
  changes,
  document,
  effectiveAccessOperation,
  encounterEverything,
  expand,
  exportAttachment,
  exportFile,
  exportRemoval,
  exportStatus,
  groupExport,
  lastn,
  lookup,
  meta,
  metaAdd,
  metaDelete,
  patientEverything,
  patientExport,
  searchParameterStatus,
  systemExport,
  validateCodeInCodeSystem,
  validateCodeInValueSet,
  validateOperation,
  writeOutcome,
];
