/**
 * The values of `_include` and `_revinclude` that a search of a type takes, for the CapabilityStatement
 * (https://hl7.org/fhir/R4/capabilitystatement-definitions.html#CapabilityStatement.rest.resource.searchInclude).
 */
import { resourceTypesWithEndpoint } from '@praxis/fhir';
import { noSearchParameters } from '../../tenancy/search-parameters.ts';
import { listReferenceParameters } from './include.ts';

/** `*`, `Encounter:*`, `Encounter:subject`, …; never empty. */
export function listIncludes(type: string): readonly string[] {
  const codes = listReferenceParameters(type, noSearchParameters).map(({ code }) => `${type}:${code}`);
  return codes.length === 0 ? ['*'] : ['*', `${type}:*`, ...codes];
}

/** `*`, and the parameters of all types that can refer to the type: `Encounter:subject`, …; never empty. */
export function listRevincludes(type: string): readonly string[] {
  const leading = resourceTypesWithEndpoint.flatMap((source) =>
    listReferenceParameters(source, noSearchParameters)
      .filter(({ definition }) => definition.targets.includes(type))
      .map(({ code }) => `${source}:${code}`),
  );
  return ['*', ...leading];
}
