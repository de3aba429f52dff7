/**
 * Reading checked in-parameters: the declaration says what there can be, so nothing is refused here.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@praxis/fhir';
import type { OperationInput } from './operation.ts';

/** The text of the first occurrence of a parameter of a type that is written as text (string, code, uri, date, …). */
export function textInput(input: OperationInput, name: string): string | undefined {
  return textInputs(input, name)[0];
}

/** The texts of all occurrences. */
export function textInputs(input: OperationInput, name: string): readonly string[] {
  return valuesOf(input, name).flatMap((value) => (typeof value === 'string' ? [value] : []));
}

export function booleanInput(input: OperationInput, name: string): boolean | undefined {
  return valuesOf(input, name).find((value) => typeof value === 'boolean');
}

export function integerInput(input: OperationInput, name: string): number | undefined {
  return valuesOf(input, name).find((value) => typeof value === 'number');
}

/** The first occurrence of a parameter that is a resource or a complex datatype. */
export function objectInput(input: OperationInput, name: string): JsonObject | undefined {
  return objectInputs(input, name)[0];
}

export function objectInputs(input: OperationInput, name: string): readonly JsonObject[] {
  return valuesOf(input, name).flatMap((value) => (isJsonObject(value) ? [value] : []));
}

function valuesOf(input: OperationInput, name: string): readonly JsonValue[] {
  return (input.get(name) ?? []).map(({ value }) => value);
}
