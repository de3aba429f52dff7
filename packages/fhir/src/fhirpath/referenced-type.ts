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
  const text = textOf(reference);
  const type = (typeof text === 'string' ? typeOfText(text, root) : undefined) ?? readProperty(reference, 'type');
  return typeof type === 'string' && knownTypes.has(type) ? type : undefined;
}

/** Steps that `findReferencedType` takes: contained resources are looked at one by one. */
export function countReferenceSteps(reference: JsonValue, { contained }: JsonObject): number {
  const text = textOf(reference);
  return typeof text === 'string' && text.startsWith('#') && Array.isArray(contained) ? 1 + contained.length : 1;
}

function textOf(reference: JsonValue): JsonValue | undefined {
  return typeof reference === 'string' ? reference : readProperty(reference, 'reference');
}

function typeOfText(text: string, root: JsonObject): JsonValue | undefined {
  if (text === '#') return root['resourceType'];
  if (text.startsWith('#')) {
    const { contained } = root;
    const id = text.slice(1);
    const resource = Array.isArray(contained) ? contained.find((each) => readProperty(each, 'id') === id) : undefined;
    return readProperty(resource, 'resourceType');
  }
  const type = restfulPattern.exec(text)?.[1];
  return type !== undefined && knownTypes.has(type) ? type : undefined;
}
