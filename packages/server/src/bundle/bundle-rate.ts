/**
 * What the parts of a Bundle count in the rate of the caller, beside the unit that ten of them cost together. Whoever takes the
 * request hands it down (http/rate-cost.ts): nothing here knows limits.
 */
import type { FhirRequest, RateCost } from '../engine/context.ts';
import { listObjects } from '../search/json-values.ts';

/** Parts of a Bundle that cost a unit. */
const partsPerUnit = 10;

/** What a batch or transaction costs, beside what its entries cost. */
export const bundleRateCost: RateCost = {
  rateUnitsOfBody: (bundle) => countPartUnits(listObjects(bundle, 'entry').length),
};

/** What parts of a Bundle cost together. */
export function countPartUnits(parts: number): number {
  return Math.floor(parts / partsPerUnit);
}

/** The same call, which counts what it costs when it is opened: by what its interaction or operation declares. */
export type Charging = <C extends { readonly open: () => Promise<FhirRequest> }>(call: C, declared: RateCost) => C;

export interface BundleRate {
  /** Opened, it throws PraxisError `rate-exceeded` if it costs more than a part does and the minute is used up. */
  readonly ofBatch: Charging;
  /** Never refuses: what a request costs is no reason to refuse it, and all entries are one request. */
  readonly ofTransaction: Charging;
  /** Counts searches that a transaction makes for its conditional references; `criteria` of each. */
  readonly searches: (criteria: readonly string[]) => void;
}
