/**
 * The search parameters of each resource type, compiled on first use. They are data: R4's and the practices' rows of
 * `@praxis/fhir`. https://hl7.org/fhir/R4/searchparameter-registry.html
 */
import { type SearchParameter, searchParametersOf } from '@praxis/fhir';
import type { Parameter, ParameterFacts } from './kind.ts';
import { kindOf } from './kinds.ts';
import { parameterNumber } from './numbers.ts';
import { factsOf } from './parameter-facts.ts';

const byType = new Map<string, ReadonlyMap<string, Parameter>>();

/** Whether the server can search by the parameter: its kind is served and it says which elements it reads. */
export function isSearchable(definition: SearchParameter): boolean {
  return kindOf(definition) !== undefined && definition.expression !== undefined;
}

/** The parameters that a type can be searched by, by code. Empty for names that are no resource type. */
export function parametersOf(type: string): ReadonlyMap<string, Parameter> {
  const known = byType.get(type);
  if (known) return known;
  const parameters = new Map<string, Parameter>();
  for (const definition of searchParametersOf(type).values()) {
    const parameter = compile(type, definition);
    if (parameter) parameters.set(definition.code, parameter);
  }
  if (parameters.size > 0) byType.set(type, parameters);
  return parameters;
}

function compile(type: string, definition: SearchParameter): Parameter | undefined {
  const kind = kindOf(definition);
  const { code, expression } = definition;
  if (kind === undefined || expression === undefined) return undefined;
  let facts: ParameterFacts | undefined;
  return {
    type,
    code,
    number: parameterNumber(type, code),
    definition,
    kind,
    get facts() {
      facts ??= factsOf(type, expression, definition.type);
      return facts;
    },
  };
}
