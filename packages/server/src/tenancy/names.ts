/**
 * The grammar of names that appear in paths and of access entries, checked where something is created: what passes here
 * can be reached by the path grammar of `http/request/paths.ts`, whose segments follow the same rule.
 */
import { fail } from '../base/errors.ts';

/** A path segment: lower-case letters, digits and inner hyphens, as in a DNS label (RFC 1123 §2.1). */
const segmentPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** What a name may be that only people read: letters of any script, no control characters, no outer spaces. */
const titlePattern = /^(?=\S)[^\p{Cc}\p{Cs}\p{Co}\p{Cn}]{1,120}(?<=\S)$/u;

/** What `access` knows of entries, which tenancy may not import. */
export interface EntryProblem {
  /** Why `entry` is not an access entry, as a sentence, or undefined when it is one. */
  (entry: string): string | undefined;
  /** The first of `asked` that grants something which the entries of `held` do not grant, or undefined. */
  readonly firstNotHeld: (asked: readonly string[], held: readonly string[]) => string | undefined;
}

export const entriesMax = 500;

/**
 * `value` when it may be a path segment.
 * @throws PraxisError `rule-broken` naming `what` and the rule
 */
export function requireSegment(what: string, value: string): string {
  if (segmentPattern.test(value)) return value;
  return fail('rule-broken', {
    diagnostics: `${what} must be 1 to 63 of a-z, 0-9 and hyphen, and neither begin nor end with a hyphen`,
    expression: [what],
  });
}

/** @throws PraxisError `rule-broken` when `value` is no name for people: 1 to 120 characters, none of them a control */
export function requireTitle(what: string, value: string): string {
  if (titlePattern.test(value)) return value;
  return fail('rule-broken', {
    diagnostics: `${what} must be 1 to 120 characters without control characters and without spaces at its ends`,
    expression: [what],
  });
}

/** @throws PraxisError `rule-broken` when `value` is not an IANA time zone, e.g. `America/New_York` */
export function requireTimeZone(value: string): string {
  try {
    new Intl.DateTimeFormat('en', { timeZone: value });
    return value;
  } catch (cause) {
    return fail('rule-broken', {
      diagnostics: 'time zone must be an IANA name such as America/New_York',
      expression: ['timeZone'],
      cause,
    });
  }
}

/**
 * The entries sorted, each once.
 * @throws PraxisError `rule-broken` naming the first entry that is none, or when there are more than `entriesMax`
 */
export function requireEntries(entries: readonly string[], problemOf: EntryProblem): readonly string[] {
  for (const entry of entries) {
    const problem = problemOf(entry);
    if (problem !== undefined) fail('rule-broken', { diagnostics: problem, expression: ['acl'] });
  }
  const unique = [...new Set(entries)].sort();
  if (unique.length > entriesMax)
    fail('rule-broken', { diagnostics: `An acl has at most ${entriesMax} entries`, expression: ['acl'] });
  return unique;
}
