/**
 * SearchParameter resources of a firm (https://hl7.org/fhir/R4/searchparameter.html): those that are active define what the
 * firm's resources can be searched by, all others are documents like any other.
 */
import {
  type BudgetedWork,
  countCompileSteps,
  FhirPathError,
  findTypeDefinition,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  listResultTypes,
  resourceTypesWithEndpoint,
  type SearchParameter,
  type StepBudget,
  searchParameterFrom,
} from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import type { SearchParameterDefinition } from '../../tenancy/search-parameters.ts';
import { findKind } from '../kinds/kinds.ts';
import { getStandardParameters } from '../parameters.ts';
import { resultParameterNames } from '../query/result-parameters.ts';

/** Characters of an expression at most. */
const expressionLengthMax = 1_000;

/** A code has to stand in a query and in the paths of chains. */
const codePattern = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;

/** Steps that compiling an expression for one type takes, at most; the longest of R4's own are below. */
const compiledMax = 1_000;

/** What such a step costs, in steps of evaluation. */
const stepsPerCompiled = 20;

const compiling: BudgetedWork = {
  what: 'The expression of the SearchParameter',
  cheaper: 'name fewer types in base, or follow fewer elements',
};

const abstractTypes: ReadonlySet<string> = new Set(['Resource', 'DomainResource']);

/** Datatypes that a parameter of a type finds values in (https://hl7.org/fhir/R4/search.html#ptypes). */
const searchedTypes: Readonly<Record<string, ReadonlySet<string>>> = {
  number: new Set(['integer', 'positiveInt', 'unsignedInt', 'decimal']),
  date: new Set(['date', 'dateTime', 'instant', 'Period', 'Timing']),
  string: new Set(['string', 'markdown', 'HumanName', 'Address', 'CodeableConcept', 'Coding', 'code', 'uri']),
  token: new Set(['code', 'Coding', 'CodeableConcept', 'Identifier', 'ContactPoint', 'boolean', 'string', 'id', 'uri']),
  reference: new Set(['Reference', 'canonical', 'uri']),
  quantity: new Set(['Quantity', 'Age', 'Count', 'Distance', 'Duration', 'Money', 'Range', 'SampledData']),
  uri: new Set(['uri', 'url', 'canonical', 'oid', 'uuid']),
};

/**
 * The definition of a valid SearchParameter; undefined when it is not active.
 * @param budget spent by what the compilation of its expressions costs
 * @throws PraxisError `search-parameter-unservable` naming the element and the rule, `too-costly`
 */
export function readFirmParameter(resource: JsonObject, budget: StepBudget): SearchParameterDefinition | undefined {
  if (resource['status'] !== 'active') return undefined;
  const code = textOf(resource['code']);
  if (!codePattern.test(code) || resultParameterNames.has(code)) {
    refuse('code', 'must be 1 to 64 letters, digits and hyphens, begin with a letter, and name no result parameter');
  }
  const type = textOf(resource['type']);
  if (type !== 'composite' && searchedTypes[type] === undefined) {
    refuse('type', `is ${type}; ${Object.keys(searchedTypes).join(', ')} and composite can be indexed`);
  }
  const expression = textOf(resource['expression']);
  if (expression === '') refuse('expression', 'is missing: an active parameter says by FHIRPath what it searches');
  if (expression.length > expressionLengthMax) refuse('expression', `has more than ${expressionLengthMax} characters`);
  const target = textsOf(resource['target']);
  const component = type === 'composite' ? componentsOf(resource['component']) : undefined;
  const definition: SearchParameterDefinition = {
    code,
    type,
    base: concrete(textsOf(resource['base'])),
    expression,
    ...(target.length === 0 ? {} : { target }),
    ...(component === undefined ? {} : { component }),
    description: textOf(resource['description']),
  };
  for (const base of definition.base) requireServed(textOf(resource['url']), definition, base, budget);
  return definition;
}

function concrete(bases: readonly string[]): readonly string[] {
  const all = bases.some((base) => abstractTypes.has(base)) ? resourceTypesWithEndpoint : [];
  const types = [...new Set([...bases.filter((base) => !abstractTypes.has(base)), ...all])];
  const unserved = types.find((type) => !resourceTypesWithEndpoint.includes(type));
  if (unserved !== undefined) refuse('base', `names ${unserved}, which has no endpoint`);
  return types;
}

function componentsOf(value: JsonValue | undefined): readonly { definition: string; expression: string }[] {
  const components = Array.isArray(value) ? value : [];
  if (components.length < 2) refuse('component', 'must be there twice at least: a composite joins values');
  return components.map((component) => {
    const part = isJsonObject(component) ? component : {};
    return { definition: textOf(part['definition']), expression: textOf(part['expression']) };
  });
}

/** The parameter works on the type: its code is free there, and its expression selects what its type searches. */
function requireServed(url: string, definition: SearchParameterDefinition, base: string, budget: StepBudget): void {
  const { code, type, expression } = definition;
  const taken = getStandardParameters(base).get(code);
  if (taken !== undefined) refuse('code', `is taken: ${base} has ${code} of ${taken.definition.url}`);
  try {
    requireCompilable(base, expression, budget);
    const parameter = searchParameterFrom(url, definition, base);
    if (findKind(parameter) === undefined) refuse('type', 'is not served');
    if (type === 'composite') return requireParts(parameter, expression, base, budget);
    const selected = listResultTypes(base, expression);
    if (!selected.some((name) => isSearched(type, name))) {
      const found = selected.length === 0 ? 'nothing' : selected.join(', ');
      const searched = [...(searchedTypes[type] ?? [])].join(', ');
      refuse('expression', `selects ${found} of ${base}; a ${type} parameter searches ${searched}`);
    }
  } catch (error) {
    if (!(error instanceof FhirPathError)) throw error;
    refuse('expression', `cannot be evaluated on ${base}: ${error.message}`);
  }
}

/** Every process compiles it once for each type, so that has a price. @throws FhirPathError, PraxisError `too-costly` */
function requireCompilable(type: string, expression: string, budget: StepBudget): void {
  const steps = countCompileSteps(type, expression);
  budget.spend(stepsPerCompiled * steps, compiling);
  if (steps > compiledMax)
    refuse('expression', `follows too many types of elements on ${type}: name the type, as in value.as(Quantity)`);
}

function isSearched(type: string, name: string): boolean {
  // A resource in the element itself (Bundle.entry.resource) is what a reference parameter finds, too.
  return searchedTypes[type]?.has(name) || (type === 'reference' && findTypeDefinition(name)?.kind === 'resource');
}

function requireParts(
  { components = [] }: SearchParameter,
  expression: string,
  base: string,
  budget: StepBudget,
): void {
  const known = new Set([...getStandardParameters(base).values()].map(({ definition }) => definition.url));
  for (const [index, component] of components.entries()) {
    if (!known.has(component.definition)) {
      refuse(`component[${index}].definition`, `is no parameter of R4 that ${base} has`);
    }
    for (const within of listResultTypes(base, expression)) requireCompilable(within, component.expression, budget);
  }
}

function refuse(element: string, rule: string): never {
  fail('search-parameter-unservable', {
    diagnostics: `SearchParameter.${element} ${rule} (with a status other than active, it is stored but not used in searches)`,
    expression: [`SearchParameter.${element}`],
  });
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
