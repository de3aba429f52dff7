/** What the tests of states ask: from the tables, and from R4's value sets of states. */
import { findValueSetCodes } from '@praxis/fhir';
import type { Actor, Event, StateTable } from '../../src/resources/states/state-table.ts';

/** Whose transitions each may make: said here once more, so that a slip in the tables' own list shows. */
const rights: Readonly<Record<Actor, readonly Actor[]>> = {
  application: ['application'],
  practice: ['application', 'practice'],
  operator: ['application', 'practice', 'operator'],
  server: ['server'],
};

const valueSets: Readonly<Record<string, string>> = {
  Appointment: 'appointmentstatus',
  Encounter: 'encounter-status',
  Slot: 'slotstatus',
  Task: 'task-status',
  ServiceRequest: 'request-status',
  ChargeItem: 'chargeitem-status',
};

/** All states that R4 has for the type. */
export function r4States({ type }: StateTable): readonly string[] {
  const codes = findValueSetCodes(`http://hl7.org/fhir/ValueSet/${valueSets[type]}`);
  if (codes === undefined) throw new TypeError(`R4 has no value set of states of ${type}`);
  return [...codes];
}

export function stateCodes({ states }: StateTable): readonly string[] {
  return states.map(({ code }) => code);
}

/** The events of the table that callers bring about by an operation. */
export function operationEvents({ transitions }: StateTable): readonly Event[] {
  return [...new Set(transitions.map(({ on }) => on))].filter((on) => on.startsWith('$'));
}

/** What the event asks for beside the state. */
export function conditionOf({ transitions }: StateTable, on: Event): string | undefined {
  return transitions.find((row) => row.on === on)?.condition;
}

/** Where the table lets the event lead to from a state, by rows. */
export function leadsTo({ transitions }: StateTable, from: string, on: Event, by: Actor): readonly string[] {
  return transitions
    .filter((row) => row.on === on && row.from.includes(from) && rights[by].includes(row.by))
    .flatMap(({ to }) => to);
}

/** The states that the actor may begin with. */
export function beginnings({ states }: StateTable, by: Actor): readonly string[] {
  return states.filter(({ begins = [] }) => begins.some((each) => rights[by].includes(each))).map(({ code }) => code);
}

const subject = { reference: 'Patient/p1' };

const contents: Readonly<Record<string, object>> = {
  Appointment: {
    start: '2026-11-21T10:00:00Z',
    end: '2026-11-21T10:30:00Z',
    participant: [{ actor: subject, status: 'accepted' }],
  },
  Encounter: { class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' }, subject },
  Slot: {
    schedule: { reference: 'Schedule/s1' },
    start: '2026-11-21T10:00:00Z',
    end: '2026-11-21T10:30:00Z',
  },
  Task: { intent: 'order' },
  ServiceRequest: { intent: 'order', subject },
  ChargeItem: { code: { text: 'Consultation' }, subject },
};

/** A valid resource of the table in a state. */
export function inState({ type, coding }: StateTable, status: string, id?: string): Record<string, unknown> {
  return {
    resourceType: type,
    ...(id === undefined ? {} : { id }),
    status,
    ...contents[type],
    ...(coding === undefined ? {} : { code: { coding: [coding] } }),
  };
}
