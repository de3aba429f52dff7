/**
 * What the service does with a Subscription that an application writes (https://hl7.org/fhir/R4/subscription.html): it is checked
 * before it is stored, it belongs to the application, and only the service says that it is active or in error.
 */
import { type JsonObject, practiceExtensions, resourceTypesWithEndpoint } from '@praxis/fhir';
import { type Disclosed, markServerWritten, parseStored, unwrapDisclosed } from '../../access/disclosure.ts';
import { findMemberText, withMember, withoutMember } from '../../access/json-members.ts';
import type { Permission } from '../../access/policy.ts';
import { PraxisError } from '../../base/errors.ts';
import type { InteractionContext } from '../../engine/context.ts';
import type {
  PreparedWrite,
  PreparingContext,
  ResourceHooks,
  SendingContext,
  StoringContext,
} from '../../engine/hooks.ts';
import { denyAccess, requireGrants } from '../../engine/rights/denials.ts';
import { planSearch, strictly } from '../../engine/search/searching.ts';
import { requirePublicUrl } from '../../outbound/public-url.ts';
import { findObject, findProperty, findText, listObjects, listTexts } from '../../search/json-values.ts';
import { getStandardParameters } from '../../search/parameters.ts';
import { ledgerTypes } from '../../search/resource-types.ts';
import type { ResourceWrite, StoredResource, WriteOutcome } from '../../storage/store.ts';
import { listTopicGrants, toLocalReference } from './admitting/matching.ts';
import { sealHeaders } from './channel-headers.ts';
import { readDefinition, refuseElement, type SubscriptionDefinition } from './definition.ts';
import { backportProfiles, secretExtension, topicExtension } from './names.ts';
import { computeSecret } from './secret.ts';
import { countOwnStates, keepSubscription, removeSubscription } from './store.ts';
import { findTopic, topics } from './topics.ts';

export const subscriptionHooks: ResourceHooks = {
  types: ['Subscription'],
  // https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/CapabilityStatement-backport-subscription-server-r4.html
  capability: {
    supportedProfile: [backportProfiles.subscription],
    extension: topics.map(({ url }) => ({ url: topicExtension, valueCanonical: url })),
  },
  prepare,
  wrapStore,
  toSent: (context, letter, { id, disclosed }) => hideHeaders(context, letter, id, disclosed),
};

/** Extensions that the service writes, whatever is sent. */
const ownExtensions: ReadonlySet<string> = new Set([practiceExtensions.subscriptionOwner, secretExtension]);

async function prepare(
  context: PreparingContext,
  resource: JsonObject,
  { id, before }: PreparedWrite,
): Promise<JsonObject> {
  if (!isOfApplication(context)) return withoutOwner(resource);
  const live = before === undefined || before.deleted ? undefined : parseStored(before.content);
  const owned = withOwner(withSealedHeaders(context, resource, live, id), context.scope.application);
  const definition = readDefinition(owned);
  await requireAllowed(context, definition);
  return { ...owned, status: judgeStatus(owned, live, definition, context.clock.now()) };
}

/** Imports and jobs act for no application: what they bring belongs to nobody, and nothing is sent for it. */
function isOfApplication(context: PreparingContext): context is InteractionContext {
  return context.policy !== undefined && context.secrets !== undefined && context.limits !== undefined;
}

function withoutOwner(resource: JsonObject): JsonObject {
  return { ...withExtensions(resource, othersOf(resource)), status: 'off' };
}

function withOwner(resource: JsonObject, application: number): JsonObject {
  const { error: _error, ...rest } = resource;
  const owner = { url: practiceExtensions.subscriptionOwner, valueCode: String(application) };
  return withExtensions(rest, [...othersOf(resource), owner]);
}

function othersOf(resource: JsonObject): readonly JsonObject[] {
  return listObjects(resource, 'extension').filter(({ url }) => typeof url !== 'string' || !ownExtensions.has(url));
}

function withExtensions(resource: JsonObject, extension: readonly JsonObject[]): JsonObject {
  const { extension: _before, ...rest } = resource;
  return extension.length === 0 ? rest : { ...rest, extension: [...extension] };
}

/** A write without headers leaves those that are stored, where the endpoint has the same origin: they are no other's. */
function withSealedHeaders(
  context: InteractionContext,
  resource: JsonObject,
  live: JsonObject | undefined,
  id: string,
): JsonObject {
  const channel = findObject(resource, 'channel') ?? {};
  const before = findObject(live, 'channel');
  const kept = haveSameOrigin(before, channel) ? listTexts(before, 'header') : [];
  const sent = findProperty(channel, 'header') === undefined ? kept : listTexts(channel, 'header');
  const header = sealHeaders({ ...context, id }, sent, kept);
  const { header: _header, _header: _extensions, ...rest } = channel;
  return { ...resource, channel: header.length === 0 ? rest : { ...rest, header: [...header] } };
}

function haveSameOrigin(left: JsonObject | undefined, right: JsonObject): boolean {
  const [before, after] = [findText(left, 'endpoint') ?? '', findText(right, 'endpoint') ?? ''];
  return URL.canParse(before) && URL.canParse(after) && new URL(before).origin === new URL(after).origin;
}

/** @throws PraxisError `rule-broken`, `access-denied` */
async function requireAllowed(context: InteractionContext, definition: SubscriptionDefinition): Promise<void> {
  if (definition.endpoint !== undefined) requireOpenEndpoint(context, definition.endpoint);
  if (!resourceTypesWithEndpoint.includes(definition.type) || ledgerTypes.has(definition.type))
    refuseElement('criteria', `is about ${definition.type}, of which no changes are told`);
  if (definition.type === 'Subscription') refuseElement('criteria', 'is about Subscriptions, of which nothing is sent');
  requireGrants(context, definition.type, 's');
  const topic = findTopic(definition.topic ?? '');
  for (const [code, values] of definition.filters) requireComparable(context, definition.type, code, values);
  if (topic !== undefined && listTopicGrants(context.policy, topic, definition.filters).length === 0)
    denyAccess(`The topic goes by ${topic.reads.join(', ')} of ${topic.type}, which the application may not search`);
  try {
    await planSearch(context, definition.type, listSearchParameters(definition), strictly);
  } catch (error) {
    if (error instanceof PraxisError && error.code === 'search-invalid')
      refuseElement('criteria', `cannot be searched by: ${error.details.diagnostics}`);
    throw error;
  }
}

function requireOpenEndpoint({ limits, scope }: InteractionContext, endpoint: string): void {
  const loopback = limits.outboundLoopback?.includes(scope.environment) === true;
  try {
    requirePublicUrl(endpoint, { loopback });
  } catch (error) {
    refuseElement('channel.endpoint', error instanceof Error ? error.message : 'cannot be used');
  }
}

/** A filter by references names them as they are compared: those of this service, of no version. */
function requireComparable(
  { baseUrl }: InteractionContext,
  type: string,
  code: string,
  values: readonly string[],
): void {
  if (getStandardParameters(type).get(code)?.kind.table !== 'reference') return;
  const isOdd = (value: string): boolean =>
    !/^(?:[A-Z][A-Za-z]+\/)?[A-Za-z0-9\-.]{1,64}$/.test(toLocalReference(value, baseUrl));
  const odd = values.find(isOdd);
  if (odd !== undefined)
    refuseElement('criteria.extension', `compares ${code} with ${odd}: it takes Type/id or an id of this service`);
}

/** What criteria and filters ask, as parameters of a search of the type. */
function listSearchParameters({ criteria, filters }: SubscriptionDefinition) {
  return [...(criteria ?? []), ...filters.map(([code, values]) => [code, values.join(',')] as const)];
}

/**
 * The status that is stored: an application asks by `requested` and ends by `off`. What it read and sends back unchanged leaves
 * an active subscription active.
 */
function judgeStatus(
  resource: JsonObject,
  live: JsonObject | undefined,
  { endMs }: SubscriptionDefinition,
  nowMs: number,
): string {
  const status = findText(resource, 'status');
  if (status !== 'off' && endMs !== undefined && endMs <= nowMs) refuseElement('end', 'has passed');
  if (status === 'requested' || status === 'off') return status;
  const before = findText(live, 'status');
  if (live === undefined || status === undefined || status !== before)
    return refuseElement('status', 'is requested or off: the service says when it is active or in error');
  return keepsRun(live, resource) ? status : 'requested';
}

/** Whether nothing differs that a handshake would have to be repeated for. */
function keepsRun(before: JsonObject, after: JsonObject): boolean {
  const left = readDefinition(before);
  return JSON.stringify(left) === JSON.stringify(readDefinition(after));
}

/** Whether both ask for the same events. */
function asksSame(left: SubscriptionDefinition, right: SubscriptionDefinition): boolean {
  const what = ({ topic, type, criteria, filters }: SubscriptionDefinition): string =>
    JSON.stringify([topic, type, criteria, filters]);
  return what(left) === what(right);
}

/** The state is kept in the transaction of the version. */
async function wrapStore(
  context: StoringContext,
  write: ResourceWrite,
  work: (inside: StoringContext) => Promise<WriteOutcome>,
): Promise<WriteOutcome> {
  const { store, scope } = context;
  return await store.transaction(scope, async (inside) => {
    const before = write.expectedVersion === 0 ? undefined : await inside.read(scope, write.type, write.id);
    const outcome = await work({ ...context, store: inside });
    if (outcome.outcome !== 'written') return outcome;
    const changes = listChanges(context, write, before);
    await inside.change(scope, [...changes]);
    if (changes.length > 0 && write.content !== null) await requireRoom({ ...context, store: inside });
    return outcome;
  });
}

/** What was written is undone where there are too many. @throws PraxisError `rule-broken` */
async function requireRoom({ store, scope, limits }: StoringContext): Promise<void> {
  const max = limits?.subscriptionsMax;
  if (max === undefined || (await countOwnStates(store, scope)) <= max) return;
  refuseElement(
    'status',
    `is requested, but the application has ${max} Subscriptions at this firm, the most that it may: set one to off, or delete it`,
  );
}

function listChanges(context: StoringContext, write: ResourceWrite, before: StoredResource | undefined) {
  const { scope, policy, clock } = context;
  const { id, content } = write;
  if (content === null) return removeSubscription(scope, id);
  const resource = parseStored(content);
  const status = findText(resource, 'status');
  if (status !== 'requested' && status !== 'off') return [];
  const definition = readDefinition(resource);
  const live = before === undefined || before.deleted ? undefined : parseStored(before.content);
  const beginsAnew = live === undefined || !asksSame(readDefinition(live), definition);
  const entries = policy.source.origin?.carried;
  return keepSubscription(scope, { id, status, definition, entries, beginsAnew, nowMs: clock.now() });
}

/** Without channel.header. The answer to a create alone tells the secret, where anything is signed by it. */
function hideHeaders(
  { secrets, scope }: SendingContext,
  letter: Permission,
  id: string,
  disclosed: Disclosed<string>,
): Disclosed<string> {
  const text = unwrapDisclosed(disclosed);
  const channel = findMemberText(text, 'channel');
  const bare = channel === undefined ? undefined : withoutMember(withoutMember(channel, 'header'), '_header');
  const shown = bare === undefined ? text : withMember(text, 'channel', bare);
  const isSocket = channel !== undefined && findMemberText(channel, 'type') === '"websocket"';
  if (letter !== 'c' || isSocket) return markServerWritten(shown);
  const secret = JSON.stringify({ url: secretExtension, valueString: computeSecret(secrets, scope, id, 1) });
  const others = findMemberText(shown, 'extension');
  const extensions = others === undefined ? `[${secret}]` : `${others.slice(0, others.lastIndexOf(']'))},${secret}]`;
  return markServerWritten(withMember(shown, 'extension', extensions));
}
