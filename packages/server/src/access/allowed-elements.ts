/**
 * Which members of a resource's JSON object stay: by the elements of grants, and by the `_elements` and `_summary` that
 * the caller asked for (https://hl7.org/fhir/R4/search.html#elements, https://hl7.org/fhir/R4/search.html#summary).
 */
import { buildJsonName, type ElementDefinition, findTypeDefinition, type TypeDefinition } from '@praxis/fhir';
import { fail } from '../base/errors.ts';
import { memoize } from './memoize.ts';

/** JSON name → `true`: kept whole; or what is kept of the object, or of each object of the array. */
export interface ElementAllowList extends ReadonlyMap<string, true | ElementAllowList> {}

/** What the caller asked to leave out. */
export interface ElementFilter {
  /** Names of top-level elements, `birthDate` or `value[x]`; mandatory elements are kept, too. Unknown names are ignored. */
  readonly elements?: ReadonlySet<string>;
  readonly summary?: 'true' | 'text' | 'data';
}

/**
 * What stays of meta where not everything may be read. All but extensions, which may hold anything: labels must travel
 * with what they label (https://hl7.org/fhir/R4/security-labels.html).
 */
const plainMeta: ElementAllowList = new Map(
  ['versionId', 'lastUpdated', 'source', 'profile', 'security', 'tag'].map((name) => [name, true]),
);

/**
 * What stays under grants that open the elements (`Patient.name`): these with their `_` siblings, resourceType, id and
 * meta. Never narrative, contained resources and extensions of the resource, which may repeat hidden elements.
 */
export function allowByElements(type: string, elements: ReadonlySet<string>): ElementAllowList {
  const names = new Set([...elements].map((path) => path.slice(type.length + 1)));
  return allowMembers(type, plainMeta, (element) => (names.has(element.name) ? true : undefined));
}

const summaries = new Map<string, ElementAllowList>();
const filters = new WeakMap<ElementFilter, Map<string, ElementAllowList>>();

/** What the caller asked to keep of a type; undefined for everything. Cached by the identity of `filter`. */
export function allowByFilter(type: string, filter: ElementFilter): ElementAllowList | undefined {
  if (!filter.elements && !filter.summary) return undefined;
  const byType = memoize(filters, filter, () => new Map<string, ElementAllowList>());
  return memoize(byType, type, () => compileFilter(type, filter));
}

function compileFilter(type: string, filter: ElementFilter): ElementAllowList {
  const { elements, summary } = filter;
  const bySummary = summary && allowBySummary(type, summary);
  const byElements =
    elements &&
    allowMembers(type, true, (element) =>
      element.min > 0 || elements.has(element.name) || elements.has(`${element.name}[x]`) ? true : undefined,
    );
  return bySummary && byElements ? intersectAllowLists(bySummary, byElements) : (bySummary ?? byElements ?? new Map());
}

function allowBySummary(type: string, summary: 'true' | 'text' | 'data'): ElementAllowList {
  return memoize(summaries, `${type}.${summary}`, () => allowMembers(type, true, summaryRules[summary]));
}

type Rule = (element: ElementDefinition) => true | ElementAllowList | undefined;

const summaryRules: Readonly<Record<'true' | 'text' | 'data', Rule>> = {
  true: (element) => allowInSummary(element, new Map()),
  text: (element) => (element.name === 'text' || element.min > 0 ? true : undefined),
  data: (element) => (element.name === 'text' ? undefined : true),
};

/**
 * Elements marked as summary; of elements with elements of their own those so marked, and the mandatory ones, without
 * which the rest would not be valid. `compiled` holds what contains itself (Questionnaire.item).
 */
function allowInSummary(
  element: ElementDefinition,
  compiled: Map<TypeDefinition, Map<string, true | ElementAllowList>>,
): true | ElementAllowList | undefined {
  if (!element.summary && element.min === 0) return undefined;
  const { children } = element;
  if (!children) return true;
  let kept = compiled.get(children);
  if (!kept) {
    kept = new Map();
    compiled.set(children, kept);
    for (const child of children.elements.values()) addMembers(kept, child, allowInSummary(child, compiled));
  }
  return kept;
}

function allowMembers(type: string, meta: true | ElementAllowList, rule: Rule): ElementAllowList {
  const definition = findTypeDefinition(type);
  if (!definition) return fail('internal', { diagnostics: `${type} has no definition` });
  const kept = new Map<string, true | ElementAllowList>([
    ['resourceType', true],
    ['id', true],
    ['meta', meta],
  ]);
  for (const element of definition.elements.values()) {
    if (!kept.has(element.name)) addMembers(kept, element, rule(element));
  }
  return kept;
}

/** Adds the JSON names of an element: one per type of a choice, each with its `_` sibling. */
function addMembers(
  kept: Map<string, true | ElementAllowList>,
  element: ElementDefinition,
  rule: true | ElementAllowList | undefined,
): void {
  if (rule === undefined) return;
  const names = element.types.map((type) => buildJsonName(element, type));
  for (const name of names) {
    kept.set(name, rule);
    if (rule === true) kept.set(`_${name}`, true);
  }
}

const intersections = new WeakMap<ElementAllowList, WeakMap<ElementAllowList, ElementAllowList>>();

/** What both keep. Where each keeps another part of one member, the member is dropped. */
export function intersectAllowLists(a: ElementAllowList, b: ElementAllowList): ElementAllowList {
  const byOther = memoize(intersections, a, () => new WeakMap<ElementAllowList, ElementAllowList>());
  return memoize(byOther, b, () => intersectMembers(a, b));
}

function intersectMembers(a: ElementAllowList, b: ElementAllowList): ElementAllowList {
  const kept = new Map<string, true | ElementAllowList>();
  for (const [name, ofA] of a) {
    const ofB = b.get(name);
    if (ofB === undefined) continue;
    if (ofA === true) kept.set(name, ofB);
    else if (ofB === true) kept.set(name, ofA);
  }
  return kept;
}
