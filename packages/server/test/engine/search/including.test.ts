/**
 * _include and _revinclude through the API (https://hl7.org/fhir/R4/search.html#revinclude): what comes with the matches,
 * once, after them, with each page; and what is refused, with the parameter and the rule.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { assertRefused } from '../../support/refusals.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);

const actCode = { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' };
const visit = (id: string, subject: object, more: object = {}) => ({
  resourceType: 'Encounter',
  id,
  status: 'finished',
  class: actCode,
  subject,
  ...more,
});
const visitOf = (id: string, subject: string, more: object = {}) => visit(id, { reference: subject }, more);
const organization = (id: string, partOf?: string) => ({
  resourceType: 'Organization',
  id,
  name: id,
  ...(partOf === undefined ? {} : { partOf: { reference: `Organization/${partOf}` } }),
});
const task = (id: string, partOf?: string) => ({
  resourceType: 'Task',
  id,
  status: 'requested',
  intent: 'order',
  ...(partOf === undefined ? {} : { partOf: [{ reference: `Task/${partOf}` }] }),
});

const chainLength = 14;
const resources = [
  organization('trust'),
  organization('north', 'trust'),
  { resourceType: 'Group', id: 'team', type: 'person', actual: true },
  {
    resourceType: 'Patient',
    id: 'anna',
    name: [{ family: 'Include' }],
    gender: 'female',
    managingOrganization: { reference: 'Organization/north' },
  },
  { resourceType: 'Patient', id: 'bert', gender: 'male' },
  { resourceType: 'Patient', id: 'gone', gender: 'male' },
  visitOf('e1', 'Patient/anna'),
  visitOf('e2', 'Patient/anna', { partOf: { reference: 'Encounter/e1' } }),
  visitOf('e3', `${maple.base}/Patient/bert`),
  visitOf('e4', 'Group/team'),
  visitOf('versioned', 'Patient/anna/_history/1'),
  visitOf('elsewhere', 'https://other.example.org/fhir/Patient/anna'),
  visitOf('contained', '#anna', { contained: [{ resourceType: 'Patient', id: 'anna' }] }),
  visit('logical', { identifier: { system: 'urn:mrn', value: 'anna' } }),
  visitOf('dangling', 'Patient/nobody'),
  visitOf('deleted', 'Patient/gone'),
  ...Array.from({ length: chainLength }, (_, n) => task(`t${n}`, n === 0 ? undefined : `t${n - 1}`)),
  task('ring-a', 'ring-b'),
  task('ring-b', 'ring-a'),
];
for (const resource of resources) {
  const answer = await full.send('PUT', `${resource.resourceType}/${resource.id}`, resource);
  assert.equal(answer.status, 201, answer.text);
}
assert.equal((await full.send('DELETE', 'Patient/gone')).status, 204);
const [anna] = resources.filter(({ id }) => id === 'anna');
assert.equal((await full.send('PUT', 'Patient/anna', { ...anna, birthDate: '1980-01-01' })).status, 200);

interface Entry {
  readonly fullUrl: string;
  readonly resource: Readonly<Record<string, unknown>>;
  readonly search: { readonly mode: string };
}

function entriesOf({ status, json, text }: Answer): Entry[] {
  assert.equal(status, 200, text);
  return json.entry ?? [];
}

/** `match Encounter/e1`, … in the order of the answer. */
function shown(answer: Answer): string[] {
  return entriesOf(answer).map(
    ({ resource, search }) => `${search.mode} ${resource['resourceType']}/${resource['id']}`,
  );
}

const cases: readonly (readonly [query: string, expected: readonly string[]])[] = [
  ['Encounter?_id=e1&_include=Encounter:subject', ['match Encounter/e1', 'include Patient/anna']],
  [
    'Encounter?_id=e1,e2&_include=Encounter:subject',
    ['match Encounter/e1', 'match Encounter/e2', 'include Patient/anna'],
  ],
  [
    'Encounter?_id=e3,e4&_include=Encounter:subject',
    ['match Encounter/e3', 'match Encounter/e4', 'include Group/team', 'include Patient/bert'],
  ],
  [
    'Encounter?_id=e3,e4&_include=Encounter:subject:Group',
    ['match Encounter/e3', 'match Encounter/e4', 'include Group/team'],
  ],
  ['Encounter?_id=e4&_include=Encounter:patient', ['match Encounter/e4']],
  ['Encounter?_id=e1,e2&_include=Encounter:part-of', ['match Encounter/e1', 'match Encounter/e2']],
  ['Encounter?_id=e2&_include=Encounter:part-of', ['match Encounter/e2', 'include Encounter/e1']],
  ['Encounter?_id=e2&_include=*', ['match Encounter/e2', 'include Patient/anna', 'include Encounter/e1']],
  ['Encounter?_id=e2&_include=Encounter:*', ['match Encounter/e2', 'include Patient/anna', 'include Encounter/e1']],
  ['Encounter?_id=e2&_include=Encounter:*:Patient', ['match Encounter/e2', 'include Patient/anna']],
  ['Encounter?_id=e2&_include=Patient:organization', ['match Encounter/e2']],
  [
    'Encounter?_id=e1&_include=Encounter:subject&_include=Patient:organization',
    ['match Encounter/e1', 'include Patient/anna'],
  ],
  [
    'Encounter?_id=e1&_include=Encounter:subject&_include:iterate=Patient:organization&_include:iterate=Organization:partof',
    ['match Encounter/e1', 'include Patient/anna', 'include Organization/north', 'include Organization/trust'],
  ],
  ['Encounter?_id=versioned&_include=Encounter:subject', ['match Encounter/versioned', 'include Patient/anna']],
  [
    'Encounter?_id=contained,dangling,deleted,elsewhere,logical&_include=*',
    ['elsewhere', 'contained', 'logical', 'dangling', 'deleted'].map((id) => `match Encounter/${id}`),
  ],
  [
    'Patient?_id=anna&_revinclude=Encounter:subject',
    ['match Patient/anna', 'include Encounter/e1', 'include Encounter/e2', 'include Encounter/versioned'],
  ],
  [
    'Patient?_id=anna,bert&_revinclude=Encounter:patient:Patient',
    [
      'match Patient/anna',
      'match Patient/bert',
      'include Encounter/e1',
      'include Encounter/e2',
      'include Encounter/e3',
      'include Encounter/versioned',
    ],
  ],
  ['Group?_id=team&_revinclude=Encounter:subject:Patient', ['match Group/team']],
  ['Group?_id=team&_revinclude=*', ['match Group/team', 'include Encounter/e4']],
  ['Patient?_id=bert&_revinclude=Encounter:*', ['match Patient/bert', 'include Encounter/e3']],
  [
    'Organization?_id=trust&_revinclude:iterate=Organization:partof&_revinclude:iterate=Patient:organization&_revinclude:iterate=Encounter:patient',
    [
      'match Organization/trust',
      'include Organization/north',
      'include Patient/anna',
      'include Encounter/e1',
      'include Encounter/e2',
      'include Encounter/versioned',
    ],
  ],
  [
    'Organization?_id=trust&_revinclude=Organization:partof&_revinclude=Patient:organization',
    ['match Organization/trust', 'include Organization/north'],
  ],
  [
    'Patient?_id=anna&_include=Patient:organization&_revinclude=Encounter:patient&_include:iterate=Encounter:part-of',
    [
      'match Patient/anna',
      'include Organization/north',
      'include Encounter/e1',
      'include Encounter/e2',
      'include Encounter/versioned',
    ],
  ],
  ['Task?_id=ring-a&_include:iterate=Task:part-of', ['match Task/ring-a', 'include Task/ring-b']],
  ['Task?_id=ring-a&_include:iterate=*&_revinclude:iterate=*', ['match Task/ring-a', 'include Task/ring-b']],
  ['Encounter?_id=e1&_summary=count&_include=Encounter:subject', []],
  ['Encounter?_id=e1&_count=0&_include=Encounter:subject', []],
  ['Encounter?_id=nothing&_include=Encounter:subject', []],
];

for (const [query, expected] of cases) {
  test(query, async () => assert.deepEqual(shown(await full.get(query)), expected));
}

test('an included resource is the current one, whole, with the URL of its entry, and is not counted', async () => {
  const answer = await full.get('Encounter?_id=versioned&_include=Encounter:subject&_total=accurate');
  const [, included] = entriesOf(answer);
  assert.deepEqual(included, {
    fullUrl: `${maple.base}/Patient/anna`,
    resource: (await full.get('Patient/anna')).json,
    search: { mode: 'include' },
  });
  assert.equal(answer.json.total, 1);
});

test('each page has the includes of its own matches, and page links keep them', async () => {
  const query =
    'Encounter?_id=e1,e2,e3,e4&_sort=_id&_count=2&_include=Encounter:subject&_revinclude:iterate=Encounter:part-of';
  const first = await full.get(query);
  assert.deepEqual(shown(first), ['match Encounter/e1', 'match Encounter/e2', 'include Patient/anna']);
  const link = (relation: string): string =>
    first.json.link.find((each: { relation: string }) => each.relation === relation).url;
  assert.equal(link('self'), `${maple.base}/${query}`);
  const next = await full.get(link('next'));
  assert.deepEqual(shown(next), [
    'match Encounter/e3',
    'match Encounter/e4',
    'include Group/team',
    'include Patient/bert',
  ]);
});

test('what is a match of another page is included with this one', async () => {
  const first = await full.get('Encounter?_id=e1,e2&_sort=-_id&_count=1&_include=Encounter:part-of');
  assert.deepEqual(shown(first), ['match Encounter/e2', 'include Encounter/e1']);
});

test('includes change neither the order nor the cursor of a search', async () => {
  const first = await full.get('Encounter?_id=e1,e2,e3&_sort=_id&_count=1');
  const { url } = first.json.link.find(({ relation }: { relation: string }) => relation === 'next');
  assert.deepEqual(shown(await full.get(`${url}&_include=Encounter:subject`)), [
    'match Encounter/e2',
    'include Patient/anna',
  ]);
});

test('_elements does not apply to included resources, _summary does', async () => {
  const [match, included] = entriesOf(await full.get('Encounter?_id=e1&_elements=status&_include=Encounter:subject'));
  assert.deepEqual(Object.keys(match?.resource ?? {}).toSorted(), ['class', 'id', 'meta', 'resourceType', 'status']);
  assert.deepEqual(included?.resource, (await full.get('Patient/anna')).json);
  const [, summarised] = entriesOf(await full.get('Encounter?_id=e1&_summary=true&_include=Encounter:subject'));
  assert.deepEqual(summarised?.resource, entriesOf(await full.get('Patient?_id=anna&_summary=true'))[0]?.resource);
});

test('by POST and in a batch the same', async () => {
  const expected = ['match Encounter/e1', 'include Patient/anna'];
  const form = '_id=e1&_include=Encounter:subject';
  const posted = await full.send('POST', 'Encounter/_search', form, {
    'content-type': 'application/x-www-form-urlencoded',
  });
  assert.deepEqual(shown(posted), expected);
  const request = { method: 'GET', url: `Encounter?${form}` };
  const batch = await full.send('POST', '', { resourceType: 'Bundle', type: 'batch', entry: [{ request }] });
  assert.deepEqual(shown({ ...batch, json: batch.json.entry[0].resource }), expected);
});

test('references are followed ten times at most, and the answer says when that left something out', async () => {
  const start = chainLength - 1;
  const complete = await full.get('Task?_id=t10&_include:iterate=Task:part-of');
  assert.deepEqual(shown(complete), [
    'match Task/t10',
    ...Array.from({ length: 10 }, (_, n) => `include Task/t${9 - n}`),
  ]);
  const entries = entriesOf(await full.get(`Task?_id=t${start}&_include:iterate=Task:part-of`));
  assert.deepEqual(
    entries.map(({ resource }) => resource['id']),
    [...Array.from({ length: 11 }, (_, n) => `t${start - n}`), undefined],
  );
  const outcome = entries.at(-1);
  assert.match(outcome?.fullUrl ?? '', /^urn:uuid:[0-9a-f-]{36}$/);
  assert.deepEqual(
    { resource: outcome?.resource, search: outcome?.search },
    {
      resource: {
        resourceType: 'OperationOutcome',
        issue: [
          {
            severity: 'warning',
            code: 'too-costly',
            diagnostics:
              'References are followed 10 times at most by :iterate, and some included resources are missing: go on with a search from the last ones',
          },
        ],
      },
      search: { mode: 'outcome' },
    },
  );
});

test('a page has 1,000 included resources at most, and the answer says when that left something out', async () => {
  const count = 1001;
  for (let from = 0; from < count; from += 500) {
    const entry = Array.from({ length: Math.min(500, count - from) }, (_, n) => ({
      resource: { resourceType: 'Basic', code: { text: `${from + n}` }, subject: { reference: 'Patient/bert' } },
      request: { method: 'POST', url: 'Basic' },
    }));
    assert.equal((await full.send('POST', '', { resourceType: 'Bundle', type: 'transaction', entry })).status, 200);
  }
  const modes = (answer: Answer): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { search } of entriesOf(answer)) counts[search.mode] = (counts[search.mode] ?? 0) + 1;
    return counts;
  };
  const query = 'Patient?_id=bert&_revinclude=Basic:subject';
  const answer = await full.get(query);
  assert.deepEqual(modes(answer), { match: 1, include: 1000, outcome: 1 });
  assert.equal(
    answer.json.entry.at(-1).resource.issue[0].diagnostics,
    'More than 1000 resources would be included with this page, and some are missing: ask for smaller pages (_count) or for fewer includes',
  );
  const [, one] = entriesOf(answer);
  assert.equal((await full.send('DELETE', `Basic/${one?.resource['id']}`)).status, 204);
  assert.deepEqual(modes(await full.get(query)), { match: 1, include: 1000 });
});

const encounterParameters =
  'its reference parameters are account, appointment, based-on, diagnosis, episode-of-care, location, part-of, participant, practitioner, reason-reference, service-provider, subject, patient';
const form = 'takes Type:parameter, Type:parameter:Target, Type:* or *, such as Encounter:subject:Patient';

const refused: readonly (readonly [name: string, value: string, problem: string])[] = [
  ['_include', '', form],
  ['_include', 'subject', form],
  ['_include', 'Encounter', form],
  ['_include', 'Encounter:', form],
  ['_include', ':subject', form],
  ['_include', 'Encounter:subject:', form],
  ['_include', 'Encounter:subject:Patient:name', form],
  ['_include', 'Encounter:subject,Encounter:location', 'takes one value; repeat _include for more'],
  ['_include', 'Visit:subject', 'begins with what is not a resource type of R4, or * with more behind it'],
  ['_include', '*:subject', 'begins with what is not a resource type of R4, or * with more behind it'],
  ['_include', 'Parameters:subject', 'begins with what is not a resource type of R4, or * with more behind it'],
  ['_include', 'Encounter:visitor', `names no search parameter of Encounter; ${encounterParameters}`],
  ['_include', 'Encounter:date', `takes reference parameters, and date of Encounter is a date; ${encounterParameters}`],
  [
    '_revinclude',
    'Binary:_id',
    'takes reference parameters, and _id of Binary is a token; it has no reference parameters',
  ],
  ['_include', 'Encounter:subject:Visit', 'ends with what is not a resource type of R4'],
  [
    '_include',
    'Encounter:subject:Location',
    'ends with Location, to which subject of Encounter does not lead, but to Group, Patient',
  ],
  ['_include', 'Encounter:*:Slot', 'ends with Slot, to which no reference of Encounter leads'],
  [
    '_revinclude',
    'Encounter:subject:Location',
    'ends with Location, to which subject of Encounter does not lead, but to Group, Patient',
  ],
  ['_include:recurse', 'Encounter:part-of', 'has the name of an earlier FHIR; R4 calls it _include:iterate'],
  ['_revinclude:recurse', 'Encounter:part-of', 'has the name of an earlier FHIR; R4 calls it _revinclude:iterate'],
  ['_include:', 'Encounter:part-of', 'takes no modifier but _include:iterate'],
  ['_include:exact', 'Encounter:part-of', 'takes no modifier but _include:iterate'],
];

for (const [name, value, problem] of refused) {
  test(`${name}=${value} is refused`, async () => {
    const answer = await full.get(`Encounter?${name}=${encodeURIComponent(value)}`);
    assertRefused(answer, {
      status: 400,
      error: 'search-invalid',
      issue: 'invalid',
      diagnostics: `${name} ${problem}`,
      expression: [name],
    });
  });
}

test('_summary=text cannot be mixed with includes', async () => {
  for (const include of ['_include=Encounter:subject', '_revinclude=Encounter:part-of']) {
    assertRefused(await full.get(`Encounter?_summary=text&${include}`), {
      status: 400,
      error: 'search-invalid',
      issue: 'invalid',
      diagnostics: '_summary takes no text beside _include or _revinclude; true and data go with them',
      expression: ['_summary'],
    });
  }
});

test('too many includes are refused; the same one again is one', async () => {
  const types = ['Account', 'Basic', 'Condition', 'Encounter', 'Observation', 'Patient', 'Procedure', 'Task'];
  const distinct = types.flatMap((type) =>
    ['_include', '_include:iterate', '_revinclude', '_revinclude:iterate'].map((name) => `${name}=${type}:*`),
  );
  assert.equal((await full.get(`Task?_id=t0&${distinct.slice(0, 30).join('&')}`)).status, 200);
  assert.equal((await full.get(`Task?_id=t0&${Array(31).fill('_include=Task:*').join('&')}`)).status, 200);
  assertRefused(await full.get(`Task?_id=t0&${distinct.slice(0, 31).join('&')}`), {
    status: 400,
    error: 'search-invalid',
    issue: 'invalid',
    diagnostics: '_include and _revinclude are given 31 times; at most 30 are taken',
    expression: ['_include'],
  });
});

test('conditional interactions take no includes', async () => {
  for (const name of ['_include', '_include:iterate', '_revinclude', '_revinclude:iterate']) {
    const created = await full.send('POST', 'Encounter', visitOf('x', 'Patient/anna'), {
      'if-none-exist': `${name}=Encounter:part-of`,
    });
    assertRefused(created, {
      status: 400,
      error: 'search-invalid',
      issue: 'invalid',
      diagnostics: `${name} says how results are shown and is no criterion`,
      expression: [name],
    });
  }
});

test('the CapabilityStatement lists what can be included', async () => {
  const { json } = await full.get('metadata');
  const of = (type: string) => json.rest[0].resource.find((each: { type: string }) => each.type === type);
  assert.deepEqual(of('Basic').searchInclude.toSorted(), [
    '*',
    'Basic:*',
    'Basic:author',
    'Basic:patient',
    'Basic:subject',
  ]);
  assert.ok(of('Patient').searchRevInclude.includes('Encounter:patient'));
  assert.ok(of('Group').searchRevInclude.includes('Encounter:subject'));
  assert.ok(!of('Group').searchRevInclude.includes('Encounter:patient'));
  assert.ok(of('Slot').searchRevInclude.includes('Provenance:target'));
});
