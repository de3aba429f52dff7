/** How existing clients go through pages, by real HTTP: each reads and sends only what it knows. */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

const patientsMade = 57;

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple]);
const pageTotals = await makeApplication(service, 'Page totals', ['acl/*'], [maple], { totalOfPage: true });
const caller = await openCaller(service, full, maple);
const withPageTotals = await openCaller(service, pageTotals, maple);
const ids: string[] = [];
for (let made = 0; made < patientsMade; made += 1) {
  const sent = patient('Quill', { active: made % 2 === 0, birthDate: `19${40 + made}-01-01` });
  ids.push((await caller.send('POST', 'Patient', sent)).json.id);
}
ids.sort();

function idsOf({ status, json }: Answer): string[] {
  assert.equal(status, 200);
  return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
}

function nextOf({ json }: Answer): string | undefined {
  return json.link.find(({ relation }: { relation: string }) => relation === 'next')?.url;
}

/** Longest walk of a client that does not find an end. */
const pagesMax = 30;

test('clients paging: link[next] is absolute and followed verbatim with both headers', async () => {
  const seen: string[] = [];
  let url: string | undefined = `${maple.base}/Patient?family=quill&_count=10`;
  for (let page = 1; url !== undefined && page <= pagesMax; page += 1) {
    const answer: Answer = await caller.get(url);
    seen.push(...idsOf(answer));
    url = nextOf(answer);
    if (url !== undefined) assert.ok(url.startsWith(`${maple.base}/Patient?`));
  }
  assert.deepEqual(seen.sort(), ids);
});

test('clients paging: the integer page is taken out of the next link and sent with the parameters of the client', async () => {
  const seen: string[] = [];
  const sizes: number[] = [];
  let page: string | null = '1';
  while (page !== null && sizes.length < pagesMax) {
    const answer: Answer = await caller.get(`Patient?family=quill&_count=10&page=${page}`);
    seen.push(...idsOf(answer));
    sizes.push(idsOf(answer).length);
    const next: string | undefined = nextOf(answer);
    page = next === undefined ? null : new URL(next).searchParams.get('page');
    if (page !== null) assert.equal(page, String(sizes.length + 1));
  }
  assert.deepEqual(sizes, [10, 10, 10, 10, 10, 7]);
  assert.deepEqual(seen.sort(), ids);
});

/** Adds page=1, 2, 3, … until `isEnd`. Returns the ids of every page. */
async function countUp(from: Caller, query: string, isEnd: (answer: Answer, known: ReadonlySet<string>) => boolean) {
  const pages: string[][] = [];
  const known = new Set<string>();
  for (let page = 1; page <= pagesMax; page += 1) {
    const answer = await from.get(`Patient?${query}&page=${page}`);
    if (isEnd(answer, known)) return pages;
    pages.push(idsOf(answer));
    for (const id of idsOf(answer)) known.add(id);
  }
  throw new Error('the client found no end');
}

test('clients paging: page=1, 2, 3, … is added until there is no next link', async () => {
  let ended = false;
  const pages = await countUp(caller, 'family=quill&_count=20', (answer) => {
    if (ended) return true;
    ended = nextOf(answer) === undefined;
    return false;
  });
  assert.deepEqual(pages.flat().sort(), ids);
});

test('clients paging: page=1, 2, 3, … is added until a page brings nothing new', async () => {
  const pages = await countUp(caller, 'family=quill&_count=20', (answer, known) =>
    idsOf(answer).every((id) => known.has(id)),
  );
  assert.deepEqual(pages.flat().sort(), ids);
});

test('clients paging: page=1, 2, 3, … is added until total is 0, for an application set to totals of pages', async () => {
  const totals: number[] = [];
  const pages = await countUp(withPageTotals, 'family=quill&_count=20', ({ json }) => {
    totals.push(json.total);
    return json.total === 0;
  });
  assert.deepEqual(totals, [20, 20, 17, 0]);
  assert.deepEqual(pages.flat().sort(), ids);
});

test('clients paging: a client that sorts and filters sees every match once', async () => {
  const pages = await countUp(caller, 'active=true&_sort=-birthdate&_count=7', (answer) => idsOf(answer).length === 0);
  const seen = pages.flat();
  assert.equal(seen.length, 29);
  assert.equal(new Set(seen).size, 29);
});

test('clients count: _count above the maximum is clamped, not refused', async () => {
  for (const count of ['100', '1000', '2000000000']) {
    const answer = await caller.get(`Patient?_count=${count}`);
    assert.equal(idsOf(answer).length, 50);
    const next = nextOf(answer) ?? '';
    assert.equal(idsOf(await caller.get(next)).length, 7);
  }
});
