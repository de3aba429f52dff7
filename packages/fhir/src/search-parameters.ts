// The search parameters of each type and the extractors of their values.
// https://hl7.org/fhir/R4/searchparameter-registry.html and https://hl7.org/fhir/R4/search.html
import type { BudgetedWork, StepBudget } from './budget.ts';
import { findTypeDefinition, resourceTypesWithEndpoint } from './definitions.ts';
import { type CompiledExpression, compileFhirPath } from './fhirpath/compile.ts';
import type { TypedValue } from './fhirpath/focus.ts';
import { type Expression, parseFhirPath } from './fhirpath/parse.ts';
import { compartmentTexts } from './generated/compartments.js';
import { searchParameterTexts } from './generated/search-parameters.js';
import type { JsonObject } from './json.ts';
import { getOrMake } from './memo.ts';
import { practiceSearchParameters } from './practice-search-parameters.ts';
import type { SearchParameterRow } from './search-parameter-rows.ts';

const searchParameterKinds = [
  'string',
  'token',
  'date',
  'reference',
  'number',
  'quantity',
  'uri',
  'composite',
  'special',
] as const;

/** https://hl7.org/fhir/R4/search.html#ptypes */
export type SearchParameterKind = (typeof searchParameterKinds)[number];

/** A search parameter as one resource type has it. */
export interface SearchParameter {
  readonly code: string;
  readonly type: SearchParameterKind;
  readonly url: string;
  /** All types that share the parameter; abstract ones stand for their descendants. */
  readonly base: readonly string[];
  /** Undefined where no expression can tell what is searched: _text, _content, _query, _filter, Patient's age. */
  readonly expression: string | undefined;
  /** What its references may point to on this type: the published targets that the element allows. */
  readonly targets: readonly string[];
  readonly components?: readonly { readonly definition: string; readonly expression: string }[];
  readonly description: string;
}

/** Finds values in a resource. Spends a step from `budget` for each element and criterion. @throws what the budget throws */
export type Extract<T> = (resource: JsonObject, budget: StepBudget, work: BudgetedWork) => T;

type Tuple = (readonly TypedValue[])[];

interface CompiledForType extends CompiledExpression {
  readonly extract: Extract<TypedValue[]>;
}

interface LoadedRow {
  readonly url: string;
  readonly row: SearchParameterRow;
}

/** Expressions kept compiled per type; R4's and ours are fewer than 100, so those that come and go cannot use up memory. */
const compiledMax = 500;

// Many parameters belong to several types: 'clinical-patient' to 32. Of all tables together there are about 1,000.
const treesMax = 2_000;
const trees = new Map<string, Expression>();

const parametersByType = new Map<string, ReadonlyMap<string, SearchParameter>>();
const compiledByType = new Map<string, Map<string, CompiledForType>>();
let rowsByBase: ReadonlyMap<string, readonly LoadedRow[]> | undefined;

/**
 * The search parameters of a resource type by code, in this order: those of all resources (_id, _lastUpdated, …), of
 * the type, of our practices. Empty for names that are no resource type.
 */
export function getSearchParameters(type: string): ReadonlyMap<string, SearchParameter> {
  if (findTypeDefinition(type)?.kind !== 'resource') return new Map();
  return getOrMake(parametersByType, type, loadParameters);
}

function loadParameters(type: string): ReadonlyMap<string, SearchParameter> {
  rowsByBase ??= loadRows();
  const parameters = new Map<string, SearchParameter>();
  for (const base of [...ancestorsOf(type), type]) {
    for (const loaded of rowsByBase.get(base) ?? []) {
      const parameter = parameterOf(loaded, type);
      if (parameters.has(parameter.code)) throw new Error(`${type} has two search parameters ${parameter.code}`);
      parameters.set(parameter.code, parameter);
    }
  }
  return parameters;
}

/**
 * A search parameter that is in no table, as one of its base types has it.
 * Throws FhirPathError for an expression beyond the subset, and Error for an unknown kind.
 */
export function searchParameterFrom(url: string, row: SearchParameterRow, type: string): SearchParameter {
  return parameterOf({ url, row }, type);
}

/**
 * The function that finds what an expression selects in a resource of a type. Compiled once for each type and
 * expression, as long as not too many others follow.
 * `type` may also be the type of a TypedValue, to evaluate the component of a composite over that value.
 * Throws FhirPathError for unknown elements and unsupported syntax. The extractor itself throws only what its budget throws.
 */
export function compileExtractor(type: string, expression: string): Extract<TypedValue[]> {
  return compiled(type, expression).extract;
}

/**
 * The elements of a type that an expression reads, its criteria included: ['Patient.name.family']. A path stands for
 * everything below it, so ['Patient.telecom'] for `Patient.telecom.where(system='email')`. A choice element is
 * written as in the definitions: 'Observation.value[x]'. Sorted.
 */
export function listExpressionElements(type: string, expression: string): readonly string[] {
  return compiled(type, expression).touched;
}

/** Steps that compiling an expression for a type takes: what who chose the expression has to pay. @throws FhirPathError */
export function countCompileSteps(type: string, expression: string): number {
  return compiled(type, expression).steps;
}

/** As touchedElements, for a search parameter and, if it is a composite, its components. Empty without expression. */
export function listParameterElements(type: string, parameter: SearchParameter): readonly string[] {
  const { expression, components } = parameter;
  if (expression === undefined) return [];
  if (components === undefined) return listExpressionElements(type, expression);
  const paths = compiled(type, expression).results.flatMap(({ typeName, elementPath = type }) =>
    components
      .flatMap((component) => listExpressionElements(typeName, component.expression))
      .map((path) => (path.startsWith(`${typeName}.`) ? elementPath + path.slice(typeName.length) : path)),
  );
  return [...new Set(paths)].sort();
}

/** The FHIR types of the values that an expression can select on a type, without duplicates. */
export function listResultTypes(type: string, expression: string): readonly string[] {
  return [...new Set(compiled(type, expression).results.map((result) => result.typeName))];
}

/**
 * The function that finds the tuples of a composite parameter: for each value of its expression, one list of values
 * per component, in the order of the components. Throws when the parameter has no expression or no components.
 * https://hl7.org/fhir/R4/search.html#composite
 */
export function compileCompositeExtractor(type: string, parameter: SearchParameter): Extract<readonly Tuple[]> {
  const { expression, components } = parameter;
  if (expression === undefined || components === undefined) {
    throw new Error(`Search parameter ${parameter.url} is not a composite`);
  }
  const { select, results } = compiled(type, expression);
  const parts = new Map(
    results.map(({ typeName }) => [typeName, components.map((component) => compiled(typeName, component.expression))]),
  );
  return (resource, budget, work) =>
    select(resource, resource, type, budget, work).map(({ type: typeName, value, path }) =>
      (parts.get(typeName) ?? []).map((part) => part.select(value, resource, path, budget, work)),
    );
}

/**
 * Type of the resource that a compartment belongs to → resource type → codes of the search parameters by which a resource
 * of that type is in the compartment; none: only the resource itself that the compartment belongs to is.
 * https://hl7.org/fhir/R4/compartmentdefinition.html
 */
export const compartments: ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> = new Map(
  Object.entries(compartmentTexts).map(([compartment, text]) => [
    compartment,
    new Map(
      text
        .split('\n')
        .map((line) => line.split(' '))
        .map(([type = '', ...codes]) => [type, codes]),
    ),
  ]),
);

/** The compartment of a patient, as `compartments` has it. */
export const patientCompartment: ReadonlyMap<string, readonly string[]> = compartments.get('Patient') ?? new Map();

function loadRows(): ReadonlyMap<string, readonly (LoadedRow & { readonly base: string })[]> {
  const published = Object.entries(searchParameterTexts).map(([id, text]): LoadedRow => {
    return { url: `http://hl7.org/fhir/SearchParameter/${id}`, row: JSON.parse(text) };
  });
  const ours = Object.entries(practiceSearchParameters).map(([id, row]): LoadedRow => {
    return { url: `https://praxis.health/fhir/SearchParameter/${id}`, row };
  });
  const rows = [...published, ...ours].flatMap((loaded) => loaded.row.base.map((base) => ({ ...loaded, base })));
  return Map.groupBy(rows, ({ base }) => base);
}

function parameterOf({ url, row }: LoadedRow, type: string): SearchParameter {
  const { code, base, expression, component, description } = row;
  return {
    code,
    type: kindOf(row.type),
    url,
    base,
    expression,
    targets: row.type === 'reference' && expression !== undefined ? targetsOf(row, type, expression) : [],
    ...(component && { components: component }),
    description: typeof description === 'string' ? description : (description[type] ?? ''),
  };
}

function targetsOf(row: SearchParameterRow, type: string, expression: string): readonly string[] {
  const published = row.target === undefined || row.target === '*' ? resourceTypesWithEndpoint : row.target;
  const selectable = new Set<string>();
  for (const { targets, typeName } of compiled(type, expression).results) {
    // A resource that stands in the element itself is its own target: Bundle.entry.resource.
    const own = findTypeDefinition(typeName)?.kind === 'resource' ? [typeName] : undefined;
    for (const target of own ?? targets ?? resourceTypesWithEndpoint) selectable.add(target);
  }
  return published.filter((target) => selectable.has(target));
}

function compiled(type: string, expression: string): CompiledForType {
  const byExpression = getOrMake(compiledByType, type, () => new Map<string, CompiledForType>());
  return getOrMake(byExpression, expression, () => {
    const tree = getOrMake(trees, expression, () => {
      const parsed = parseFhirPath(expression);
      makeRoom(trees, treesMax);
      return parsed;
    });
    const compiledExpression = compileFhirPath(type, expression, tree);
    makeRoom(byExpression, compiledMax);
    const { select } = compiledExpression;
    const extract: Extract<TypedValue[]> = (resource, budget, work) => select(resource, resource, type, budget, work);
    return { ...compiledExpression, extract };
  });
}

/** Forgets the oldest of as many entries as there may be. */
function makeRoom(cache: Map<string, unknown>, entriesMax: number): void {
  const [oldest] = cache.size < entriesMax ? [] : cache.keys();
  if (oldest !== undefined) cache.delete(oldest);
}

function kindOf(text: string): SearchParameterKind {
  const kind = searchParameterKinds.find((candidate) => candidate === text);
  if (kind === undefined) throw new Error(`Unknown kind of search parameter: ${text}`);
  return kind;
}

/** Abstract types above a type, the most general first. */
function ancestorsOf(type: string): readonly string[] {
  const base = findTypeDefinition(type)?.base;
  return base === undefined ? [] : [...ancestorsOf(base), base];
}
