/**
 * A search inside a compartment: of the resources that one of its parameters links to the resource that the compartment
 * belongs to. https://hl7.org/fhir/R4/compartmentdefinition.html
 */

import { getStandardParameters } from '../parameters.ts';
import { parseCriterion } from './criteria.ts';
import type { ConditionContext, ParsedCondition } from './parse-condition.ts';

/** The compartment of one resource, as one searched type is in it. */
export interface CompartmentScope {
  /** `Patient`. */
  readonly type: string;
  readonly id: string;
  /** Codes of the reference parameters of the searched type, of which one has to lead to that resource; or `_id`. */
  readonly codes: readonly string[];
}

/** That resources of `type` are in the compartment. */
export function buildCompartmentCondition(
  type: string,
  scope: CompartmentScope,
  context: ConditionContext,
): ParsedCondition {
  const criteria = scope.codes.flatMap((code) => {
    // The resource itself is in its compartment; `_id` is the one code that is no reference.
    const value = code === '_id' ? scope.id : `${scope.type}/${scope.id}`;
    const parameter = getStandardParameters(type).get(code);
    return parameter === undefined
      ? []
      : [parseCriterion('', value, { ...context, parameter, name: code }, context.limits)];
  });
  return {
    condition: { kind: 'any', type, conditions: criteria },
    used: criteria.map(({ parameter }) => parameter.definition),
  };
}
