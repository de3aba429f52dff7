/** Resources by the name of their type, and what the service adds to them. */
import type { Meta, ResourceTypes } from './generated/resources.ts';

/** The name of a resource type of R4. */
export type ResourceType = keyof ResourceTypes;

/** What the service sets on each version. */
export interface SavedMeta extends Meta {
  versionId: string;
  lastUpdated: string;
}

/** What names a version of a resource. */
export interface Version {
  readonly id: string;
  readonly meta: SavedMeta;
}

/** A resource as the service returns it: it has an id and a version. */
export type Saved<T extends ResourceType = ResourceType> = ResourceTypes[T] & Version;

/** A resource of type `T` that is to be written; a misspelt element does not compile. */
export type New<T extends ResourceType> = ResourceTypes[T] & { readonly resourceType: T };

/** One of several values, or a list of them. */
export type OneOrMore<V> = V | readonly V[];

/** The values of `OneOrMore`. */
export function toList<V>(values: OneOrMore<V> | undefined): readonly V[] {
  if (values === undefined) return [];
  return Array.isArray(values) ? values : [values as V];
}

/** `Patient/1` for the type and a reference, a relative URL or an id. */
export function toReference(type: ResourceType, idOrReference: string): string {
  return idOrReference.includes('/') ? idOrReference : `${type}/${idOrReference}`;
}

/** `W/"3"` for version 3: https://hl7.org/fhir/R4/http.html#versioning */
export function toEtag(versionId: string): string {
  return `W/"${versionId}"`;
}
