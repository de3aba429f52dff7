/**
 * Every operation that is served. Routes and the CapabilityStatement derive from this list.
 */
import { changes } from './changes/changes.ts';
import { document } from './document.ts';
import { effectiveAccessOperation } from './effective-access.ts';
import { encounterEverything, patientEverything } from './everything/everything.ts';
import { expand } from './expand.ts';
import { lastn } from './lastn.ts';
import { lookup } from './lookup.ts';
import { meta, metaAdd, metaDelete } from './meta.ts';
import type { Operation } from './operation.ts';
import { searchParameterStatus } from './search-parameter-status.ts';
import { validate } from './validate.ts';
import { validateCodeInCodeSystem, validateCodeInValueSet } from './validate-code.ts';
import { writeOutcome } from './write-outcome.ts';

export const operations: readonly Operation[] = [
  changes,
  document,
  effectiveAccessOperation(() => operations),
  encounterEverything,
  expand,
  lastn,
  lookup,
  meta,
  metaAdd,
  metaDelete,
  patientEverything,
  searchParameterStatus,
  validateCodeInCodeSystem,
  validateCodeInValueSet,
  validate,
  writeOutcome,
];
