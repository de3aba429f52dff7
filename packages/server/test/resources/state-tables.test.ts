/**
 * The tables of states in themselves: they speak of R4's states and of operations that are served, contradict nothing, and
 * judge those whom no request of the API stands for yet: staff, and the service itself.
 */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { TypedResource } from '@praxis/fhir';
import { PraxisError } from '../../src/base/errors.ts';
import { appointment } from '../../src/practice/booking/appointment.ts';
import { toBooking } from '../../src/practice/booking/booking.ts';
import { behaviours, operations, stateTables } from '../../src/practice/features.ts';
import type { VersionChange } from '../../src/resources/behaviour.ts';
import { type Act, type Actor, actors, effects, type StateTable } from '../../src/resources/states/state-table.ts';
import { makeIndexRows } from '../../src/search/index/index-rows.ts';
import { requireType } from '../../src/storage/store.ts';
import { beginnings, inState, leadsTo, operationEvents, r4States, stateCodes } from './state-events.ts';

const whoever = Object.keys(actors) as readonly Actor[]; // of an object literal

test('every type with a life cycle has a table, and judges by it', () => {
  assert.deepEqual(
    stateTables.map(({ name }) => name),
    ['Appointment', 'Encounter', 'Slot', 'Task', 'ServiceRequest', 'ChargeItem', 'Coverage intake'],
  );
  for (const { type } of stateTables)
    assert.ok(behaviours.find((each) => each.type === type)?.judge !== undefined, type);
});

for (const table of stateTables) {
  test(`${table.name}: its states are R4's, each has a meaning, and each can be reached`, () => {
    const codes = stateCodes(table);
    assert.equal(new Set(codes).size, codes.length);
    const r4 = r4States(table);
    assert.deepEqual(
      codes.filter((code) => !r4.includes(code)),
      [],
    );
    if (table.coding === undefined) assert.deepEqual(codes.toSorted(), r4.toSorted());
    const reached = new Set([
      ...whoever.flatMap((by) => beginnings(table, by)),
      ...table.transitions.flatMap(({ to }) => to),
    ]);
    assert.deepEqual(
      codes.filter((code) => !reached.has(code)),
      [],
    );
    for (const { meaning } of table.states) assert.notEqual(meaning, '');
  });

  test(`${table.name}: each step is said once, leads elsewhere, and names an operation that is served`, () => {
    const steps = table.transitions.flatMap(({ from, to, on, by }) =>
      from.flatMap((each) => to.map((other) => ({ from: each, to: other, on, by }))),
    );
    for (const { from, to, on } of steps) {
      assert.ok(stateCodes(table).includes(from) && stateCodes(table).includes(to), `${from} → ${to}`);
      assert.notEqual(from, to);
      assert.equal(steps.filter((step) => step.from === from && step.to === to && step.on === on).length, 1, from + to);
    }
    for (const on of operationEvents(table)) {
      assert.ok(
        operations.some(({ name, types }) => `$${name}` === on && types.includes('Appointment')),
        on,
      );
      for (const from of stateCodes(table)) {
        for (const by of whoever) assert.ok(leadsTo(table, from, on, by).length <= 1, `${from} ${on}`);
      }
    }
  });

  test(`${table.name}: what nobody may do is judged for staff and the service as well`, () => {
    for (const by of whoever) {
      for (const from of [undefined, ...stateCodes(table)]) {
        for (const to of r4States(table)) {
          for (const on of ['write', 'offer', ...operationEvents(table)] as const) {
            const isOpen =
              from === undefined
                ? beginnings(table, by).includes(to)
                : from === to || leadsTo(table, from, on, by).includes(to);
            assert.equal(verdict(table, from, to, { by, on }), isOpen, `${by} ${from} → ${to} by ${on}`);
          }
        }
      }
    }
  });
}

/** Whether the behaviour of the type lets the change pass. */
function verdict(table: StateTable, from: string | undefined, to: string, act: Act): boolean {
  const change: VersionChange = {
    write: writeOf(table, from === undefined ? 'create' : 'update'),
    before: from === undefined ? undefined : stored(table, from),
    after: stored(table, to),
    extras: {},
    act,
  };
  return passes(table, change);
}

function passes(table: StateTable, change: VersionChange): boolean {
  try {
    behaviours.find(({ type }) => type === table.type)?.judge?.(change);
    return true;
  } catch (error) {
    assert.ok(error instanceof PraxisError && error.code === 'rule-broken', String(error));
    return false;
  }
}

function stored<T extends string>(table: StateTable<string>, status: string, _type?: T): TypedResource<T> {
  return JSON.parse(JSON.stringify(inState(table, status, 'one')));
}

function writeOf({ type }: StateTable, interaction: 'create' | 'update'): VersionChange['write'] {
  const audit = { atMs: 0, interaction, flow: 'client', tokenId: 't', subject: 's', requestId: 'r' } as const;
  return { type, id: 'one', expectedVersion: 0, lastUpdatedMs: 0, content: null, index: makeIndexRows(), audit };
}

test('what was stored without a state, as an import may, can take any; a deletion is not judged', () => {
  for (const table of stateTables) {
    const { status: _status, ...without } = stored(table, stateCodes(table)[0] ?? '');
    const act: Act = { by: 'application', on: 'write' };
    for (const state of stateCodes(table)) {
      const after = stored(table, state);
      const write = writeOf(table, 'update');
      assert.equal(passes(table, { write, before: without, after, extras: {}, act }), true);
      assert.equal(passes(table, { write, before: after, after: undefined, extras: {}, act }), true);
    }
    assert.equal(
      passes(table, { write: writeOf(table, 'create'), before: undefined, after: without, extras: {} }),
      false,
    );
  }
});

test('who says nothing of the act is an application that writes', () => {
  const [table] = stateTables;
  assert.ok(table !== undefined);
  const change = (to: string): VersionChange<'Appointment'> => ({
    write: requireType(writeOf(table, 'update'), 'Appointment'),
    before: stored(table, 'cancelled', 'Appointment'),
    after: stored(table, to, 'Appointment'),
    extras: {},
  });
  assert.throws(() => appointment.judge?.(change('booked')), {
    message:
      'rule-broken: Appointment.status is cancelled and cannot become booked. What may follow cancelled: nothing; by the practice: pending, booked, entered-in-error',
  });
  assert.equal(passes(table, change('cancelled')), true);
});

test('appointments that are over without having taken place take no time', () => {
  const [table] = stateTables;
  assert.ok(table !== undefined);
  const taking = stateCodes(table).filter(
    (state) => toBooking(stored(table, state, 'Appointment'), 'http://x') !== undefined,
  );
  assert.deepEqual(
    stateCodes(table).filter((state) => !taking.includes(state)),
    ['waitlist', 'cancelled', 'noshow', 'entered-in-error'],
  );
});

test('every effect is that of a step', () => {
  const used = new Set(stateTables.flatMap(({ transitions }) => transitions.flatMap((each) => each.effects ?? [])));
  assert.deepEqual([...used].toSorted(), Object.keys(effects).toSorted());
});
