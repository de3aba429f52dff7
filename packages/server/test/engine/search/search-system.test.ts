/**
 * Search over several types at once (https://hl7.org/fhir/R4/http.html#search): who finds what, by which parameters, page by
 * page, and what is refused.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { encounter, patient } from '../../support/records.ts';
import { assertRefused } from '../../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const twin = await openCaller(service, await makeApplication(service, 'Twin', ['acl/*'], [maple]), maple);
const other = await openCaller(service, await makeApplication(service, 'Other', ['acl/*'], [cedar]), cedar);
const narrow = ['acl/pat_s_name_dob_gen', 'acl/enc_s', 'acl/tsk_pmrecall_s'];
const restricted = await openCaller(service, await makeApplication(service, 'Narrow', narrow, [maple]), maple);
const reader = await openCaller(service, await makeApplication(service, 'Reader', ['acl/pat_r'], [maple]), maple);
const lenient = { prefer: 'handling=lenient' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };

const task = (id: string, code: string) => ({
  resourceType: 'Task',
  id,
  status: 'ready',
  intent: 'order',
  code: { coding: [{ code }] },
});

const tagged = { meta: { tag: [{ system: 'urn:t', code: 'x' }] } };
const stored: readonly Record<string, unknown>[] = [
  { ...patient('Stone', { ...tagged, identifier: [{ system: 'urn:mrn', value: '1' }], active: true }), id: 'p1' },
  { ...patient('Marble', { telecom: [{ system: 'phone', value: '555' }] }), id: 'p2' },
  { ...patient('Slate'), id: 'same' },
  { ...encounter('Patient/p1', { ...tagged, identifier: [{ system: 'urn:mrn', value: '1' }] }), id: 'e1' },
  { ...encounter('Patient/p2'), id: 'same' },
  { ...task('t1', 'PMRECALL'), ...tagged },
  { ...task('t2', 'OTHER'), ...tagged },
  { resourceType: 'Basic', id: 'b1', code: { text: 'x' }, ...tagged },
];
for (const resource of stored) {
  const answer = await full.send('PUT', `${resource['resourceType']}/${resource['id']}`, resource);
  assert.equal(answer.status, 201, answer.text);
}

/** `Type/id` of each match. */
function found({ status, json, text }: Answer): string[] {
  assert.equal(status, 200, text);
  assert.equal(json.type, 'searchset');
  return (json.entry ?? [])
    .filter(({ search }: Entry) => search.mode !== 'outcome')
    .map(({ fullUrl }: Entry) => fullUrl.slice(maple.base.length + 1));
}

interface Entry {
  readonly fullUrl: string;
  readonly search: { readonly mode: string };
  readonly resource: { readonly issue: readonly { readonly diagnostics: string }[] };
}

/** What is said of the search itself. */
function saidBy({ status, json, text }: Answer): string[] {
  assert.equal(status, 200, text);
  const outcomes = (json.entry ?? []).filter(({ search }: Entry) => search.mode === 'outcome');
  return outcomes.flatMap(({ resource }: Entry) => resource.issue.map(({ diagnostics }) => diagnostics));
}

const linkOf = ({ json }: Answer, relation: string): string | undefined =>
  json.link.find((link: { relation: string }) => link.relation === relation)?.url;

const patients = ['Patient/p1', 'Patient/p2', 'Patient/same'];
const everything = ['Basic/b1', 'Encounter/e1', 'Encounter/same', ...patients, 'Task/t1', 'Task/t2'];

test('who may search none of the types is refused, whatever else is asked', async () => {
  for (const query of ['', '?_type=Patient', '?_type=Nonsense', '?nonsense=1', '?_cursor=x']) {
    const answer = await reader.get(query);
    assert.equal(answer.status, 403, query);
    assert.equal(answer.headers.get('www-authenticate'), 'Bearer error="insufficient_scope"');
  }
  const refused = await restricted.get('?_type=Basic,Observation');
  assert.equal(refused.status, 403);
  assert.match(refused.json.issue[0].diagnostics, /^Basic search needs /);
});

test('types, rows and elements that may not be searched are left out', async () => {
  const answer = await restricted.get('?_type=Task,Patient,Basic,Encounter');
  assert.deepEqual(found(answer), ['Encounter/e1', 'Encounter/same', ...patients, 'Task/t1']);
  assert.deepEqual(saidBy(answer), [
    'Left out are types that the application may not search: Basic (Prefer: handling=strict refuses them)',
  ]);
  assert.equal(answer.json.total, 6);
  assert.equal(linkOf(answer, 'self'), `${maple.base}?_type=Encounter,Patient,Task`);
  assert.doesNotMatch(answer.text, /"555"|OTHER|"active"/);
  for (const { resource } of answer.json.entry.slice(2, 5)) {
    assert.deepEqual(Object.keys(resource), ['resourceType', 'id', 'meta', 'name']);
  }
  assert.deepEqual(found(await restricted.get('?_tag=urn:t|x')), ['Encounter/e1', 'Patient/p1', 'Task/t1']);
  assert.equal((await restricted.get('?_tag=urn:t|x&_summary=count')).json.total, 3);
  for (const value of ['1', '2']) {
    const hidden = await restricted.get(`?_type=Patient,Encounter&identifier=urn:mrn|${value}`);
    assert.equal(hidden.status, 403);
    assert.match(hidden.json.issue[0].diagnostics, /identifier/);
  }
});

test('types that are left out are told once, by name or by those that are searched; under strict handling they are refused', async () => {
  const only = ['Searched are only the types that the application may search: Encounter, Patient, Task'];
  const first = await restricted.get('?_tag=urn:t|x&_count=2');
  assert.deepEqual([found(first), saidBy(first)], [['Encounter/e1', 'Patient/p1'], only]);
  assert.deepEqual(first.json.entry.at(-1), {
    resource: {
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'warning', code: 'suppressed', diagnostics: only[0] }],
    },
    search: { mode: 'outcome' },
  });
  const second = await restricted.get(linkOf(first, 'next') ?? '');
  assert.deepEqual([found(second), saidBy(second)], [['Task/t1'], []]);
  const many = await restricted.get(`?_type=${['Patient', ...unsearchable].join(',')}`);
  const told = `${unsearchable.toSorted().slice(0, 20).join(', ')} and ${unsearchable.length - 20} more`;
  assert.deepEqual(saidBy(many), [
    `Left out are types that the application may not search: ${told} (Prefer: handling=strict refuses them)`,
  ]);
  for (const query of ['?_type=Encounter,Patient', '?_type=Encounter,Basic&_summary=count', '?_type=Patient'])
    assert.deepEqual(saidBy(await restricted.get(query)), [], query);
  assert.deepEqual(saidBy(await full.get('?_id=p1')), []);

  const strict = { prefer: 'handling=strict' };
  assertRefused(await restricted.get('?_type=Patient,Observation,Basic', strict), {
    status: 403,
    error: 'access-denied',
    issue: 'forbidden',
    challenge: 'Bearer error="insufficient_scope"',
    diagnostics:
      'Basic search needs system/Basic.s or acl/*; the application does not hold it: the operator of the service adds it, then the practice grants it',
  });
  assert.deepEqual(found(await restricted.get('?_type=Patient', strict)), patients);
  assert.deepEqual(saidBy(await restricted.get('?_id=p1', strict)), only);
});

/** Types of R4 that the restricted caller may not search. */
const unsearchable = resourceTypesWithEndpoint.filter(
  (type) => !['AuditEvent', 'Encounter', 'Patient', 'Task'].includes(type),
);

test('another firm finds its own, which is nothing', async () => {
  for (const query of ['', '?_type=Patient,Encounter', '?_id=p1', '?_type=Patient&_summary=count']) {
    const { status, json } = await other.get(query);
    assert.deepEqual([status, json.total, json.entry], [200, 0, undefined], query);
  }
});

test('several types are found by what all of them have', async () => {
  for (const [query, expected] of [
    ['?_type=Patient,Encounter', [...everything.slice(1, 3), ...patients]],
    ['?_type=Patient,Encounter&identifier=urn:mrn|1', ['Encounter/e1', 'Patient/p1']],
    ['?_type=Patient,Encounter&_id=same', ['Encounter/same', 'Patient/same']],
    ['?_type=Patient&family=Stone', ['Patient/p1']],
    ['?_type=Patient&_sort=-family', ['Patient/p1', 'Patient/same', 'Patient/p2']],
    ['?_type=Observation,Flag', []],
    ['', everything],
    ['?_id=p1,e1', ['Encounter/e1', 'Patient/p1']],
    ['?_tag=urn:t|x', ['Basic/b1', 'Encounter/e1', 'Patient/p1', 'Task/t1', 'Task/t2']],
    ['?_lastUpdated=gt2026-11-22', []],
  ] as const) {
    const answer = await full.get(query);
    assert.deepEqual(found(answer), expected, query);
    assert.equal(answer.json.total, expected.length);
  }
  const answer = await full.send('POST', '_search', '_type=Encounter,Patient&_id=same', form);
  assert.deepEqual(found(answer), ['Encounter/same', 'Patient/same']);
  assert.equal(linkOf(answer, 'self'), `${maple.base}?_type=Encounter,Patient&_id=same`);
});

test('an answer is a searchset of matches', async () => {
  const { json } = await full.get('?_type=Basic,Flag');
  const { id, meta, ...rest } = json;
  assert.match(id, /^[0-9a-f-]{36}$/);
  assert.deepEqual(meta, { lastUpdated: '2026-11-21T09:30:00.000Z' });
  assert.deepEqual(rest, {
    resourceType: 'Bundle',
    type: 'searchset',
    total: 1,
    link: [{ relation: 'self', url: `${maple.base}?_type=Basic,Flag` }],
    entry: [
      {
        fullUrl: `${maple.base}/Basic/b1`,
        resource: (await full.get('Basic/b1')).json,
        search: { mode: 'match' },
      },
    ],
  });
});

/** `mode Type/id` of each entry. */
const entriesOf = ({ status, json, text }: Answer): string[] => {
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(
    ({ fullUrl, search }: { fullUrl: string; search: { mode: string } }) =>
      `${search.mode} ${fullUrl.slice(maple.base.length + 1)}`,
  );
};

test('includes need what they need where one type is searched', async () => {
  for (const include of ['_include=Basic:subject', '_revinclude=Basic:subject', '_include=Patient:organization']) {
    const refused = await restricted.get(`?_type=Encounter,Patient&${include}`);
    assert.equal(refused.status, 403, include);
  }
  const answer = await restricted.get('?_type=Encounter,Task&_id=e1,t1&_include=Encounter:patient');
  assert.deepEqual(entriesOf(answer), ['match Encounter/e1', 'match Task/t1', 'include Patient/p1']);
  assert.doesNotMatch(answer.text, /urn:mrn\|1|"active"/);
  assert.deepEqual(Object.keys(answer.json.entry[2].resource), ['resourceType', 'id', 'meta', 'name']);
  assert.deepEqual(entriesOf(await other.get('?_id=e1&_include=Encounter:patient')), []);
});

test('includes follow from the matches of every type, each resource once', async () => {
  for (const [query, expected] of [
    [
      '?_type=Encounter,Task&_id=e1,t1&_include=Encounter:patient',
      ['match Encounter/e1', 'match Task/t1', 'include Patient/p1'],
    ],
    ['?_type=Encounter,Patient&_id=e1,p1&_include=Encounter:patient', ['match Encounter/e1', 'match Patient/p1']],
    ['?_id=p1,b1&_revinclude=Encounter:patient', ['match Basic/b1', 'match Patient/p1', 'include Encounter/e1']],
    ['?_id=e1&_include=*', ['match Encounter/e1', 'include Patient/p1']],
  ] as const) {
    assert.deepEqual(entriesOf(await full.get(query)), expected, query);
  }
  const first = await full.get('?_type=Encounter&_count=1&_include=Encounter:patient');
  assert.deepEqual(entriesOf(first), ['match Encounter/e1', 'include Patient/p1']);
  const second = await full.get(linkOf(first, 'next') ?? '');
  assert.deepEqual(entriesOf(second), ['match Encounter/same', 'include Patient/p2']);
});

test('pages of every size make up the whole, while others write', async () => {
  let late = 0;
  for (const [query, whole] of [
    ['?_tag=urn:t|x', ['Basic/b1', 'Encounter/e1', 'Patient/p1', 'Task/t1', 'Task/t2']],
    ['?_type=Encounter,Patient', [...everything.slice(1, 3), ...patients]],
    ['?_type=Flag,Encounter,Goal,Task,List', ['Encounter/e1', 'Encounter/same', 'Task/t1', 'Task/t2']],
  ] as const) {
    for (const count of [1, 2, 3, 4, 50]) {
      const pages: string[] = [];
      let url: string | undefined = `${query}&_count=${count}`;
      for (let page = 0; url !== undefined; page++) {
        const answer = await full.get(url);
        if (page > 0) assert.equal(linkOf(answer, 'self'), url);
        assert.equal(linkOf(answer, 'first') === undefined, count >= whole.length);
        assert.equal(answer.json.total, count >= whole.length ? whole.length : undefined);
        pages.push(...found(answer));
        url = linkOf(answer, 'next');
        late += 1;
        await full.send('PUT', `Account/a${late}`, { resourceType: 'Account', id: `a${late}`, status: 'active' });
      }
      assert.deepEqual(pages, whole, `${query} by ${count}`);
    }
  }
});

test('totals are those of all types together', async () => {
  const query = '?_type=Encounter,Patient,Task&_count=1';
  assert.equal((await full.get(`${query}&_total=accurate`)).json.total, 7);
  assert.equal((await full.get(`${query}&_total=none`)).json.total, undefined);
  assert.equal((await full.get(`${query}&_total=estimate`)).json.total, 7);
  assert.equal((await full.get('?_type=Encounter,Patient,Task&_count=0')).json.total, 7);
});

test('a page link serves its caller and its search alone', async () => {
  const cursor = new URL(linkOf(await full.get('?_type=Encounter,Patient&_count=1'), 'next') ?? '').searchParams.get(
    '_cursor',
  );
  for (const asked of [
    other.get(`?_type=Encounter,Patient&_cursor=${cursor}`),
    twin.get(`?_type=Encounter,Patient&_cursor=${cursor}`),
    restricted.get(`?_type=Encounter,Patient&_cursor=${cursor}`),
    full.get(`?_type=Encounter&_cursor=${cursor}`),
    full.get(`?_type=Encounter,Patient&_id=p1&_cursor=${cursor}`),
    full.get(`?_type=Encounter,Patient&_cursor=${cursor?.slice(0, -2)}`),
    full.get('?_type=Encounter,Patient&_cursor=x'),
    full.get(`Encounter?_cursor=${cursor}`),
  ]) {
    const { status, json } = await asked;
    assert.deepEqual([status, json.issue[0].details.coding[0].code], [400, 'cursor-invalid']);
  }
  assert.deepEqual(found(await full.get(`?_type=Patient,Encounter&_cursor=${cursor}`)), [
    'Encounter/same',
    ...patients,
  ]);
});

const common = '_id, _lastUpdated, _tag, _profile, _security, _source';
const refusals: readonly (readonly [query: string, diagnostics: string])[] = [
  [
    '_type=Nonsense',
    '_type names "Nonsense": it takes names of resource types with an endpoint, separated by commas: Patient,Encounter',
  ],
  [
    '_type=',
    '_type names "": it takes names of resource types with an endpoint, separated by commas: Patient,Encounter',
  ],
  [
    '_type=Patient,Parameters',
    '_type names "Parameters": it takes names of resource types with an endpoint, separated by commas: Patient,Encounter',
  ],
  [
    `_type=Patient,${'Nonsense'.repeat(9)}`,
    `_type names "${'Nonsense'.repeat(5)}…": it takes names of resource types with an endpoint, separated by commas: Patient,Encounter`,
  ],
  [
    '_type=AuditEvent',
    '_type names AuditEvent, of which only what was imported could be found so: the audit ledger is searched by itself, GET …/AuditEvent?…',
  ],
  [
    '_type=Patient,AuditEvent',
    '_type names AuditEvent, of which only what was imported could be found so: the audit ledger is searched by itself, GET …/AuditEvent?…',
  ],
  ['_type=Patient&_type=Task', '_type is given twice with different values'],
  [
    'family=Stone',
    `family needs _type, the types that are searched: without it, all types are searched by ${common} alone`,
  ],
  ['page=2', 'page is served where one type is searched: follow next links here'],
  [
    'family=Stone&_type=Patient,Encounter',
    'family is not a search parameter of Encounter; types are searched together by what all of them have (Prefer: handling=lenient ignores unknown ones)',
  ],
];

test('what a search of several types does not take is refused', async () => {
  for (const [query, diagnostics] of refusals) {
    const [expression = ''] = query.split('=');
    const expected = { status: 400, error: 'search-invalid', issue: 'invalid', diagnostics, expression: [expression] };
    assertRefused(await full.get(`?${query}`), expected);
    assertRefused(await full.send('POST', '_search', query, form), expected);
  }
  assert.equal((await full.get('?_type=Patient,Encounter&_id:exact=1')).status, 400);
});

test('with lenience a parameter that one type lacks is ignored for all of them', async () => {
  const answer = await full.get('?_type=Patient,Encounter&family=Stone&_id=p1,e1,p2', lenient);
  assert.deepEqual(found(answer), ['Encounter/e1', 'Patient/p1', 'Patient/p2']);
  assert.equal(linkOf(answer, 'self'), `${maple.base}?_type=Encounter,Patient&_id=p1,e1,p2`);
});

test('in a batch several types are searched with the same rights', async () => {
  const entry = ['?_type=Patient,Basic', '/?_type=Basic', `${maple.base}?_id=same`].map((url) => ({
    request: { method: 'GET', url },
  }));
  const bundle = { resourceType: 'Bundle', type: 'batch', entry };
  const totals = ({ json }: Answer) =>
    json.entry.map(({ resource, response }: { resource?: { total: number }; response: { status: string } }) => [
      response.status,
      resource?.total,
    ]);
  assert.deepEqual(totals(await full.send('POST', '', bundle)), [
    ['200 OK', 4],
    ['200 OK', 1],
    ['200 OK', 2],
  ]);
  assert.deepEqual(totals(await restricted.send('POST', '', bundle)), [
    ['200 OK', 3],
    ['403 Forbidden', undefined],
    ['200 OK', 2],
  ]);
});

test('metadata tells of it', async () => {
  const { rest } = (await full.get('metadata')).json;
  const codes = rest[0].interaction.map(({ code }: { code: string }) => code);
  assert.deepEqual(codes.toSorted(), ['batch', 'history-system', 'search-system', 'transaction']);
});
