/** ChargeItem (https://hl7.org/fhir/R4/chargeitem.html): a transaction, recorded once, judged by its table of states. */
import type { Behaviour } from '../../resources/behaviour.ts';
import { buildJudge } from '../../resources/states/judging.ts';
import { chargeItemStates } from './charge-item-states.ts';
import { requireTransaction } from './charge-transaction.ts';
import { storeCharge } from './inbound-charge.ts';

const { judge, judged } = buildJudge([chargeItemStates]);

export const chargeItem: Behaviour<'ChargeItem'> = {
  type: 'ChargeItem',
  judge(change) {
    judge?.(change);
    if (change.after !== undefined) requireTransaction(change.after);
  },
  judged: [...(judged ?? []), 'extension', 'identifier', 'priceOverride', 'quantity'],
  store: storeCharge,
};
