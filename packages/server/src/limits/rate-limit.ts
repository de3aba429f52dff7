/**
 * How much each API key, firm and address may ask for in a minute, tokens included. The answers tell how much is left:
 * https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-ratelimit-headers-10
 */
import { type Clock, toInstant } from '../base/clock.ts';
import { fail } from '../base/errors.ts';
import type { Secrets } from '../base/secrets.ts';
import { toNetwork } from './network.ts';
import type { SharedCounters } from './shared-counters.ts';

/** Whose request it is; what is absent is not known of it, and not counted. */
export interface RateSubject {
  readonly apiKey?: number;
  /** An application that asks for a token without its API key. */
  readonly keyless?: number;
  readonly firm?: number;
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
  /**
   * For a part of a request that could have come as one of its own: whether anything is left. Counts nothing.
   * @throws PraxisError `rate-exceeded`, as `count`
   */
  requireRest(subject: RateSubject): void;
}

interface Policy {
  /** As the headers and the metrics name it. */
  readonly name: 'api-key' | 'keyless' | 'firm' | 'address';
  /** As messages name whom it counts. */
  readonly whom: string;
  readonly limit: number;
  /** The name of its counter; undefined: it does not count this subject. */
  readonly counterOf: (subject: RateSubject) => string | undefined;
}

/** A policy whose limit is 0 does not count. */
export function openRateLimit(limits: RateLimits, counters: SharedCounters, clock: Clock, secrets: Secrets): RateLimit {
  const policies = policiesOf(limits, secrets).filter(({ limit }) => limit > 0);
  if (policies.length === 0) return { count: () => ({}), charge: () => undefined, requireRest: () => undefined };
  const added = (subject: RateSubject, units: number) =>
    policies.flatMap((policy) => {
      const counter = policy.counterOf(subject);
      return counter === undefined ? [] : [{ policy, used: counters.add(counter, units) }];
    });
  const count = (subject: RateSubject, units: number): Readonly<Record<string, string>> => {
    const untilMs = counters.endMs();
    const seconds = Math.max(1, Math.ceil((untilMs - clock.now()) / 1000));
    const standings = added(subject, units);
    const exceeded = standings.find(({ policy, used }) => used > policy.limit);
    const ratelimit = standings
      .map(({ policy: { name, limit }, used }) => `"${name}";r=${Math.max(0, limit - used)};t=${seconds}`)
      .join(', ');
    const policy = standings.map(({ policy: { name, limit } }) => `"${name}";q=${limit};w=60`).join(', ');
    const headers = standings.length === 0 ? {} : { 'ratelimit-policy': policy, ratelimit };
    return exceeded === undefined ? headers : refuse(exceeded.policy, seconds, untilMs, headers);
  };
  return {
    count: (subject) => count(subject, 1),
    requireRest: (subject) => void count(subject, 0),
    charge(subject, units) {
      if (units > 0) added(subject, units);
    },
  };
}

function policiesOf(limits: RateLimits, secrets: Secrets): readonly Policy[] {
  return [
    {
      name: 'api-key',
      whom: 'this API key',
      limit: limits.rateLimit,
      counterOf: ({ apiKey }) => (apiKey === undefined ? undefined : `key:${apiKey}`),
    },
    {
      name: 'keyless',
      whom: 'this application without its API key',
      limit: limits.rateLimit,
      counterOf: ({ keyless }) => (keyless === undefined ? undefined : `keyless:${keyless}`),
    },
    {
      name: 'firm',
      whom: 'all applications at this firm',
      limit: limits.firmRateLimit,
      counterOf: ({ firm }) => (firm === undefined ? undefined : `firm:${firm}`),
    },
    {
      name: 'address',
      whom: 'this address',
      limit: limits.addressRateLimit,
      // An address may be personal data: the database holds a keyed hash of it.
      counterOf: ({ address }) => `address:${secrets.hash('address', toNetwork(address)).toString('base64url')}`,
    },
  ];
}

function refuse(
  { name, whom, limit }: Policy,
  seconds: number,
  untilMs: number,
  headers: Readonly<Record<string, string>>,
): never {
  return fail('rate-exceeded', {
    diagnostics: `The ${limit} requests a minute of ${whom} are used up (costly ones count more than once): wait ${seconds} s, until ${toInstant(untilMs)}`,
    headers: { ...headers, 'retry-after': String(seconds) },
    limit: name,
  });
}
