/**
 * What endpoints of Subscriptions receive (https://spec.openapis.org/oas/v3.1.1.html#oas-webhooks): notifications of topics by the
 * guide for R4 (https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/notifications.html), and those of R4's own criteria
 * (https://hl7.org/fhir/R4/subscription.html#channels), signed as Standard Webhooks says. docs/integrate/events.md is the guide.
 */
import {
  buildComponentRef,
  buildSchemaRef,
  type ContentMap,
  type OperationObject,
  type ParameterObject,
  type PathItem,
  type Schema,
} from './openapi.ts';

export type Webhooks = Readonly<Record<string, PathItem>>;

const tags = ['Subscription'];

function buildHeader(name: string, description: string, example: string): ParameterObject {
  return { name, in: 'header', description, required: true, schema: { type: 'string', examples: [example] } };
}

const parameters: readonly ParameterObject[] = [
  buildHeader(
    'webhook-id',
    'The id of the message. It stays the same when the message is sent again.',
    'ev_0193f2f0-5d5c-7f57-8d55-0c5bb0a6a5a1_41-42',
  ),
  buildHeader('webhook-timestamp', 'When it was sent, in seconds since 1970. Each attempt has its own.', '1795253400'),
  buildHeader(
    'webhook-signature',
    'One or more signatures, separated by blanks: v1, and the HMAC-SHA-256 of webhook-id, webhook-timestamp and the body, joined by dots, in base64.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
];

/** What an endpoint answers, and what follows. */
const responses: OperationObject['responses'] = {
  '2XX': {
    description: 'Accepted: the message is not sent again. At most 64 KiB of the body are read, and none is used.',
  },
  '410': { description: 'The endpoint is gone: the Subscription ends, with the status off.' },
  '429': buildBusy('Too many messages'),
  '503': buildBusy('Not available now'),
  default: {
    description:
      'Not accepted, as no answer within the time of the Subscription: the message is sent again, with growing pauses. Redirects are not followed.',
  },
};

function buildBusy(what: string): OperationObject['responses'][string] {
  const description = `${what}: the message is sent again, not before Retry-After says, and within a day.`;
  return { description, headers: { 'Retry-After': buildComponentRef('headers', 'Retry-After') } };
}

const security = [] as const;

function buildContent(schema: Schema, examples: readonly string[] = []): ContentMap {
  const named = Object.fromEntries(examples.map((name) => [name, buildComponentRef('examples', `webhook.${name}`)]));
  return {
    'application/fhir+json': { schema, ...(examples.length === 0 ? {} : { examples: named }) },
    'application/fhir+xml': { schema: { type: 'string' } },
  };
}

/** The section of the document. */
export function buildWebhooks(): Webhooks {
  return {
    topicNotification: {
      post: {
        operationId: 'receiveTopicNotification',
        summary: 'A notification of a Subscription by a topic',
        description:
          'A handshake when the Subscription is asked for, a heartbeat where nothing was sent for the period that it names, and events otherwise. Each event has a number, one more than that before; with several lanes they come out of order. The body has the media type in channel.payload.',
        tags,
        security,
        parameters,
        requestBody: {
          required: true,
          content: buildContent(buildSchemaRef('SubscriptionNotification'), ['handshake', 'heartbeat', 'events']),
        },
        responses,
      },
    },
    changedResource: {
      put: {
        operationId: 'receiveChangedResource',
        summary: 'A resource that the criteria of R4 find, with a payload',
        description: 'It is sent to the endpoint followed by /{type}/{id}. The latest version comes at least once.',
        tags,
        security,
        parameters,
        requestBody: { required: true, content: buildContent(buildSchemaRef('Resource')) },
        responses,
      },
    },
    change: {
      post: {
        operationId: 'receiveChange',
        summary: 'A handshake of the criteria of R4, or that something has changed, without a payload',
        description: 'There is no body. Search with the criteria to see what has changed.',
        tags,
        security,
        parameters,
        responses,
      },
    },
  };
}

const statuses = ['requested', 'active', 'error', 'off'];
const types = ['handshake', 'heartbeat', 'event-notification'];

function buildParameterOf(name: string, member: string, value: Schema): Schema {
  const properties = { name: { const: name }, [member]: value };
  return { contains: { type: 'object', properties, required: ['name', member] } };
}

/** Schemas of notifications, by name. */
export const webhookSchemas: Readonly<Record<string, Schema>> = {
  SubscriptionNotification: {
    description: 'A Bundle of the type history, whose first entry is the status.',
    allOf: [
      buildSchemaRef('Bundle'),
      {
        type: 'object',
        required: ['resourceType', 'type', 'timestamp', 'entry'],
        properties: {
          type: { const: 'history' },
          entry: {
            type: 'array',
            minItems: 1,
            prefixItems: [
              {
                type: 'object',
                required: ['fullUrl', 'resource', 'request', 'response'],
                properties: { resource: buildSchemaRef('SubscriptionNotificationStatus') },
              },
            ],
            items: { type: 'object', required: ['fullUrl', 'request', 'response'] },
          },
        },
      },
    ],
  },
  SubscriptionNotificationStatus: {
    description: 'How the Subscription stands, and the events of the notification.',
    allOf: [
      buildSchemaRef('Parameters'),
      {
        type: 'object',
        required: ['resourceType', 'meta', 'parameter'],
        properties: {
          parameter: {
            type: 'array',
            allOf: [
              buildParameterOf('subscription', 'valueReference', { type: 'object', required: ['reference'] }),
              buildParameterOf('topic', 'valueCanonical', { type: 'string' }),
              buildParameterOf('status', 'valueCode', { enum: statuses }),
              buildParameterOf('type', 'valueCode', { enum: types }),
              buildParameterOf('events-since-subscription-start', 'valueString', { pattern: '^[0-9]+$' }),
            ],
            items: {
              type: 'object',
              required: ['name'],
              properties: {
                name: {
                  enum: [
                    'subscription',
                    'topic',
                    'status',
                    'type',
                    'events-since-subscription-start',
                    'notification-event',
                    'error',
                  ],
                },
                part: {
                  type: 'array',
                  items: { properties: { name: { enum: ['event-number', 'timestamp', 'focus'] } } },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const base = 'https://praxis.example.com/sandbox/firm/your-firm/pm/fhir/v2';
const subscription = `${base}/Subscription/0193f2f0-5d5c-7f57-8d55-0c5bb0a6a5a1`;
const guide = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';
const moment = '2026-11-21T09:30:00.000Z';

function buildNotificationExample(
  type: string,
  status: string,
  events: number,
  told: readonly object[],
  entries: readonly object[],
) {
  return {
    resourceType: 'Bundle',
    meta: { lastUpdated: moment, profile: [`${guide}/backport-subscription-notification-r4`] },
    type: 'history',
    timestamp: moment,
    entry: [
      {
        fullUrl: 'urn:uuid:0193f2f0-5d5c-7f57-8d55-0c5bb0a6a5a2',
        resource: {
          resourceType: 'Parameters',
          meta: { profile: [`${guide}/backport-subscription-status-r4`] },
          parameter: [
            { name: 'subscription', valueReference: { reference: subscription } },
            { name: 'topic', valueCanonical: 'https://praxis.health/fhir/SubscriptionTopic/patient-changed' },
            { name: 'status', valueCode: status },
            { name: 'type', valueCode: type },
            { name: 'events-since-subscription-start', valueString: String(events) },
            ...told,
          ],
        },
        request: { method: 'GET', url: `${subscription}/$status` },
        response: { status: '200' },
      },
      ...entries,
    ],
  };
}

/** Examples of notifications. */
export function buildWebhookExamples() {
  const patient = { resourceType: 'Patient', id: 'ada', meta: { versionId: '2', lastUpdated: moment }, active: true };
  const event = {
    name: 'notification-event',
    part: [
      { name: 'event-number', valueString: '42' },
      { name: 'timestamp', valueInstant: moment },
      { name: 'focus', valueReference: { reference: `${base}/Patient/ada` } },
    ],
  };
  const entry = {
    fullUrl: `${base}/Patient/ada`,
    resource: patient,
    request: { method: 'PUT', url: 'Patient/ada' },
    response: { status: '200', etag: 'W/"2"', lastModified: moment },
  };
  return {
    'webhook.handshake': {
      summary: 'A handshake',
      value: buildNotificationExample('handshake', 'requested', 0, [], []),
    },
    'webhook.heartbeat': {
      summary: 'A heartbeat: nothing has happened',
      value: buildNotificationExample('heartbeat', 'active', 41, [], []),
    },
    'webhook.events': {
      summary: 'An event with its resource',
      value: buildNotificationExample('event-notification', 'active', 42, [event], [entry]),
    },
  };
}
