import { isRawDecimal, type JsonObject, type JsonValue } from '../src/index.ts';

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawDecimal(value);
}
