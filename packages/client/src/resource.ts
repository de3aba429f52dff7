/** Resources by the name of their type, and what the service adds to them. */
import { InvalidError, makeCause } from './errors.ts';
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

/**
 * `Patient/1`. Ids may come from elsewhere: nothing but an id gets into a path (https://hl7.org/fhir/R4/datatypes.html#id).
 * @throws InvalidError `path-invalid`
 */
export function instancePath(type: ResourceType, id: string): string {
  const path = `${type}/${id}`;
  if (/^[A-Za-z]+\/(?!\.{1,2}$)[A-Za-z0-9\-.]{1,64}$/.test(path)) return path;
  throw refusePath(`The id of a ${type} has 1 to 64 letters, digits, hyphens and dots: this is none`);
}

/** The error of a path that is not sent. It does not repeat the path, which may hold anything. */
export function refusePath(diagnostics: string): InvalidError {
  return new InvalidError({ method: '', path: '', ...makeCause('path-invalid', diagnostics) });
}

/** `Patient/1` for the type and a reference or an id. @throws InvalidError `path-invalid` for another type or no id */
export function toReference(type: ResourceType, idOrReference: string): string {
  const prefix = `${type}/`;
  return instancePath(type, idOrReference.startsWith(prefix) ? idOrReference.slice(prefix.length) : idOrReference);
}

/** `W/"3"` for version 3: https://hl7.org/fhir/R4/http.html#versioning */
export function toEtag(versionId: string): string {
  return `W/"${versionId}"`;
}
