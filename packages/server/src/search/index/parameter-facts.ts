/**
 * What R4's definitions tell about the values of a search parameter: datatypes, cardinality, systems of codes.
 * https://hl7.org/fhir/R4/elementdefinition.html
 */
import {
  type ElementDefinition,
  findTypeDefinition,
  findValueSetCodings,
  listExpressionElements,
  listResultTypes,
  type SearchParameterKind,
  type TypeDefinition,
} from '@praxis/fhir';
import type { ParameterFacts } from '../kinds/kind.ts';
import { computeSystemNumber } from '../numbers.ts';

/**
 * Datatypes of which one value can leave several rows: a concept its codes, an identifier those of its type, a name its
 * parts, a quantity its code and its unit, a reference or canonical itself with version and without.
 */
const manifold: ReadonlySet<string> = new Set([
  'CodeableConcept',
  'Identifier',
  'HumanName',
  'Address',
  'Reference',
  'canonical',
  'uri',
  'Quantity',
  'Age',
  'Count',
  'Distance',
  'Duration',
  'Range',
  'SampledData',
  'Extension',
]);

/** The facts of a parameter of a kind, by the FHIRPath expression that selects its values. */
export function computeParameterFacts(type: string, expression: string, kind: SearchParameterKind): ParameterFacts {
  const ways = listExpressionElements(type, expression).map((path) => elementsAlong(type, path));
  const dataTypes = new Set(listResultTypes(type, expression));
  return {
    dataTypes: dataTypes.size === 0 ? new Set(['*']) : dataTypes,
    repeats: dataTypes.size === 0 || (kind !== 'date' && dataTypes.intersection(manifold).size > 0) || mayRepeat(ways),
    codeSystems: codeSystemsOf(ways),
  };
}

/** Of parameters without an expression, which read the resource itself. */
export const factsOfWhole: ParameterFacts = {
  dataTypes: new Set(['*']),
  repeats: true,
  codeSystems: new Map(),
};

type Ways = readonly (readonly ElementDefinition[] | undefined)[];

function mayRepeat(ways: Ways): boolean {
  return ways.length !== 1 || ways.some((way) => way === undefined || way.some((element) => element.max > 1));
}

/** The elements from the resource down to `path`; undefined where the path leaves the definitions (extensions). */
function elementsAlong(type: string, path: string): readonly ElementDefinition[] | undefined {
  const elements: ElementDefinition[] = [];
  let definition: TypeDefinition | undefined = findTypeDefinition(type);
  for (const step of path.split('.').slice(1)) {
    const element: ElementDefinition | undefined = definition?.elements.get(step.replace('[x]', ''));
    if (element === undefined) return undefined;
    elements.push(element);
    definition =
      element.children ?? (element.types.length === 1 ? findTypeDefinition(element.types[0]?.code ?? '') : undefined);
  }
  return elements.length > 0 ? elements : undefined;
}

/** The systems of all codes, provided that every element of type `code` has a closed, required value set. */
function codeSystemsOf(ways: Ways): ReadonlyMap<string, string> {
  const systems = new Map<string, string>();
  for (const element of ways.flatMap((way) => way?.at(-1) ?? [])) {
    if (!element.types.some(({ code }) => code === 'code')) continue;
    const codings = element.binding === undefined ? undefined : findValueSetCodings(element.binding);
    if (codings === undefined) return new Map();
    for (const [system, codes] of codings) {
      for (const code of codes) systems.set(code, computeSystemNumber(system));
    }
  }
  return systems;
}
