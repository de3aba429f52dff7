/**
 * Misspelt elements, codes and search parameters do not compile: `npm run check` compiles this file, and each `@ts-expect-error`
 * asks for an error. What is right is beside it. package.test.ts compiles it once more, against the package that is published.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import { type Change, connect, type New, type SearchQuery } from '@praxis/client';

const praxis = connect({
  base: 'https://example.com/sandbox/firm/maple/pm/fhir/v2',
  credentials: { flow: 'client-credentials', apiKey: 'k', clientId: 'c', clientSecret: 's' },
});

/** Is never called: only its types are of interest. */
export async function neverCalled(): Promise<void> {
  const patient = await praxis.create({ resourceType: 'Patient', name: [{ family: 'Example' }], gender: 'female' });
  const id: string = patient.id;
  const version: string = patient.meta.versionId;
  // @ts-expect-error birthDate
  await praxis.create({ resourceType: 'Patient', birthdate: '1990-12-10' });
  // @ts-expect-error female
  await praxis.create({ resourceType: 'Patient', gender: 'femal' });
  // @ts-expect-error given is a list
  await praxis.create({ resourceType: 'Patient', name: [{ family: 'Example', given: 'Ada' }] });
  // @ts-expect-error Patient
  await praxis.read('Pateint', id);
  // @ts-expect-error families are of names
  assert.equal((await praxis.read('Patient', id)).family, version);
  await praxis.update('Patient', id, (draft) => {
    draft.active = true;
    // @ts-expect-error active
    draft.activ = true;
  });
  for await (const { start } of praxis.search('Appointment', { status: 'booked' })) assert.equal(start, undefined);
  for await (const { changes } of praxis.follow({ types: ['Patient', 'Task'] }))
    for (const change of changes) {
      if (change.kind === 'deleted') continue;
      if (change.resource.resourceType === 'Task') assert.equal(change.resource.focus, undefined);
      // @ts-expect-error only Patient and Task are followed
      if (change.type === 'Slot') assert.fail();
    }
}

test('parameters of a search', () => {
  const right: SearchQuery<'Appointment'>[] = [
    { date: ['ge2026-01-01', 'lt2027-01-01'], _sort: '-date', _count: 10, _elements: ['start', 'status'] },
    { patient: { family: 'Smith', 'name:exact': 'Smith' } },
    { actor: { Practitioner: { family: 'Smith' } } },
    { 'patient:missing': true, 'actor:Practitioner': '12' },
    { _include: 'Appointment:patient', _revinclude: ['Encounter:appointment'] },
  ];
  const has: SearchQuery<'Patient'> = { _has: { Observation: { patient: { code: '8480-6', _has: {} } } } };
  assert.equal([...right, has].length, 6);
  // @ts-expect-error birthdate
  const birthDate: SearchQuery<'Patient'> = { birthDate: '1990-12-10' };
  // @ts-expect-error a parameter of Patient
  const family: SearchQuery<'Appointment'> = { family: 'Smith' };
  // @ts-expect-error dates have no contains
  const contains: SearchQuery<'Patient'> = { 'birthdate:contains': '19' };
  // @ts-expect-error missing takes a boolean
  const missing: SearchQuery<'Patient'> = { 'birthdate:missing': 'yes' };
  // @ts-expect-error family, in a chain
  const chain: SearchQuery<'Appointment'> = { patient: { famly: 'Smith' } };
  // @ts-expect-error actor may be of several types
  const actor: SearchQuery<'Appointment'> = { actor: { family: 'Smith' } };
  // @ts-expect-error no Patient is an actor's Observation
  const target: SearchQuery<'Appointment'> = { actor: { Observation: {} } };
  // @ts-expect-error code, in _has
  const inHas: SearchQuery<'Patient'> = { _has: { Observation: { patient: { cod: '8480-6' } } } };
  // @ts-expect-error birthdate
  const sort: SearchQuery<'Patient'> = { _sort: '-birthDate' };
  // @ts-expect-error name
  const elements: SearchQuery<'Patient'> = { _elements: ['nam'] };
  // @ts-expect-error patient
  const include: SearchQuery<'Appointment'> = { _include: 'Appointment:pateint' };
  for (const wrong of [birthDate, family, contains, missing, chain, actor, target, inHas, sort, elements, include])
    assert.equal(Object.keys(wrong).length, 1);
});

test('resources that are written', () => {
  const slot: New<'Slot'> = { resourceType: 'Slot', schedule: {}, start: '2026-01-05T09:00:00Z' };
  // @ts-expect-error start
  assert.equal(slot.begin, undefined);
  // @ts-expect-error a Slot has no patient
  const wrong: New<'Slot'> = { resourceType: 'Slot', schedule: {}, patient: {} };
  assert.equal(wrong.resourceType, 'Slot');
  const change: Change<'Patient'> = (patient) => {
    // @ts-expect-error birthDate
    patient.birthday = '1990-12-10';
  };
  assert.equal(typeof change, 'function');
});
