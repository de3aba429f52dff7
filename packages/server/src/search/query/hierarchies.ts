/**
 * Strict hierarchies of resources: `:below` and `:above` of references follow them
 * (https://hl7.org/fhir/R4/search.html#recursive, references.html#circular, docs/decisions/0141). They are walked by searches
 * before a search is read, since reading it is synchronous.
 */
import { getSearchParameters, resourceTypes } from '@praxis/fhir';
import type { Parameter } from '../kinds/kind.ts';
import { findResourceType } from '../resource-types.ts';
import { catchProblem, type ResolvedCodes } from './codes.ts';
import { refuseValue, splitUnescaped, unescapeValue } from './search-values.ts';

/** Resources of a type, in the order that one of its references makes. */
export interface Hierarchy {
  readonly type: string;
  /** Search parameter of the type that leads one step up. */
  readonly code: string;
}

export type HierarchyModifier = 'above' | 'below';

export interface HierarchySource {
  /** Ids of the resources one step below or above those of `ids`, as far as the caller may search them. */
  step(hierarchy: Hierarchy, modifier: HierarchyModifier, ids: readonly string[]): Promise<readonly string[]>;
}

/** Resources that a value may stand for, at most. */
const resourcesMax = 500;
/** Steps of a hierarchy that are followed, at most. */
const stepsMax = 20;
/** Hierarchies that one search walks, at most. */
const walksMax = 20;

/** The hierarchies that references of the parameter may lead into: one for each of its types that has one. */
export function listHierarchies({
  type,
  code,
  definition,
}: Pick<Parameter, 'type' | 'code' | 'definition'>): Hierarchy[] {
  if (definition.type !== 'reference') return [];
  return definition.targets.flatMap((target) => {
    const codes = findResourceType(target).hierarchies;
    if (codes === undefined) return [];
    return [{ type: target, code: target === type && codes.includes(code) ? code : codes[0] }];
  });
}

/** Under which the resources of a hierarchy are found in what was resolved. */
export function buildHierarchyKey({ type, code }: Hierarchy, modifier: HierarchyModifier, id: string): string {
  return `hierarchy:${modifier}=${type}.${code}/${id}`;
}

export interface HierarchyRoot {
  /** Undefined: any that the parameter leads to. */
  readonly type: string | undefined;
  readonly id: string;
}

const rootPattern = /^(?:([A-Z][A-Za-z]+)\/)?([A-Za-z0-9\-.]{1,64})$/;

/** `42`, `Location/42` or its URL on this server; undefined for other texts. */
export function parseHierarchyRoot(literal: string, baseUrl: string | undefined): HierarchyRoot | undefined {
  const isLocal = baseUrl !== undefined && literal.startsWith(`${baseUrl}/`);
  const [, type, id] = rootPattern.exec(isLocal ? literal.slice(baseUrl.length + 1) : literal) ?? [];
  return id === undefined ? undefined : { type, id };
}

const modifiedAtEnd = /(?:^|[.:])([^.:]+):(above|below)$/;

/**
 * What the parameters ask for by these modifiers, over chains too: ids, each as a code whose system is the type. Undefined
 * when there is nothing to resolve.
 * @throws PraxisError `search-invalid` for too many of them
 */
export async function resolveHierarchies(
  parameters: readonly (readonly [name: string, value: string])[],
  baseUrl: string,
  source: HierarchySource,
): Promise<ResolvedCodes | undefined> {
  const resolved = new Map<string, Awaited<ReturnType<typeof catchProblem>>>();
  for (const asked of parameters.flatMap(([name, value]) => askedBy(name, value, baseUrl))) {
    const key = buildHierarchyKey(asked.hierarchy, asked.modifier, asked.id);
    if (resolved.has(key)) continue;
    if (resolved.size === walksMax)
      refuseValue(asked.name, `is one of more than ${walksMax} hierarchies in one search`);
    resolved.set(key, await catchProblem(walk(asked, source)));
  }
  return resolved.size > 0 ? resolved : undefined;
}

/** One hierarchy, to be walked from one resource. */
interface Asked {
  readonly name: string;
  readonly hierarchy: Hierarchy;
  readonly modifier: HierarchyModifier;
  readonly id: string;
}

function askedBy(name: string, value: string, baseUrl: string): Asked[] {
  const [, code, modifier] = modifiedAtEnd.exec(name) ?? [];
  if (code === undefined || (modifier !== 'above' && modifier !== 'below')) return [];
  const hierarchies = hierarchiesNamed(code);
  if (hierarchies.length === 0) return [];
  return splitUnescaped(value, ',').flatMap((text) => {
    const root = parseHierarchyRoot(unescapeValue(text, name), baseUrl);
    if (root === undefined) return [];
    return hierarchies
      .filter(({ type }) => root.type === undefined || root.type === type)
      .map((hierarchy) => ({ name, hierarchy, modifier, id: root.id }));
  });
}

async function walk({ name, hierarchy, modifier, id }: Asked, source: HierarchySource) {
  const found = new Set([id]);
  for (let level: readonly string[] = [id], steps = 0; level.length > 0; steps += 1) {
    if (steps > stepsMax) refuseValue(name, `follows ${hierarchy.code} over more than ${stepsMax} steps`);
    const next = await source.step(hierarchy, modifier, level);
    level = [...new Set(next)].filter((each) => !found.has(each));
    for (const each of level) found.add(each);
    if (found.size > resourcesMax)
      refuseValue(name, `stands for more than ${resourcesMax} resources: name one further down`);
  }
  return [...found].map((each) => ({ system: hierarchy.type, code: each }));
}

let byCode: ReadonlyMap<string, readonly Hierarchy[]> | undefined;

/** Those that parameters of this code, of whatever type, may lead into: which type it is is not read yet. */
function hierarchiesNamed(code: string): readonly Hierarchy[] {
  byCode ??= allByCode();
  return byCode.get(code) ?? [];
}

function allByCode(): ReadonlyMap<string, readonly Hierarchy[]> {
  const all = new Map<string, Map<string, Hierarchy>>();
  for (const type of resourceTypes) {
    for (const [code, definition] of getSearchParameters(type)) {
      for (const hierarchy of listHierarchies({ type, code, definition })) {
        const known = all.get(code) ?? new Map<string, Hierarchy>();
        all.set(code, known.set(buildHierarchyKey(hierarchy, 'below', ''), hierarchy));
      }
    }
  }
  return new Map([...all].map(([code, known]) => [code, [...known.values()]]));
}
