/**
 * Reading checked in-parameters: the declaration says what there can be, so nothing is refused here.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import type { OperationInput } from './operation.ts';

/** The text of the first occurrence of a parameter of a type that is written as text (string, code, uri, date, …). */
export function readTextInput(input: OperationInput, name: string): string | undefined {
  return readTextInputs(input, name)[0];
}

/** The texts of all occurrences. */
export function readTextInputs(input: OperationInput, name: string): readonly string[] {
  return valuesOf(input, name).flatMap((value) => (typeof value === 'string' ? [value] : []));
}

export function readBooleanInput(input: OperationInput, name: string): boolean | undefined {
  return valuesOf(input, name).find((value) => typeof value === 'boolean');
}

export function readIntegerInput(input: OperationInput, name: string): number | undefined {
  return valuesOf(input, name).find((value) => typeof value === 'number');
}

/** The first occurrence of a parameter that is a resource or a complex datatype. */
export function readObjectInput(input: OperationInput, name: string): JsonObject | undefined {
  return readObjectInputs(input, name)[0];
}

export function readObjectInputs(input: OperationInput, name: string): readonly JsonObject[] {
  return valuesOf(input, name).flatMap((value) => (isJsonObject(value) ? [value] : []));
}

function valuesOf(input: OperationInput, name: string): readonly JsonValue[] {
  return (input.get(name) ?? []).map(({ value }) => value);
}
