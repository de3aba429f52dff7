/**
 * What a row of the table of guards is made of. Nothing of this is in the service: unguarded.ts replaces exported functions
 * while they are loaded.
 */
import type { AccessPolicy } from '../../../src/access/policy.ts';
import type * as scopes from '../../../src/tenancy/scope.ts';
import type { CallerName } from './callers.ts';
import type { Group, PlotKind, SecretKind } from './planted.ts';

/** One export that a guard consists of. */
export interface Replacement {
  /** Below packages/server/src. */
  readonly file: string;
  readonly name: string;
  /** Only what these files import is replaced; absent: what all import. */
  readonly importers?: readonly string[];
  /** What stands for the export: itself, or what does not guard while `isOff` says so. */
  readonly replace: (original: never, isOff: () => boolean) => unknown;
}

export interface Guard {
  readonly name: string;
  /** Where the hunt looks for its absence. */
  readonly at: readonly PlotKind[];
  /** Who looks for it there; absent: all. */
  readonly by?: readonly CallerName[];
  /** By which ways; absent: by all. */
  readonly ways?: readonly string[];
  /** What plots are given when they are planted (page links) is made without it, too: they are planted anew. */
  readonly plantsAnew?: true;
  readonly replaced: readonly Replacement[];
}

export type Off = () => boolean;

/** The plots where the group hides these secrets. */
export function at(group: Group, ...secrets: readonly SecretKind[]): readonly PlotKind[] {
  return secrets.map((secret) => ({ group, secret }));
}

export const fields = (...secrets: readonly SecretKind[]): readonly PlotKind[] => at('fields', ...secrets);
export const orders = (...secrets: readonly SecretKind[]): readonly PlotKind[] => at('orders', ...secrets);

/** Reaches every row and element of what it grants something on. */
export function wholeGrants(policy: AccessPolicy): AccessPolicy {
  const grants: AccessPolicy['grants'] = (type, letter) =>
    policy.grants(type, letter).map((grant) => ({ ...grant, elements: 'all', criteria: [] }));
  return { ...policy, grants };
}

/** Reaches every row and element of every type. */
export function grantsOfAll(policy: AccessPolicy): AccessPolicy {
  return { ...policy, allows: () => true, grants: () => [{ elements: 'all', criteria: [], entries: [] }] };
}

/** By the number of a firm, what was read last for the application that came first: of the one that has planted it. */
const plantersFacts = new Map<number, scopes.TenantScopeFacts>();

/** Notes who was first at a firm: `asPlanter` needs it. */
export const notesPlanters: Replacement = {
  file: 'tenancy/scope.ts',
  name: 'openScope',
  importers: ['oauth/session/authenticate.ts'],
  replace:
    (original: typeof scopes.openScope): typeof scopes.openScope =>
    (facts) => {
      const planter = plantersFacts.get(facts.firm)?.application ?? facts.application;
      if (planter === facts.application) plantersFacts.set(facts.firm, facts);
      return original(facts);
    },
};

/** The scope of the application that has planted the firm. */
export function asPlanter(scope: scopes.TenantScope): scopes.TenantScope {
  const { application, epoch } = plantersFacts.get(scope.firm) ?? scope;
  return { ...scope, application, epoch };
}
