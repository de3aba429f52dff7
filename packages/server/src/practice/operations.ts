/**
 * Every operation that is served, those of R4 and of the practice. Routes and the CapabilityStatement derive from this list.
 */
import { changes } from '../operations/changes/changes.ts';
import { document } from '../operations/document.ts';
import { effectiveAccessOperation } from '../operations/effective-access.ts';
import { encounterEverything, patientEverything } from '../operations/everything/everything.ts';
import { lastn } from '../operations/lastn.ts';
import { meta, metaAdd, metaDelete } from '../operations/meta.ts';
import type { Operation } from '../operations/operation.ts';
import { searchParameterStatus } from '../operations/search-parameter-status.ts';
import { expand } from '../operations/terminology/expand.ts';
import { lookup } from '../operations/terminology/lookup.ts';
import { validateCodeInCodeSystem, validateCodeInValueSet } from '../operations/terminology/validate-code.ts';
import { validateOperation } from '../operations/validate.ts';
import { writeOutcome } from '../operations/write-outcome.ts';
import { book } from './booking/operations/book.ts';
import { cancel } from './booking/operations/cancel.ts';
import { find } from './booking/operations/find.ts';
import { hold, release, renew } from './booking/operations/holds.ts';
import { reschedule } from './booking/operations/reschedule.ts';
import { reconciliation } from './intake/operations.ts';
import { checkIn, checkOut, fulfil, noShow } from './visits/operations.ts';
import { acceptOffer, declineOffer } from './waiting-list/operations.ts';

export const operations: readonly Operation[] = [
  acceptOffer,
  book,
  cancel,
  changes,
  checkIn,
  checkOut,
  declineOffer,
  document,
  effectiveAccessOperation,
  encounterEverything,
  expand,
  fulfil,
  find,
  hold,
  lastn,
  lookup,
  meta,
  metaAdd,
  metaDelete,
  noShow,
  patientEverything,
  reconciliation,
  release,
  renew,
  reschedule,
  searchParameterStatus,
  validateCodeInCodeSystem,
  validateCodeInValueSet,
  validateOperation,
  writeOutcome,
];
