/** Slot (https://hl7.org/fhir/R4/valueset-slotstatus.html). */
import type { SlotstatusCode } from '@praxis/fhir';
import type { StateTable } from '../../../resources/states/state-table.ts';

const byWrite = { by: 'application', on: 'write' } as const;

export const slotStates: StateTable<SlotstatusCode> = {
  name: 'Slot',
  type: 'Slot',
  introduction:
    'Slots that are stored. Those of a calendar are worked out when they are asked for: free, or busy when something takes their time.',
  states: [
    { code: 'free', meaning: 'can be booked', begins: ['application'] },
    { code: 'busy', meaning: 'taken', begins: ['application'] },
    { code: 'busy-tentative', meaning: 'held, not yet taken', begins: ['application'] },
    { code: 'busy-unavailable', meaning: 'closed: nothing is booked then', begins: ['application'] },
    { code: 'entered-in-error', meaning: 'it should never have been recorded' },
  ],
  transitions: [
    { from: ['free'], to: ['busy', 'busy-tentative', 'busy-unavailable'], ...byWrite },
    { from: ['busy-tentative'], to: ['busy', 'free'], ...byWrite },
    { from: ['busy'], to: ['free'], ...byWrite },
    { from: ['busy-unavailable'], to: ['free'], ...byWrite },
    { from: ['free', 'busy', 'busy-tentative', 'busy-unavailable'], to: ['entered-in-error'], ...byWrite },
  ],
};
