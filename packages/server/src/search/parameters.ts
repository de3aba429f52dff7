/**
 * The search parameters of each resource type, compiled on first use. They are data: R4's and the practices' rows of
 * `@praxis/fhir`, and those that a firm defines. https://hl7.org/fhir/R4/searchparameter-registry.html
 */
import { getSearchParameters, type SearchParameter, searchParameterFrom } from '@praxis/fhir';
import type { FirmSearchParameter, FirmSearchParameters } from '../tenancy/search-parameters.ts';
import { computeParameterFacts, factsOfWhole } from './index/parameter-facts.ts';
import type { Parameter, ParameterFacts } from './kinds/kind.ts';
import { findKind } from './kinds/kinds.ts';
import { computeFirmParameterNumber, computeParameterNumber, type DerivedSpace } from './numbers.ts';

const byType = new Map<string, ReadonlyMap<string, Parameter>>();

/** Whether the server can search by the parameter: its kind is served, and knows which elements it reads. */
export function isSearchable(definition: SearchParameter): boolean {
  const kind = findKind(definition);
  return kind !== undefined && (definition.expression !== undefined || kind.whole === true);
}

/** The parameters by which a type can be searched at every firm, by code. Empty for names that are no resource type. */
export function getStandardParameters(type: string): ReadonlyMap<string, Parameter> {
  const known = byType.get(type);
  if (known) return known;
  const parameters = new Map<string, Parameter>();
  for (const definition of getSearchParameters(type).values()) {
    const parameter = compile(type, definition, (space) => computeParameterNumber(type, definition.code, space));
    if (parameter) parameters.set(definition.code, parameter);
  }
  if (parameters.size > 0) byType.set(type, parameters);
  return parameters;
}

/** The parameters of firms, compiled; kept as long as their lists are. */
const byTypeOfList = new WeakMap<FirmSearchParameters, Map<string, ReadonlyMap<string, Parameter>>>();

/**
 * The parameters by which a type can be searched at a firm, by code: the standard ones, and its own that are complete.
 * @param own the firm's own (TenantScope.searchParameters)
 */
export function getSearchableParameters(type: string, own: FirmSearchParameters): ReadonlyMap<string, Parameter> {
  if (own.length === 0) return getStandardParameters(type);
  const ofList = byTypeOfList.get(own) ?? new Map<string, ReadonlyMap<string, Parameter>>();
  byTypeOfList.set(own, ofList);
  const known = ofList.get(type);
  if (known) return known;
  const parameters = new Map(getStandardParameters(type));
  for (const parameter of listCompleteParameters(type, own)) {
    if (!parameters.has(parameter.code)) parameters.set(parameter.code, parameter);
  }
  ofList.set(type, parameters);
  return parameters;
}

/** The firm's own parameters by which a type can be searched. */
export function listCompleteParameters(type: string, own: FirmSearchParameters): readonly Parameter[] {
  return own.filter(({ complete }) => complete).flatMap((parameter) => compileOwn(type, parameter) ?? []);
}

/** The firm's own parameters of a type that writes leave index rows for: complete or not, two of one code among them. */
export function listIndexedParameters(
  type: string,
  own: FirmSearchParameters,
): readonly { readonly id: number; readonly parameter: Parameter }[] {
  return own.flatMap((each) => {
    const parameter = each.failed ? undefined : compileOwn(type, each);
    return parameter === undefined ? [] : [{ id: each.id, parameter }];
  });
}

/** Undefined when the parameter is not one of the type. */
function compileOwn(type: string, { id, url, definition }: FirmSearchParameter): Parameter | undefined {
  if (!definition.base.includes(type)) return undefined;
  return compile(type, searchParameterFrom(url, definition, type), (space) =>
    computeFirmParameterNumber(type, id, space),
  );
}

function compile(
  type: string,
  definition: SearchParameter,
  numberIn: (space?: DerivedSpace) => number,
): Parameter | undefined {
  const kind = findKind(definition);
  const { code, expression } = definition;
  if (kind === undefined || (expression === undefined && !kind.whole)) return undefined;
  let facts: ParameterFacts | undefined;
  let parts: readonly Parameter[] | undefined;
  return {
    type,
    code,
    number: numberIn(),
    numberIn,
    definition,
    kind,
    get facts() {
      facts ??= expression === undefined ? factsOfWhole : computeParameterFacts(type, expression, definition.type);
      return facts;
    },
    get parts() {
      parts ??= (definition.components ?? []).map((component) => partOf(type, component.definition));
      return parts;
    },
  };
}

/** A composite is made of standard parameters, whoever defines it. */
function partOf(type: string, url: string): Parameter {
  const part = [...getStandardParameters(type).values()].find(({ definition }) => definition.url === url);
  if (part === undefined) throw new TypeError(`${type} has no search parameter ${url}`);
  return part;
}
