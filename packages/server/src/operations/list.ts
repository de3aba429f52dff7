/**
 * Every operation that is served. Routes and the CapabilityStatement derive from this list.
 */
import { changes } from './changes/changes.ts';
import { document } from './document.ts';
import { effectiveAccessOperation } from './effective-access.ts';
import { encounterEverything, patientEverything } from './everything/everything.ts';
import { lastn } from './lastn.ts';
import { meta, metaAdd, metaDelete } from './meta.ts';
import type { Operation } from './operation.ts';
import { reconciliation } from './reconciliation.ts';
import { book } from './scheduling/book.ts';
import { cancel } from './scheduling/cancel.ts';
import { find } from './scheduling/find.ts';
import { hold, release, renew } from './scheduling/holds.ts';
import { acceptOffer, declineOffer } from './scheduling/offers.ts';
import { reschedule } from './scheduling/reschedule.ts';
import { searchParameterStatus } from './search-parameter-status.ts';
import { expand } from './terminology/expand.ts';
import { lookup } from './terminology/lookup.ts';
import { validateCodeInCodeSystem, validateCodeInValueSet } from './terminology/validate-code.ts';
import { validate } from './validate.ts';
import { checkIn, checkOut, fulfil, noShow } from './visits.ts';
import { writeOutcome } from './write-outcome.ts';

export const operations: readonly Operation[] = [
  acceptOffer,
  book,
  cancel,
  changes,
  checkIn,
  checkOut,
  declineOffer,
  document,
  effectiveAccessOperation(() => operations),
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
  validate,
  writeOutcome,
];
