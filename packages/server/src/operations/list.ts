/**
 * Every operation that is served. Routes and the CapabilityStatement derive from this list.
 */
import { document } from './document.ts';
import { encounterEverything, patientEverything } from './everything/everything.ts';
import { expand } from './expand.ts';
import { lastn } from './lastn.ts';
import { lookup } from './lookup.ts';
import { meta, metaAdd, metaDelete } from './meta.ts';
import type { Operation } from './operation.ts';
import { validate } from './validate.ts';
import { validateCodeInCodeSystem, validateCodeInValueSet } from './validate-code.ts';

export const operations: readonly Operation[] = [
  document,
  encounterEverything,
  expand,
  lastn,
  lookup,
  meta,
  metaAdd,
  metaDelete,
  patientEverything,
  validateCodeInCodeSystem,
  validateCodeInValueSet,
  validate,
];
