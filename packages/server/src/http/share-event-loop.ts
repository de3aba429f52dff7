/** What requests share of the event loop of their process. */
import type { Config } from '../base/config.ts';
import { serviceApplication } from '../database/database.ts';
import { openSlices } from '../limits/slices.ts';
import type { RequestPlaces } from './connections/request-places.ts';
import { openBodyAdmission } from './request/body-admission.ts';

/** Long work rests while requests are under way that neither have long work nor wait for their turn (docs/decisions/0294). */
export function shareEventLoop(config: Config, places: RequestPlaces) {
  const slices = openSlices((waiting) => {
    const long = waiting.filter(({ application }) => application !== serviceApplication).length;
    return places.countHeld() > long + bodies.countWaiting();
  });
  const bodies = openBodyAdmission(config, slices);
  return { slices, bodies };
}
