/**
 * Compiled access policies, one per set of entries and not one per session: clients that log in before every call share one.
 */
import { LRUCache } from 'lru-cache';
import { memoize } from '../../access/memoize.ts';
import { readOperatorRows } from '../../access/operator-rows.ts';
import { type AccessPolicy, compilePolicy, type PolicyOptions } from '../../access/policy.ts';

export interface Policies {
  /**
   * What remains of a token's entries under the application's acl and the firm's authorisation as they are now.
   * @param tokenEntries undefined for a legacy token, which carries none: the application's stand for them
   * @param operatorRows what operators say about entries at the firm, as stored
   */
  effective(
    tokenEntries: readonly string[] | undefined,
    applicationEntries: readonly string[],
    firmEntries: readonly string[],
    operatorRows?: unknown,
  ): AccessPolicy;
}

/** @param entriesMax policies remembered */
export function openPolicies(entriesMax: number): Policies {
  const compiled = new LRUCache<string, AccessPolicy>({ max: entriesMax });
  return {
    effective(tokenEntries, applicationEntries, firmEntries, operatorRows = {}) {
      const name = JSON.stringify([tokenEntries ?? 'legacy', applicationEntries, firmEntries, operatorRows]);
      return memoize<string, AccessPolicy>(compiled, name, () => {
        const origin = { carried: tokenEntries, applicationEntries };
        const options = { operatorRows: readOperatorRows(operatorRows), origin };
        const own = tokenEntries === undefined ? applicationEntries : meet(tokenEntries, applicationEntries, options);
        return compilePolicy(own, firmEntries, options);
      });
    },
  };
}

/** Entries that are not understood stay in: they grant nothing, but a filter among them closes what it would narrow. */
function meet(
  tokenEntries: readonly string[],
  applicationEntries: readonly string[],
  options: PolicyOptions,
): readonly string[] {
  const { entries, refused } = compilePolicy(tokenEntries, applicationEntries, options);
  return [...entries, ...refused.map((entry) => entry.text)];
}
