/**
 * Names of *Subscriptions R5 Backport* 1.1.0 for R4 (https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/), and those of
 * this service beside them.
 */
const backport = 'http://hl7.org/fhir/uv/subscriptions-backport';

/** Extensions of a Subscription by the guide. */
export const backportExtensions = {
  /** Of channel.type: a channel that R4 does not name. */
  channelType: `${backport}/StructureDefinition/backport-channel-type`,
  /** Of criteria: a filter, as a search of the type of the topic. */
  filterCriteria: `${backport}/StructureDefinition/backport-filter-criteria`,
  /** Of channel: seconds between two notifications, at most. */
  heartbeatPeriod: `${backport}/StructureDefinition/backport-heartbeat-period`,
  /** Of channel: seconds that an answer may take. */
  timeout: `${backport}/StructureDefinition/backport-timeout`,
  /** Of channel: events of a notification, at most. */
  maxCount: `${backport}/StructureDefinition/backport-max-count`,
  /** Of channel.payload: what of a resource is sent. */
  payloadContent: `${backport}/StructureDefinition/backport-payload-content`,
} as const;

export const backportProfiles = {
  subscription: `${backport}/StructureDefinition/backport-subscription`,
  status: `${backport}/StructureDefinition/backport-subscription-status-r4`,
  notification: `${backport}/StructureDefinition/backport-subscription-notification-r4`,
} as const;

/** Of the entry of Subscription in a CapabilityStatement: a topic that is served. */
export const topicExtension = `${backport}/StructureDefinition/capabilitystatement-subscriptiontopic-canonical`;

export const backportOperations = {
  status: `${backport}/OperationDefinition/backport-subscription-status`,
  events: `${backport}/OperationDefinition/backport-subscription-events`,
  bindingToken: `${backport}/OperationDefinition/backport-subscription-get-ws-binding-token`,
} as const;

/** Of the answer to a create: the secret by which notifications are signed; it is told once. */
export const secretExtension = 'https://praxis.health/fhir/StructureDefinition/subscription-secret';

/** Of channel: notifications that may be under way at the same time, each of other resources. */
export const concurrencyExtension = 'https://praxis.health/fhir/StructureDefinition/subscription-max-concurrency';
