import type { PracticeFeature } from '../feature.ts';
import { chargeActions } from './actions.ts';
import { chargeItem } from './charge-item.ts';
import { chargeItemStates } from './charge-item-states.ts';

/** Charges: what applications bill, and their transactions. */
export const chargesFeature: PracticeFeature = {
  behaviours: [chargeItem],
  states: [chargeItemStates],
  actions: chargeActions,
};
