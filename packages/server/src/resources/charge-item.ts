/** ChargeItem (https://hl7.org/fhir/R4/chargeitem.html): a transaction, recorded once, judged by its table of states. */
import type { Behaviour } from './behaviour.ts';
import { chargeMembers, judgeCharge, storeCharge } from './inbound-charge.ts';
import { chargeItemStates } from './states/charge-item.ts';
import { judgedBy } from './states/judging.ts';

const { judge, judged } = judgedBy([chargeItemStates]);

export const chargeItem: Behaviour = {
  type: 'ChargeItem',
  judge(change) {
    judge?.(change);
    judgeCharge(change);
  },
  judged: [...(judged ?? []), ...chargeMembers],
  store: storeCharge,
};
