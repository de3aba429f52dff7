/** The resource Parameters, which operations take and return. https://hl7.org/fhir/R4/parameters.html */
import type { Parameters, ParametersParameter } from './generated/resources.ts';

/** A Parameters resource of these, without those that are undefined. */
export function makeParameters(...parameters: readonly (ParametersParameter | undefined)[]): Parameters {
  return { resourceType: 'Parameters', parameter: parameters.filter((each) => each !== undefined) };
}

/** The first parameter of a name; undefined where there is none. */
export function findParameter(parameters: Parameters, name: string): ParametersParameter | undefined {
  return parameters.parameter?.find((each) => each.name === name);
}
