/**
 * A subscriber as the guide describes one (docs/integrate/events.md): it subscribes, makes a first copy, applies events, and where
 * its run has ended it asks again and begins with a new copy.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { type Account, describeCopy } from './account.ts';
import type { ProofClient } from './client.ts';
import type { Endpoint } from './endpoints.ts';
import type { ProofType } from './rights.ts';

const guide = 'http://hl7.org/fhir/uv/subscriptions-backport/StructureDefinition';
const secretUrl = 'https://praxis.health/fhir/StructureDefinition/subscription-secret';
const pollMs = 250;
const pageSize = 200;

const topics: Readonly<Record<ProofType, string>> = {
  Patient: 'patient-changed',
  ChargeItem: 'charge-changed',
  DocumentReference: 'document-filed',
};

export interface SubscriptionWish {
  /** For reports. */
  readonly name: string;
  readonly type: ProofType;
  /** A query of the type that events and copy are limited by; empty: none. */
  readonly filter: string;
  readonly content: 'id-only' | 'full-resource';
  readonly maxCount: number;
  readonly timeoutSeconds: number;
  readonly endpoint: Endpoint;
  /** Path of its deliveries. */
  readonly path: string;
}

export interface Subscriber {
  readonly wish: SubscriptionWish;
  readonly account: Account;
  /** Whether it is active and has its copy, of which `last` is the last event. */
  stands(): Promise<{ readonly events: number } | undefined>;
  /** How it stands, for who waits for it. */
  describe(): Promise<string>;
  /** What a search of its application shows now. */
  search(): Promise<Map<string, string>>;
  stop(): Promise<void>;
}

/** Subscribes; resolves when it is active and has its first copy. @param account what comes at the endpoint is given to it already */
export async function openSubscriber(
  client: ProofClient,
  wish: SubscriptionWish,
  account: Account,
): Promise<Subscriber> {
  const made = await client.send('POST', 'Subscription', buildSubscription(wish));
  if (made.status !== 201) throw new Error(`${wish.name}: ${made.status} ${made.body}`);
  const { id, extension }: { readonly id: string; readonly extension: readonly Extension[] } = JSON.parse(made.body);
  account.secret = extension.find(({ url }) => url === secretUrl)?.valueString ?? '';
  let copied = 0;
  let isStopping = false;
  const search = async (): Promise<Map<string, string>> => await copyBySearch(client, wish);

  const look = async (): Promise<void> => {
    const { status, body } = await client.send('GET', `Subscription/${id}`);
    if (status !== 200) return;
    const resource: { readonly status: string } = JSON.parse(body);
    if (resource.status === 'error')
      await client.send('PUT', `Subscription/${id}`, { ...resource, status: 'requested' });
    if (resource.status !== 'active' || account.runs === copied) return;
    const run = account.runs;
    const copy = await search();
    // Meanwhile a run may have begun anew, and this is none of its copy.
    if (account.runs !== run) return;
    account.copy = copy;
    copied = run;
  };
  const following = (async () => {
    for (; !isStopping; await delay(pollMs)) await look().catch(() => undefined);
  })();
  while (copied === 0) await delay(pollMs / 5);
  return {
    wish,
    account,
    search,
    async stands() {
      if (account.runs !== copied) return undefined;
      const { status, body } = await client.send('GET', `Subscription/${id}/$status`);
      if (status !== 200) return undefined;
      const state = findParameter(body, 'status')?.valueCode;
      const events = findParameter(body, 'events-since-subscription-start')?.valueString;
      return state === 'active' && account.runs === copied ? { events: Number(events) } : undefined;
    },
    async describe() {
      const { status, body } = await client.send('GET', `Subscription/${id}/$status`);
      const events = status === 200 ? findParameter(body, 'events-since-subscription-start')?.valueString : undefined;
      const { status: read, body: text } = await client.send('GET', `Subscription/${id}`);
      const { status: stands, error = '' } = read === 200 ? JSON.parse(text) : { status: read };
      return `${stands} ${error} with ${events} events, the last that came is ${account.last}; run ${account.runs}, copy of ${copied}`;
    },
    async stop() {
      isStopping = true;
      await following;
    },
  };
}

/** Of the status of one subscription. */
function findParameter(body: string, wanted: string): Extension | undefined {
  const parameters: readonly Extension[] = JSON.parse(body).entry[0]?.resource.parameter ?? [];
  return parameters.find(({ name }) => name === wanted);
}

interface Extension {
  readonly url?: string;
  readonly name?: string;
  readonly valueString?: string;
  readonly valueCode?: string;
}

function buildSubscription({ type, filter, content, maxCount, timeoutSeconds, endpoint, path }: SubscriptionWish) {
  const filterExtension = { url: `${guide}/backport-filter-criteria`, valueString: `${type}?${filter}` };
  return {
    resourceType: 'Subscription',
    status: 'requested',
    reason: 'Proof',
    criteria: `https://praxis.health/fhir/SubscriptionTopic/${topics[type]}`,
    ...(filter === '' ? {} : { _criteria: { extension: [filterExtension] } }),
    channel: {
      extension: [
        { url: `${guide}/backport-max-count`, valuePositiveInt: maxCount },
        { url: `${guide}/backport-timeout`, valueUnsignedInt: timeoutSeconds },
      ],
      type: 'rest-hook',
      endpoint: `${endpoint.url}${path}`,
      payload: 'application/fhir+json',
      _payload: { extension: [{ url: `${guide}/backport-payload-content`, valueCode: content }] },
    },
  };
}

/** @throws Error where a page is refused: the copy has to begin again */
async function copyBySearch(
  client: ProofClient,
  { type, filter, content }: SubscriptionWish,
): Promise<Map<string, string>> {
  const copy = new Map<string, string>();
  const first = `${type}?${filter === '' ? '' : `${filter}&`}_count=${pageSize}`;
  for (let path: string | undefined = first; path !== undefined; ) {
    const { status, body } = await client.send('GET', path);
    if (status !== 200) throw new Error(`${path}: ${status}`);
    const page: Page = JSON.parse(body);
    for (const { resource } of page.entry ?? []) {
      const version = Number(resource.meta.versionId);
      copy.set(`${type}/${resource.id}`, describeCopy(version, content === 'id-only' ? undefined : resource));
    }
    // Below the base, so that another node may be asked for it.
    path = page.link.find(({ relation }) => relation === 'next')?.url.split('/fhir/v2/')[1];
  }
  return copy;
}

interface Page {
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly resource: { readonly id: string; readonly meta: { readonly versionId: string } };
  }[];
}
