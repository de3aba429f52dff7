/** How the benchmarks judge whether two servers answer alike. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { findDifference, sayOf } from '../../bench/against-server/agreement.ts';
import { namesServer } from '../../bench/against-server/bench-server.ts';
import { buildDataSet } from '../../bench/against-server/data-set.ts';

const patient = { resourceType: 'Patient', id: 'bench-1', birthDate: '1980-01-01' };
const other = { resourceType: 'Patient', id: 'bench-2', birthDate: '1980-01-01' };
const late = { resourceType: 'Patient', id: 'bench-3', birthDate: '1990-01-01' };
const sortedBy = ({ birthDate = '' }: { readonly birthDate?: string }): string => birthDate;

function say(resources: readonly object[], question: Parameters<typeof sayOf>[3] = {}) {
  const entries = resources.map((resource) => ({ resource }) as Parameters<typeof sayOf>[0][number]);
  return sayOf(entries, undefined, { base: 'http://one.example/fhir' }, question);
}

test('answers agree whatever the order, the meta, the text and the form of references', () => {
  const referring = { ...patient, managingOrganization: { reference: 'Organization/bench-1' } };
  const absolute = { reference: 'http://one.example/fhir/Organization/bench-1' };
  const told = { ...patient, managingOrganization: absolute, meta: { versionId: '7' }, text: { status: 'generated' } };
  assert.equal(findDifference(say([referring, other]), say([other, told])), undefined);
});

test('resources of others do not matter', () => {
  assert.equal(findDifference(say([patient]), say([patient, { ...patient, id: '4' }])), undefined);
});

test('what is missing, and what has another content, is a difference', () => {
  assert.match(findDifference(say([patient]), say([])) ?? '', /^found Patient\/bench-1, not $/);
  assert.match(findDifference(say([patient]), say([{ ...patient, active: true }])) ?? '', /"active":true/);
});

test('where an order is asked for, only those that are equal in it may change places', () => {
  const question = { sortedBy };
  assert.equal(findDifference(say([patient, other, late], question), say([other, patient, late], question)), undefined);
  assert.notEqual(findDifference(say([patient, late], question), say([late, patient], question)), undefined);
});

test('--against names a server by a URL, else a directory', () => {
  assert.ok(namesServer(['--rounds', '1', '--against', 'http://localhost/fhir']));
  assert.ok(namesServer(['--against=https://fhir.example/r4']));
  assert.ok(!namesServer(['--against', '../other']));
});

test('what is loaded refers only to what comes before it', () => {
  const known = new Set<string>();
  for (const resource of buildDataSet(20)) {
    for (const [, reference] of JSON.stringify(resource).matchAll(/"reference":"([^"]*)"/g))
      assert.ok(known.has(reference ?? ''), `${resource.resourceType}/${resource.id} refers to ${reference}`);
    known.add(`${resource.resourceType}/${resource.id}`);
  }
  assert.ok(known.size > 200, `${known.size}`);
});
