/**
 * Resources as FHIRPath and the checks of profiles read them: decimals as plain numbers.
 */
import type { JsonObject } from '@praxis/fhir';
import type { PlainObject } from './element-node.ts';

/** A copy of a resource, or of its text, of its own: the FHIRPath library may add to what it reads. */
export function toPlain(resource: JsonObject | string): PlainObject {
  const copy: unknown = JSON.parse(typeof resource === 'string' ? resource : JSON.stringify(resource));
  if (!isPlain(copy)) throw new Error('A resource is a JSON object');
  return copy;
}

function isPlain(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** An object of JSON. */
export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The canonicals in meta.profile. */
export function listStatedProfiles({ meta }: Members): readonly string[] {
  const stated = isMembers(meta) ? meta['profile'] : undefined;
  return Array.isArray(stated) ? stated.filter((each) => typeof each === 'string') : [];
}
