/**
 * Types of which every application sees and changes its own rows alone, whatever its entries say, `acl/*` included
 * (docs/decisions/0308). The limit is a row criterion on each grant of the type, so all that goes by grants keeps to it: reads,
 * searches, histories, chains, feeds and exports.
 */
import type { Permission } from './entries/definition.ts';
import type { Grant } from './grants.ts';
import { memoize } from './memoize.ts';
import type { AccessPolicy } from './policy.ts';

/** Type → the token search parameter that says whose a row is, by the number of the application. */
export const ownRowParameters: ReadonlyMap<string, string> = new Map([['Subscription', 'owner']]);

const narrowed = new WeakMap<AccessPolicy, Map<number, AccessPolicy>>();

/** The policy as `application` has it. The same object for the same policy and application. */
export function limitToOwnRows(policy: AccessPolicy, application: number): AccessPolicy {
  const ofPolicy = memoize(narrowed, policy, () => new Map<number, AccessPolicy>());
  return memoize(ofPolicy, application, () => narrow(policy, application));
}

function narrow(policy: AccessPolicy, application: number): AccessPolicy {
  const known = new Map<string, readonly Grant[]>();
  const grants = (type: string, letter: Permission): readonly Grant[] => {
    const parameter = ownRowParameters.get(type);
    if (parameter === undefined) return policy.grants(type, letter);
    return memoize(known, `${letter} ${type}`, () =>
      policy.grants(type, letter).map((grant) => ({
        ...grant,
        criteria: [...grant.criteria, { parameter, values: [String(application)] }],
      })),
    );
  };
  // A copy of the properties, not of their values.
  const { grants: _all, ...others } = Object.getOwnPropertyDescriptors(policy);
  return Object.defineProperties({ ...policy, grants }, others);
}
