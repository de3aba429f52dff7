/**
 * What of a compartment a caller may search: https://hl7.org/fhir/R4/http.html#vsearch, docs/decisions/0138.
 */
import type { SearchParameter } from '@praxis/fhir';
import { searchGrants } from '../../access/policy.ts';
import { getStandardParameters } from '../../search/parameters.ts';
import type { CompartmentScope } from '../../search/query/compartment-scope.ts';
import type { CompartmentOwner, InteractionContext } from '../context.ts';
import type { RightsContext } from '../rights/denials.ts';
import { findCompartmentScope } from './compartment.ts';
import { buildSearchRights } from './searching.ts';

/**
 * How the caller finds resources of the type in the compartment: by all of the parameters that R4 lists for it, and by
 * `further` ones. The owner itself is found also by those who may not read what links to it. Undefined: not at all.
 */
export function findUsableScope(
  context: RightsContext,
  owner: CompartmentOwner,
  type: string,
  further: readonly string[] = [],
): CompartmentScope | undefined {
  const scope = findCompartmentScope(owner.type, owner.id, type);
  if (scope === undefined) return undefined;
  const ways = type === owner.type ? [scope, { ...scope, codes: ['_id'] }] : [scope];
  return ways.find(({ codes }) => isSearchableBy(context, type, [...codes, ...further]));
}

/** Whether the caller may search the type by all of the parameters at once. */
export function isSearchableBy(context: RightsContext, type: string, codes: readonly string[]): boolean {
  return searchGrants(context.policy, type, definitionsOf(type, codes)).length > 0;
}

/** Whether the caller finds every resource of the type by these parameters: no criterion of its rights restricts rows. */
export function mayFindAll(
  context: Pick<InteractionContext, 'policy'>,
  type: string,
  codes: readonly string[],
): boolean {
  return searchGrants(context.policy, type, definitionsOf(type, codes)).some(({ criteria }) => criteria.length === 0);
}

/**
 * For those who have no usable scope.
 * @throws PraxisError `access-denied` naming what is missing
 */
export function refuseScope(context: RightsContext, owner: CompartmentOwner, type: string): never {
  const { codes } = findCompartmentScope(owner.type, owner.id, type) ?? { codes: [] };
  return buildSearchRights(context).refuse(type, definitionsOf(type, codes));
}

function definitionsOf(type: string, codes: readonly string[]): readonly SearchParameter[] {
  const known = getStandardParameters(type);
  return codes.flatMap((code) => known.get(code)?.definition ?? []);
}
