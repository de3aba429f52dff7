/**
 * The guards that keep what is hidden hidden, each with what the code would do without it: the leak hunt has to find every
 * one of them missing. Nothing of this is in the service: unguarded.ts replaces exported functions while they are loaded.
 */

import type * as mask from '../../../src/access/mask.ts';
import type * as policies from '../../../src/access/policy.ts';
import type { AccessPolicy } from '../../../src/access/policy.ts';
import type * as usable from '../../../src/access/usable-parameters.ts';
import { fail } from '../../../src/base/errors.ts';
import type * as reading from '../../../src/engine/read/read.ts';
import type * as disclosing from '../../../src/engine/rights/disclosing.ts';
import type * as readableMembers from '../../../src/engine/rights/readable-members.ts';
import type * as writeRights from '../../../src/engine/rights/write-rights.ts';
import type * as searching from '../../../src/engine/search/searching.ts';
import type { operations } from '../../../src/practice/features.ts';
import type * as conditions from '../../../src/search/query/parse-condition.ts';
import type { SearchRights } from '../../../src/search/query/parse-condition.ts';
import type * as queries from '../../../src/search/query/query.ts';
import type * as rowCriteria from '../../../src/search/query/row-criteria.ts';
import type * as plans from '../../../src/search/sql/plan.ts';
import type * as scopes from '../../../src/tenancy/scope.ts';
import { accessGuards } from './access-guards.ts';
import { at, fields, type Guard, type Off, orders, type Replacement, wholeGrants } from './guard.ts';
import { operationGuards } from './operation-guards.ts';
import { pagingGuards } from './paging-guards.ts';
import { schedulingGuards } from './scheduling-guards.ts';
import { searchGuards } from './search-guards.ts';

const allRows: Pick<SearchRights, 'rowsOf'> = { rowsOf: () => [[]] };

/** Parameters of the name are parsed as if the caller might search everything that they lead to. */
function ledTo(leads: (name: string) => boolean): Replacement {
  return {
    file: 'search/query/parse-condition.ts',
    name: 'parseCondition',
    replace:
      (original: typeof conditions.parseCondition, isOff: Off): typeof conditions.parseCondition =>
      (type, name, value, context) => {
        const isLed = isOff() && leads(name);
        return original(type, name, value, isLed ? { ...context, rights: { ...context.rights, ...allRows } } : context);
      },
  };
}

/** The parameters that are not asked about when rights are. */
function forgetting(forgets: 'sort' | 'criteria'): Replacement {
  return {
    file: 'search/query/query.ts',
    name: 'parseSearch',
    replace:
      (original: typeof queries.parseSearch, isOff: Off): typeof queries.parseSearch =>
      (...asked) => {
        const query = original(...asked);
        const keys = new Set(query.sort.map(({ parameter }) => parameter.definition));
        const kept = query.usedParameters.filter((used) => keys.has(used) === (forgets === 'criteria'));
        return isOff() ? { ...query, usedParameters: kept } : query;
      },
  };
}

function counting(name: 'planCount' | 'planEstimate'): Replacement {
  return {
    file: 'search/sql/plan.ts',
    name,
    replace:
      (original: typeof plans.planCount, isOff: Off): typeof plans.planCount =>
      (target) =>
        original(isOff() ? { ...target, mandatory: [[]] } : target),
  };
}

/** A right of `acl/*` that is given to all. */
function given(right: 'mayDelete' | 'mayUpdateAsCreate' | 'mayTypeHistory'): Replacement {
  return {
    file: 'access/policy.ts',
    name: 'compilePolicy',
    importers: ['oauth/session/policies.ts'],
    replace:
      (original: typeof policies.compilePolicy, isOff: Off): typeof policies.compilePolicy =>
      (...entries) => {
        const policy = original(...entries);
        // A copy of the properties, not of their values: one replacement stands around another.
        const copy = Object.defineProperties({ ...policy }, Object.getOwnPropertyDescriptors(policy));
        return Object.defineProperty(copy, right, {
          get: () => isOff() || policy[right],
          enumerable: true,
          configurable: true,
        });
      },
  };
}

/** What was read of the firm of a plot by those who may act there. */
const lastFacts = new Map<string, scopes.TenantScopeFacts>();

const mainGuards: readonly Guard[] = [
  {
    name: 'field mask',
    at: fields('value'),
    by: ['names'],
    replaced: [
      {
        file: 'access/mask.ts',
        name: 'disclose',
        replace:
          (original: typeof mask.disclose, isOff: Off): typeof mask.disclose =>
          (policy, letter, type, content, matches, filter) => {
            if (!isOff()) return original(policy, letter, type, content, matches, filter);
            const grants: AccessPolicy['grants'] = (...of) =>
              policy.grants(...of).map((grant) => ({ ...grant, elements: 'all' }));
            return original({ ...policy, grants }, letter, type, content, matches, filter);
          },
      },
    ],
  },
  {
    name: 'row criteria of what is shown',
    at: orders('existence', 'value'),
    by: ['described', 'coded'],
    replaced: [
      {
        file: 'access/mask.ts',
        name: 'disclose',
        replace:
          (original: typeof mask.disclose, isOff: Off): typeof mask.disclose =>
          (policy, letter, type, content, matches, filter) =>
            original(policy, letter, type, content, isOff() ? () => true : matches, filter),
      },
    ],
  },
  {
    name: 'row criteria in search plans',
    at: orders('existence', 'value'),
    by: ['described', 'coded'],
    replaced: [
      {
        file: 'search/query/row-criteria.ts',
        name: 'buildMandatoryGroups',
        replace:
          (original: typeof rowCriteria.buildMandatoryGroups, isOff: Off): typeof rowCriteria.buildMandatoryGroups =>
          (...asked) =>
            isOff() ? [] : original(...asked),
      },
    ],
  },
  {
    name: 'parameters that are searched by',
    at: fields('value', 'link'),
    by: ['names'],
    ways: ['search', 'search modifier'],
    replaced: [forgetting('criteria')],
  },
  {
    name: 'parameters that are sorted by',
    at: fields('value'),
    by: ['names'],
    ways: ['search _sort'],
    replaced: [forgetting('sort')],
  },
  {
    name: 'what chains lead to',
    at: fields('value', 'link'),
    by: ['names'],
    ways: ['search chain'],
    replaced: [ledTo((name) => name.includes('.') && !name.startsWith('_has:'))],
  },
  {
    name: 'what _has leads to',
    at: fields('value', 'existence', 'link'),
    by: ['names'],
    ways: ['search _has'],
    replaced: [ledTo((name) => name.startsWith('_has:'))],
  },
  {
    name: 'what _list leads to',
    at: fields('link'),
    by: ['names'],
    ways: ['search _list'],
    replaced: [ledTo((name) => name === '_list')],
  },
  {
    name: 'what _filter leads to',
    at: fields('value', 'link'),
    by: ['names'],
    ways: ['search _filter'],
    replaced: [ledTo((name) => name === '_filter')],
  },
  {
    name: 'references that _include follows',
    at: fields('link'),
    by: ['names'],
    ways: ['search include'],
    replaced: [
      {
        file: 'access/usable-parameters.ts',
        name: 'isUsable',
        importers: ['engine/search/including.ts'],
        replace:
          (original: typeof usable.isUsable, isOff: Off): typeof usable.isUsable =>
          (...asked) =>
            isOff() || original(...asked),
      },
    ],
  },
  {
    name: 'references that _revinclude follows',
    at: fields('link'),
    by: ['names'],
    ways: ['search include'],
    replaced: [
      {
        file: 'access/policy.ts',
        name: 'searchGrants',
        importers: ['engine/search/including.ts'],
        replace:
          (original: typeof policies.searchGrants, isOff: Off): typeof policies.searchGrants =>
          (policy, type, used) =>
            original(policy, type, isOff() ? [] : used),
      },
    ],
  },
  {
    name: '404 for what is hidden',
    at: orders('existence'),
    by: ['described', 'coded'],
    ways: ['read', 'vread'],
    replaced: [
      {
        file: 'engine/rights/disclosing.ts',
        name: 'discloseRow',
        importers: ['engine/read/read.ts', 'engine/read/vread.ts'],
        replace:
          (original: typeof disclosing.discloseRow, isOff: Off): typeof disclosing.discloseRow =>
          (...asked) => {
            const shown = original(...asked);
            return shown === undefined && isOff() ? fail('access-denied', { diagnostics: 'This is hidden' }) : shown;
          },
      },
    ],
  },
  {
    name: 'deletions of hidden rows',
    at: orders('deletion'),
    by: ['described', 'coded'],
    ways: ['vread', 'history-instance'],
    replaced: [
      {
        file: 'engine/read/read.ts',
        name: 'seesAllRows',
        replace:
          (original: typeof reading.seesAllRows, isOff: Off): typeof reading.seesAllRows =>
          (...asked) =>
            isOff() || original(...asked),
      },
    ],
  },
  {
    name: 'searches of conditional writes',
    at: fields('value'),
    by: ['writer'],
    ways: ['conditional create', 'conditional patch'],
    replaced: [
      {
        file: 'engine/search/searching.ts',
        name: 'planSearch',
        importers: ['engine/write/conditional.ts'],
        replace:
          (original: typeof searching.planSearch, isOff: Off): typeof searching.planSearch =>
          (context, ...asked) =>
            original(isOff() ? { ...context, policy: wholeGrants(context.policy) } : context, ...asked),
      },
    ],
  },
  {
    name: 'patches that ask what is there',
    at: fields('value'),
    by: ['writer'],
    ways: ['patch'],
    replaced: [
      {
        file: 'engine/rights/readable-members.ts',
        name: 'compileReadable',
        importers: ['engine/write/patch.ts'],
        replace:
          (original: typeof readableMembers.compileReadable, isOff: Off): typeof readableMembers.compileReadable =>
          (...asked) =>
            isOff() ? () => true : original(...asked),
      },
    ],
  },
  {
    name: 'patches of hidden rows',
    at: at('tasks', 'existence'),
    by: ['scoped'],
    ways: ['patch'],
    replaced: [
      {
        file: 'engine/rights/write-rights.ts',
        name: 'requireTouchable',
        importers: ['engine/write/patch.ts'],
        replace:
          (original: typeof writeRights.requireTouchable, isOff: Off): typeof writeRights.requireTouchable =>
          (...asked) =>
            isOff() ? undefined : original(...asked),
      },
    ],
  },
  {
    name: 'updates of hidden rows',
    at: orders('existence'),
    by: ['filtered'],
    ways: ['update'],
    replaced: [
      {
        file: 'access/mask.ts',
        name: 'coversRow',
        importers: ['engine/write/update.ts'],
        replace:
          (original: typeof mask.coversRow, isOff: Off): typeof mask.coversRow =>
          (...asked) =>
            isOff() || original(...asked),
      },
    ],
  },
  {
    name: 'updates that create',
    at: orders('existence'),
    by: ['filtered'],
    ways: ['update'],
    replaced: [given('mayUpdateAsCreate')],
  },
  { name: 'deletes', at: orders('existence'), by: ['filtered'], ways: ['delete'], replaced: [given('mayDelete')] },
  {
    name: 'histories of types',
    at: orders('existence', 'deletion'),
    by: ['described'],
    ways: ['history-type', 'history-system'],
    replaced: [given('mayTypeHistory')],
  },
  {
    name: 'operation authorisation',
    at: fields('definition'),
    by: ['names'],
    ways: ['operation $status'],
    replaced: [
      {
        file: 'practice/features.ts',
        name: 'operations',
        importers: ['practice/register.ts'],
        replace: (original: typeof operations, isOff: Off): typeof operations =>
          original.map((operation) => ({
            ...operation,
            authorize: (...asked) => (isOff() ? undefined : operation.authorize(...asked)),
          })),
      },
    ],
  },
  {
    name: 'totals',
    at: orders('existence'),
    by: ['coded'],
    ways: ['search', 'search modifier'],
    replaced: [counting('planCount')],
  },
  {
    name: 'estimates',
    at: orders('existence'),
    by: ['coded'],
    ways: ['search', 'search modifier'],
    replaced: [counting('planEstimate')],
  },
  {
    name: 'firm of a request',
    at: at('elsewhere', 'value', 'existence'),
    replaced: [
      {
        file: 'tenancy/scope.ts',
        name: 'openScope',
        importers: ['oauth/session/authenticate.ts'],
        replace:
          (original: typeof scopes.openScope, isOff: Off): typeof scopes.openScope =>
          (facts) => {
            lastFacts.set(facts.firmPrefix, facts);
            const other = lastFacts.get(facts.firmPrefix.replace('beside', 'plot'));
            return original(isOff() && other !== undefined ? { ...other, firmPrefix: facts.firmPrefix } : facts);
          },
      },
    ],
  },
];

export const guards: readonly Guard[] = [
  ...mainGuards,
  ...accessGuards,
  ...searchGuards,
  ...pagingGuards,
  ...operationGuards,
  ...schedulingGuards,
];
