/**
 * Requests to the token endpoints count in the rate of their API key and address, as those to the data do
 * (limits/rate-limit.ts), once the key is known to be right. Never in that of the firm of the path: whoever holds any key could
 * use that up, and would learn from the answer that the firm is there.
 */
import { PraxisError } from '../base/errors.ts';
import type { RateLimit, RateSubject } from '../limits/rate-limit.ts';
import { refuse } from './errors.ts';

/** What the answer tells of the rate, filled in by {@link countRequest}. */
export interface RateExchange {
  rate?: Readonly<Record<string, string>>;
}

/**
 * Counts one request; the exchange gets the headers of its answer, also of a refusal.
 * @throws OAuthError `rate_exceeded`
 */
export function countRequest(rateLimit: RateLimit, exchange: RateExchange, subject: Omit<RateSubject, 'firm'>): void {
  try {
    exchange.rate = rateLimit.count(subject);
  } catch (error) {
    if (!(error instanceof PraxisError) || error.code !== 'rate-exceeded') throw error;
    exchange.rate = error.details.headers ?? {};
    refuse('rate_exceeded', error.details.diagnostics, error);
  }
}
