/** Encounter (https://hl7.org/fhir/R4/valueset-encounter-status.html). */
import type { EncounterStatusCode } from '@praxis/fhir';
import type { StateTable } from '../../resources/states/state-table.ts';

/** Of visits that are to come or under way. */
export const openStates: readonly EncounterStatusCode[] = ['planned', 'arrived', 'triaged', 'in-progress', 'onleave'];

const written = { by: 'application', on: 'write' } as const;

export const encounterStates: StateTable<EncounterStatusCode> = {
  name: 'Encounter',
  type: 'Encounter',
  introduction:
    'A visit. It may be recorded when it is over. The operations on its appointment move it along; a finished visit is opened again by the practice alone.',
  states: [
    { code: 'planned', meaning: 'has not begun', begins: ['application'] },
    { code: 'arrived', meaning: 'the patient waits', begins: ['application', 'server'] },
    { code: 'triaged', meaning: 'its urgency has been judged', begins: ['application'] },
    { code: 'in-progress', meaning: 'the patient is being seen', begins: ['application'] },
    { code: 'onleave', meaning: 'interrupted, the patient returns', begins: ['application'] },
    { code: 'finished', meaning: 'over', begins: ['application', 'server'] },
    { code: 'cancelled', meaning: 'ended before it began' },
    { code: 'entered-in-error', meaning: 'it should never have been recorded' },
    { code: 'unknown', meaning: 'not known to the source', begins: ['application'] },
  ],
  transitions: [
    { from: ['planned'], to: ['arrived', 'triaged', 'in-progress', 'finished', 'cancelled'], ...written },
    { from: ['arrived'], to: ['triaged', 'in-progress', 'finished', 'cancelled'], ...written },
    { from: ['triaged'], to: ['in-progress', 'finished', 'cancelled'], ...written },
    { from: ['in-progress'], to: ['onleave', 'finished'], ...written },
    { from: ['onleave'], to: ['in-progress', 'finished'], ...written },
    { from: ['unknown'], to: [...openStates, 'finished', 'cancelled'], ...written },
    { from: ['planned'], to: ['arrived'], by: 'server', on: '$check-in', note: 'opens-visit of the appointment' },
    { from: openStates, to: ['finished'], by: 'server', on: '$check-out', note: 'ends-visit of the appointment' },
    { from: openStates, to: ['finished'], by: 'server', on: '$fulfil', note: 'records-visit of the appointment' },
    {
      from: ['planned', 'arrived', 'triaged'],
      to: ['cancelled'],
      by: 'server',
      on: '$no-show',
      note: 'cancels-visit of the appointment',
    },
    { from: ['finished'], to: ['in-progress'], by: 'practice', on: 'write', note: 'opened again' },
    { from: ['in-progress'], to: ['arrived', 'cancelled'], by: 'practice', on: 'write', note: 'a correction' },
    { from: ['cancelled'], to: ['planned'], by: 'practice', on: 'write', note: 'reinstated' },
    {
      from: [...openStates, 'finished', 'cancelled', 'unknown'],
      to: ['entered-in-error'],
      by: 'practice',
      on: 'write',
    },
  ],
};
