/**
 * Shapes that many synthetic resources share.
 */
import type { JsonObject } from '@praxis/fhir';

/** A resource with type and id, ready to be stored. */
export type SyntheticResource = JsonObject & { readonly resourceType: string; readonly id: string };

export function resource(resourceType: string, id: string, elements: JsonObject): SyntheticResource {
  return { resourceType, id, ...elements };
}

export function reference(type: string, id: string): JsonObject {
  return { reference: `${type}/${id}` };
}
