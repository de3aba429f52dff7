/**
 * Links between the pages of a searchset and its total, by HTTP: https://hl7.org/fhir/R4/http.html#paging,
 * https://hl7.org/fhir/R4/search.html#total; docs/decisions/0110 to 0112.
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { batch, post } from '../../bundle/bundles.ts';
import { patient } from '../../support/records.ts';
import { type Answer, makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const full = await makeApplication(service, 'Full', ['acl/*'], [maple, cedar]);
const caller = await openCaller(service, full, maple);
const atCedar = await openCaller(service, full, cedar);
const names = ['acl/pat_s_name_dob_gen'];
const restricted = await openCaller(service, await makeApplication(service, 'Names', names, [maple]), maple);
const perPage = { totalOfPage: true };
const pageTotals = await openCaller(
  service,
  await makeApplication(service, 'Pages', ['acl/*'], [maple], perPage),
  maple,
);

const families = ['Ash', 'Birch', 'Cedar', 'Elm', 'Fir'];
for (const family of families) await caller.send('POST', 'Patient', patient(family, { gender: 'female' }));

const search = 'Patient?_sort=family&_count=2';
const flagged = { 'content-flag': 'Pagination_optimization_disabled' };

function linksOf({ json }: Answer): Record<string, string> {
  return Object.fromEntries(json.link.map(({ relation, url }: Record<string, string>) => [relation, url]));
}

function linkOf(answer: Answer, relation: string): string {
  return linksOf(answer)[relation] ?? assert.fail(`no link ${relation}: ${answer.text}`);
}

/** What links say of themselves, without the cursor that nobody reads. */
function statedOf(answer: Answer): Record<string, string> {
  const stated = Object.entries(linksOf(answer)).map(([relation, link]) => {
    const url = new URL(link);
    assert.equal(`${url.origin}${url.pathname}`, `${maple.base}/Patient`);
    if (url.searchParams.has('_cursor')) url.searchParams.set('_cursor', 'sealed');
    return [relation, url.search];
  });
  return Object.fromEntries(stated);
}

function shown({ status, json, text }: Answer): string[] {
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(
    ({ resource }: { resource: { name: { family: string }[] } }) => resource.name[0]?.family,
  );
}

const own = '?_sort=family&_count=2';

test('first, previous and next lead through the pages both ways; a page alone has only itself', async () => {
  const first = await caller.get(search);
  const second = await caller.get(linkOf(first, 'next'));
  const third = await caller.get(linkOf(second, 'next'));
  assert.deepEqual([shown(first), shown(second), shown(third)], [['Ash', 'Birch'], ['Cedar', 'Elm'], ['Fir']]);
  const to = (page: number): string => `${own}&page=${page}&_cursor=sealed`;
  assert.deepEqual(statedOf(first), { self: own, first: own, next: to(2) });
  assert.deepEqual(statedOf(second), { self: to(2), first: own, previous: to(1), next: to(3) });
  assert.deepEqual(statedOf(third), { self: to(3), first: own, previous: to(2) });
  const back = await caller.get(linkOf(third, 'previous'));
  assert.deepEqual(back.json.entry, second.json.entry);
  const start = await caller.get(linkOf(back, 'previous'));
  assert.deepEqual([start.json.entry, statedOf(start).previous], [first.json.entry, undefined]);
  assert.deepEqual((await caller.get(linkOf(start, 'next'))).json.entry, second.json.entry);
  assert.deepEqual((await caller.get(linkOf(third, 'first'))).json.entry, first.json.entry);
  assert.deepEqual(statedOf(await caller.get('Patient?_count=10')), { self: '?_count=10' });
});

test('a page asked for by number has a previous page, too', async () => {
  const third = await caller.get(`${search}&page=3`);
  assert.deepEqual(statedOf(third).previous, `${own}&page=2&_cursor=sealed`);
  assert.deepEqual(shown(await caller.get(linkOf(third, 'previous'))), ['Cedar', 'Elm']);
});

test('with Pagination_optimization_disabled every page has the grand total and a link to the last', async () => {
  for (const from of [caller, pageTotals]) {
    let answer = await from.get(search, flagged);
    assert.deepEqual([answer.json.total, statedOf(answer).last], [5, `${own}&page=3&_cursor=sealed`]);
    const last = await from.get(linkOf(answer, 'last'), flagged);
    assert.deepEqual([shown(last), last.json.total, linksOf(last)['next']], [['Fir'], 5, undefined]);
    answer = await from.get(linkOf(last, 'previous'), flagged);
    assert.deepEqual(
      [shown(answer), answer.json.total, statedOf(answer)['last']?.includes('page=3')],
      [['Cedar', 'Elm'], 5, true],
    );
  }
  const alone = await caller.get('Patient?_count=5', flagged);
  assert.deepEqual([alone.json.total, statedOf(alone)], [5, { self: '?_count=5' }]);
  const none = await caller.get('Patient?family=Oak', flagged);
  assert.deepEqual([none.json.total, statedOf(none)], [0, { self: '?family=Oak' }]);
  assert.equal((await caller.get(`${search}&_total=none`, flagged)).json.total, 5);
});

test('other values of Content-flag change nothing', async () => {
  for (const value of ['Referral', 'pagination', '', 'Universal_Id, Referral']) {
    const answer = await caller.get(search, { 'content-flag': value });
    assert.deepEqual([answer.json.total, Object.keys(linksOf(answer))], [undefined, ['self', 'first', 'next']], value);
  }
  const several = await caller.get(search, { 'content-flag': 'Referral, Pagination_optimization_disabled' });
  assert.equal(several.json.total, 5);
  assert.equal((await pageTotals.get(search)).json.total, 2);
});

test('links back are as sealed as links on: another firm, other rights and another search learn nothing', async () => {
  const third = await caller.get(`${search}&page=3`, flagged);
  for (const relation of ['previous', 'last']) {
    const { search: query } = new URL(linkOf(third, relation));
    const other = query.replace('_sort=family', '_sort=-family');
    for (const [name, answer] of Object.entries({
      cedar: await atCedar.get(`Patient${query}`),
      restricted: await restricted.get(`Patient${query}`),
      order: await caller.get(`Patient${other}`),
    })) {
      assert.equal(answer.status, 400, name);
      assert.deepEqual(answer.json.issue[0].details.coding[0].code, 'cursor-invalid', name);
      assert.ok(!/Ash|Birch|Cedar|Elm|Fir/.test(answer.text), name);
    }
  }
});

test('a link that was altered is refused, also where it would decode to the same bytes', async () => {
  const { searchParams } = new URL(linkOf(await caller.get(search), 'next'));
  const cursor = searchParams.get('_cursor') ?? '';
  assert.equal((await caller.get(`${search}&_cursor=${cursor}`)).status, 200);
  for (const altered of [`${cursor}x`, `${cursor}A`, cursor.slice(0, -1)]) {
    const answer = await caller.get(`${search}&_cursor=${altered}`);
    assert.deepEqual([answer.status, answer.json.issue[0].details.coding[0].code], [400, 'cursor-invalid'], altered);
  }
});

test('a restricted caller is counted for under its own rights, and may not count by what is hidden', async () => {
  assert.equal((await restricted.get(search, flagged)).json.total, 5);
  const refused = await restricted.get('Patient?active=true&_total=estimate', flagged);
  assert.deepEqual([refused.status, refused.json.issue[0].details.coding[0].code], [403, 'access-denied']);
  assert.equal((await atCedar.get('Patient?_total=estimate', flagged)).json.total, 0);
});

test('an estimate that is a count is not labelled', async () => {
  const answer = await caller.get(`${search}&_total=estimate`);
  assert.deepEqual([answer.json.total, shown(answer)], [5, ['Ash', 'Birch']]);
});

test('an estimate says that it is one, in an outcome beside the matches', async () => {
  const made = Array.from({ length: 240 }, (_, n) => post(patient('Oak', { gender: n % 2 === 0 ? 'female' : 'male' })));
  assert.equal((await caller.send('POST', '', batch(...made))).status, 200);
  const query = 'Patient?family=oak&gender=female&_count=3';
  const { json } = await caller.get(`${query}&_total=estimate`);
  assert.ok(json.total >= 4 && json.total <= 240, String(json.total));
  assert.equal(json.entry.length, 4);
  const diagnostics =
    'Bundle.total is an estimate: it was found from a sample of the resources that meet the most selective condition; _total=accurate counts';
  assert.deepEqual(json.entry.at(-1), {
    resource: {
      resourceType: 'OperationOutcome',
      issue: [{ severity: 'information', code: 'informational', diagnostics }],
    },
    search: { mode: 'outcome' },
  });
  const accurate = await caller.get(`${query}&_total=accurate`);
  assert.deepEqual([accurate.json.total, accurate.json.entry.length], [120, 3]);
  assert.deepEqual((await atCedar.get(`${query}&_total=estimate`)).json.total, 0);
});
