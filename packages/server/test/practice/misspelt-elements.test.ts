/**
 * Resources have types (docs/decisions/0251). In every feature of the practice a misspelt element is an error of the compiler,
 * which each `@ts-expect-error` asks for; what was misspelt has no effect.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { DocumentReference, Patient, Slot } from '@praxis/fhir';
import { boxStored, parseStored } from '../../src/access/disclosure.ts';
import { takesTime } from '../../src/practice/booking/booking.ts';
import { findSeriesPlace } from '../../src/practice/booking/series.ts';
import { slotStates } from '../../src/practice/calendars/slots/slot-states.ts';
import { chargeFacts } from '../../src/practice/charges/charge-transaction.ts';
import { buildDecidedTask } from '../../src/practice/intake/intake-task.ts';
import { taskStates } from '../../src/practice/referrals/task-states.ts';
import { readSetCodes } from '../../src/practice/value-sets/codes.ts';
import { buildVisit } from '../../src/practice/visits/appointment-visit.ts';
import { encounterStates } from '../../src/practice/visits/encounter-states.ts';
import { lowestPriority } from '../../src/practice/waiting-list/store.ts';
import { computePriority } from '../../src/practice/waiting-list/waitlist.ts';
import { listSteps } from '../../src/resources/states/state-table.ts';

test('booking', () => {
  // @ts-expect-error status
  assert.equal(takesTime({ resourceType: 'Appointment', participant: [], statuss: 'booked' }), false);
  // @ts-expect-error identifier
  assert.equal(findSeriesPlace({ resourceType: 'Appointment', participant: [], identifiers: [] }), undefined);
});

test('calendars', () => {
  const slot: Slot = { resourceType: 'Slot', schedule: {}, start: '2026-01-05T09:00:00Z' };
  // @ts-expect-error start
  assert.equal(slot.begin, undefined);
  const [step] = listSteps(slotStates, 'free', { by: 'application', on: 'write' });
  // @ts-expect-error busy
  assert.equal(step?.to === 'bussy', false);
});

test('charges', () => {
  const charge = { resourceType: 'ChargeItem', status: 'billable', code: {}, subject: {} } as const;
  // @ts-expect-error quantity
  assert.equal(chargeFacts({ ...charge, quantitty: { value: 2 } }).quantity, undefined);
});

test('content flags', () => {
  const patient: Partial<Patient> = { generalPractitioner: [] };
  // @ts-expect-error generalPractitioner
  assert.equal(patient.generalPractitoner, undefined);
});

test('documents', () => {
  const document = parseStored(boxStored<'DocumentReference'>('{"resourceType":"DocumentReference","content":[]}'));
  // @ts-expect-error relatesTo
  assert.equal(document.relatedTo, undefined);
  // @ts-expect-error superseded
  const status: DocumentReference['status'] = 'superceded';
  assert.notEqual(document.status, status);
});

test('intake', () => {
  const step = { type: 'Coverage', decided: {}, target: undefined, nowMs: 0 };
  const begun = { resourceType: 'Task', input: [] } as const;
  // @ts-expect-error in-progress
  assert.equal(buildDecidedTask({ resourceType: 'Task' }, { ...step, status: 'inprogress' }).output?.length, 0);
  // @ts-expect-error output
  assert.equal(buildDecidedTask({ ...begun, input: [] }, { ...step, status: 'accepted' }).outputs, undefined);
});

test('referrals', () => {
  const [step] = listSteps(taskStates, 'draft', { by: 'application', on: 'write' });
  // @ts-expect-error requested
  assert.equal(step?.to === 'request', false);
});

test('value sets', () => {
  // @ts-expect-error compose
  assert.equal(readSetCodes({ resourceType: 'ValueSet', status: 'active', composed: {} }), undefined);
});

test('visits', () => {
  const resource = { resourceType: 'Appointment', participant: [] } as const;
  // @ts-expect-error reasonCode
  const visit = buildVisit({ id: '1', resource: { ...resource, participant: [], reasonCodes: [{}] } }, 'arrived', {});
  assert.equal(visit.reasonCode, undefined);
  const codes = encounterStates.states.map(({ code }) => code);
  // @ts-expect-error finished
  assert.equal(codes.includes('finish'), false);
});

test('waiting list', () => {
  // @ts-expect-error priority
  assert.equal(computePriority({ resourceType: 'Appointment', participant: [], prio: 1 }), lowestPriority);
});
