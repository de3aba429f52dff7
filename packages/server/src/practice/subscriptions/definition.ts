/**
 * What a Subscription asks for, read from the resource: R4's own (https://hl7.org/fhir/R4/subscription.html) and that of a topic
 * (https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/components.html). What is read here is stored beside the resource, so
 * that nothing of it is parsed again for each change.
 */
import type { JsonObject, JsonValue } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import { findObject, findProperty, findText, listObjects, listTexts } from '../../search/json-values.ts';
import { parseParameters } from '../../search/query/query-string.ts';
import { backportExtensions, concurrencyExtension } from './names.ts';
import { findTopic, type Topic } from './topics.ts';

export type PayloadContent = 'empty' | 'id-only' | 'full-resource';

export interface SubscriptionDefinition {
  /** Canonical URL of the topic; absent: R4's own criteria. */
  readonly topic?: string;
  readonly type: string;
  /** The search of R4's own criteria, in order. */
  readonly criteria?: readonly (readonly [name: string, value: string])[];
  /** Filters of a topic: all must hold. */
  readonly filters: readonly (readonly [code: string, values: readonly string[]])[];
  /** Absent: a websocket, to which clients come. */
  readonly endpoint?: string;
  readonly content: PayloadContent;
  /** Media type of what is sent; absent: nothing is. */
  readonly mediaType?: string;
  /** Sealed (channel-headers.ts). */
  readonly headers: readonly string[];
  readonly maxCount: number;
  /** Notifications at the same time, of different resources; absent: one after another. */
  readonly concurrency?: number;
  readonly timeoutSeconds: number;
  readonly heartbeatSeconds?: number;
  readonly endMs?: number;
}

export const maxCountMax = 100;
export const timeoutSecondsMax = 15;
/** Lanes of a subscription. */
const concurrencyMax = 10;
const heartbeatSecondsMin = 10;
const heartbeatSecondsMax = 86_400;
const criteriaCharactersMax = 1_000;
const filterCharactersMax = 1_000;
const filtersMax = 10;
const filterValuesMax = 20;

/** Of payloads, with the version of FHIR that may be named: https://hl7.org/fhir/R4/versioning.html#mt-version */
const mediaTypePattern = /^application\/(?:fhir\+)?(?:json|xml)(?: *; *fhirVersion *= *([^;\s]{1,20}))?$/;
const fhirVersion = '4.0';

/** Parameters that say how results are returned: no criteria have them. */
const refusedParameters =
  /^(?:_(?:count|sort|total|summary|elements|format|pretty|cursor|include|revinclude|contained|containedType|query|score|type)\b|page$)/;

/** Parameters that ask about other resources, or look at all words of one. */
const costlyParameters = /^_(?:has|list|filter|text|content)\b/;

/** @throws PraxisError `rule-broken` that names the element */
export function readDefinition(resource: JsonObject): SubscriptionDefinition {
  const channel = findObject(resource, 'channel');
  const channelType = requireChannelType(channel);
  const criteria = findText(resource, 'criteria') ?? '';
  if (criteria.length > criteriaCharactersMax)
    refuseElement('criteria', `has ${criteriaCharactersMax} characters at most`);
  const isTopic = !criteria.includes('?') && /^[a-z]+:/i.test(criteria);
  const shared = { ...readChannel(channel, channelType, isTopic), ...readEnd(resource) };
  const extensions = listObjects(findProperty(resource, '_criteria'), 'extension');
  const filters = extensions.filter(({ url }) => url === backportExtensions.filterCriteria);
  if (isTopic) return { ...readTopic(criteria, filters), ...shared };
  if (filters.length > 0)
    refuseElement('criteria.extension', 'has filters, which a topic takes: criteria is a search here');
  return { ...readSearch(criteria), filters: [], ...shared };
}

const refusedChannels: Readonly<Record<string, string>> = {
  message: 'message is not served, since no messaging is: use rest-hook or websocket',
  email: 'email is not served, since mail is not sealed on its way: use rest-hook or websocket',
  sms: 'sms is not served, since it is not sealed on its way: use rest-hook or websocket',
};

type ChannelType = 'rest-hook' | 'websocket';

function requireChannelType(channel: JsonObject | undefined): ChannelType {
  const type = findText(channel, 'type') ?? '';
  if (type !== 'rest-hook' && type !== 'websocket')
    return refuseElement('channel.type', refusedChannels[type] ?? 'is rest-hook or websocket');
  const extensions = listObjects(findProperty(channel, '_type'), 'extension');
  if (extensions.some(({ url }) => url === backportExtensions.channelType))
    refuseElement('channel.type.extension', 'names a channel of its own, and only those of channel.type are served');
  return type;
}

function readTopic(
  url: string,
  extensions: readonly JsonObject[],
): Pick<SubscriptionDefinition, 'topic' | 'type' | 'filters'> {
  const topic =
    findTopic(url) ?? refuseElement('criteria', 'names no topic of this service: metadata lists its topics');
  if (extensions.length > filtersMax) refuseElement('criteria.extension', `has ${filtersMax} filters at most`);
  const texts = extensions.map((extension) => findText(extension, 'valueString') ?? '');
  if (texts.some((text) => text.length > filterCharactersMax))
    refuseElement('criteria.extension', `has ${filterCharactersMax} characters at most`);
  return { topic: url, type: topic.type, filters: texts.flatMap((text) => readFilter(topic, text)) };
}

/** `Type?code=value`, as a search, or the code alone: https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/components.html */
function readFilter(topic: Topic, text: string): SubscriptionDefinition['filters'] {
  const [type, query = ''] = text.includes('?') ? splitOnce(text, '?') : [topic.type, text];
  if (type !== topic.type || query === '')
    refuseElement('criteria.extension', `begins with ${topic.type}?, as a search of the type of the topic`);
  const prefix = `${topic.type}.`;
  const parameters = parseParameters(query).map(
    ([name, value]) => [name.startsWith(prefix) ? name.slice(prefix.length) : name, value] as const,
  );
  if (parameters.length > filtersMax) refuseElement('criteria.extension', `names ${filtersMax} parameters at most`);
  return parameters.map(([code, value]) => {
    if (!topic.filters.includes(code))
      refuseElement('criteria.extension', `names ${JSON.stringify(code)}: the topic takes ${topic.filters.join(', ')}`);
    const values = value.split(',');
    if (values.length > filterValuesMax || values.some((each) => each === '' || /[$\\]/.test(each)))
      refuseElement('criteria.extension', `has 1 to ${filterValuesMax} values of ${code}, without $ and \\`);
    return [code, values];
  });
}

function readSearch(criteria: string): Pick<SubscriptionDefinition, 'type' | 'criteria'> {
  const [type = '', query] = splitOnce(criteria, '?');
  if (!/^[A-Z][A-Za-z]+$/.test(type))
    refuseElement('criteria', 'is a search of one type, such as Patient?active=true, or the URL of a topic');
  const parameters = parseParameters(query ?? '');
  for (const [name] of parameters) {
    if (costlyParameters.test(name))
      refuseElement('criteria', `has ${name}, which costs too much for each change: name parameters of ${type} itself`);
    if (refusedParameters.test(name))
      refuseElement(
        'criteria',
        `has ${name}, which is about the answer of a search: criteria say which resources are meant`,
      );
    if (name.includes('.'))
      refuseElement(
        'criteria',
        `has the chain ${name}, which costs too much for each change: name a parameter of ${type}`,
      );
  }
  return { type, criteria: parameters };
}

/** Clients come to a websocket: nothing is sent to an address, and there are no requests that could have headers. */
function readEndpoint(channel: JsonObject | undefined, type: ChannelType): Pick<SubscriptionDefinition, 'endpoint'> {
  const endpoint = findText(channel, 'endpoint');
  if (type === 'rest-hook') return { endpoint: endpoint ?? refuseElement('channel.endpoint', 'is missing') };
  if (endpoint !== undefined)
    refuseElement('channel.endpoint', 'is absent for a websocket: clients connect to the URL of $get-ws-binding-token');
  if (listTexts(channel, 'header').length > 0)
    refuseElement('channel.header', 'is absent for a websocket: there are no requests that could carry it');
  return {};
}

function readChannel(channel: JsonObject | undefined, type: ChannelType, isTopic: boolean) {
  const endpoint = readEndpoint(channel, type);
  const mediaType = findText(channel, 'payload');
  // https://hl7.org/fhir/R4/subscription.html#websockets: R4's own message names the Subscription and no resource.
  if (type === 'websocket' && !isTopic && mediaType !== undefined)
    refuseElement(
      'channel.payload',
      'is absent for a search by websocket: the client is told that something has changed',
    );
  if (mediaType !== undefined) requireMediaType(mediaType);
  const content = readContent(channel, mediaType, isTopic);
  const maxCount = readExtension(channel, backportExtensions.maxCount, 'valuePositiveInt', 1, maxCountMax);
  const concurrency = readExtension(channel, concurrencyExtension, 'valuePositiveInt', 1, concurrencyMax);
  const timeoutSeconds = readExtension(channel, backportExtensions.timeout, 'valueUnsignedInt', 1, timeoutSecondsMax);
  const heartbeatSeconds = readExtension(
    channel,
    backportExtensions.heartbeatPeriod,
    'valueUnsignedInt',
    heartbeatSecondsMin,
    heartbeatSecondsMax,
  );
  return {
    ...endpoint,
    content,
    ...(mediaType === undefined ? {} : { mediaType }),
    headers: listTexts(channel, 'header'),
    maxCount: maxCount ?? maxCountMax,
    ...(concurrency === undefined || concurrency === 1 ? {} : { concurrency }),
    timeoutSeconds: timeoutSeconds ?? timeoutSecondsMax,
    ...(heartbeatSeconds === undefined ? {} : { heartbeatSeconds }),
  };
}

function requireMediaType(text: string): void {
  const match = mediaTypePattern.exec(text);
  if (match === null)
    refuseElement(
      'channel.payload',
      'is application/fhir+json or application/fhir+xml, or absent for notifications without content',
    );
  const [, version = fhirVersion] = match;
  if (version !== fhirVersion)
    refuseElement('channel.payload', `names FHIR ${version}: notifications are of fhirVersion=${fhirVersion}`);
}

const contents: readonly PayloadContent[] = ['empty', 'id-only', 'full-resource'];

/** What the guide's extension says; without it R4's own criteria send all of a resource where there is a payload, topics nothing. */
function readContent(channel: JsonObject | undefined, mediaType: string | undefined, isTopic: boolean): PayloadContent {
  const extension = listObjects(findProperty(channel, '_payload'), 'extension').find(
    ({ url }) => url === backportExtensions.payloadContent,
  );
  if (extension === undefined) return isTopic || mediaType === undefined ? 'empty' : 'full-resource';
  const code = findText(extension, 'valueCode');
  const content =
    contents.find((each) => each === code) ??
    refuseElement('channel.payload.extension', `is one of ${contents.join(', ')}`);
  if (!isTopic && content === 'id-only')
    refuseElement('channel.payload.extension', 'is id-only for topics alone: a search sends resources, or nothing');
  return content;
}

function readExtension(
  channel: JsonObject | undefined,
  url: string,
  member: string,
  min: number,
  max: number,
): number | undefined {
  const extension = listObjects(channel, 'extension').find((each) => each.url === url);
  if (extension === undefined) return undefined;
  const value: JsonValue | undefined = extension[member];
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  return refuseElement('channel.extension', `${url} has ${member} from ${min} to ${max}`);
}

function readEnd(resource: JsonObject): Pick<SubscriptionDefinition, 'endMs'> {
  const end = findText(resource, 'end');
  if (end === undefined) return {};
  const endMs = Date.parse(end);
  return Number.isNaN(endMs) ? refuseElement('end', 'is a moment without a leap second') : { endMs };
}

/** @throws PraxisError `rule-broken` naming the element */
export function refuseElement(element: string, problem: string): never {
  const path = `Subscription.${element}`;
  return fail('rule-broken', { diagnostics: `${path} ${problem}`, expression: [path] });
}

function splitOnce(text: string, at: string): readonly string[] {
  const index = text.indexOf(at);
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + 1)];
}
