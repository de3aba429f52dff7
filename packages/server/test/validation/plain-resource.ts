// JSON values as the objects that tests know they are.
import type { JsonObject, JsonValue } from '@praxis/fhir';

export function objectOf(value: JsonValue): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !JSON.isRawJSON(value)) return value;
  throw new Error('not a JSON object');
}
