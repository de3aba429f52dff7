/**
 * What is sent: for topics the notification Bundle of the guide for R4
 * (https://hl7.org/fhir/uv/subscriptions-backport/STU1.1/notifications.html), for R4's own criteria the resource or nothing
 * (https://hl7.org/fhir/R4/subscription.html#channels). What a resource shows is decided here, by the rights of this moment.
 */
import { type Disclosed, markServerWritten, unwrapDisclosed } from '../../access/disclosure.ts';
import { withMember } from '../../access/json-members.ts';
import { toInstant } from '../../base/clock.ts';
import { makeUuid } from '../../base/ids.ts';
import { type BundleEntry, buildBundleText } from '../../engine/bundle-text.ts';
import type { InteractionContext } from '../../engine/context.ts';
import { formatEtag } from '../../engine/preconditions.ts';
import { discloseRow } from '../../engine/rights/disclosing.ts';
import { getTypeName } from '../../storage/rows.ts';
import type { StoredResource } from '../../storage/store.ts';
import { readVersions } from '../../storage/versions-at.ts';
import type { PayloadContent } from './definition.ts';
import { backportProfiles } from './names.ts';
import type { SubscriptionEvent, SubscriptionState } from './store.ts';

export type NotificationType = 'handshake' | 'heartbeat' | 'event-notification' | 'query-status' | 'query-event';

/** Characters of resources that one notification holds, about; one resource always comes. */
const contentCharactersMax = 2_000_000;

type Told = Pick<SubscriptionState, 'id' | 'status' | 'reason' | 'events' | 'definition'>;

/** An event, and what the application may see of its version now; undefined: nothing, or it was deleted. */
export interface ShownEvent {
  readonly event: SubscriptionEvent;
  readonly resource: Disclosed<string> | undefined;
}

/**
 * The events with what may be seen of them: all, or so many that their contents fit.
 * @param known their versions, where they need not be read: a version does not change
 */
export async function showEvents(
  context: InteractionContext,
  events: readonly SubscriptionEvent[],
  content: PayloadContent,
  known?: readonly StoredResource[],
): Promise<readonly ShownEvent[]> {
  if (content !== 'full-resource') return events.map((event) => ({ event, resource: undefined }));
  const versions = known === undefined ? await readContents(context, events) : new Map<string, StoredResource>();
  for (const version of known ?? []) versions.set(keyOf(version.type, version.id, version.versionId), version);
  const shown: ShownEvent[] = [];
  let characters = 0;
  for (const event of events) {
    const version = versions.get(keyOf(getTypeName(event.rtype), event.id, event.vid));
    const resource = version === undefined || event.kind === 'delete' ? undefined : disclose(context, version);
    characters += resource === undefined ? 0 : unwrapDisclosed(resource).length;
    if (shown.length > 0 && characters > contentCharactersMax) break;
    shown.push({ event, resource });
  }
  return shown;
}

/** What a search shows, else what a read of a version does. */
function disclose(context: InteractionContext, version: StoredResource): Disclosed<string> | undefined {
  return discloseRow(context, 's', version, {}) ?? discloseRow(context, 'r', version, {});
}

function keyOf(type: string, id: string, versionId: number): string {
  return `${type}/${id}/${versionId}`;
}

async function readContents(context: InteractionContext, events: readonly SubscriptionEvent[]) {
  const { store, scope } = context;
  const told = events.filter(({ kind }) => kind !== 'delete');
  const found = new Map<string, StoredResource>();
  for (const type of new Set(told.map(({ rtype }) => getTypeName(rtype)))) {
    const keys = told.filter(({ rtype }) => getTypeName(rtype) === type).map(({ id, vid }) => ({ id, versionId: vid }));
    for (const version of await readVersions(store, scope, type, keys))
      found.set(keyOf(type, version.id, version.versionId), version);
  }
  return found;
}

/** The Bundle of a notification. */
export function buildNotification(
  context: InteractionContext,
  told: Told,
  type: NotificationType,
  shown: readonly ShownEvent[] = [],
  content: PayloadContent = told.definition.content,
): Disclosed<string> {
  const { baseUrl, clock } = context;
  const now = toInstant(clock.now());
  const url = `${baseUrl}/Subscription/${told.id}/$status`;
  const status: BundleEntry = {
    fullUrl: `urn:uuid:${makeUuid()}`,
    resource: buildStatus(context, told, type, shown, content),
    request: { method: 'GET', url },
    response: { status: '200' },
  };
  const entries = content === 'empty' ? [] : shown.map((each) => entryOf(context, each));
  const bundle = buildBundleText({
    type: 'history',
    id: makeUuid(),
    lastUpdated: now,
    links: [],
    entries: [status, ...entries],
  });
  const meta = JSON.stringify({ lastUpdated: now, profile: [backportProfiles.notification] });
  const text = withMember(withMember(unwrapDisclosed(bundle), 'meta', meta), 'timestamp', JSON.stringify(now));
  return markServerWritten(text);
}

function entryOf({ baseUrl }: InteractionContext, { event, resource }: ShownEvent): BundleEntry {
  const type = getTypeName(event.rtype);
  const url = `${type}/${event.id}`;
  const { kind, vid, atMs } = event;
  const request = {
    create: { method: 'POST', url: type },
    update: { method: 'PUT', url },
    delete: { method: 'DELETE', url },
  }[kind];
  const status = { create: '201', update: '200', delete: '204' }[kind];
  return {
    fullUrl: `${baseUrl}/${url}`,
    ...(resource === undefined ? {} : { resource }),
    request,
    response: { status, etag: formatEtag(vid), lastModified: toInstant(atMs) },
  };
}

/** The Parameters of the guide that say how a subscription stands. */
export function buildStatus(
  { baseUrl }: Pick<InteractionContext, 'baseUrl'>,
  { id, status, reason, events, definition }: Told,
  type: NotificationType,
  shown: readonly ShownEvent[] = [],
  content: PayloadContent = definition.content,
): Disclosed<string> {
  const last = shown.at(-1)?.event.number ?? events;
  const parameter = [
    { name: 'subscription', valueReference: { reference: `${baseUrl}/Subscription/${id}` } },
    ...(definition.topic === undefined ? [] : [{ name: 'topic', valueCanonical: definition.topic }]),
    { name: 'status', valueCode: status },
    { name: 'type', valueCode: type },
    { name: 'events-since-subscription-start', valueString: String(type === 'event-notification' ? last : events) },
    ...shown.map(({ event }) => ({
      name: 'notification-event',
      part: [
        { name: 'event-number', valueString: String(event.number) },
        { name: 'timestamp', valueInstant: toInstant(event.atMs) },
        ...(content === 'empty'
          ? []
          : [{ name: 'focus', valueReference: { reference: `${baseUrl}/${getTypeName(event.rtype)}/${event.id}` } }]),
      ],
    })),
    ...(reason === null ? [] : [{ name: 'error', valueCodeableConcept: { coding: [reasonCoding(reason)] } }]),
  ];
  const meta = { profile: [backportProfiles.status] };
  return markServerWritten(JSON.stringify({ resourceType: 'Parameters', id: makeUuid(), meta, parameter }));
}

function reasonCoding(code: string) {
  return { system: 'https://praxis.health/fhir/CodeSystem/subscription-reason', code };
}
