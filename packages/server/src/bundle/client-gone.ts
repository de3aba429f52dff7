/**
 * Bundles whose sender has left: nobody would learn what became of the entries that are still to do.
 */
import { fail } from '../base/errors.ts';

/** @throws PraxisError `unavailable` */
export function refuseForClientGone(): never {
  return fail('unavailable', {
    diagnostics: 'The connection was closed before all entries were carried out: nothing was changed',
  });
}
