/**
 * Slows the guessing of passwords and secrets, as RFC 6749 §2.3.1 demands of endpoints that take passwords
 * (https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1) and NIST 800-63B §5.2.2 of all: wrong attempts are counted per
 * account and per address in all processes together, and when there were too many in a minute, further ones are refused before
 * the secret is looked at.
 *
 * The owner is not locked out by others (docs/decisions/0168, 0209): who sends a live API key with the attempt is counted by
 * that key alone, and who comes from where the owner has been, by account and address together. Right secrets count nothing.
 */
import { toInstant } from '../base/clock.ts';
import type { Secrets } from '../base/secrets.ts';
import { toNetwork } from './network.ts';
import type { SharedCounters } from './shared-counters.ts';

/** Wrong attempts a minute that pass; 0 = any number. */
export interface BruteForceLimits {
  /** From all addresses together. */
  readonly perAccount: number;
  /** At one account from one address; absent: any number. */
  readonly perAccountAndAddress?: number;
  /** From one address, at all accounts together. */
  readonly perAddress: number;
}

/** For passwords that people choose. */
export const chosenPasswordLimits = { perAccount: 50, perAccountAndAddress: 10, perAddress: 50 } as const;

/** Who tries to get in where. */
export interface Attempt {
  /** Names the account or client, and where it is: `sandbox/maple/user`. */
  readonly account: string;
  readonly address: string;
  /** Number of the live API key that came with the attempt; absent: none did, or it is not known. */
  readonly apiKey?: number | undefined;
  /** The account's owner has been at this address; absent: no, or it is not known. */
  readonly isFromKnownAddress?: true;
}

export interface BruteForceLimit {
  /** False: any number of attempts passes, and nothing is counted. */
  readonly counts: boolean;
  /** When an attempt may be made again, as text; undefined when it may be made now. */
  refusedUntil(attempt: Attempt): { readonly until: string; readonly seconds: number } | undefined;
  /** The secret was wrong. */
  failed(attempt: Attempt): void;
}

interface Counted {
  readonly subject: string;
  readonly limit: number;
}

export function openBruteForceLimit(
  counters: SharedCounters,
  secrets: Secrets,
  clock: { now(): number },
  { perAccount, perAccountAndAddress = 0, perAddress }: BruteForceLimits = chosenPasswordLimits,
): BruteForceLimit {
  // Names and addresses may be personal data: the database holds keyed hashes of them.
  const subjectsOf = ({ account, address, apiKey, isFromKnownAddress }: Attempt): readonly Counted[] => {
    const at = `wrong-at:${hashed(secrets, account)}`;
    if (apiKey !== undefined) return [{ subject: `${at}:${apiKey}`, limit: perAccount }];
    const from = hashed(secrets, toNetwork(address));
    const here = { subject: `${at}:from:${from}`, limit: perAccountAndAddress };
    if (isFromKnownAddress) return [here];
    return [here, { subject: at, limit: perAccount }, { subject: `wrong-from:${from}`, limit: perAddress }];
  };
  return {
    counts: perAccount > 0 || perAddress > 0,
    refusedUntil(attempt) {
      if (subjectsOf(attempt).every(({ subject, limit }) => limit === 0 || counters.add(subject, 0) < limit))
        return undefined;
      const untilMs = counters.endMs();
      return { until: toInstant(untilMs), seconds: Math.max(1, Math.ceil((untilMs - clock.now()) / 1000)) };
    },
    failed(attempt) {
      for (const { subject, limit } of subjectsOf(attempt)) if (limit > 0) counters.add(subject, 1);
    },
  };
}

function hashed(secrets: Secrets, text: string): string {
  return secrets.hash('address', text).toString('base64url');
}
