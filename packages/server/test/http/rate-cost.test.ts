/**
 * What requests cost: which count more than once, and that a Bundle is no way around it. Who is refused: rate-limit.test.ts.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { encounter, patient } from '../support/records.ts';
import { type Caller, makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const limit = 200;
const service = await openTestService({ after }, { PRAXIS_RATE_LIMIT: String(limit) });
const maple = await makeFirm(service, 'maple');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const named = await makeApplication(service, 'Named', ['acl/pat_s_name_dob_gen'], [maple]);
const restricted = await openCaller(service, named, maple);
assert.equal((await full.send('PUT', 'Patient/stone', { ...patient('Stone'), id: 'stone' })).status, 201);

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const get = (url: string) => ({ request: { method: 'GET', url } });
const create = (family: string, more: object = {}) => ({
  resource: patient(family),
  request: { method: 'POST', url: 'Patient', ...more },
});
const bundle = (type: 'batch' | 'transaction', entry: readonly object[]) => ({ resourceType: 'Bundle', type, entry });
const times = <T>(count: number, each: T): T[] => Array.from({ length: count }, () => each);

/** What is left of the minute after a request of one unit. */
async function restOf(caller: Caller): Promise<number> {
  const { headers } = await caller.get('Patient/stone');
  return Number(/^"api-key";r=(\d+);/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

/** What the requests of `work` cost. */
async function costOf(work: () => Promise<unknown>, caller: Caller = full): Promise<number> {
  if ((await restOf(caller)) < 120) service.clock.advance(60_000);
  const before = await restOf(caller);
  await work();
  return before - (await restOf(caller)) - 1;
}

const reads: readonly (readonly [path: string, cost: number, headers?: Readonly<Record<string, string>>])[] = [
  ['Patient', 1],
  ['Patient?family=a&_count=5', 1],
  ['Patient?_total=accurate', 2],
  ['Patient?_total=estimate', 1],
  ['Patient?_total=none', 1],
  ['Patient?_summary=count', 2],
  ['Patient?_summary=count&_total=accurate', 2],
  ['Patient?_summary=true', 1],
  ['Patient?_count=0', 2],
  ['Patient', 2, { 'content-flag': 'Pagination_optimization_disabled' }],
  ['Patient', 2, { 'content-flag': 'Referral' }],
  ['Encounter', 1, { 'content-flag': 'Referral' }],
  ['Patient/stone', 1, { 'content-flag': 'Pagination_optimization_disabled, Referral' }],
  ['Patient?page=2', 1],
  ['Patient?page=11', 2],
  ['Patient?page=200', 20],
  ['Patient?page=11&_count=10', 1],
  ['Patient?page=51&_count=10', 2],
  ['Encounter?page=101&_count=5000', 11],
  ['Patient?general-practitioner.name=a', 2],
  ['Patient?_has:Encounter:subject:status=finished&_include=Patient:organization', 3],
  ['?_type=Patient,Encounter', 5],
  ['Patient/_history', 1],
  ['_history', 5],
  ['$changes', 5],
  ['$effective-access', 10],
  ['$effective-access?type=Patient', 1],
  ['$meta', 10],
  ['Patient/$meta', 5],
  ['Patient/stone/$meta', 1],
  ['Patient/$everything', 10],
  ['Patient/stone/$everything', 10],
  ['Observation/$lastn?patient=stone&category=laboratory', 10],
  ['Slot/$find?appointment-type=checkup', 10],
  ['ValueSet/$expand?url=http://hl7.org/fhir/ValueSet/administrative-gender', 5],
  [
    'ValueSet/$validate-code?url=http://hl7.org/fhir/ValueSet/administrative-gender&code=male&system=http://hl7.org/fhir/administrative-gender',
    2,
  ],
  ['CodeSystem/$lookup?system=http://hl7.org/fhir/administrative-gender&code=male', 1],
  ['SearchParameter/$status', 1],
];

for (const [path, cost, headers = {}] of reads) {
  test(`${path} costs ${cost}${Object.values(headers).map((flag) => ` with Content-flag ${flag}`)}`, async () => {
    const alone = await costOf(async () => assert.equal((await full.get(path, headers)).status, 200));
    assert.equal(alone, cost);
  });
}

test('a page with a cursor costs one unit, whatever its number; a page beyond the deepest costs as much as the deepest', async () => {
  const created = await full.send('POST', '', bundle('batch', times(3, create('Page'))));
  assert.equal(created.status, 200);
  const first = await full.get('Patient?_count=1');
  const [next] = first.json.link.filter(({ relation }: { relation: string }) => relation === 'next');
  const deep = next.url.replace('page=2', 'page=5000');
  assert.ok(deep.includes('page=5000') && deep.includes('_cursor='));
  assert.equal(await costOf(async () => assert.equal((await full.get(deep)).status, 200)), 1);
  assert.equal(await costOf(async () => assert.equal((await full.get('Patient?page=2000000')).status, 400)), 21);
});

test('a search by POST costs what it costs by GET, and criteria of a create what they cost in a search', async () => {
  assert.equal(await costOf(() => full.send('POST', 'Patient/_search', '_total=accurate', form)), 2);
  const condition = { 'if-none-exist': 'general-practitioner.name=Nobody&_has:Encounter:subject:status=finished' };
  const made = async () => assert.equal((await full.send('POST', 'Patient', patient('New'), condition)).status, 201);
  assert.equal(await costOf(made), 3);
});

test('what is done to a series of appointments costs more than what is done to one', async () => {
  const parameters = (...parameter: object[]) => ({ resourceType: 'Parameters', parameter });
  const asked = { name: 'appointment', resource: { resourceType: 'Appointment', status: 'booked' } };
  const series = { name: 'recurrence', part: [{ name: 'frequency', valueCode: 'weekly' }] };
  const scope = (code: string) => ({ name: 'scope', valueCode: code });
  for (const [path, body, cost] of [
    ['Appointment/$book', parameters(asked), 1],
    ['Appointment/$book', parameters(asked, series), 10],
    ['Appointment/one/$cancel', parameters(), 1],
    ['Appointment/one/$cancel', parameters(scope('one')), 1],
    ['Appointment/one/$cancel', parameters(scope('following')), 10],
  ] as const) {
    assert.equal(await costOf(() => full.send('POST', path, body)), cost, JSON.stringify(body));
  }
});

test('a Bundle costs a unit for every ten entries beside the first', async () => {
  for (const type of ['batch', 'transaction'] as const) {
    const sent = bundle(type, times(25, create('Stone')));
    const cost = await costOf(async () => assert.equal((await full.send('POST', '', sent)).status, 200));
    assert.equal(cost, 3, type);
  }
});

test('entries of a batch cost what they cost alone beside their first unit, those that are refused access nothing', async () => {
  const nine = bundle('batch', times(9, get('Patient/$everything')));
  assert.equal(await costOf(() => full.send('POST', '', nine)), 1 + 9 * 9);
  const mixed = bundle('batch', [
    get('Patient?_total=accurate&_include=Patient:organization'),
    get('Patient/stone'),
    create('New', { ifNoneExist: 'general-practitioner.name=Nobody' }),
    get('$meta'),
    get('Patient?page=11'),
  ]);
  assert.equal(await costOf(() => full.send('POST', '', mixed)), 1 + 2 + 1 + 9 + 1);
  const refused = bundle('batch', [get('Encounter?_total=accurate'), get('_history'), get('Patient?_total=accurate')]);
  const statuses = async () => {
    const { json } = await restricted.send('POST', '', refused);
    assert.deepEqual(
      json.entry.map(({ response }: { response: { status: string } }) => response.status.slice(0, 3)),
      ['403', '403', '200'],
    );
  };
  assert.equal(await costOf(statuses, restricted), 2);
});

test('entries of a transaction cost alike, each once, also when it has to be run again', async () => {
  const reading = bundle('transaction', [
    create('New'),
    get('Patient/$everything'),
    get('Patient?family=New&_total=accurate'),
  ]);
  assert.equal(await costOf(async () => assert.equal((await full.send('POST', '', reading)).status, 200)), 1 + 9 + 1);
  // The reference finds its patient only once the transaction has made it, so that there is a second run.
  const identifier = { system: 'https://example.org/mrn', value: 'again' };
  const again = bundle('transaction', [
    {
      resource: encounter('Patient?identifier=https://example.org/mrn|again'),
      request: { method: 'POST', url: 'Encounter' },
    },
    { ...create('Again'), resource: patient('Again', { identifier: [identifier] }) },
    { resource: patient('Stone'), request: { method: 'PUT', url: 'Patient?general-practitioner.name=Nobody' } },
    get('_history'),
  ]);
  assert.equal(await costOf(async () => assert.equal((await full.send('POST', '', again)).status, 200)), 1 + 1 + 4);
});

test('conditional references of a transaction cost a unit for every ten, and as searches', async () => {
  const entry = Array.from({ length: 20 }, (_, index) => ({
    resource: encounter(`Patient?family=${index}&general-practitioner.name=Nobody`),
    request: { method: 'POST', url: 'Encounter' },
  }));
  const sent = bundle('transaction', entry);
  assert.equal(await costOf(async () => assert.equal((await full.send('POST', '', sent)).status, 412)), 1 + 2 + 2 + 20);
});

test('once the minute is used up, dear entries of a batch are refused like requests of their own, the others are answered', async () => {
  service.clock.advance(60_000);
  const sent = bundle('batch', [
    ...times(30, get('Patient/$everything?_type=Patient')),
    create('Late'),
    get('Patient/stone'),
  ]);
  const { status, json } = await full.send('POST', '', sent);
  assert.equal(status, 200);
  const statuses: string[] = json.entry.map(({ response }: { response: { status: string } }) =>
    response.status.slice(0, 3),
  );
  // 4 of the Bundle, and 22 times 9: 202 are used before the 23rd.
  assert.deepEqual(statuses, [...times(22, '200'), ...times(8, '429'), '201', '200']);
  const [, until] = /until (.*)$/.exec(json.entry[22].response.outcome.issue[0].diagnostics) ?? [];
  assert.equal(until, new Date(service.clock.now() + 60_000).toISOString());
  assert.equal(json.entry[22].response.outcome.issue[0].code, 'throttled');
  assert.equal((await full.get('Patient/stone')).status, 429);
});

test('a transaction is not refused for what it costs itself', async () => {
  service.clock.advance(60_000);
  const sent = bundle('transaction', times(30, get('Patient/$everything?_type=Patient')));
  const { status, json } = await full.send('POST', '', sent);
  assert.deepEqual([status, json.entry.length], [200, 30]);
  assert.equal((await full.get('Patient/stone')).status, 429);
});
