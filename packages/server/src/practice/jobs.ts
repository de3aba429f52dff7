/**
 * Every job of the service, those of the engine and of the practice: work beside the requests that one process does for all;
 * several that do it at once waste work and do no harm.
 */
import { type ParameterIndexingOptions, parameterIndexingJob } from '../indexing/firm-parameters.ts';
import type { DeclaredJob } from '../jobs/declared-job.ts';
import { type CompletenessOptions, completenessJob } from '../storage/completeness.ts';
import { idempotencyKeyExpiryJob } from '../storage/idempotency.ts';
import { type BackfillOptions, backfillOccupancyJob } from './booking/backfill-occupancy.ts';
import { holdExpiryJob } from './booking/holds.ts';
import { type ContentUpkeepOptions, contentUpkeepJob } from './documents/upkeep.ts';
import { type WaitlistOptions, waitlistJob } from './waiting-list/offering.ts';

/** What all of them need together. */
export type JobServices = ParameterIndexingOptions &
  WaitlistOptions &
  BackfillOptions &
  ContentUpkeepOptions &
  CompletenessOptions;

/** In the order in which they are run where all are. */
export const jobs: readonly DeclaredJob<JobServices>[] = [
  parameterIndexingJob,
  waitlistJob,
  backfillOccupancyJob,
  idempotencyKeyExpiryJob,
  holdExpiryJob,
  contentUpkeepJob,
  completenessJob,
];

/** Names of those whose failures at a firm are counted. */
export const firmJobs: readonly string[] = jobs.flatMap(({ firmJob }) => firmJob ?? []);
