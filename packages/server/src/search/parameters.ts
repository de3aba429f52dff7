/**
 * The search parameters of each resource type, compiled on first use. They are data: R4's and the practices' rows of
 * `@praxis/fhir`. https://hl7.org/fhir/R4/searchparameter-registry.html
 */
import { type SearchParameter, searchParametersOf } from '@praxis/fhir';
import type { Parameter, ParameterFacts } from './kind.ts';
import { kindOf } from './kinds.ts';
import { parameterNumber } from './numbers.ts';
import { factsOf, factsOfWhole } from './parameter-facts.ts';

const byType = new Map<string, ReadonlyMap<string, Parameter>>();

/** Whether the server can search by the parameter: its kind is served, and knows which elements it reads. */
export function isSearchable(definition: SearchParameter): boolean {
  const kind = kindOf(definition);
  return kind !== undefined && (definition.expression !== undefined || kind.whole === true);
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
  if (kind === undefined || (expression === undefined && !kind.whole)) return undefined;
  let facts: ParameterFacts | undefined;
  let parts: readonly Parameter[] | undefined;
  return {
    type,
    code,
    number: parameterNumber(type, code),
    definition,
    kind,
    get facts() {
      facts ??= expression === undefined ? factsOfWhole : factsOf(type, expression, definition.type);
      return facts;
    },
    get parts() {
      parts ??= (definition.components ?? []).map((component) => partOf(type, component.definition));
      return parts;
    },
  };
}

function partOf(type: string, url: string): Parameter {
  const part = [...parametersOf(type).values()].find(({ definition }) => definition.url === url);
  if (part === undefined) throw new TypeError(`${type} has no search parameter ${url}`);
  return part;
}
