/**
 * A transaction = its entries sent one by one in R4's order, with links already in place: the same statuses, and the same
 * resources in the end (https://hl7.org/fhir/R4/http.html#trules).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import {
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
  type TestFirm,
} from '../support/service.ts';
import { mrn, transaction, urn } from './bundles.ts';

const service = await openTestService({ after });
const runsMax = 40;
const ids = ['a', 'b', 'c', 'd'];
const families = ['Stone', 'Marble'];

/** What one entry does; `n` stands for its identifier and its fullUrl, links lead to the entry at `link`. */
type Step =
  | {
      readonly kind: 'post' | 'conditional-post';
      readonly value: string;
      readonly family: string;
      readonly link: number;
    }
  | { readonly kind: 'put'; readonly id: string; readonly family: string; readonly link: number }
  | { readonly kind: 'conditional-put'; readonly value: string; readonly family: string; readonly link: number }
  | { readonly kind: 'delete' | 'get'; readonly id: string }
  | { readonly kind: 'search'; readonly family: string };

const value = fc.constantFrom('v1', 'v2', 'v3');
const family = fc.constantFrom(...families);
const id = fc.constantFrom(...ids);
const link = fc.nat(5);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constantFrom('post' as const, 'conditional-post' as const), value, family, link }),
  fc.record({ kind: fc.constant('put' as const), id, family, link }),
  fc.record({ kind: fc.constant('conditional-put' as const), value, family, link }),
  fc.record({ kind: fc.constantFrom('delete' as const, 'get' as const), id }),
  fc.record({ kind: fc.constant('search' as const), family }),
);

interface Request {
  readonly method: string;
  readonly url: string;
  readonly resource?: Record<string, unknown>;
  readonly ifNoneExist?: string;
}

function requestOf(one: Step, reference: (link: number) => object): Request {
  if (one.kind === 'search') return { method: 'GET', url: `Patient?family=${one.family}` };
  if (!('link' in one)) return { method: one.kind.toUpperCase(), url: `Patient/${one.id}` };
  const resource = { resourceType: 'Patient', name: [{ family: one.family }], ...reference(one.link) };
  if (one.kind === 'put') return { method: 'PUT', url: `Patient/${one.id}`, resource: { ...resource, id: one.id } };
  const identified = { ...resource, identifier: [{ system: mrn, value: one.value }] };
  const criteria = `identifier=${mrn}|${one.value}`;
  if (one.kind === 'conditional-put') return { method: 'PUT', url: `Patient?${criteria}`, resource: identified };
  const conditional = one.kind === 'conditional-post' ? { ifNoneExist: criteria } : {};
  return { method: 'POST', url: 'Patient', resource: identified, ...conditional };
}

/** R4's order of methods, conditional entries behind the others of their method. */
function rank({ method, url, ifNoneExist }: Request): number {
  return (
    ['DELETE', 'POST', 'PUT', 'GET'].indexOf(method) * 2 + (ifNoneExist !== undefined || /^Patient\?/.test(url) ? 1 : 0)
  );
}

/** Statuses of the steps sent one by one; links are set afterwards, when the ids are known. */
async function oneByOne(caller: Caller, steps: readonly Step[]): Promise<string[]> {
  const requests = steps.map((one) => requestOf(one, () => ({})));
  const statuses: string[] = [];
  const locations: (string | undefined)[] = [];
  const order = steps.map((_, index) => index).sort((a, b) => rank(at(requests, a)) - rank(at(requests, b)));
  for (const index of order) {
    const { method, url, resource, ifNoneExist } = at(requests, index);
    const headers = ifNoneExist === undefined ? {} : { 'if-none-exist': ifNoneExist };
    const answer = await caller.send(method, url, resource, headers);
    statuses[index] = String(answer.status);
    locations[index] = answer.headers.get('location')?.replace(/^.*\/(Patient\/[^/]+).*$/, '$1');
  }
  for (const [index, one] of steps.entries()) {
    const location = locations[index];
    if (!('link' in one) || location === undefined || (one.kind === 'conditional-post' && statuses[index] === '200'))
      continue;
    const target = locations[one.link % steps.length];
    if (target === undefined) continue;
    const { json } = await caller.get(location);
    await caller.send('PUT', location, { ...json, link: [{ other: { reference: target }, type: 'seealso' }] });
  }
  return statuses;
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  assert.ok(found !== undefined);
  return found;
}

function asTransaction(steps: readonly Step[]): object {
  const writes = (index: number): boolean => 'link' in at(steps, index);
  return transaction(
    ...steps.map((one, index) => {
      const reference = (link: number): object => {
        const target = link % steps.length;
        return writes(target) ? { link: [{ other: { reference: urn(target) }, type: 'seealso' }] } : {};
      };
      const { resource, ...request } = requestOf(one, reference);
      return { ...(resource === undefined ? {} : { fullUrl: urn(index), resource }), request };
    }),
  );
}

/** All patients without what differs by nature: assigned ids are replaced by the resource they belong to. */
async function state(caller: Caller): Promise<readonly unknown[]> {
  const { json } = await caller.get('Patient?_count=100');
  const rows: Record<string, unknown>[] = (json.entry ?? []).map(
    ({ resource }: { resource: Record<string, unknown> }) => resource,
  );
  const names = new Map(rows.map((row) => [`Patient/${String(row['id'])}`, nameOf(row)]));
  return rows
    .map((row) => {
      const [link] = (row['link'] ?? []) as { other: { reference: string } }[];
      return [nameOf(row), link === undefined ? undefined : (names.get(link.other.reference) ?? 'gone')];
    })
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function nameOf(row: Record<string, unknown>): string {
  const [identifier] = (row['identifier'] ?? []) as { value: string }[];
  const [name] = (row['name'] ?? []) as { family: string }[];
  return `${ids.includes(String(row['id'])) ? String(row['id']) : 'new'} ${identifier?.value ?? ''} ${name?.family ?? ''}`;
}

async function newFirm(prefix: string): Promise<Caller> {
  const firm: TestFirm = await makeFirm(service, prefix);
  const application = await makeApplication(service, prefix, ['acl/*'], [firm]);
  const caller = await openCaller(service, application, firm);
  for (const id of ids.slice(0, 2)) {
    await caller.send('PUT', `Patient/${id}`, { resourceType: 'Patient', id, name: [{ family: 'Stone' }] });
  }
  await caller.send('POST', 'Patient', { resourceType: 'Patient', identifier: [{ system: mrn, value: 'v1' }] });
  return caller;
}

test('a transaction does what its entries do one by one, or nothing where one of them fails', async () => {
  let number = 0;
  let succeeded = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
      number += 1;
      const [together, apart] = await Promise.all([newFirm(`t${number}`), newFirm(`s${number}`)]);
      const before = await state(together);
      const answer = await together.send('POST', '', asTransaction(steps));
      if (answer.status !== 200) {
        assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
        assert.deepEqual(await state(together), before);
      }
      const statuses = await oneByOne(apart, steps);
      const isRefusedAlone = statuses.some((status) => status >= '400');
      const isOverlap = /a resource may occur once/.test(answer.text);
      assert.equal(answer.status !== 200, isRefusedAlone || isOverlap, `${answer.text} ${statuses.join()}`);
      if (answer.status !== 200) return;
      succeeded += 1;
      const told = answer.json.entry.map(({ response }: { response: { status: string } }) =>
        response.status.slice(0, 3),
      );
      assert.deepEqual(told, statuses);
      assert.deepEqual(await state(together), await state(apart));
    }),
    { numRuns: runsMax, seed: 20261121 },
  );
  assert.ok(succeeded > runsMax / 4, `${succeeded} transactions succeeded`);
});
