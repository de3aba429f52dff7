/**
 * A transaction of updates-as-create = the same updates sent one by one, over the official examples and a synthetic
 * practice: the same answers, the same resources and versions, and as a whole refused for what one of them is refused for
 * (https://hl7.org/fhir/R4/http.html#trules).
 * Slow: writes all official examples twice.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { generatePractice } from '../../src/synthetic/practice.ts';
import { officialExamples } from '../search/official-examples.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService, startMs } from '../support/service.ts';
import { everyRow } from '../support/tenant-rows.ts';
import { entry, transaction } from './bundles.ts';

/** Entries of one transaction. */
const entriesEach = 40;
/** Longer examples, a few of them as long as all others together, would be sent and read three times. */
const lengthMax = 50_000;

const service = await openTestService({ after });

type Resource = Readonly<Record<string, unknown>>;

const pathOf = ({ resourceType, id }: Resource): string => `${resourceType}/${id}`;
const put = (resource: Resource): Record<string, unknown> => entry('PUT', pathOf(resource), resource);

async function enter(prefix: string): Promise<{ readonly caller: Caller; readonly base: string }> {
  const firm = await makeFirm(service, prefix);
  const caller = await openCaller(service, await makeApplication(service, prefix, ['acl/*'], [firm]), firm);
  return { caller, base: firm.base };
}

/** Status, version and place of each; what the body is; or the refusal's. */
interface Told {
  readonly status: string;
  readonly etag: string | undefined;
  readonly location: string | undefined;
  readonly resource: unknown;
}

async function sendAlone(caller: Caller, base: string, resource: Resource): Promise<Told> {
  const { status, headers, json } = await caller.send('PUT', pathOf(resource), resource);
  return {
    status: String(status),
    etag: headers.get('etag') ?? undefined,
    location: headers.get('location')?.replace(`${base}/`, ''),
    resource: json,
  };
}

async function sendTogether(caller: Caller, base: string, resources: readonly Resource[]): Promise<readonly Told[]> {
  const wish = { prefer: 'return=representation' };
  const { status, json, text } = await caller.send('POST', '', transaction(...resources.map(put)), wish);
  assert.equal(status, 200, text.slice(0, 500));
  return json.entry.map(
    ({
      resource,
      response,
    }: {
      resource: unknown;
      response: { status: string; etag?: string; location?: string };
    }) => ({
      status: response.status.slice(0, 3),
      etag: response.etag,
      location: response.location?.replace(`${base}/`, ''),
      resource,
    }),
  );
}

/** All resources of a type, in the order of their ids. */
async function current(caller: Caller, type: string): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for (let next: string | undefined = `${type}?_count=100&_sort=_id`; next !== undefined; ) {
    const { json } = await caller.get(next);
    found.push(...json.entry.map(({ resource }: { resource: unknown }) => resource));
    next = json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
  }
  return found;
}

const practice = generatePractice({
  seed: 'transactions',
  firm: 'cedar',
  name: 'Cedar',
  timeZone: 'America/New_York',
  patients: 12,
  todayMs: startMs,
});

for (const [name, resources, least] of [
  [
    'the official examples',
    officialExamples().filter(
      (example) => JSON.stringify(example).length <= lengthMax,
    ) as readonly unknown[] as Resource[],
    500,
  ],
  ['a synthetic practice', [...practice] as readonly unknown[] as Resource[], 200],
] as const) {
  test(`${name}: transactions answer and leave what their entries do one by one`, { timeout: 120_000 }, async (t) => {
    const [alone, together] = [await enter(`alone${least}`), await enter(`together${least}`)];
    const told = new Map<Resource, Told>();
    for (const resource of resources) told.set(resource, await sendAlone(alone.caller, alone.base, resource));
    const taken = resources.filter((resource) => told.get(resource)?.status === '201');
    assert.ok(taken.length > least, `${taken.length} of ${resources.length} were stored`);
    for (let from = 0; from < taken.length; from += entriesEach) {
      const some = taken.slice(from, from + entriesEach);
      const answers = await sendTogether(together.caller, together.base, some);
      assert.deepEqual(
        answers,
        some.map((resource) => told.get(resource)),
      );
    }
    for (const type of new Set(taken.map(({ resourceType }) => String(resourceType)))) {
      assert.deepEqual(await current(together.caller, type), await current(alone.caller, type));
    }
    const refused = resources.filter((resource) => !taken.includes(resource));
    t.diagnostic(`${taken.length} were stored, ${refused.length} refused`);
    const before = await everyRow(service.database.owner);
    for (const [index, resource] of refused.entries()) {
      const [good = {}] = taken.slice(index % taken.length);
      const answer = await together.caller.send('POST', '', transaction(put({ ...good, id: 'new' }), put(resource)));
      assert.equal(String(answer.status), told.get(resource)?.status, pathOf(resource));
      assert.match(answer.json.issue[0].diagnostics, /^Bundle\.entry\[1\]/);
    }
    assert.deepEqual(await everyRow(service.database.owner), before);
  });
}
