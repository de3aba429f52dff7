/**
 * The search parameters of a firm's own as far as a caller may know of them: for its searches, and for the metadata
 * (https://hl7.org/fhir/R4/capabilitystatement-definitions.html#CapabilityStatement.rest.resource.searchParam).
 */
import type { SearchParameter } from '@praxis/fhir';
import { type AccessPolicy, searchGrants } from '../../access/policy.ts';
import { listCompleteParameters } from '../../search/parameters.ts';
import type { FirmSearchParameter, FirmSearchParameters } from '../../tenancy/search-parameters.ts';

/** Those that are complete, by type; undefined when there are none. */
export function groupUsableParameters(
  policy: AccessPolicy,
  own: FirmSearchParameters,
): ReadonlyMap<string, readonly SearchParameter[]> | undefined {
  const usable = new Map<string, readonly SearchParameter[]>();
  for (const type of new Set(own.flatMap(({ definition }) => definition.base))) {
    const definitions = listCompleteParameters(type, own)
      .map(({ definition }) => definition)
      .filter((definition) => searchGrants(policy, type, [definition]).length > 0);
    if (definitions.length > 0) usable.set(type, definitions);
  }
  return usable.size > 0 ? usable : undefined;
}

const known = new WeakMap<AccessPolicy, WeakMap<FirmSearchParameters, FirmSearchParameters>>();

/**
 * Those of types that the caller may search; on the others they mean nothing to it, so that a chain or an include that leads
 * there does not tell which are defined. The same list for the same policy and list, since what is compiled is kept by list.
 */
export function limitOwnParameters(policy: AccessPolicy, own: FirmSearchParameters): FirmSearchParameters {
  if (own.length === 0 || policy.unrestricted) return own;
  const byList = known.get(policy) ?? new WeakMap<FirmSearchParameters, FirmSearchParameters>();
  known.set(policy, byList);
  const list = byList.get(own) ?? own.flatMap((parameter) => limited(policy, parameter));
  byList.set(own, list);
  return list;
}

function limited(policy: AccessPolicy, parameter: FirmSearchParameter): readonly FirmSearchParameter[] {
  const { definition } = parameter;
  const base = definition.base.filter((type) => policy.allows(type, 's'));
  return base.length === 0 ? [] : [{ ...parameter, definition: { ...definition, base } }];
}
