import type { PracticeFeature } from '../feature.ts';
import { subscriptionActions } from './actions.ts';
import { subscriptionHooks } from './hooks.ts';
import { subscriptionsJob } from './job.ts';
import { rotateSecretOperation, subscriptionEvents, subscriptionStatus } from './operations.ts';
import { eventExpiryJob } from './retention.ts';
import { bindingTokenOperation } from './sockets/binding-token.ts';
import { socketsJob } from './sockets/sockets-job.ts';

/** Subscriptions: applications are told of changes (docs/decisions/0308). */
export const subscriptionsFeature: PracticeFeature = {
  hooks: [subscriptionHooks],
  operations: [subscriptionStatus, subscriptionEvents, rotateSecretOperation, bindingTokenOperation],
  actions: subscriptionActions,
  jobs: [subscriptionsJob, socketsJob, eventExpiryJob],
};
