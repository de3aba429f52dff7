/**
 * Guards of what is told later: events of subscriptions and files of exports. Each is taken out in turn, and then those who may not
 * see the secret are told different things (tellings.ts).
 */
import type * as mask from '../../../src/access/mask.ts';
import type * as ownRows from '../../../src/access/own-rows.ts';
import type * as policies from '../../../src/access/policy.ts';
import type { AccessPolicy } from '../../../src/access/policy.ts';
import type * as disclosing from '../../../src/engine/rights/disclosing.ts';
import type * as searching from '../../../src/engine/search/searching.ts';
import { type Off, type Replacement, wholeGrants } from './guard.ts';

/** Who is told in the scene of tellings.ts. */
export type Told = 'masked' | 'rows' | 'times' | 'others';

export interface TellingGuard {
  readonly name: string;
  /** Who is told different things without it. */
  readonly by: Told;
  readonly replaced: readonly Replacement[];
}

const matching = 'practice/subscriptions/admitting/matching.ts';
const hooks = 'practice/subscriptions/hooks.ts';

/** Searches by everything, over all rows. */
function searchingAll(...importers: readonly string[]): Replacement {
  return {
    file: 'engine/search/searching.ts',
    name: 'planSearch',
    importers,
    replace:
      (original: typeof searching.planSearch, isOff: Off): typeof searching.planSearch =>
      (context, ...asked) =>
        original(isOff() ? withAll(context) : context, ...asked),
  };
}

function grantsOfTopics(
  change: (
    grants: ReturnType<typeof policies.searchGrants>,
    all: typeof policies.searchGrants,
    policy: AccessPolicy,
    type: string,
  ) => ReturnType<typeof policies.searchGrants>,
): Replacement {
  return {
    file: 'access/policy.ts',
    name: 'searchGrants',
    importers: [matching],
    replace:
      (original: typeof policies.searchGrants, isOff: Off): typeof policies.searchGrants =>
      (policy, type, parameters) => {
        const grants = original(policy, type, parameters);
        return isOff() ? change(grants, original, policy, type) : grants;
      },
  };
}

function withAll<T extends { readonly policy: AccessPolicy }>(context: T): T {
  return { ...context, policy: wholeGrants(context.policy) };
}

export const tellingGuards: readonly TellingGuard[] = [
  {
    name: 'rows that topics tell of',
    by: 'rows',
    replaced: [grantsOfTopics((grants) => grants.map((grant) => ({ ...grant, criteria: [] })))],
  },
  { name: 'rows that criteria find', by: 'rows', replaced: [searchingAll(matching)] },
  {
    name: 'mask of notifications',
    by: 'masked',
    replaced: [
      {
        file: 'engine/rights/disclosing.ts',
        name: 'discloseRow',
        importers: ['practice/subscriptions/notification.ts'],
        replace:
          (original: typeof disclosing.discloseRow, isOff: Off): typeof disclosing.discloseRow =>
          (context, ...asked) =>
            original(isOff() ? withAll(context) : context, ...asked),
      },
    ],
  },
  {
    name: 'elements that topics go by',
    by: 'times',
    replaced: [grantsOfTopics((grants) => grants.map((grant) => ({ ...grant, elements: 'all' })))],
  },
  {
    name: 'parameters that filters name',
    by: 'masked',
    replaced: [grantsOfTopics((_grants, all, policy, type) => all(policy, type, [])), searchingAll(hooks)],
  },
  { name: 'parameters that criteria name', by: 'masked', replaced: [searchingAll(hooks, matching)] },
  {
    name: 'own subscriptions',
    by: 'others',
    replaced: [
      {
        file: 'access/own-rows.ts',
        name: 'limitToOwnRows',
        replace:
          (original: typeof ownRows.limitToOwnRows, isOff: Off): typeof ownRows.limitToOwnRows =>
          (policy, ...asked) =>
            isOff() ? policy : original(policy, ...asked),
      },
    ],
  },
  {
    name: 'rows of exports',
    by: 'rows',
    replaced: [
      {
        file: 'access/mask.ts',
        name: 'coversRow',
        importers: ['bulk-export/row-tests.ts'],
        replace:
          (original: typeof mask.coversRow, isOff: Off): typeof mask.coversRow =>
          (...asked) =>
            isOff() || original(...asked),
      },
    ],
  },
  {
    name: 'mask of exports',
    by: 'masked',
    replaced: [
      {
        file: 'engine/rights/disclosing.ts',
        name: 'discloseRows',
        importers: ['operations/bulk-export/export-file.ts'],
        replace:
          (original: typeof disclosing.discloseRows, isOff: Off): typeof disclosing.discloseRows =>
          (context, ...asked) =>
            original(isOff() ? withAll(context) : context, ...asked),
      },
    ],
  },
  { name: 'parameters that _typeFilter names', by: 'masked', replaced: [searchingAll('bulk-export/type-filter.ts')] },
];
