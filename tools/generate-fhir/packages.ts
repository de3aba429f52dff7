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

export interface PublishedConstraint {
  readonly key: string;
  readonly severity: 'error' | 'warning';
  readonly expression?: string;
  readonly human: string;
}

export interface PublishedElement {
  readonly id?: string;
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
  readonly constraint?: readonly PublishedConstraint[];
  readonly slicing?: { readonly description?: string };
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
  readonly display?: string;
  readonly abstract?: boolean;
  readonly contains?: readonly ExpansionEntry[];
}

export interface PublishedConcept {
  readonly code: string;
  readonly display?: string;
  readonly property?: readonly {
    readonly code: string;
    readonly valueCode?: string;
    readonly valueString?: string;
    readonly valueBoolean?: boolean;
  }[];
  readonly concept?: readonly PublishedConcept[];
}

export interface PublishedCodeSystem {
  readonly id: string;
  readonly url: string;
  readonly version?: string;
  readonly name: string;
  readonly title?: string;
  readonly content: 'complete' | 'example' | 'fragment' | 'not-present' | 'supplement';
  readonly caseSensitive?: boolean;
  readonly hierarchyMeaning?: string;
  readonly concept?: readonly PublishedConcept[];
}

/** `ValueSet.compose.include` and `exclude`. */
export interface PublishedCompose {
  readonly system?: string;
  readonly version?: string;
  readonly concept?: readonly { readonly code: string; readonly display?: string }[];
  readonly filter?: readonly { readonly property: string; readonly op: string; readonly value: string }[];
  readonly valueSet?: readonly string[];
}

export interface PublishedValueSet {
  readonly id: string;
  readonly url: string;
  readonly version?: string;
  readonly name: string;
  readonly title?: string;
  readonly status: string;
  readonly compose: { readonly include: readonly PublishedCompose[]; readonly exclude?: readonly PublishedCompose[] };
}

export interface ExpandedValueSet {
  readonly url: string;
  readonly compose?: PublishedValueSet['compose'];
  readonly expansion?: {
    readonly extension?: readonly Extension[];
    readonly contains?: readonly ExpansionEntry[];
  };
}

export interface CompartmentDefinition {
  /** The type of the resource that the compartment belongs to. */
  readonly code: string;
  readonly resource: readonly { readonly code: string; readonly param?: readonly string[] }[];
}

/** Ids of definitions that only show how such a resource looks. */
const exampleId = /^example(-|$)/;

const typeUrlPrefix = 'http://hl7.org/fhir/StructureDefinition/';

/** The base definitions of R4's types: no profiles, no logical models. Sorted by name. */
export function baseStructureDefinitions(): readonly StructureDefinition[] {
  return filesOf<StructureDefinition>('hl7.fhir.r4.examples', 'StructureDefinition-')
    .filter((definition) => definition.kind !== 'logical' && definition.derivation !== 'constraint')
    .filter((definition) => definition.url === typeUrlPrefix + definition.type)
    .sort((a, b) => order(a.type, b.type));
}

/** The official profiles of R4's types, extensions included, that have a snapshot. Sorted by URL. */
export function officialProfiles(): readonly StructureDefinition[] {
  return filesOf<Partial<Pick<StructureDefinition, 'snapshot'>> & Omit<StructureDefinition, 'snapshot'>>(
    'hl7.fhir.r4.examples',
    'StructureDefinition-',
  )
    .filter(({ kind, derivation }) => kind !== 'logical' && derivation === 'constraint')
    .flatMap((definition) => (definition.snapshot ? [{ ...definition, snapshot: definition.snapshot }] : []))
    .sort((a, b) => order(a.url, b.url));
}

/**
 * R4's search parameters, sorted by URL. Three files are examples of the resource SearchParameter, and ten (of
 * CodeSystem and ValueSet extensions) name no type that they apply to: neither kind is part of R4's search.
 */
export function searchParameters(): readonly (PublishedSearchParameter & { readonly base: readonly string[] })[] {
  return filesOf<PublishedSearchParameter>('hl7.fhir.r4.examples', 'SearchParameter-')
    .filter(({ id }) => !exampleId.test(id))
    .flatMap((parameter) => (parameter.base?.length ? [{ ...parameter, base: parameter.base }] : []))
    .sort((a, b) => order(a.url, b.url));
}

/** All expanded value sets by canonical URL (without version). */
export function expandedValueSets(): ReadonlyMap<string, ExpandedValueSet> {
  const valueSets = filesOf<ExpandedValueSet>('hl7.fhir.r4.expansions', 'ValueSet-');
  return new Map(valueSets.map((valueSet) => [valueSet.url, valueSet]));
}

/** R4's code systems, sorted by URL; without those that are examples of the resource CodeSystem. */
export function codeSystems(): readonly PublishedCodeSystem[] {
  return filesOf<PublishedCodeSystem>('hl7.fhir.r4.examples', 'CodeSystem-')
    .filter(({ id }) => !exampleId.test(id))
    .sort((a, b) => order(a.url, b.url));
}

/** R4's value sets, expanded or not, sorted by URL; without those that are examples of the resource ValueSet. */
export function valueSets(): readonly PublishedValueSet[] {
  const packages = ['hl7.fhir.r4.expansions', 'hl7.fhir.r4.examples'];
  const published = packages.flatMap((name) => filesOf<PublishedValueSet>(name, 'ValueSet-'));
  return [...new Map(published.map((valueSet) => [valueSet.url, valueSet])).values()]
    .filter(({ id }) => !exampleId.test(id))
    .sort((a, b) => order(a.url, b.url));
}

const tooCostly = 'http://hl7.org/fhir/StructureDefinition/valueset-toocostly';

/** Whether an expansion lists some of its codes only. */
export function isCutOff(expansion: ExpandedValueSet['expansion']): boolean {
  return expansion?.extension?.some(({ url }) => url === tooCostly) ?? false;
}

/** The definitions of R4's compartments. https://hl7.org/fhir/R4/compartmentdefinition.html. Sorted by their type. */
export function compartmentDefinitions(): readonly CompartmentDefinition[] {
  return filesOf<CompartmentDefinition & { readonly id: string }>('hl7.fhir.r4.examples', 'CompartmentDefinition-')
    .filter(({ id }) => !exampleId.test(id))
    .sort((a, b) => order(a.code, b.code));
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
