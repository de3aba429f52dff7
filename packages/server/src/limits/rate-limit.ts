/**
 * How much each API key, firm and address may ask for in a minute. The answers tell how much is left:
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-10
 */
import { type Clock, toInstant } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import type { Secrets } from '../base/secrets.ts';
import type { SharedCounters } from './shared-counters.ts';

/** Whose request it is. */
export interface RateSubject {
  readonly apiKey: number;
  readonly firm: number;
  readonly address: string;
}

export interface RateLimits {
  /** Units a minute; 0 = no limit. */
  readonly rateLimit: number;
  readonly firmRateLimit: number;
  readonly addressRateLimit: number;
}

export interface RateLimit {
  /**
   * Counts a request of one unit. Returns the headers of its answer.
   * @throws PraxisError `rate-exceeded` with Retry-After (RFC 9110 §10.2.3)
   */
  count(subject: RateSubject): Readonly<Record<string, string>>;
  /** Adds what the request costs beside its first unit; it goes on, later ones may be refused. */
  charge(subject: RateSubject, units: number): void;
}

interface Policy {
  /** As the headers name it. */
  readonly name: string;
  /** As messages name whom it counts. */
  readonly whom: string;
  readonly limit: number;
  readonly counterOf: (subject: RateSubject) => string;
}

/** A policy whose limit is 0 does not count. */
export function openRateLimit(limits: RateLimits, counters: SharedCounters, clock: Clock, secrets: Secrets): RateLimit {
  const policies = policiesOf(limits, secrets).filter(({ limit }) => limit > 0);
  const policyHeader = policies.map(({ name, limit }) => `"${name}";q=${limit};w=60`).join(', ');
  if (policies.length === 0) return { count: () => ({}), charge: () => undefined };
  return {
    count(subject) {
      const untilMs = counters.endMs();
      const seconds = Math.max(1, Math.ceil((untilMs - clock.now()) / 1000));
      const standings = policies.map((policy) => ({ policy, used: counters.add(policy.counterOf(subject), 1) }));
      const exceeded = standings.find(({ policy, used }) => used > policy.limit);
      const ratelimit = standings
        .map(({ policy: { name, limit }, used }) => `"${name}";r=${Math.max(0, limit - used)};t=${seconds}`)
        .join(', ');
      const headers = { 'ratelimit-policy': policyHeader, ratelimit };
      return exceeded === undefined ? headers : refuse(exceeded.policy, seconds, untilMs, headers);
    },
    charge(subject, units) {
      if (units > 0) for (const { counterOf } of policies) counters.add(counterOf(subject), units);
    },
  };
}

function policiesOf(limits: RateLimits, secrets: Secrets): readonly Policy[] {
  return [
    {
      name: 'api-key',
      whom: 'this API key',
      limit: limits.rateLimit,
      counterOf: ({ apiKey }) => `key:${apiKey}`,
    },
    {
      name: 'firm',
      whom: 'all applications at this firm',
      limit: limits.firmRateLimit,
      counterOf: ({ firm }) => `firm:${firm}`,
    },
    {
      name: 'address',
      whom: 'this address',
      limit: limits.addressRateLimit,
      // An address may be personal data: the database holds a keyed hash of it.
      counterOf: ({ address }) => `address:${secrets.hash('address', address).toString('base64url')}`,
    },
  ];
}

function refuse(
  { whom, limit }: Policy,
  seconds: number,
  untilMs: number,
  headers: Readonly<Record<string, string>>,
): never {
  return fail('rate-exceeded', {
    diagnostics: `The ${limit} requests a minute of ${whom} are used up (costly ones count more than once): wait ${seconds} s, until ${toInstant(untilMs)}`,
    headers: { ...headers, 'retry-after': String(seconds) },
  });
}
