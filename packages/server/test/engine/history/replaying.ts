/** Histories replayed: what `history-replay*.test.ts` share. */
import assert from 'node:assert/strict';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  type TestFirm,
  type TestService,
} from '../../support/service.ts';

const batchSize = 25;
/** Longer examples, a few of them as long as all others together, are replayed by themselves. */
const lengthMax = 150_000;

export type Resource = Readonly<Record<string, unknown>> & { readonly resourceType: string; readonly id: string };
interface HistoryEntry {
  readonly fullUrl: string;
  readonly resource?: Resource;
  readonly request: { readonly method: string; readonly url: string };
}

export interface World {
  readonly firm: TestFirm;
  readonly caller: Caller;
  readonly resources: readonly Resource[];
  readonly types: readonly string[];
}

/** A firm of its own, empty, for the resources. */
export async function openWorld(service: TestService, prefix: string, resources: readonly Resource[]): Promise<World> {
  const firm = await makeFirm(service, prefix);
  const caller = await openCaller(service, await makeApplication(service, prefix, ['acl/*'], [firm]), firm);
  // Nothing of AuditEvent is stored by requests: its search shows the audit ledger, which no history holds.
  const stored = resources.map(({ resourceType }) => resourceType).filter((type) => type !== 'AuditEvent');
  const types = [...new Set(stored)].toSorted();
  return { firm, caller, resources, types };
}

/** Sends requests as batches; the statuses of their answers, in order. */
export async function sendAll(
  { caller }: World,
  requests: readonly { method: string; url: string; resource?: unknown }[],
): Promise<string[]> {
  const statuses: string[] = [];
  for (let from = 0; from < requests.length; from += batchSize) {
    const entry = requests
      .slice(from, from + batchSize)
      .map(({ resource, ...request }) => ({ request, ...(resource === undefined ? {} : { resource }) }));
    const { status, json, text } = await caller.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry });
    assert.equal(status, 200, text);
    statuses.push(...json.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3)));
  }
  return statuses;
}

/** All entries of a Bundle and of those that its next links lead to. */
async function allEntries<Entry>({ caller }: World, path: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let url: string | undefined = path; url !== undefined; ) {
    const { status, json, text }: Answer = await caller.get(url);
    assert.equal(status, 200, text);
    entries.push(...(json.entry ?? []));
    url = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  return entries;
}

/** Whether the example is one of the longest. */
export function isLong(resource: Resource): boolean {
  return JSON.stringify(resource).length > lengthMax;
}

/** `Type/id` → resource, after all versions were applied one by one, the oldest first. */
function replayed({ firm }: World, history: readonly HistoryEntry[]): Map<string, Resource> {
  const state = new Map<string, Resource>();
  for (const { fullUrl, request, resource } of history.toReversed()) {
    const name = fullUrl.slice(firm.base.length + 1);
    if (request.method === 'DELETE') {
      assert.ok(state.delete(name), `${name} is deleted while it lives`);
      continue;
    }
    assert.ok(resource);
    assert.equal(request.method === 'POST' ? `${request.url}/${resource.id}` : request.url, name);
    state.set(name, resource);
  }
  return state;
}

async function currentState(world: World, type: string, count: number): Promise<Map<string, Resource>> {
  const found = await allEntries<{ resource: Resource }>(world, `${type}?_count=${count}`);
  return new Map(found.map(({ resource }) => [`${type}/${resource.id}`, resource]));
}

/** By name, each resource as text: some are tens of megabytes long, which takes too long to compare member by member. */
function sorted(state: ReadonlyMap<string, Resource>): [string, string][] {
  return [...state]
    .map(([name, resource]): [string, string] => [name, JSON.stringify(resource)])
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** @throws AssertionError where a replay differs from what searches find */
export async function assertReplayed(world: World, count: number): Promise<void> {
  const current = new Map<string, Resource>();
  for (const type of world.types) {
    const state = await currentState(world, type, count);
    const history = await allEntries<HistoryEntry>(world, `${type}/_history?_count=${count}`);
    assert.deepEqual(sorted(replayed(world, history)), sorted(state), type);
    for (const [name, resource] of state) current.set(name, resource);
  }
  const history = await allEntries<HistoryEntry>(world, `_history?_count=${count}`);
  assert.deepEqual(sorted(replayed(world, history)), sorted(current));
}

/** Stores the resources; the statuses. */
export async function storeAll(world: World): Promise<string[]> {
  const puts = world.resources.map((resource) => ({
    method: 'PUT',
    url: `${resource.resourceType}/${resource.id}`,
    resource,
  }));
  return await sendAll(world, puts);
}
