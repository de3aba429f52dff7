/**
 * Single resources that take a body to its limit: refused in words with nothing written, or stored and found by the last of what
 * they hold; and while one is worked on, others are answered (docs/decisions/0249).
 */
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, test } from 'node:test';
import type { JsonObject } from '@praxis/fhir';
import { makeMany } from '../../../src/base/worst-case.ts';
import { assertRefused } from '../../support/refusals.ts';
import { makeApplication, makeFirm, openCaller, openTestService } from '../../support/service.ts';

const service = await openTestService({ after });
const maple = await makeFirm(service, 'maple');
const cedar = await makeFirm(service, 'cedar');
const caller = await openCaller(service, await makeApplication(service, 'Large', ['acl/*'], [maple]), maple);
const other = await openCaller(service, await makeApplication(service, 'Small', ['acl/*'], [cedar]), cedar);

const loinc = 'http://loinc.org';

function component(code: string, value: number): JsonObject {
  return {
    code: { coding: [{ system: loinc, code, display: `Display of ${code}` }] },
    valueQuantity: { value, system: 'http://unitsofmeasure.org', code: 'mg' },
  };
}

function observation(components: readonly JsonObject[]): JsonObject {
  return { resourceType: 'Observation', status: 'final', code: { text: 'Large' }, component: [...components] };
}

async function idsOf(search: string): Promise<readonly string[]> {
  const { status, json, text } = await caller.get(search);
  assert.equal(status, 200, text);
  return (json.entry ?? []).map(({ resource }: { resource: { id: string } }) => resource.id);
}

test('an Observation with more codes than the index takes is refused, and nothing is written', async () => {
  const sent = observation(makeMany(15_000, (number) => component(`c${number}`, number)));
  assertRefused(await caller.send('POST', 'Observation', sent), {
    status: 422,
    error: 'too-costly',
    issue: 'too-costly',
    diagnostics:
      'Observation.component.code has more values for the search parameter combo-code than the index takes: 10000 rows at most for it. Nothing was changed. To make it cheaper: send fewer elements, or several resources',
    expression: ['Observation.component.code'],
  });
  assert.deepEqual(await idsOf('Observation?_elements=id'), []);
});

test('an Observation of 19,900 components is stored and found by the last of them', async () => {
  const components = makeMany(19_900, (number) => component(`c${number % 300}`, number % 300));
  const sent = observation([...components, component('last', 7_000)]);
  const { status, json } = await caller.send('POST', 'Observation', sent);
  assert.equal(status, 201);
  assert.equal(json.component.length, 19_901);
  const searches = [
    `component-code-value-quantity=${loinc}|last$gt6999`,
    `combo-code=${loinc}|last`,
    'combo-value-quantity=7000|http://unitsofmeasure.org|mg',
    'component-code:text=display of last',
  ];
  for (const search of searches) assert.deepEqual(await idsOf(`Observation?_elements=id&${search}`), [json.id], search);
  assert.deepEqual(await idsOf(`Observation?_elements=id&component-code-value-quantity=${loinc}|last$gt7000`), []);
});

test('texts of millions of characters are stored and found by the last of them, quotes and backslashes as they were sent', async () => {
  const long = (letter: string): string => `${letter}é "\\n" `.repeat(80_000);
  const name = [
    ...makeMany(4, (number) => ({ text: long('abcd'.charAt(number)) })),
    { text: 'Last of all', given: ['Zoë'] },
  ];
  const sent = { resourceType: 'Patient', name };
  const { status, json } = await caller.send('POST', 'Patient', sent);
  assert.equal(status, 201);
  for (const search of ['name=last of', 'given=zoe', 'phonetic=zoe', 'name:exact=Last of all'])
    assert.deepEqual(await idsOf(`Patient?_elements=id&${search}`), [json.id], search);
  const read = await caller.get(`Patient/${json.id}`);
  assert.deepEqual(read.json.name, name);
});

/** Answers to small requests of another firm, from the last byte of a large body to its answer. */
async function answersMeanwhile(
  path: string,
  body: string,
): Promise<{ readonly status: number; readonly count: number }> {
  const { hostname, port, pathname } = new URL(`${maple.base}/${path}`);
  const headers = {
    ...caller.headers,
    'content-type': 'application/fhir+json',
    'content-length': Buffer.byteLength(body),
  };
  const request = http.request({ hostname, port, path: pathname, method: 'POST', headers });
  let isAnswered = false;
  const answer = new Promise<number>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', (response) => {
      isAnswered = true;
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
  });
  await new Promise((sent) => request.write(body.slice(0, -1), sent));
  assert.equal((await other.get('Patient/none')).status, 404);
  request.end(body.slice(-1));
  let count = 0;
  for (;;) {
    const { status } = await other.get('Patient/none');
    if (isAnswered) break;
    assert.equal(status, 404);
    count += 1;
  }
  return { status: await answer, count };
}

test('while a large resource is checked and indexed, another firm is answered again and again', async () => {
  const components = makeMany(19_900, (number) => component(`c${number % 300}`, number % 300));
  const broken = { ...component('last', 1), dataAbsentReason: { text: 'obs-6 is judged of the Observation itself' } };
  const sent = { ...observation([...components, broken]), valueString: 'x', dataAbsentReason: { text: 'unknown' } };
  const { status, count } = await answersMeanwhile('Observation', JSON.stringify(sent));
  // Refused by an invariant after all else was done, so no statement is waited for: whoever is answered meanwhile, between two pieces.
  assert.equal(status, 422);
  assert(count >= 5, `${count} answers`);
});
