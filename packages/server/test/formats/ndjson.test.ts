/**
 * Lists as lines, NDJSON: what the Bundle holds and nothing more, links in the header Link; everything else is 406.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { batch, entry } from '../bundle/bundles.ts';
import { encounter, patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';
import { tenantRows } from '../support/tenant-rows.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
const foreign = await openCaller(service, await makeApplication(service, 'Foreign', ['acl/*'], [cedar]), cedar);
const narrow = ['acl/enc_s', 'acl/pat_s_name_dob_gen', 'acl/serv_req_s', 'acl/lab_type_path'];
const restricted = await openCaller(service, await makeApplication(service, 'Narrow', narrow, [maple]), maple);
const reader = await openCaller(service, await makeApplication(service, 'Reader', ['acl/pat_r'], [maple]), maple);

const secret = 'the secret of this record';
const order = (code: string) => ({
  resourceType: 'ServiceRequest',
  status: 'active',
  intent: 'order',
  category: [{ coding: [{ code }] }],
  subject: { reference: 'Patient/p1' },
});
const text = { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">one\ntwo\u2028three</div>' };
const stored: readonly Readonly<Record<string, unknown>>[] = [
  { ...patient('Stone', { text, telecom: [{ system: 'email', value: secret }], gender: 'female' }), id: 'p1' },
  { ...patient('Žluťoučký 🐎'), id: 'p2' },
  { ...patient('Slate'), id: 'p3' },
  { ...encounter('Patient/p1'), id: 'e1' },
  { ...order('PATHOLOGY'), id: 'lab' },
  { ...order('RADIOLOGY'), id: 'scan' },
];
for (const resource of stored) {
  const answer = await full.send('PUT', `${resource['resourceType']}/${resource['id']}`, resource);
  assert.equal(answer.status, 201, answer.text);
}
assert.equal((await full.send('PUT', 'Patient/p3', { ...patient('Shale'), id: 'p3' })).status, 200);

const ndjson = { accept: 'application/fhir+ndjson' };

/** The resources of the lines; each line ends in a line feed. */
function linesOf(answer: Answer): unknown[] {
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers.get('content-type'), 'application/fhir+ndjson; charset=utf-8');
  if (answer.text === '') return [];
  assert.ok(answer.text.endsWith('\n'));
  return answer.text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Relation → URL of a Link header. */
function linksOf({ headers }: Answer): Record<string, string> {
  const links = [...(headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="([a-z]+)"(?:, |$)/g)];
  return Object.fromEntries(links.map(([, url = '', relation = '']) => [relation, url]));
}

/** What the Bundle of the same request says. */
async function bundleOf(caller: Caller, path: string) {
  const { json, status } = await caller.get(path);
  assert.equal(status, 200, path);
  const entries: { resource?: unknown }[] = json.entry ?? [];
  const links: { relation: string; url: string }[] = json.link;
  return {
    total: json.total,
    links: Object.fromEntries(links.map(({ relation, url }) => [relation, url])),
    resources: entries.flatMap(({ resource }) => (resource === undefined ? [] : [resource])),
    omitted: entries.filter(({ resource }) => resource === undefined).length,
  };
}

/** A cursor is sealed anew for each answer. */
const withoutCursors = (links: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(links).map(([relation, url]) => [relation, url.replace(/_cursor=[^&]*/, '')]));

async function assertSame(caller: Caller, path: string): Promise<unknown[]> {
  const answer = await caller.get(path, ndjson);
  const bundle = await bundleOf(caller, path);
  const lines = linesOf(answer);
  assert.deepEqual(lines, bundle.resources, path);
  assert.deepEqual(withoutCursors(linksOf(answer)), withoutCursors(bundle.links), path);
  assert.equal(answer.headers.get('x-total-count'), bundle.total === undefined ? null : String(bundle.total), path);
  assert.equal(answer.headers.get('x-omitted-entries'), bundle.omitted === 0 ? null : String(bundle.omitted), path);
  return lines;
}

test('who may not search is refused in JSON, as without lines', async () => {
  for (const path of ['Patient', 'Patient?family=Stone', '', 'Patient/_history', '_history']) {
    const answer = await reader.get(path, ndjson);
    assert.equal(answer.status, 403, path);
    assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
    assert.equal(answer.json.resourceType, 'OperationOutcome');
    assert.equal(answer.text, (await reader.get(path)).text);
  }
});

test('a restricted token sees in lines what it sees in the Bundle, and nothing else', async () => {
  for (const path of [
    'Patient',
    'Patient?_elements=telecom,text',
    'Patient?_summary=true',
    'Encounter?_include=Encounter:patient',
    'ServiceRequest',
    'Patient/p1/*',
    '',
  ]) {
    const lines = await assertSame(restricted, path);
    assert.doesNotMatch(JSON.stringify(lines), /RADIOLOGY|the secret|"text"/, path);
  }
  assert.equal((await assertSame(restricted, 'ServiceRequest')).length, 1);
  assert.equal((await restricted.get('Patient?email=x', ndjson)).status, 403);
  assert.deepEqual(await assertSame(foreign, 'Patient?_id=p1'), []);
  assert.deepEqual(await assertSame(foreign, '_history'), []);
});

test('lines are the entries of the Bundle, in order', async () => {
  for (const path of [
    'Patient',
    'Patient?_sort=-family',
    'Patient?_elements=name',
    'Patient?_summary=true',
    'Patient?_summary=text',
    'Patient?_summary=data',
    'Patient?_summary=count',
    'Patient?_total=none',
    'Patient?_total=estimate&_count=1',
    'Patient?_id=nobody',
    'Patient?_count=1&_revinclude=Encounter:patient',
    'Encounter?_include=Encounter:patient',
    '?_type=Patient,Encounter&_count=2',
    'Patient/p1/*',
    'Patient/p1/Encounter',
    'Patient/p3/_history',
    'Patient/_history?_count=2',
    '_history',
  ]) {
    await assertSame(full, path);
  }
  const [first] = linesOf(await full.get('Patient?_id=p1', ndjson));
  assert.deepEqual(first, (await full.get('Patient/p1')).json);
});

test('a deletion has no line and is counted', async () => {
  assert.equal(
    (await full.send('PUT', 'Basic/b', { resourceType: 'Basic', id: 'b', code: { text: 'x' } })).status,
    201,
  );
  assert.equal((await full.send('DELETE', 'Basic/b')).status, 204);
  const answer = await full.get('Basic/b/_history', ndjson);
  assert.equal(linesOf(answer).length, 1);
  assert.deepEqual([answer.headers.get('x-omitted-entries'), answer.headers.get('x-total-count')], ['1', '2']);
  await assertSame(full, 'Basic/b/_history');
});

test('pages by the header Link make up the whole', async () => {
  const found: unknown[] = [];
  let url: string | undefined = 'Patient?_count=1';
  while (url !== undefined) {
    const answer: Answer = await full.get(url, ndjson);
    found.push(...linesOf(answer));
    assert.equal(linksOf(answer)['previous'] === undefined, found.length === 1);
    url = linksOf(answer)['next'];
  }
  assert.deepEqual(found, (await bundleOf(full, 'Patient')).resources);
});

test('lines are asked for by Accept and by _format, by name alone', async () => {
  const types = async (path: string, accept: string) => (await full.get(path, { accept })).headers.get('content-type');
  for (const [path, accept, type] of [
    ['Patient', 'application/ndjson', 'application/ndjson'],
    ['Patient', 'Application/FHIR+NDJSON', 'application/fhir+ndjson'],
    ['Patient', 'application/fhir+ndjson, application/fhir+json', 'application/fhir+json'],
    ['Patient', 'application/fhir+ndjson, */*;q=0.5', 'application/fhir+ndjson'],
    ['Patient', 'application/fhir+ndjson;q=0.5, application/fhir+xml', 'application/fhir+xml'],
    ['Patient', 'application/fhir+ndjson;q=0, */*', 'application/fhir+json'],
    ['Patient', '*/*', 'application/fhir+json'],
    ['Patient', 'application/*', 'application/fhir+json'],
    ['Patient?_format=ndjson', '*/*', 'application/fhir+ndjson'],
    ['Patient?_format=application/ndjson', 'application/fhir+json', 'application/fhir+ndjson'],
    ['Patient?_format=application/fhir+ndjson&_pretty=true', '*/*', 'application/fhir+ndjson'],
    ['Patient?_format=json', 'application/fhir+ndjson', 'application/fhir+json'],
    ['Patient/p1', 'application/fhir+ndjson, application/fhir+json;q=0.1', 'application/fhir+json'],
  ] as const) {
    assert.equal(await types(path, accept), `${type}; charset=utf-8`, `${path} ${accept}`);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const posted = await full.send('POST', 'Patient/_search', '_format=ndjson&_id=p1', form);
  assert.equal(linesOf(posted).length, 1);
  const head = await full.send('HEAD', 'Patient', undefined, ndjson);
  assert.equal(linksOf(head)['self'], `${maple.base}/Patient`);
  assert.equal(head.text, '');
});

test('a page of lines can be compressed', async () => {
  const path = `${maple.base}/Patient?_count=100`;
  const compressed = await fetch(path, { headers: { ...full.headers, ...ndjson, 'accept-encoding': 'gzip' } });
  assert.equal(await compressed.text(), (await full.get('Patient?_count=100', ndjson)).text);
});

const unserved =
  'Accept allows no media type that is served; application/fhir+json and application/fhir+xml are (application/fhir+ndjson of searches and histories alone)';

test('what is no list is 406 and does nothing', async () => {
  const before = await tenantRows(service.database.owner);
  const expected = { status: 406, error: 'not-acceptable', issue: 'not-supported', diagnostics: unserved };
  for (const [method, path, body] of [
    ['GET', 'Patient/p1', undefined],
    ['GET', 'Patient/p1/_history/1', undefined],
    ['GET', 'metadata', undefined],
    ['GET', 'Patient/p1/$everything', undefined],
    ['POST', 'Patient', patient('Intruder')],
    ['PUT', 'Patient/p1', { ...patient('Intruder'), id: 'p1' }],
    ['DELETE', 'Patient/p1', undefined],
    ['POST', '', batch(entry('GET', 'Patient'))],
  ] as const) {
    assertRefused(await full.send(method, path, body, ndjson), expected);
  }
  const named = await full.get('Patient/p1?_format=ndjson');
  assert.equal(named.status, 406);
  assert.match(named.json.issue[0].diagnostics, /^_format asks for a media type that is not served; /);
  assert.deepEqual(await tenantRows(service.database.owner), before);
});

test('a list in what is not served is told of lines, too', async () => {
  const { status, json } = await full.get('Patient', { accept: 'text/turtle' });
  assert.equal(status, 406);
  assert.equal(
    json.issue[0].diagnostics,
    'Accept allows no media type that is served; application/fhir+json, application/fhir+xml and application/fhir+ndjson are',
  );
});

test('errors are OperationOutcomes in JSON', async () => {
  for (const [path, status] of [
    ['Patient?nonsense=1', 400],
    ['Patient?_cursor=x', 400],
    ['Patient/none/_history', 404],
    ['Nonsense', 404],
  ] as const) {
    const answer = await full.get(path, ndjson);
    assert.equal(answer.status, status, path);
    assert.equal(answer.headers.get('content-type'), 'application/fhir+json; charset=utf-8');
    assert.equal(answer.json.resourceType, 'OperationOutcome');
  }
});

test('links that no client would read are refused and told', async () => {
  const many = `_id=${'p1,'.repeat(45)}p2&family=${'a'.repeat(3000)},S`;
  const form = { 'content-type': 'application/x-www-form-urlencoded', ...ndjson };
  const words = Array.from({ length: 40 }, (_, number) => `family=${'a'.repeat(400)}${number}`).join('&');
  const answer = await full.send('POST', 'Patient/_search', words, form);
  assert.equal(answer.status, 406, answer.text);
  assert.match(
    answer.json.issue[0].diagnostics,
    /^The links of this page take \d+ characters, which is more than the 12000/,
  );
  assert.equal((await full.send('POST', 'Patient/_search', many, form)).status, 200);
});
