/**
 * The features of the practice, one line each, and what the service serves because of them. Hooks are called, and
 * administration and states are documented, in this order.
 */
import type { Action, ActionContext } from '../actions/action.ts';
import type { Fields } from '../actions/schema.ts';
import { type ParameterIndexingOptions, parameterIndexingJob } from '../indexing/firm-parameters.ts';
import type { DeclaredJob } from '../jobs/declared-job.ts';
import type { EraseContext } from '../offboarding/erase-firm.ts';
import { firmErasureJob } from '../offboarding/job.ts';
import { engineOperations } from '../operations/list.ts';
import type { Operation } from '../operations/operation.ts';
import type { Behaviour } from '../resources/behaviour.ts';
import type { StateTable } from '../resources/states/state-table.ts';
import { type CompletenessOptions, completenessJob } from '../storage/completeness.ts';
import { idempotencyKeyExpiryJob } from '../storage/idempotency.ts';
import { bookingFeature } from './booking/feature.ts';
import { calendarsFeature } from './calendars/feature.ts';
import { chargesFeature } from './charges/feature.ts';
import { contentFlagsFeature } from './content-flags/feature.ts';
import { documentsFeature } from './documents/feature.ts';
import type { FeatureServices, PracticeFeature } from './feature.ts';
import { intakeFeature } from './intake/feature.ts';
import { referralsFeature } from './referrals/feature.ts';
import { subscriptionsFeature } from './subscriptions/feature.ts';
import { valueSetsFeature } from './value-sets/feature.ts';
import { visitsFeature } from './visits/feature.ts';
import { waitingListFeature } from './waiting-list/feature.ts';

export const features: readonly PracticeFeature[] = [
  bookingFeature,
  visitsFeature,
  calendarsFeature,
  waitingListFeature,
  referralsFeature,
  valueSetsFeature,
  chargesFeature,
  intakeFeature,
  documentsFeature,
  contentFlagsFeature,
  subscriptionsFeature,
];

/** The types with behaviour of their own. */
export const behaviours: readonly Behaviour[] = features.flatMap((each) => each.behaviours ?? []);

/** Every table of states. */
export const stateTables: readonly StateTable[] = features.flatMap(({ states }) => states ?? []);

/** Every operation that is served, by name. Routes, CapabilityStatement and OpenAPI derive from this list. */
export const operations: readonly Operation[] = [
  ...engineOperations,
  ...features.flatMap((each) => each.operations ?? []),
].sort((left, right) => (left.name < right.name ? -1 : Number(left.name > right.name)));

/** The administration of the features. */
export const practiceActions: readonly Action<string, Fields, ActionContext>[] = features.flatMap(
  ({ actions }) => actions ?? [],
);

/** What all jobs need together. */
export type JobServices = FeatureServices & ParameterIndexingOptions & CompletenessOptions & EraseContext;

/** Work beside the requests, which one process does for all. Several that do it at once waste work and do no harm. */
export const jobs: readonly DeclaredJob<JobServices>[] = [
  parameterIndexingJob,
  idempotencyKeyExpiryJob,
  completenessJob,
  firmErasureJob,
  ...features.flatMap((each) => each.jobs ?? []),
];

/** Names of the jobs whose failures at a firm are counted. */
export const firmJobs: readonly string[] = jobs.flatMap(({ firmJob }) => firmJob ?? []);
