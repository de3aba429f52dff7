/**
 * Reading parts of JSON values whose shape validation has vouched for, without trusting that it has.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';

/** The property as a non-empty string, or undefined. */
export function findText(value: JsonValue | undefined, property: string): string | undefined {
  const text = findProperty(value, property);
  return typeof text === 'string' && text !== '' ? text : undefined;
}

/** The objects in an array property, or the one object of a single property. */
export function listObjects(value: JsonValue | undefined, property: string): readonly JsonObject[] {
  const found = findProperty(value, property);
  if (Array.isArray(found)) return found.filter(isJsonObject);
  return isJsonObject(found) ? [found] : [];
}

/** The property as an object, or undefined. */
export function findObject(value: JsonValue | undefined, property: string): JsonObject | undefined {
  const found = findProperty(value, property);
  return isJsonObject(found) ? found : undefined;
}

/** The strings in an array property, or the one string of a single property. */
export function listTexts(value: JsonValue | undefined, property: string): readonly string[] {
  const found = findProperty(value, property);
  const list = Array.isArray(found) ? found : [found];
  return list.filter((text): text is string => typeof text === 'string' && text !== '');
}

export function findProperty(value: JsonValue | undefined, property: string): JsonValue | undefined {
  return isJsonObject(value) && Object.hasOwn(value, property) ? value[property] : undefined;
}
