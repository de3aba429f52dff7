/**
 * A code system as a graph of concepts, made from R4's tables or from a CodeSystem resource.
 * https://hl7.org/fhir/R4/codesystem.html
 */
import { isJsonObject, type JsonObject, type JsonValue, type PublishedCodeSystem } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import type { Effort } from './effort.ts';
import { findBoolean, findElementText, listElements } from './elements.ts';

/** A code; without `system` it is known by its code alone. */
export interface SystemCode {
  readonly system?: string;
  readonly code: string;
}

export interface Concept {
  readonly code: string;
  readonly display?: string;
  /** Codes of the concepts directly above and below; more than one parent is possible. */
  readonly parents: readonly string[];
  readonly children: readonly string[];
  /** Values of the concept's properties by property code, as text. */
  readonly properties: ReadonlyMap<string, readonly string[]>;
  /** `CodeSystem.concept.designation`, as it was sent. */
  readonly designations: readonly JsonValue[];
  /** Groups others and is not to be chosen itself. */
  readonly isAbstract: boolean;
  /** Deprecated or retired. */
  readonly isInactive: boolean;
}

export interface CodeSystem {
  readonly url: string;
  readonly version?: string;
  readonly name: string;
  /** Whether every code is listed: only then a code that is not listed does not exist. */
  readonly isComplete: boolean;
  readonly caseSensitive: boolean;
  /** By code in lower case; empty where case matters. */
  readonly conceptsByFoldedCode: ReadonlyMap<string, Concept>;
  /** By code, in the order of the definition. */
  readonly concepts: ReadonlyMap<string, Concept>;
  /** Every property that some concept has. */
  readonly propertyNames: ReadonlySet<string>;
}

/** The concept of a code, also when it is written in the other case where the system does not care; or undefined. */
export function findConcept(system: CodeSystem, code: string): Concept | undefined {
  const exact = system.concepts.get(code);
  if (exact !== undefined || system.caseSensitive) return exact;
  return system.conceptsByFoldedCode.get(code.toLowerCase());
}

/**
 * The code and all codes beneath it (is-a), each once.
 * @throws PraxisError `code-unknown`, `too-costly`
 */
export function listDescendants(system: CodeSystem, code: string, effort: Effort): readonly string[] {
  return closure(system, code, effort, (concept) => concept.children);
}

/**
 * The code and all codes above it (is-a), each once.
 * @throws PraxisError `code-unknown`, `too-costly`
 */
export function listAncestors(system: CodeSystem, code: string, effort: Effort): readonly string[] {
  return closure(system, code, effort, (concept) => concept.parents);
}

function closure(
  system: CodeSystem,
  code: string,
  effort: Effort,
  next: (concept: Concept) => readonly string[],
): readonly string[] {
  const start = findConcept(system, code);
  if (start === undefined) fail('code-unknown', { diagnostics: `The code is not in the code system ${system.url}` });
  const reached = new Set([start.code]);
  // A set hands out what is added while it is walked.
  for (const at of reached) {
    const nearest = next(system.concepts.get(at) ?? start);
    effort.spend(1 + nearest.length);
    for (const further of nearest) reached.add(further);
  }
  return [...reached];
}

/** What a concept or one of its properties costs to read and to link. */
const stepsPerConcept = 10;

interface ConceptRow {
  readonly code: string;
  readonly display?: string | undefined;
  readonly depth: number;
  readonly properties: readonly (readonly [name: string, value: string])[];
  readonly designations?: readonly JsonValue[];
}

/** A code system of R4's tables. */
export function buildPublishedCodeSystem(published: PublishedCodeSystem): CodeSystem {
  return {
    url: published.url,
    ...(published.version === undefined ? {} : { version: published.version }),
    name: published.title ?? published.name ?? published.url,
    isComplete: published.content === 'complete',
    ...conceptsOf(published.concepts, published.caseSensitive, published.hierarchyMeaning),
  };
}

/**
 * The code system of a CodeSystem resource; what is missing or of the wrong type in it counts as absent.
 * @throws PraxisError `too-costly`
 */
export function readCodeSystem(resource: JsonObject, effort: Effort): CodeSystem {
  const version = findElementText(resource['version']);
  const url = findElementText(resource['url']) ?? '';
  return {
    url,
    ...(version === undefined ? {} : { version }),
    name: findElementText(resource['title']) ?? findElementText(resource['name']) ?? url,
    isComplete: resource['content'] === 'complete',
    ...conceptsOf(
      rowsOf(resource['concept'], effort),
      findBoolean(resource['caseSensitive']),
      findElementText(resource['hierarchyMeaning']),
    ),
  };
}

/** @param hierarchyMeaning `is-a` by default */
function conceptsOf(rows: readonly ConceptRow[], caseSensitive = true, hierarchyMeaning?: string) {
  const concepts = graphOf(rows, hierarchyMeaning);
  const folded = caseSensitive ? [] : [...concepts.values()];
  return {
    caseSensitive,
    conceptsByFoldedCode: new Map(folded.map((concept) => [concept.code.toLowerCase(), concept])),
    concepts,
    propertyNames: new Set(rows.flatMap(({ properties }) => properties.map(([name]) => name))),
  };
}

/** In the order of the definition: each concept before those nested in it. */
function rowsOf(concepts: JsonValue | undefined, effort: Effort): ConceptRow[] {
  const rows: ConceptRow[] = [];
  const add = (nested: JsonValue | undefined, depth: number): void => {
    for (const concept of listElements(nested)) {
      const code = findElementText(concept['code']);
      if (code === undefined) continue;
      const properties = listElements(concept['property']);
      effort.spend(stepsPerConcept + stepsPerConcept * properties.length);
      rows.push({
        code,
        display: findElementText(concept['display']),
        depth,
        properties: properties.flatMap(propertyOf),
        designations: listElements(concept['designation']),
      });
      add(concept['concept'], depth + 1);
    }
  };
  add(concepts, 0);
  return rows;
}

function propertyOf(property: JsonObject): [string, string][] {
  const name = findElementText(property['code']);
  const value = Object.entries(property).find(([member]) => member.startsWith('value'))?.[1];
  if (name === undefined || value === undefined) return [];
  const coded = isJsonObject(value) ? value['code'] : undefined;
  return [[name, findElementText(coded ?? value) ?? '']];
}

/** Nesting of these kinds says nothing about what a code means. https://hl7.org/fhir/R4/valueset-codesystem-hierarchy-meaning.html */
const otherHierarchies: ReadonlySet<string> = new Set(['grouped-by', 'part-of', 'classified-with']);

const inactiveStates: ReadonlySet<string> = new Set(['deprecated', 'retired', 'inactive']);

function graphOf(rows: readonly ConceptRow[], hierarchyMeaning = 'is-a'): ReadonlyMap<string, Concept> {
  const isNested = !otherHierarchies.has(hierarchyMeaning);
  const concepts = new Map<string, LinkedConcept>();
  // By both codes: the same link may be said twice.
  const links = new Map<string, readonly [parent: string, child: string]>();
  const link = (above: string, below: string) => links.set(`${above}\n${below}`, [above, below]);
  const path: string[] = [];
  for (const row of rows) {
    const properties = propertiesOf(row);
    path.length = row.depth;
    const parent = path.at(-1);
    path.push(row.code);
    if (isNested && parent !== undefined) link(parent, row.code);
    // Further parents, where a concept has more than the one that it is nested in.
    for (const child of properties.get('child') ?? []) link(row.code, child);
    for (const further of properties.get('parent') ?? []) link(further, row.code);
    concepts.set(row.code, unlinked(row, properties));
  }
  for (const [parent, child] of links.values()) {
    const above = concepts.get(parent);
    const below = concepts.get(child);
    if (above === undefined || below === undefined) continue;
    above.children.push(child);
    below.parents.push(parent);
  }
  return concepts;
}

interface LinkedConcept extends Concept {
  readonly parents: string[];
  readonly children: string[];
}

function unlinked(row: ConceptRow, properties: ReadonlyMap<string, readonly string[]>): LinkedConcept {
  const states = properties.get('status') ?? [];
  return {
    code: row.code,
    ...(row.display === undefined ? {} : { display: row.display }),
    parents: [],
    children: [],
    properties,
    designations: row.designations ?? [],
    isAbstract: isSet(properties, 'notSelectable') || isSet(properties, 'abstract'),
    isInactive: isSet(properties, 'inactive') || states.some((state) => inactiveStates.has(state)),
  };
}

function propertiesOf(row: ConceptRow): Map<string, string[]> {
  const properties = new Map<string, string[]>();
  for (const [name, value] of row.properties) {
    const values = properties.get(name);
    if (values === undefined) properties.set(name, [value]);
    else values.push(value);
  }
  return properties;
}

function isSet(properties: ReadonlyMap<string, readonly string[]>, name: string): boolean {
  return properties.get(name)?.includes('true') ?? false;
}
