/**
 * Searches that no index serves are refused beyond a limit, before they hold a connection (docs/decisions/0222): in `_filter`,
 * as parameters, in lists of values, and over references.
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { tooCostly } from '../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const caller = await openCaller(service, await makeApplication(service, 'Full', ['acl/*'], [maple]), maple);
await caller.send('PUT', 'Patient/p', { resourceType: 'Patient', id: 'p', name: [{ family: 'Appelbaum' }] });
await caller.send('PUT', 'Observation/o', {
  resourceType: 'Observation',
  id: 'o',
  status: 'final',
  code: { text: 'x' },
  subject: { reference: 'Patient/p' },
});

const repeat = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));
const filter = (text: string) => `_filter=${encodeURIComponent(text)}`;
const scanned = (count: number) =>
  tooCostly(
    `The search compares ${count} values by :contains, co or ew, which no index serves: the limit of one search is 10. Nothing was changed. To make it cheaper: compare by the beginning (sw, or no modifier) or by the whole (eq, :exact), or ask in several searches`,
  );

const cases: readonly (readonly [query: string, count: number])[] = [
  [`Patient?${filter(repeat(50, (at) => `name co "a${at}"`).join(' or '))}`, 50],
  [`Patient?${filter(repeat(11, (at) => `family ew "a${at}"`).join(' and '))}`, 11],
  [`Patient?${filter(`not (${repeat(11, (at) => `family ne "x" and name co "a${at}"`).join(' or ')})`)}`, 11],
  [`Patient?name:contains=${repeat(500, (at) => `q${at}`).join(',')}`, 500],
  [`Patient?${repeat(11, (at) => `name:contains=q${at}`).join('&')}`, 11],
  [`Patient?name:contains=a,b,c,d,e,f&${filter(repeat(5, () => 'name co "a"').join(' or '))}`, 11],
  [`Observation?subject:Patient.name:contains=${repeat(11, (at) => `q${at}`).join(',')}`, 11],
  [`Observation?${filter(repeat(11, (at) => `subject.name co "a${at}"`).join(' or '))}`, 11],
  [`Observation?${filter(`patient[${repeat(11, (at) => `name co "a${at}"`).join(' or ')}].gender eq "male"`)}`, 11],
  [`Patient?_has:Observation:patient:patient.name:contains=${repeat(11, (at) => `q${at}`).join(',')}`, 11],
];

test('more comparisons than an index serves are refused, wherever they stand', async () => {
  for (const [query, count] of cases) {
    const answer = await caller.get(query);
    assert.equal(answer.status, 422, query);
    assert.deepEqual(answer.json, scanned(count));
  }
});

test('as many as the limit are answered', async () => {
  const appelbaum = `name:contains=${repeat(9, (at) => `q${at}`).join(',')},pelb`;
  for (const query of [
    `Patient?${appelbaum}`,
    `Patient?${filter(`${repeat(9, (at) => `name co "a${at}"`).join(' or ')} or family ew "baum"`)}`,
    `Observation?subject:Patient.${appelbaum}`,
  ]) {
    const { status, json } = await caller.get(query);
    assert.equal(status, 200, query);
    assert.equal(json.entry?.length, 1, query);
  }
});

test('and and or that alternate are answered as fast as those side by side', async () => {
  const alternating = (count: number, operator: string) =>
    repeat(count, (at) => `name ${operator} "a${at}"${at + 1 === count ? '' : at % 2 === 0 ? ' or' : ' and'}`).join(
      ' ',
    );
  for (const text of [alternating(50, 'sw'), alternating(50, 'eq'), alternating(10, 'co')]) {
    const { status, json } = await caller.get(`Patient?${filter(text)}`);
    assert.equal(status, 200, text);
    assert.equal(json.entry, undefined);
  }
  const nested = `${repeat(18, (at) => `family eq "a${at}" ${at % 2 === 0 ? 'or' : 'and'} (`).join('')}family eq "appelbaum"${')'.repeat(18)}`;
  assert.equal((await caller.get(`Patient?${filter(nested)}`)).status, 200);
});

test('the comparisons of all filters of a search count together', async () => {
  const some = (count: number) => filter(repeat(count, (at) => `name sw "a${at}"`).join(' or '));
  assert.equal((await caller.get(`Patient?${some(25)}&${some(25)}`)).status, 200);
  const answer = await caller.get(`Patient?${some(25)}&${some(26)}`);
  assert.equal(answer.status, 422);
  const diagnostics =
    'The search has 51 comparisons in _filter: the limit of one search is 50. Nothing was changed. To make it cheaper: use search parameters with several values, or ask in several searches';
  assert.deepEqual(answer.json, tooCostly(diagnostics, '_filter'));
});

test('a search that takes long to read is refused before it is read', async () => {
  const parameters = repeat(5, () => ['identifier', repeat(500, (at) => `${at}${'x'.repeat(100)}`).join(',')]);
  const response = await fetch(`${maple.base}/Patient/_search`, {
    method: 'POST',
    headers: { ...caller.headers, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(parameters).toString(),
  });
  assert.equal(response.status, 422);
  const diagnostics =
    'Reading the search costs more than one request may: the limit is 2000000 steps of computing. Nothing was changed. To make it cheaper: name fewer values';
  assert.deepEqual(await response.json(), tooCostly(diagnostics));
});

test('parameters with more values together than the limit are refused', async () => {
  const values = (code: string, count: number) => `${code}=${repeat(count, (at) => `${at}`).join(',')}`;
  const full = repeat(4, () => values('code', 500)).join('&');
  assert.equal((await caller.get(`Observation?${full}`)).status, 200);
  for (const query of [
    `Observation?${full}&code=x`,
    `Observation?${repeat(5, () => values('subject:Patient.identifier', 500)).join('&')}`,
    // What comes after too many values is not read, whatever is wrong with it.
    `Observation?${full}&code=x&date=nonsense`,
  ]) {
    const answer = await caller.get(query);
    assert.equal(answer.status, 422, query.slice(0, 60));
    assert.deepEqual(
      answer.json,
      tooCostly(
        'The parameters of the search have more than 2000 values together, the limit of one search. Nothing was changed. To make it cheaper: leave out the parameters with the most values, or ask in several searches',
      ),
    );
  }
});
