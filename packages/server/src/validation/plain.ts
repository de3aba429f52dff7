/**
 * Resources as FHIRPath and the checks of profiles read them: decimals as plain numbers.
 */
import type { JsonObject } from '@praxis/fhir';
import { isPlainObject, type PlainObject } from './element-node.ts';

/** A copy of its own: the FHIRPath library may add to what it reads. */
export function plainOf(resource: JsonObject): PlainObject {
  const copy: unknown = JSON.parse(JSON.stringify(resource));
  if (!isPlain(copy)) throw new Error('A resource is a JSON object');
  return copy;
}

function isPlain(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The canonicals in meta.profile. */
export function statedProfiles(resource: PlainObject): readonly string[] {
  const { meta } = resource;
  if (!isPlainObject(meta) || !Array.isArray(meta.profile)) return [];
  return meta.profile.filter((each) => typeof each === 'string');
}
