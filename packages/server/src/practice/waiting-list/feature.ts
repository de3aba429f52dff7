import type { PracticeFeature } from '../feature.ts';
import { waitlistJob } from './offering.ts';
import { acceptOffer, declineOffer } from './operations.ts';

/** The waiting list: freed times are offered to those who wait. */
export const waitingListFeature: PracticeFeature = {
  operations: [acceptOffer, declineOffer],
  jobs: [waitlistJob],
};
