// Reads the official R4 definitions from the npm packages that hold them (CC0).
// https://hl7.org/fhir/R4/downloads.html
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface Extension {
  readonly url: string;
  readonly valueUrl?: string;
  readonly valueString?: string;
}

export interface PublishedType {
  readonly code: string;
  readonly targetProfile?: readonly string[];
  readonly extension?: readonly Extension[];
}

export interface PublishedElement {
  readonly path: string;
  readonly short: string;
  readonly min: number;
  readonly max: string;
  readonly type?: readonly PublishedType[];
  readonly contentReference?: string;
  readonly base?: { readonly path: string };
  readonly isSummary?: boolean;
  readonly isModifier?: boolean;
  readonly binding?: { readonly strength: string; readonly valueSet?: string };
}

export interface StructureDefinition {
  readonly url: string;
  readonly type: string;
  readonly kind: 'resource' | 'complex-type' | 'primitive-type' | 'logical';
  readonly abstract: boolean;
  readonly derivation?: 'specialization' | 'constraint';
  readonly baseDefinition?: string;
  readonly description?: string;
  readonly snapshot: { readonly element: readonly PublishedElement[] };
}

export interface PublishedSearchParameter {
  readonly id: string;
  readonly url: string;
  readonly code: string;
  readonly type: string;
  readonly description: string;
  readonly base?: readonly string[];
  readonly expression?: string;
  readonly target?: readonly string[];
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
}

export interface ExpansionEntry {
  readonly system?: string;
  readonly code?: string;
  readonly abstract?: boolean;
  readonly contains?: readonly ExpansionEntry[];
}

export interface ExpandedValueSet {
  readonly url: string;
  readonly expansion?: {
    readonly extension?: readonly Extension[];
    readonly contains?: readonly ExpansionEntry[];
  };
}

export interface CompartmentDefinition {
  readonly resource: readonly { readonly code: string; readonly param?: readonly string[] }[];
}

const typeUrlPrefix = 'http://hl7.org/fhir/StructureDefinition/';

/** The base definitions of R4's types: no profiles, no logical models. Sorted by name. */
export function baseStructureDefinitions(): readonly StructureDefinition[] {
  return filesOf<StructureDefinition>('hl7.fhir.r4.examples', 'StructureDefinition-')
    .filter((definition) => definition.kind !== 'logical' && definition.derivation !== 'constraint')
    .filter((definition) => definition.url === typeUrlPrefix + definition.type)
    .sort((a, b) => order(a.type, b.type));
}

/**
 * R4's search parameters, sorted by URL. Three files are examples of the resource SearchParameter, and ten (of
 * CodeSystem and ValueSet extensions) name no type that they apply to: neither kind is part of R4's search.
 */
export function searchParameters(): readonly (PublishedSearchParameter & { readonly base: readonly string[] })[] {
  return filesOf<PublishedSearchParameter>('hl7.fhir.r4.examples', 'SearchParameter-')
    .filter((parameter) => !/^example(-|$)/.test(parameter.id))
    .flatMap((parameter) => (parameter.base?.length ? [{ ...parameter, base: parameter.base }] : []))
    .sort((a, b) => order(a.url, b.url));
}

/** All expanded value sets by canonical URL (without version). */
export function expandedValueSets(): ReadonlyMap<string, ExpandedValueSet> {
  const valueSets = filesOf<ExpandedValueSet>('hl7.fhir.r4.expansions', 'ValueSet-');
  return new Map(valueSets.map((valueSet) => [valueSet.url, valueSet]));
}

/** The definition of the patient compartment. https://hl7.org/fhir/R4/compartmentdefinition-patient.html */
export function patientCompartmentDefinition(): CompartmentDefinition {
  const [definition] = filesOf<CompartmentDefinition>('hl7.fhir.r4.examples', 'CompartmentDefinition-patient.json');
  if (definition === undefined) throw new Error('hl7.fhir.r4.examples holds no CompartmentDefinition-patient.json');
  return definition;
}

/** Order of code points: the same on every machine. */
export function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The files of an npm package whose names begin with a prefix, parsed. The packages are trusted to be what they say. */
function filesOf<T>(packageName: string, prefix: string): T[] {
  const folder = fileURLToPath(new URL(`../../node_modules/${packageName}/`, import.meta.url));
  return readdirSync(folder)
    .filter((name) => name.startsWith(prefix) && name.endsWith('.json'))
    .map((name): T => JSON.parse(readFileSync(folder + name, 'utf8')));
}
