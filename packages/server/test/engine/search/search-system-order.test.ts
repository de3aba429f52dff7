/**
 * `_sort` over several types (https://hl7.org/fhir/R4/search.html#sort): one order, whatever the type, and pages that make up
 * the whole.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { encounter, patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const callerWith = async (name: string, acl: readonly string[], firm = maple): Promise<Caller> =>
  openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const full = await callerWith('Full', ['acl/*']);
const twin = await callerWith('Twin', ['acl/*']);
const foreign = await callerWith('Foreign', ['acl/*'], cedar);
const narrow = await callerWith('Narrow', ['acl/pat_s_name_dob_gen', 'acl/enc_s', 'acl/tsk_pmrecall_s']);

const task = (code: string, authoredOn?: string) => ({
  resourceType: 'Task',
  status: 'ready',
  intent: 'order',
  code: { coding: [{ code }] },
  ...(authoredOn === undefined ? {} : { authoredOn }),
});
const identified = (value: string) => ({ identifier: [{ system: 'urn:mrn', value }] });
const seen = (start?: string) => (start === undefined ? {} : { period: { start, end: start } });
const observed = (effectiveDateTime?: string) => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'x' },
  ...(effectiveDateTime === undefined ? {} : { effectiveDateTime }),
});

/** In the order in which they were written; those of a line at one moment. */
const written: readonly (readonly (readonly [id: string, resource: object])[])[] = [
  [['e1', encounter('Patient/p1', { ...seen('2026-03-01T10:00:00Z'), ...identified('b') })]],
  [
    ['p1', patient('Žid', identified('c'))],
    ['t1', task('OTHER')],
    ['b1', { resourceType: 'Basic', code: { text: 'x' } }],
    ['e2', encounter('Patient/p1', seen('2026-01-01T10:00:00Z'))],
    ['e3', encounter('Patient/p1')],
    ['p2', patient('Stone', identified('a'))],
  ],
  [['o1', observed('2026-02-01T10:00:00Z')]],
  [
    ['o2', observed('2026-03-01T10:00:00Z')],
    ['t2', task('PMRECALL')],
    ['p3', patient('Äpfel')],
    ['o3', observed()],
  ],
  [['e4', encounter('Patient/p1', seen('2026-02-01T10:00:00Z'))]],
];
const typeOf = new Map<string, string>();
for (const line of written) {
  service.clock.advance(1000);
  for (const [id, resource] of line) {
    const type = 'resourceType' in resource ? String(resource.resourceType) : '';
    typeOf.set(id, type);
    const answer = await full.send('PUT', `${type}/${id}`, { ...resource, id });
    assert.equal(answer.status, 201, answer.text);
  }
}
/** Of equals, types by name, then as written. */
const byMoment = written.map((line) =>
  line
    .map(([id]) => id)
    .toSorted((one, other) =>
      (typeOf.get(one) ?? '') < (typeOf.get(other) ?? '') ? -1 : typeOf.get(one) === typeOf.get(other) ? 0 : 1,
    ),
);

const found = ({ status, json, text }: Answer): string[] => {
  assert.equal(status, 200, text);
  return (json.entry ?? [])
    .filter(({ search }: { search: { mode: string } }) => search.mode === 'match')
    .map(({ resource }: { resource: { id: string } }) => resource.id);
};
const linkOf = ({ json }: Answer, relation: string): string | undefined =>
  json.link.find((link: { relation: string }) => link.relation === relation)?.url;

/** Of each moment, the last one written comes first within a type where the order is turned. */
const turned = byMoment.toReversed().flatMap((line) => {
  const types = [...new Set(line.map((id) => typeOf.get(id)))];
  return types.flatMap((type) => line.filter((id) => typeOf.get(id) === type).toReversed());
});

const five = '_type=Basic,Encounter,Observation,Patient,Task';
const orders: readonly (readonly [query: string, expected: readonly string[]])[] = [
  [`_sort=_lastUpdated&${five}`, byMoment.flat()],
  [`_sort=-_lastUpdated&${five}`, turned],
  [`_sort=_id&${five}`, byMoment.flat().toSorted()],
  ['_sort=-_id&_type=Patient,Encounter', ['p3', 'p2', 'p1', 'e4', 'e3', 'e2', 'e1']],
  ['_sort=date&_type=Observation,Encounter', ['e2', 'e4', 'o1', 'e1', 'o2', 'e3', 'o3']],
  ['_sort=-date&_type=Observation,Encounter', ['e1', 'o2', 'e4', 'o1', 'e2', 'e3', 'o3']],
  ['_sort=identifier&_type=Encounter,Patient', ['p2', 'e1', 'p1', 'e2', 'e3', 'e4', 'p3']],
  ['_sort=-date,_id&_type=Observation,Encounter', ['e1', 'o2', 'e4', 'o1', 'e2', 'e3', 'o3']],
  ['_sort=-family&_type=Patient', ['p1', 'p2', 'p3']],
];

test('what the caller may not see is in no order', async () => {
  const answer = await narrow.get('?_sort=-_id');
  assert.deepEqual(found(answer), ['t2', 'p3', 'p2', 'p1', 'e4', 'e3', 'e2', 'e1']);
  assert.equal(answer.json.total, 8);
  assert.equal((await narrow.get('?_sort=identifier&_type=Encounter,Patient')).status, 403);
  assert.deepEqual(found(await foreign.get('?_sort=-_lastUpdated')), []);
});

test('one order over all types', async () => {
  for (const [query, expected] of orders) {
    const answer = await full.get(`?${query}`);
    assert.deepEqual(found(answer), expected, query);
    assert.equal(answer.json.total, expected.length);
  }
});

test('pages of every size make up the whole, while others write', async () => {
  let late = 0;
  for (const [query, expected] of orders) {
    for (const count of [1, 2, 3, 5]) {
      const pages: string[] = [];
      let url: string | undefined = `?${query}&_count=${count}`;
      for (let page = 0; url !== undefined && page < 40; page++) {
        const answer: Answer = await full.get(url);
        const ids = found(answer);
        assert.ok(ids.length <= count);
        pages.push(...ids.filter((id) => !id.startsWith('zz')));
        url = linkOf(answer, 'next');
        late += 1;
        // Before the first page of some orders, after the last of others: never between what was there.
        const id = `zz${late}`;
        if (page === 0) await full.send('PUT', `Account/${id}`, { resourceType: 'Account', id, status: 'active' });
      }
      assert.deepEqual(pages, expected, `${query} by ${count}`);
    }
  }
});

test('of all types at once a page holds few, and the pages make up the whole', async () => {
  const made: string[] = [];
  let url: string | undefined = '?_sort=-_lastUpdated&_lastUpdated=lt2026-11-21T09:30:04.500Z';
  while (url !== undefined) {
    const answer: Answer = await full.get(url);
    assert.ok(found(answer).length <= 6);
    made.push(...found(answer));
    url = linkOf(answer, 'next');
  }
  assert.deepEqual(made, turned.slice(turned.indexOf('o3')));
});

test('types that are found in different ways make one order: some of their rows tagged, one of them limited to some rows', async () => {
  const birch = await makeFirm(service, 'birch');
  const all = await callerWith('Birch', ['acl/*'], birch);
  const scopes = ['system/Encounter.rs', 'system/Patient.rs', 'system/Task.rs?code=PMRECALL'];
  const limited = await callerWith('Limited', scopes, birch);
  const tagged = (code?: string) => (code === undefined ? {} : { meta: { tag: [{ system: 'urn:tags', code }] } });
  const tags = ['b', 'a', undefined, 'b', undefined] as const;
  for (const [at, code] of tags.entries()) {
    await all.send('PUT', `Patient/p${at}`, { ...patient('Stone'), ...tagged(code), id: `p${at}` });
    await all.send('PUT', `Encounter/e${at}`, { ...encounter('Patient/p1'), ...tagged(code), id: `e${at}` });
    await all.send('PUT', `Task/t${at}`, { ...task('PMRECALL'), ...tagged(code), id: `t${at}` });
    await all.send('PUT', `Task/x${at}`, { ...task('OTHER'), ...tagged(code), id: `x${at}` });
  }
  for (const [query, expected] of [
    ['_sort=_tag', ['e1', 'p1', 't1', 'e0', 'e3', 'p0', 'p3', 't0', 't3', 'e2', 'e4', 'p2', 'p4', 't2', 't4']],
    ['_sort=-_tag', ['e3', 'e0', 'p3', 'p0', 't3', 't0', 'e1', 'p1', 't1']],
  ] as const) {
    const whole = found(await limited.get(`?${query}&_count=50`));
    assert.deepEqual(whole.slice(0, expected.length), expected);
    assert.equal(whole.length, 15);
    for (const count of [1, 2, 4]) {
      const pages: string[] = [];
      let url: string | undefined = `?${query}&_count=${count}`;
      while (url !== undefined && pages.length <= 15) {
        const answer: Answer = await limited.get(url);
        pages.push(...found(answer));
        url = linkOf(answer, 'next');
      }
      assert.deepEqual(pages, whole, `${query} by ${count}`);
    }
  }
});

test('a page link serves its caller, its order and its types alone', async () => {
  const next = linkOf(await full.get('?_type=Encounter,Patient&_sort=_id&_count=2'), 'next') ?? '';
  const cursor = new URL(next).searchParams.get('_cursor');
  for (const asked of [
    twin.get(`?_type=Encounter,Patient&_sort=_id&_cursor=${cursor}`),
    foreign.get(`?_type=Encounter,Patient&_sort=_id&_cursor=${cursor}`),
    full.get(`?_type=Encounter,Patient&_sort=-_id&_cursor=${cursor}`),
    full.get(`?_type=Encounter,Patient&_cursor=${cursor}`),
    full.get(`?_type=Encounter&_sort=_id&_cursor=${cursor}`),
  ]) {
    const { status, json } = await asked;
    assert.deepEqual([status, json.issue[0].details.coding[0].code], [400, 'cursor-invalid']);
  }
});

test('what has no order over the types is refused', async () => {
  const keys = 'separated by commas, each with - before it for descending order';
  for (const [query, diagnostics] of [
    ['_sort=family', `_sort names "family": it takes search parameters of Account, ${keys}`],
    ['_sort=date&_type=Encounter,Patient', `_sort names "date": it takes search parameters of Patient, ${keys}`],
    [
      '_sort=start&_type=GraphDefinition,Slot',
      '_sort names what has values of different kinds in the types that are searched',
    ],
  ] as const) {
    const expected = { status: 400, error: 'search-invalid', issue: 'invalid', expression: ['_sort'] };
    assertRefused(await full.get(`?${query}`), { ...expected, diagnostics });
  }
});
