/**
 * Reads elements of resources that others wrote: what is missing or of another type counts as absent.
 * https://hl7.org/fhir/R4/json.html
 */
import { formatDecimal, isJsonObject, isRawDecimal, type JsonObject, type JsonValue } from '@praxis/fhir';

/** The objects of a repeating element. */
export function listElements(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** The text of a primitive; undefined for anything else. */
export function findElementText(value: JsonValue | undefined): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || isRawDecimal(value)) return formatDecimal(value);
  return undefined;
}

/** The texts of a repeating primitive. */
export function listElementTexts(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.flatMap((entry) => findElementText(entry) ?? []) : [];
}

/** A boolean; undefined for anything else. */
export function findBoolean(value: JsonValue | undefined): boolean | undefined {
  return typeof value === 'boolean' ? value : undefined;
}
