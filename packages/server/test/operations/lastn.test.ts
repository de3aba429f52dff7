/**
 * $lastn: the most recent observations of each code (https://hl7.org/fhir/R4/observation-operation-lastn.html).
 */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { groupConcepts } from '../../src/operations/code-groups.ts';
import { patient } from '../support/records.ts';
import {
  type Answer,
  type Caller,
  makeApplication,
  makeFirm,
  openCaller,
  openTestService,
} from '../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const callerWith = async (name: string, acl: readonly string[], firm = maple): Promise<Caller> =>
  openCaller(service, await makeApplication(service, name, acl, [firm]), firm);
const full = await callerWith('Full', ['acl/*']);
const foreign = await callerWith('Foreign', ['acl/*'], cedar);
const names = await callerWith('Names', ['acl/pat_s_name_dob_gen']);

const loinc = (code: string) => ({ system: 'http://loinc.org', code });
const category = [
  { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' }] },
];
const stone = `Patient/${(await full.send('POST', 'Patient', patient('Stone'))).json.id}`;
const cobble = `Patient/${(await full.send('POST', 'Patient', patient('Cobble'))).json.id}`;

async function observe(name: string, code: object, effective: object, subject = stone): Promise<void> {
  const observation = {
    resourceType: 'Observation',
    id: name,
    status: 'final',
    category,
    code,
    subject: { reference: subject },
  };
  const answer = await full.send('PUT', `Observation/${name}`, { ...observation, ...effective });
  assert.equal(answer.status, 201, answer.text);
}
const on = (day: string) => ({ effectiveDateTime: `2026-03-${day}` });
const weight = { coding: [loinc('29463-7')] };
await observe('weight-1', weight, on('01'));
await observe('weight-3', { coding: [{ ...loinc('29463-7'), display: 'Weight' }] }, on('03'));
await observe('weight-2', weight, on('02'));
await observe('weight-3b', weight, on('03'));
await observe('temperature', { coding: [loinc('8310-5')] }, on('02'));
await observe('text', { text: 'Mood' }, on('05'));
await observe('text-2', { text: 'Mood' }, on('04'));
await observe('undated', { coding: [loinc('8867-4')] }, {});
await observe('other', weight, on('09'), cobble);

const ids = (answer: Answer): string[] => {
  assert.equal(answer.status, 200, answer.text);
  return (answer.json.entry ?? []).map((each: { resource: { id: string } }) => each.resource.id);
};
const ask = async (query: string, caller = full) => caller.get(`Observation/$lastn?${query}`);

test('denials: without a search entry 403; another firm finds nothing', async () => {
  const answer = await ask(`patient=${stone}&category=vital-signs`, names);
  assert.equal(answer.status, 403);
  assert.ok(!answer.text.includes('Mood'));
  assert.deepEqual(ids(await ask(`patient=${stone}&category=vital-signs`, foreign)), []);
});

test('the most recent of each code, ties both, most recent first', async () => {
  const answer = await ask(`patient=${stone}&category=vital-signs`);
  const found = ids(answer);
  assert.deepEqual(found.toSorted(), ['temperature', 'text', 'undated', 'weight-3', 'weight-3b']);
  assert.deepEqual([found[0], found[3], found[4]], ['text', 'temperature', 'undated']);
  assert.equal(answer.json.total, 5);
  assert.deepEqual(answer.json.link, [
    { relation: 'self', url: `${maple.base}/Observation/$lastn?patient=${stone}&category=vital-signs` },
  ]);
});

test('max is per code', async () => {
  assert.deepEqual(ids(await ask(`subject=${stone}&code=29463-7&max=2`)).toSorted(), ['weight-3', 'weight-3b']);
  const three = ids(await ask(`subject=${stone}&code=29463-7&max=3`));
  assert.deepEqual(three.slice(2), ['weight-2']);
  assert.equal(ids(await ask(`subject=${stone}&code=29463-7&max=9`)).length, 4);
});

test('other search parameters narrow what is looked at', async () => {
  assert.deepEqual(ids(await ask(`patient=${stone}&code=29463-7&date=lt2026-03-03`)), ['weight-2']);
});

test('what is missing or not taken is named', async () => {
  const refused = async (query: string, says: RegExp, status = 400) => {
    const answer = await ask(query);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.json.issue[0].diagnostics, says);
  };
  await refused('category=vital-signs', /^patient is missing/);
  await refused(`patient=${stone}`, /^category is missing/);
  await refused(`patient=${stone}&category=vital-signs&max=0`, /^max takes a value of type positiveInt/);
  await refused(`patient=${stone}&category=vital-signs&_sort=date`, /^_sort is not taken/);
  await refused(`patient=${stone}&category=vital-signs&nonsense=1`, /^nonsense is not a search parameter/);
});

test("groups of codes: R4's own table", () => {
  const codes = (...list: string[]) => ({ coding: list.map((code) => ({ system: 's', code })) });
  const groups = (...concepts: object[]) => new Set(groupConcepts(JSON.parse(JSON.stringify(concepts)))).size;
  assert.equal(groups(codes('a'), codes('b'), codes('c')), 3);
  assert.equal(groups(codes('a'), codes('b'), codes('a', 'c')), 2);
  assert.equal(groups(codes('a'), codes('b'), codes('a', 'b')), 1);
  assert.equal(groups({ text: 'textM' }, { text: 'Text' }, { text: 't e x t' }), 3);
});
