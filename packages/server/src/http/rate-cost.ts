/**
 * Counts what a request costs beside the one unit that every request costs: by what its interaction or operation declares
 * (`RateCost`), and by its search parameters, wherever they stand. Decisions 0168 and 0209.
 */
import type { JsonValue } from '@praxis/fhir';
import { PraxisError } from '../base/errors.ts';
import { type BundleRate, type Charging, countPartUnits } from '../bundle/bundle-rate.ts';
import type { FhirRequest, RateCost } from '../engine/context.ts';
import type { RateLimit, RateSubject } from '../limits/rate-limit.ts';
import { parseParameters, type QueryParameter } from '../search/query/query-string.ts';

/** Names of search parameters that each cost a unit, wherever they stand. */
const costly: readonly RegExp[] = [/^_(?:rev)?include(?::|$)/, /^_has:/, /\./, /^_(?:filter|text|content)$/];

/** A call that tells `charge` what it costs as soon as that is known. */
export function makeCharging(charge: (units: number) => void): Charging {
  return (call, declared) => ({
    ...call,
    open: async () => {
      const request = await call.open();
      charge(unitsOf(declared, request));
      const { rateUnitsOfBody } = declared;
      if (rateUnitsOfBody === undefined) return request;
      const body = async (): Promise<JsonValue> => {
        const read = await request.body();
        charge(rateUnitsOfBody(read));
        return read;
      };
      return { ...request, body };
    },
  });
}

/** What the parts of the subject's Bundle count. */
export function makeBundleRate(rateLimit: RateLimit, subject: RateSubject): BundleRate {
  const charge = (cost: number): void => rateLimit.charge(subject, cost);
  return {
    ofTransaction: makeCharging(charge),
    ofBatch: makeCharging((cost) => {
      if (cost > 0) rateLimit.requireRest(subject);
      charge(cost);
    }),
    searches(criteria) {
      const costs = criteria.map((text) => costlyOf(parametersIn(text)));
      charge(costs.reduce((sum, cost) => sum + cost, countPartUnits(criteria.length)));
    },
  };
}

function unitsOf({ rateUnits = 0 }: RateCost, request: FhirRequest): number {
  const own = typeof rateUnits === 'number' ? rateUnits : rateUnits(request);
  return own + costlyOf([...request.parameters, ...parametersIn(request.ifNoneExist ?? '')]);
}

function costlyOf(parameters: readonly QueryParameter[]): number {
  return parameters.filter(([name]) => costly.some((pattern) => pattern.test(name))).length;
}

/** Criteria inside of a request; what cannot be read is refused where it is used. */
function parametersIn(criteria: string): readonly QueryParameter[] {
  try {
    return parseParameters(criteria);
  } catch (error) {
    if (error instanceof PraxisError) return [];
    throw error;
  }
}
