/**
 * The history is the whole truth: replayed from its oldest version on, that of the firm and that of each type give the
 * current state, over the official examples and a random series of writes (https://hl7.org/fhir/R4/http.html#history).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { officialExamples } from '../search/official-examples.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const batchSize = 25;
/** A few Bundles of definitions are as long as all other examples together. */
const lengthMax = 150_000;
const seriesMax = 40;

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

type Resource = Readonly<Record<string, unknown>> & { readonly resourceType: string; readonly id: string };
interface HistoryEntry {
  readonly fullUrl: string;
  readonly resource?: Resource;
  readonly request: { readonly method: string; readonly url: string };
}

const examples = officialExamples()
  .filter((example) => JSON.stringify(example).length <= lengthMax)
  .map((example) => example as unknown as Resource);
const types = [...new Set(examples.map(({ resourceType }) => resourceType))].toSorted();

/** Sends requests as batches; the statuses of their answers, in order. */
async function sendAll(requests: readonly { method: string; url: string; resource?: unknown }[]): Promise<string[]> {
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
async function allEntries<Entry>(path: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (let url: string | undefined = path; url !== undefined; ) {
    const { status, json, text }: Answer = await caller.get(url);
    assert.equal(status, 200, text);
    entries.push(...(json.entry ?? []));
    url = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  return entries;
}

/** `Type/id` → resource, after all versions were applied one by one, the oldest first. */
function replayed(history: readonly HistoryEntry[]): Map<string, Resource> {
  const state = new Map<string, Resource>();
  for (const { fullUrl, request, resource } of history.toReversed()) {
    const name = fullUrl.slice(maple.base.length + 1);
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

async function currentState(type: string): Promise<Map<string, Resource>> {
  const found = await allEntries<{ resource: Resource }>(`${type}?_count=100`);
  return new Map(found.map(({ resource }) => [`${type}/${resource.id}`, resource]));
}

function sorted(state: ReadonlyMap<string, Resource>): [string, Resource][] {
  return [...state].toSorted(([a], [b]) => (a < b ? -1 : 1));
}

/** @throws AssertionError where a replay differs from what searches find */
async function assertReplayed(count: number): Promise<void> {
  const current = new Map<string, Resource>();
  for (const type of types) {
    const state = await currentState(type);
    const history = await allEntries<HistoryEntry>(`${type}/_history?_count=${count}`);
    assert.deepEqual(sorted(replayed(history)), sorted(state), type);
    for (const [name, resource] of state) current.set(name, resource);
  }
  const history = await allEntries<HistoryEntry>(`_history?_count=${count}`);
  assert.deepEqual(sorted(replayed(history)), sorted(current));
}

test('over the official examples and random writes, replayed histories equal the current state', async () => {
  const loaded = await sendAll(
    examples.map((resource) => ({ method: 'PUT', url: `${resource.resourceType}/${resource.id}`, resource })),
  );
  assert.ok(loaded.filter((status) => status === '201').length > examples.length / 2, 'most examples are stored');
  await assertReplayed(100);
  const step = fc.record({
    kind: fc.constantFrom('create', 'update', 'swap', 'delete', 'delete'),
    place: fc.nat(examples.length - 1),
    other: fc.nat(examples.length - 1),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 20, maxLength: seriesMax }),
      fc.integer({ min: 30, max: 100 }),
      async (series, count) => {
        await sendAll(series.map(requestOf));
        service.clock.advance(series.length % 3);
        await assertReplayed(count);
      },
    ),
    { numRuns: 4 },
  );
});

/** A write of an example: as new, as it is again (reviving it where it was deleted), with another one's content, or gone. */
function requestOf({ kind, place, other }: { kind: string; place: number; other: number }) {
  const { id, ...content } = examples[place] ?? { id: '', resourceType: 'Patient' };
  const type = content.resourceType;
  const url = `${type}/${id}`;
  const alike = examples.filter(({ resourceType }) => resourceType === type);
  if (kind === 'delete') return { method: 'DELETE', url };
  if (kind === 'create') return { method: 'POST', url: type, resource: content };
  return { method: 'PUT', url, resource: { ...(kind === 'swap' ? alike[other % alike.length] : content), id } };
}
