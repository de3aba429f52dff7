// The resource type that a reference points to, from the reference alone: nothing is looked up.
// https://hl7.org/fhir/R4/references.html#literal
import { resourceTypes } from '../definitions.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { readProperty } from './focus.ts';

const knownTypes: ReadonlySet<string> = new Set(resourceTypes);

// [base/]Type/id[/_history/version], as in the RESTful URL pattern of R4.
const restfulPattern = /(?:^|\/)([A-Z][A-Za-z]+)\/[A-Za-z0-9\-.]{1,64}(?:\/_history\/[A-Za-z0-9\-.]{1,64})?$/;

/**
 * The type of what a Reference, canonical or uri points to: read from a relative or absolute RESTful URL, from the
 * contained resource for '#id' (the resource itself for '#'), else from Reference.type. Undefined when none tells.
 */
export function findReferencedType(reference: JsonValue, root: JsonObject): string | undefined {
  const text = typeof reference === 'string' ? reference : readProperty(reference, 'reference');
  const stated = readProperty(reference, 'type');
  const type = (typeof text === 'string' ? typeOfText(text, root) : undefined) ?? stated;
  return typeof type === 'string' && knownTypes.has(type) ? type : undefined;
}

/** Steps that `findReferencedType` takes: contained resources are looked at one by one. */
export function countReferenceSteps(reference: JsonValue, { contained }: JsonObject): number {
  const text = typeof reference === 'string' ? reference : readProperty(reference, 'reference');
  return typeof text === 'string' && text.startsWith('#') && Array.isArray(contained) ? 1 + contained.length : 1;
}

function typeOfText(text: string, root: JsonObject): JsonValue | undefined {
  if (text === '#') return root['resourceType'];
  if (text.startsWith('#')) return containedType(text.slice(1), root);
  const type = restfulPattern.exec(text)?.[1];
  return type !== undefined && knownTypes.has(type) ? type : undefined;
}

function containedType(id: string, root: JsonObject): JsonValue | undefined {
  const contained = root['contained'];
  if (!Array.isArray(contained)) return undefined;
  for (const resource of contained) {
    if (readProperty(resource, 'id') === id) return readProperty(resource, 'resourceType');
  }
  return undefined;
}
