/**
 * Contained resources: no further nesting, no versions or security labels of their own, and a use (dom-2 to dom-5).
 *
 * https://hl7.org/fhir/R4/references.html#contained
 */
import type { JsonObject, JsonValue } from '../json.ts';
import { type Place, quoteText, type Run, report, stepInto } from './issue.ts';
import { isObject, type ResourceScope, useFragment } from './scope.ts';

/** Elements of meta that a contained resource may not have. */
const forbiddenMeta: readonly (readonly [element: string, invariant: string])[] = [
  ['versionId', 'dom-4'],
  ['lastUpdated', 'dom-4'],
  ['security', 'dom-5'],
];

/** Checks what a contained resource may not have. */
export function checkContained(run: Run, resource: JsonObject, place: Place): void {
  if (resource.contained !== undefined) {
    const problem = 'may not stand in a contained resource: contain it in the outer one (dom-2)';
    report(run, 'contained', stepInto(place, 'contained'), problem);
  }
  const { meta } = resource;
  if (!isObject(meta)) return;
  for (const [name, invariant] of forbiddenMeta) {
    const problem = `may not stand in a contained resource (${invariant})`;
    if (meta[name] !== undefined) report(run, 'contained', stepInto(stepInto(place, 'meta'), name), problem);
  }
}

/** Checks, when the whole outer resource is read, that ids differ and that every contained resource is used (dom-3). */
export function checkContainedUse(run: Run, contained: JsonValue[], scope: ResourceScope, parent: Place): void {
  const ids = new Set<string>();
  contained.forEach((inner, index) => {
    if (!isObject(inner)) return;
    const { id } = inner;
    const place = stepInto(parent, 'contained', index);
    if (typeof id === 'string') {
      const problem = `${quoteText(id)} is the id of another contained resource, too`;
      if (ids.has(id)) report(run, 'contained', stepInto(place, 'id'), problem);
      ids.add(id);
    }
    if (run.full) return;
    const used = scope.referring.has(inner) || (typeof id === 'string' && scope.referred.has(id));
    if (!used) report(run, 'contained', place, unused(id));
  });
}

function unused(id: JsonValue | undefined): string {
  const why = typeof id === 'string' ? `nothing refers to ${quoteText(`#${id}`)}` : 'without an id nothing can';
  return `must be referred to, or refer to its container by "#": ${why} (dom-3)`;
}

/** A link or image of the narrative may point to a contained resource, too. https://hl7.org/fhir/R4/narrative.html#id */
export function useNarrativeLinks({ text }: JsonObject, scope: ResourceScope): void {
  if (!isObject(text) || typeof text.div !== 'string') return;
  for (const [, id = ''] of text.div.matchAll(/\s(?:href|src)\s*=\s*["']#([A-Za-z0-9.-]{1,64})["']/g))
    useFragment(scope, id);
}

/**
 * Places of contained resources that nothing refers to, and of those that only such ones refer to. Each resource and each
 * reference is looked at once.
 */
export function findUnreferenced(contained: readonly JsonValue[], scope: ResourceScope): ReadonlySet<number> {
  const places = Map.groupBy(contained.keys(), (index) => idOf(contained[index]));
  const refersTo = referencesOf(scope);
  const referrers = new Map([...scope.referred].map(([id, all]) => [id, all.size]));
  const isUnused = (inner: JsonValue | undefined): boolean =>
    isObject(inner) && !scope.referring.has(inner) && (referrers.get(idOf(inner) ?? '') ?? 0) === 0;
  const unused = new Set<number>();
  const waiting = [...contained.keys()].filter((index) => isUnused(contained[index]));
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (unused.has(index)) continue;
    unused.add(index);
    for (const { id } of refersTo.get(contained[index] ?? null) ?? []) {
      const left = (referrers.get(id) ?? 0) - 1;
      referrers.set(id, left);
      if (left > 0) continue;
      for (const other of places.get(id) ?? []) if (isUnused(contained[other])) waiting.push(other);
    }
  }
  return unused;
}

/** The ids that are referred to, by the contained resource that refers to them. */
function referencesOf({ referred }: ResourceScope) {
  const all = [...referred].flatMap(([id, referrers]) => [...referrers].map((referrer) => ({ referrer, id })));
  return Map.groupBy(all, ({ referrer }) => referrer);
}

function idOf(inner: JsonValue | undefined): string | undefined {
  return isObject(inner) && typeof inner.id === 'string' ? inner.id : undefined;
}
