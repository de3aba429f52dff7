/**
 * The definition of a value set, read from a ValueSet resource.
 * https://hl7.org/fhir/R4/valueset.html#compositions
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import { describeValueSet } from './definitions.ts';
import type { Effort } from './effort.ts';
import { findBoolean, findElementText, listElements, listElementTexts } from './elements.ts';

/** `include` and `exclude` of one definition, at most. */
export const partsMax = 500;
/** Filters of one of them, at most. */
export const filtersMax = 20;

export interface Filter {
  /** For messages: `ValueSet.compose.include[0].filter[1]`. */
  readonly path: string;
  readonly property: string;
  readonly op: string;
  readonly value: string;
}

export interface ListedConcept {
  readonly code: string;
  readonly display?: string;
  readonly designations: readonly JsonValue[];
}

/** One include or exclude: what is in all that it names. */
export interface ComposePart {
  readonly path: string;
  /** Canonical: `url` or `url|version`. */
  readonly system?: string;
  /** Codes listed one by one; empty where the system as a whole or filters are meant. */
  readonly concepts: readonly ListedConcept[];
  readonly filters: readonly Filter[];
  readonly valueSets: readonly string[];
}

export interface Compose {
  readonly include: readonly ComposePart[];
  readonly exclude: readonly ComposePart[];
  /** Whether inactive codes are in it. */
  readonly inactive: boolean;
}

/**
 * The definition; for a value set that has none but holds an expansion, what that lists.
 * @throws PraxisError `value-set-invalid`, `too-costly`
 */
export function parseCompose(valueSet: JsonObject, effort: Effort): Compose {
  const compose = valueSet['compose'];
  if (!isJsonObject(compose)) return { include: expansionParts(valueSet, effort), exclude: [], inactive: true };
  const partsOf = (kind: 'include' | 'exclude'): readonly ComposePart[] =>
    listElements(compose[kind]).map((part, at) => partOf(valueSet, part, `ValueSet.compose.${kind}[${at}]`, effort));
  const include = partsOf('include');
  const exclude = partsOf('exclude');
  if (include.length + exclude.length > partsMax) {
    refuseValueSet(valueSet, `has more than ${partsMax} includes and excludes`, 'ValueSet.compose');
  }
  return { include, exclude, inactive: findBoolean(compose['inactive']) ?? true };
}

/** Throws `value-set-invalid`: `The value set … <problem>`. */
export function refuseValueSet(valueSet: JsonObject, problem: string, path: string): never {
  return fail('value-set-invalid', {
    diagnostics: `The value set ${describeValueSet(valueSet)} ${problem}`,
    expression: [path],
  });
}

function partOf(valueSet: JsonObject, part: JsonObject, path: string, effort: Effort): ComposePart {
  const system = findElementText(part['system']);
  const version = findElementText(part['version']);
  const filters = listElements(part['filter']);
  const concepts = listElements(part['concept']);
  const valueSets = listElementTexts(part['valueSet']);
  if (filters.length > filtersMax) refuseValueSet(valueSet, `has more than ${filtersMax} filters in one part`, path);
  effort.spend(1 + concepts.length + valueSets.length);
  return {
    path,
    ...(system === undefined ? {} : { system: version === undefined ? system : `${system}|${version}` }),
    concepts: concepts.flatMap(listedConcept),
    filters: filters.map((filter, index) => ({
      path: `${path}.filter[${index}]`,
      property: findElementText(filter['property']) ?? '',
      op: findElementText(filter['op']) ?? '',
      value: findElementText(filter['value']) ?? '',
    })),
    valueSets,
  };
}

function listedConcept(concept: JsonObject): ListedConcept[] {
  const code = findElementText(concept['code']);
  const display = findElementText(concept['display']);
  if (code === undefined) return [];
  return [{ code, ...(display === undefined ? {} : { display }), designations: listElements(concept['designation']) }];
}

function expansionParts(valueSet: JsonObject, effort: Effort): readonly ComposePart[] {
  const expansion = valueSet['expansion'];
  if (!isJsonObject(expansion)) refuseValueSet(valueSet, 'has no definition (compose) to go by', 'ValueSet.compose');
  const bySystem = new Map<string, ListedConcept[]>();
  const visit = (entry: JsonObject) => {
    effort.spend(1);
    const system = findElementText(entry['system']);
    if (system !== undefined && findBoolean(entry['abstract']) !== true) {
      const listed = bySystem.get(system) ?? [];
      listed.push(...listedConcept(entry));
      bySystem.set(system, listed);
    }
    for (const child of listElements(entry['contains'])) visit(child);
  };
  for (const entry of listElements(expansion['contains'])) visit(entry);
  const part = { path: 'ValueSet.expansion', filters: [], valueSets: [] };
  return [...bySystem].map(([system, concepts]) => ({ ...part, system, concepts }));
}
