/**
 * Slows the guessing of passwords and secrets (RFC 9700 §4.14 follows NIST 800-63B §5.2.2 in this): wrong attempts are
 * counted per account and per address in all processes together, and when there were too many in a minute, further ones are
 * refused before the secret is looked at.
 *
 * The owner is not locked out by others: who sends a live API key with the attempt is counted by that key alone, and a
 * guesser of passwords seldom has one; attempts with right secrets count nothing.
 */
import { toInstant } from '../base/clock.ts';
import type { Secrets } from '../base/secrets.ts';
import type { SharedCounters } from './shared-counters.ts';

/** Wrong attempts a minute that pass; 0 = any number. */
export interface GuessLimits {
  readonly perAccount: number;
  /** From one address, at all accounts together. */
  readonly perAddress: number;
}

/** For passwords that people choose. */
export const chosenPasswordLimits: GuessLimits = { perAccount: 10, perAddress: 50 };

/** Who tries to get in where. */
export interface Attempt {
  /** Names the account or client, and where it is: `sandbox/maple/user`. */
  readonly account: string;
  readonly address: string;
  /** Number of the live API key that came with the attempt; absent: none did, or it is not known. */
  readonly apiKey?: number | undefined;
}

export interface GuessLimit {
  /** False: any number of attempts passes, and nothing is counted. */
  readonly counts: boolean;
  /** When an attempt may be made again, as text; undefined when it may be made now. */
  refusedUntil(attempt: Attempt): { readonly until: string; readonly seconds: number } | undefined;
  /** The secret was wrong. */
  failed(attempt: Attempt): void;
}

export function openGuessLimit(
  counters: SharedCounters,
  secrets: Secrets,
  clock: { now(): number },
  { perAccount, perAddress }: GuessLimits = chosenPasswordLimits,
): GuessLimit {
  // Names and addresses may be personal data: the database holds keyed hashes of them.
  const subjectsOf = ({ account, address, apiKey }: Attempt) => {
    const at = `wrong-at:${hashed(secrets, account)}`;
    if (apiKey !== undefined) return [{ subject: `${at}:${apiKey}`, limit: perAccount }];
    const from = { subject: `wrong-from:${hashed(secrets, address)}`, limit: perAddress };
    return [{ subject: at, limit: perAccount }, from];
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
      for (const { subject } of subjectsOf(attempt)) counters.add(subject, 1);
    },
  };
}

function hashed(secrets: Secrets, text: string): string {
  return secrets.hash('address', text).toString('base64url');
}
