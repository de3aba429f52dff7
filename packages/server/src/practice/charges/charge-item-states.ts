/** ChargeItem (https://hl7.org/fhir/R4/valueset-chargeitem-status.html). */
import type { ChargeitemStatusCode } from '@praxis/fhir';
import type { StateTable } from '../../resources/states/state-table.ts';

const byPractice = { by: 'practice', on: 'write' } as const;

export const chargeItemStates: StateTable<ChargeitemStatusCode> = {
  name: 'ChargeItem',
  type: 'ChargeItem',
  introduction:
    'One transaction. What an application records is billable; it may withdraw it before it is billed. All else is for those who do the billing.',
  states: [
    { code: 'planned', meaning: 'expected', begins: ['practice'] },
    { code: 'billable', meaning: 'to be billed', begins: ['application'] },
    { code: 'not-billable', meaning: 'recorded, not billed', begins: ['practice'] },
    { code: 'aborted', meaning: 'the service was not completed' },
    { code: 'billed', meaning: 'on a bill' },
    { code: 'entered-in-error', meaning: 'it should never have been recorded' },
    { code: 'unknown', meaning: 'not known to the source', begins: ['practice'] },
  ],
  transitions: [
    { from: ['billable'], to: ['entered-in-error'], by: 'application', on: 'write', note: 'withdrawn' },
    { from: ['planned'], to: ['billable', 'not-billable', 'aborted'], ...byPractice },
    { from: ['billable'], to: ['not-billable', 'aborted', 'billed'], ...byPractice },
    { from: ['not-billable'], to: ['billable', 'aborted'], ...byPractice },
    { from: ['aborted', 'billed'], to: ['billable'], ...byPractice, note: 'a correction' },
    { from: ['unknown'], to: ['planned', 'billable', 'not-billable', 'aborted', 'billed'], ...byPractice },
    { from: ['planned', 'not-billable', 'aborted', 'billed', 'unknown'], to: ['entered-in-error'], ...byPractice },
  ],
};
