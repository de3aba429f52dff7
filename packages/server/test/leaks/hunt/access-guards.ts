/**
 * Guards of what a token may do: those by which entries become grants, and those of search parameters that only some
 * know of.
 */
import type * as intersecting from '../../../src/access/intersect-entries.ts';
import type * as openRights from '../../../src/access/open-rights.ts';
import type * as policies from '../../../src/access/policy.ts';
import type { AccessPolicy } from '../../../src/access/policy.ts';
import type * as rights from '../../../src/access/rights.ts';
import type { Meaning } from '../../../src/access/rights.ts';
import type * as own from '../../../src/engine/search/own-parameters.ts';
import { at, fields, type Guard, type Off, orders, type Replacement } from './guard.ts';

/** Policies are compiled once: one that is used while a guard is off is compiled without it, and apart. */
const compiledAnew: Replacement = {
  file: 'access/policy.ts',
  name: 'compilePolicy',
  importers: ['oauth/session/policies.ts'],
  replace:
    (original: typeof policies.compilePolicy, isOff: Off): typeof policies.compilePolicy =>
    (...entries) => {
      const compiled = new Map<boolean, AccessPolicy>();
      const now = (): AccessPolicy => {
        const policy = compiled.get(isOff()) ?? original(...entries);
        compiled.set(isOff(), policy);
        return policy;
      };
      const shape = now();
      const members = Object.keys(shape).map((name): [string, PropertyDescriptor] => [
        name,
        { get: () => Reflect.get(now(), name), enumerable: true, configurable: true },
      ]);
      return Object.defineProperties({ ...shape }, Object.fromEntries(members));
    },
};

/** Entries mean something else while the guard is off. */
function meaning(
  name: string,
  { at, by }: Pick<Guard, 'at' | 'by'>,
  unlimited: (meant: Meaning, entryKind: string) => Meaning,
): Guard {
  const meanings: Replacement = {
    file: 'access/rights.ts',
    name: 'interpretEntry',
    importers: ['access/intersect-entries.ts'],
    replace:
      (original: typeof rights.interpretEntry, isOff: Off): typeof rights.interpretEntry =>
      (entry, operatorRows) => {
        const meant = original(entry, operatorRows);
        return isOff() ? unlimited(meant, entry.kind) : meant;
      },
  };
  return { name, at, ...(by === undefined ? {} : { by }), replaced: [compiledAnew, meanings] };
}

function allRowsOf(meant: Meaning): Meaning {
  return { ...meant, rights: meant.rights.map((right) => ({ ...right, criteria: [] })) };
}

export const accessGuards: readonly Guard[] = [
  {
    name: 'what the firm has authorised of a token',
    at: fields('value'),
    by: ['reader'],
    ways: ['read'],
    replaced: [
      compiledAnew,
      {
        file: 'access/intersect-entries.ts',
        name: 'intersectEntries',
        importers: ['access/policy.ts'],
        replace:
          (original: typeof intersecting.intersectEntries, isOff: Off): typeof intersecting.intersectEntries =>
          (token, firm) =>
            isOff() ? token : original(token, firm),
      },
    ],
  },
  {
    name: 'filters of order types',
    at: orders('value', 'existence'),
    by: ['filtered'],
    replaced: [
      compiledAnew,
      {
        file: 'access/open-rights.ts',
        name: 'groupCriteria',
        importers: ['access/policy.ts'],
        replace:
          (original: typeof openRights.groupCriteria, isOff: Off): typeof openRights.groupCriteria =>
          (filters) =>
            original(isOff() ? [] : filters),
      },
    ],
  },
  {
    name: 'limits that operators set to entries',
    at: orders('value', 'existence'),
    by: ['described'],
    replaced: [
      compiledAnew,
      {
        file: 'access/rights.ts',
        name: 'interpretEntry',
        importers: ['access/intersect-entries.ts'],
        replace:
          (original: typeof rights.interpretEntry, isOff: Off): typeof rights.interpretEntry =>
          (entry, operatorRows) =>
            original(entry, isOff() ? new Map() : operatorRows),
      },
    ],
  },
  meaning('queries of SMART scopes', { at: orders('value', 'existence'), by: ['coded'] }, (meant, kind) =>
    kind === 'smart' ? allRowsOf(meant) : meant,
  ),
  meaning('rows of entries', { at: at('tasks', 'value', 'existence'), by: ['recalls'] }, (meant, kind) =>
    kind === 'crud' ? allRowsOf(meant) : meant,
  ),
  {
    name: "search parameters of the firm's own on types that are not searched",
    at: fields('definition'),
    by: ['names'],
    ways: ['search chain', 'search _has', 'search include'],
    replaced: [
      {
        file: 'engine/search/own-parameters.ts',
        name: 'limitOwnParameters',
        replace:
          (original: typeof own.limitOwnParameters, isOff: Off): typeof own.limitOwnParameters =>
          (policy, parameters) =>
            isOff() ? parameters : original(policy, parameters),
      },
    ],
  },
  {
    name: "search parameters of the firm's own in the metadata",
    at: fields('definition'),
    by: ['names'],
    ways: ['metadata'],
    replaced: [
      {
        file: 'engine/search/own-parameters.ts',
        name: 'groupUsableParameters',
        replace:
          (original: typeof own.groupUsableParameters, isOff: Off): typeof own.groupUsableParameters =>
          (policy, parameters) => {
            const grants: AccessPolicy['grants'] = () => [{ elements: 'all', criteria: [], entries: [] }];
            return original(isOff() ? { ...policy, grants } : policy, parameters);
          },
      },
    ],
  },
];
