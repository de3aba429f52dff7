/**
 * Resources as FHIRPath and the checks of profiles read them: decimals as plain numbers.
 */
import type { JsonObject } from '@praxis/fhir';
import { isPlainObject, listPlainTexts, type PlainObject } from './element-node.ts';

/** A copy of a resource, or of its text, of its own: the FHIRPath library may add to what it reads. */
export function toPlain(resource: JsonObject | string): PlainObject {
  const copy: unknown = JSON.parse(typeof resource === 'string' ? resource : JSON.stringify(resource));
  if (!isPlainObject(copy)) throw new Error('A resource is a JSON object');
  return copy;
}

/** The canonicals in meta.profile. */
export function listStatedProfiles({ meta }: PlainObject): readonly string[] {
  return isPlainObject(meta) ? listPlainTexts(meta.profile) : [];
}
