/**
 * Estimates of the number of matches: what they tell, and that they tell the same whatever the caller may not see
 * (docs/decisions/0112). https://hl7.org/fhir/R4/search.html#total
 */
import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { planEstimate } from '../../src/search/sql/plan.ts';
import type { Estimate } from '../../src/storage/store.ts';
import { openSearchWorld, type PageOptions, parametersOfQuery, targetOf } from './world.ts';

const patientsMade = 5_400;

const world = await openSearchWorld({ after });
await world.load(
  Array.from({ length: patientsMade }, (_, n) => ({
    resourceType: 'Patient',
    id: `p${n}`,
    gender: n % 3 === 0 ? 'female' : 'male',
    active: n % 600 < 150,
    name: [{ family: n < 90 ? 'Rare' : n < 900 ? 'Common' : 'Frequent', given: ['Ada', 'Bea'] }],
  })),
  { bare: true },
);
await world.load(
  Array.from({ length: 600 }, (_, n) => ({
    resourceType: 'Observation',
    id: `o${n}`,
    status: 'final',
    code: { text: 'Weight' },
    subject: { reference: `Patient/p${(n * 7919) % 5399}` },
  })),
  { bare: true },
);

async function estimateOf(query: string, options: PageOptions = {}, type = 'Patient'): Promise<Estimate> {
  const target = targetOf(world.scope, type, parametersOfQuery(query), options);
  return await world.store.selectEstimate(world.scope, planEstimate(target));
}

test('few matches, and those of one condition, are counted', async () => {
  const counted = { sampled: false, bounded: false };
  assert.deepEqual(await estimateOf('family=rare'), { total: 90, ...counted });
  assert.deepEqual(await estimateOf('family=rare&gender=female'), { total: 30, ...counted });
  assert.deepEqual(await estimateOf('family=common'), { total: 810, ...counted });
  assert.deepEqual(await estimateOf('family=nobody'), { total: 0, ...counted });
  assert.deepEqual(await estimateOf('name=common'), { total: 810, ...counted });
});

test('of more, a sample is asked for the other conditions', async () => {
  const { total, sampled, bounded } = await estimateOf('family=common&gender=female');
  assert.deepEqual([sampled, bounded], [true, false]);
  const exact = await world.count('Patient', 'family=common&gender=female');
  assert.ok(Math.abs(total - exact) < exact * 0.4, `${total} for ${exact}`);
});

test('of several other conditions, those count that meet all', async () => {
  const query = 'family=common&gender=female&active=true';
  const { total } = await estimateOf(query);
  const exact = await world.count('Patient', query);
  assert.ok(exact > 50 && Math.abs(total - exact) < exact * 0.5, `${total} for ${exact}`);
});

test('beyond a limit counting stops', async () => {
  const stopped = { total: 1_000, sampled: false, bounded: true };
  assert.deepEqual(await estimateOf(''), stopped);
  assert.deepEqual(await estimateOf('gender=female'), stopped);
  assert.deepEqual(await estimateOf('name=ada'), stopped);
});

test('few linked resources lead to all matches; where they are many, a sample of the type is asked', async () => {
  const few = await estimateOf('patient.family=rare', {}, 'Observation');
  const ofFew = await world.count('Observation', 'patient.family=rare');
  assert.ok(ofFew > 0);
  assert.deepEqual(few, { total: ofFew, sampled: false, bounded: false });
  const { total, sampled, bounded } = await estimateOf('patient.gender=male', {}, 'Observation');
  assert.deepEqual([sampled, bounded], [true, false]);
  const exact = await world.count('Observation', 'patient.gender=male');
  assert.ok(exact > 300 && Math.abs(total - exact) < exact * 0.4, `${total} for ${exact}`);
});

test('for a caller with row criteria matches are counted, so hidden ones change nothing', async () => {
  const mandatory = [[{ parameter: 'active', values: ['true'] }]];
  const query = 'family=common&gender=female';
  const before = await estimateOf(query, { mandatory });
  const visible = await world.count('Patient', `${query}&active=true`);
  assert.deepEqual(before, { total: visible, sampled: false, bounded: false });
  const hidden = Array.from({ length: 700 }, (_, n) => ({
    resourceType: 'Patient',
    id: `hidden${n}`,
    gender: 'female',
    active: false,
    name: [{ family: 'Common' }],
  }));
  await world.load(hidden, { bare: true });
  assert.deepEqual(await estimateOf(query, { mandatory }), before);
  const many = await estimateOf('', { mandatory });
  assert.deepEqual(many, { total: 1_000, sampled: false, bounded: true });
  assert.equal((await estimateOf('active=false', { mandatory })).total, 0);
});
