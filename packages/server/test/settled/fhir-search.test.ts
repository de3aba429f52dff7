/** docs/integrate/contract.md#fhir: searches and their pages, by real HTTP. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { readConfig } from '../../src/base/config.ts';
import { patient } from '../support/records.ts';
import { assertRefused } from '../support/refusals.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

/** The smallest that the setting takes; the default is checked by itself. */
const pageRowsMax = 100;
const patientsMade = 125;

const service = await openTestService({ after }, { PRAXIS_PAGE_ROWS_MAX: String(pageRowsMax) });
const maple = await makeFirm(service, 'maple');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const caller = await openCaller(service, full, maple);
const ids: string[] = [];
for (let made = 0; made < patientsMade; made += 1) {
  const sent = patient(`Quill${made}`, { gender: made % 5 === 0 ? 'male' : 'female' });
  ids.push((await caller.send('POST', 'Patient', sent)).json.id);
}

function idsOf({ json }: Answer): string[] {
  return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
}

function linkOf({ json }: Answer, relation: string): string | undefined {
  return json.link.find((link: { relation: string }) => link.relation === relation)?.url;
}

/** All pages from `path` on, by next links as they are. */
async function follow(from: Caller, path: string): Promise<Answer[]> {
  const pages: Answer[] = [];
  let next: string | undefined = path;
  while (next !== undefined) {
    const page = await from.get(next);
    assert.equal(page.status, 200);
    pages.push(page);
    next = linkOf(page, 'next');
  }
  return pages;
}

test('settled total: the R4 meaning, the number of all matches, where it is asked for or known', async () => {
  assert.equal((await caller.get('Patient?_count=10&_total=accurate')).json.total, patientsMade);
  assert.equal((await caller.get('Patient?_count=10&_total=accurate&gender=male')).json.total, patientsMade / 5);
  assert.equal((await caller.get('Patient?gender=male')).json.total, patientsMade / 5);
  assert.equal((await caller.get('Patient?_summary=count')).json.total, patientsMade);
  assert.equal('total' in (await caller.get('Patient?gender=male&_total=none')).json, false);
});

test('settled total: the number of rows of the page is a setting of the application', async () => {
  const application = await makeApplication(service, 'Page totals', ['acl/*'], [maple], { totalOfPage: true });
  const counting = await openCaller(service, application, maple);
  assert.equal((await counting.get('Patient?_count=10')).json.total, 10);
  assert.equal((await counting.get('Patient?gender=male&_count=20&page=2')).json.total, 5);
  assert.equal((await counting.get('Patient?gender=male&_count=20&page=3')).json.total, 0);
  assert.equal((await caller.get('Patient?gender=male&_count=20&page=2')).json.total, 25);
});

test('settled page: a bare page=N works up to 10,000 rows by default', async () => {
  assert.equal(readConfig({}).pageRowsMax, 10_000);
  const pages: Answer[] = [];
  for (let page = 1; page <= 10; page += 1) pages.push(await caller.get(`Patient?_count=10&page=${page}`));
  const shown = pages.flatMap(idsOf);
  assert.equal(shown.length, 100);
  assert.equal(new Set(shown).size, 100);
  const linked = (await follow(caller, 'Patient?_count=10')).flatMap(idsOf);
  assert.deepEqual(linked.slice(0, 100), shown);
});

test('settled page: beyond the limit the answer says to follow next', async () => {
  assertRefused(await caller.get('Patient?_count=10&page=11'), {
    status: 400,
    error: 'page-too-deep',
    issue: 'too-costly',
    diagnostics: 'page=11 begins beyond row 100: follow the next links instead, which reach any depth',
    expression: ['page'],
  });
});

test('settled page: next links go on where page=N ends, and bring every row once', async () => {
  const pages = await follow(caller, 'Patient?_count=10&page=10');
  assert.deepEqual(
    pages.map((page) => idsOf(page).length),
    [10, 10, 10, 5],
  );
  const all = (await follow(caller, 'Patient?_count=10')).flatMap(idsOf);
  assert.deepEqual([...all].sort(), [...ids].sort());
});

test('settled page: a cursor is sealed: altered, or for another search or caller, it is refused', async () => {
  const next = linkOf(await caller.get('Patient?_count=10'), 'next') ?? '';
  const cursor = new URL(next).searchParams.get('_cursor') ?? '';
  const refusal = {
    status: 400,
    error: 'cursor-invalid',
    issue: 'value',
    diagnostics:
      '_cursor belongs to another search or caller, or was altered: follow page links as they are, or begin again without it',
    expression: ['_cursor'],
  };
  const flipped = cursor.slice(0, -6) + (cursor.at(-6) === 'A' ? 'B' : 'A') + cursor.slice(-5);
  assertRefused(await caller.get(`Patient?_count=10&_cursor=${flipped}`), refusal);
  assertRefused(await caller.get(`Patient?_count=10&gender=male&_cursor=${cursor}`), refusal);
  assertRefused(await caller.get('Patient?_count=10&_cursor=x'), refusal);
  const application = await makeApplication(service, 'Somebody else', ['acl/*'], [maple]);
  assertRefused(await (await openCaller(service, application, maple)).get(next), refusal);
});

const unknown = {
  status: 400,
  error: 'search-invalid',
  issue: 'invalid',
  diagnostics:
    'shoe-size is not a search parameter of Patient; metadata lists those that are (Prefer: handling=lenient ignores unknown ones)',
  expression: ['shoe-size'],
};

test('settled unknown-parameters: they are refused', async () => {
  assertRefused(await caller.get('Patient?gender=male&shoe-size=43'), unknown);
  assertRefused(await caller.get('Patient?shoe-size=43', { prefer: 'handling=strict' }), unknown);
});

test('settled unknown-parameters: Prefer: handling=lenient leaves them out, of the self link too', async () => {
  const answer = await caller.get('Patient?gender=male&shoe-size=43', { prefer: 'handling=lenient' });
  assert.equal(answer.json.total, patientsMade / 5);
  assert.equal(linkOf(answer, 'self'), `${maple.base}/Patient?gender=male`);
});

test('settled unknown-parameters: the setting of the application does the same, unless the request says strict', async () => {
  const application = await makeApplication(service, 'Lenient', ['acl/*'], [maple], { lenientSearch: true });
  const lenient = await openCaller(service, application, maple);
  assert.equal((await lenient.get('Patient?gender=male&shoe-size=43')).json.total, patientsMade / 5);
  assertRefused(await lenient.get('Patient?gender=male&shoe-size=43', { prefer: 'handling=strict' }), unknown);
});

test('settled self-links: they echo the search, with the parameters that were used', async () => {
  const searches = [
    'Patient',
    'Patient?gender=male&family=quill&_sort=-birthdate&_count=5',
    'Patient?gender=http://hl7.org/fhir/administrative-gender%7Cmale',
    'Patient?birthdate=ge1970-01-01&birthdate=lt2000-01-01',
    'Patient?family:exact=O%27Neill%20%26%20S%C3%B8n',
  ];
  for (const search of searches) {
    const self = linkOf(await caller.get(search), 'self') ?? '';
    assert.equal(decodeURIComponent(self), `${maple.base}/${decodeURIComponent(search)}`);
    assert.equal((await caller.get(self)).status, 200);
  }
  const form = { 'content-type': 'application/x-www-form-urlencoded' };
  const posted = await caller.send('POST', 'Patient/_search?_count=5', 'gender=male', form);
  assert.equal(linkOf(posted, 'self'), `${maple.base}/Patient?_count=5&gender=male`);
});
