// Writes R4's search parameters, errata applied, as one line of JSON per parameter.
// https://hl7.org/fhir/R4/searchparameter.html
import type { Erratum, ErratumChange } from '../../packages/fhir/src/erratum.ts';
import type { SearchParameterRow } from '../../packages/fhir/src/search-parameter-rows.ts';
import type { CompartmentDefinition, PublishedSearchParameter } from './packages.ts';

export type PublishedParameter = PublishedSearchParameter & { readonly base: readonly string[] };

/**
 * Parameter id → JSON of a SearchParameterRow.
 * `endpointTypes`: the types that "any" means in a list of targets.
 */
export function searchParameterTexts(
  parameters: readonly PublishedParameter[],
  errata: readonly Erratum[],
  endpointTypes: readonly string[],
): ReadonlyMap<string, string> {
  const changes = new Map<string, Erratum[]>();
  const ids = new Set(parameters.map((parameter) => parameter.id));
  for (const erratum of errata) {
    if (erratum.change.kind === 'element-type' || erratum.change.kind === 'invariant') continue;
    const id = erratum.change.parameter;
    if (!ids.has(id)) throw new Error(`Erratum ${erratum.name}: R4 has no search parameter ${id}`);
    changes.set(id, [...(changes.get(id) ?? []), erratum]);
  }
  return new Map(
    parameters.map((parameter) => {
      const corrected = (changes.get(parameter.id) ?? []).reduce(applied, parameter);
      return [parameter.id, JSON.stringify(rowOf(corrected, endpointTypes))];
    }),
  );
}

/**
 * Compartment → one line per resource type in it: the type, then the codes of the search parameters that make a resource
 * part of the compartment; none where only the resource is in it that the compartment belongs to (`{def}`).
 */
export function compartmentTexts(compartments: readonly CompartmentDefinition[]): ReadonlyMap<string, string> {
  return new Map(compartments.map(({ code, resource }) => [code, resource.flatMap(compartmentLine).join('\n')]));
}

function compartmentLine({ code, param = [] }: CompartmentDefinition['resource'][number]): string[] {
  if (param.length === 0) return [];
  return [[code, ...param.filter((each) => each !== '{def}')].join(' ')];
}

function applied(parameter: PublishedParameter, { name, change }: Erratum): PublishedParameter {
  if (change.kind === 'expression') return { ...parameter, expression: correctedExpression(parameter, name, change) };
  if (change.kind === 'components') {
    if (JSON.stringify(parameter.component) !== JSON.stringify(change.from)) {
      throw new Error(`Erratum ${name}: the components of ${parameter.id} are ${JSON.stringify(parameter.component)}`);
    }
    return { ...parameter, component: change.to };
  }
  return parameter;
}

function correctedExpression(
  parameter: PublishedParameter,
  name: string,
  change: ErratumChange & { kind: 'expression' },
): string {
  const { expression } = parameter;
  if (change.from === undefined) {
    if (expression === undefined) return change.to;
  } else if (expression?.split(change.from).length === 2) {
    return expression.split(change.from).join(change.to);
  }
  throw new Error(`Erratum ${name}: the expression of ${parameter.id} is ${expression}`);
}

function rowOf(parameter: PublishedParameter, endpointTypes: readonly string[]): SearchParameterRow {
  const { code, type, base, expression, target, component } = parameter;
  const any = target !== undefined && endpointTypes.every((name) => target.includes(name));
  return {
    code,
    type,
    base,
    ...(expression === undefined ? {} : { expression }),
    ...(target === undefined ? {} : { target: any ? '*' : target }),
    ...(component === undefined ? {} : { component }),
    description: descriptionOf(parameter),
  };
}

// A parameter of several types has a list with one line per type: "* [Account](account.html): What it is".
function descriptionOf({ description, base }: PublishedParameter): string | Record<string, string> {
  const lines = [...description.matchAll(/^\* \[(\w+)\]\([^)]*\): (.*)$/gm)];
  const byType = lines.map(([, type = '', text = '']) => [type, oneLine(text)] as const);
  const [only] = byType;
  if (only === undefined) return oneLine(description);
  return base.length === 1 ? only[1] : Object.fromEntries(byType);
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
