/**
 * Answers of operations (https://hl7.org/fhir/R4/operations.html#response): a Parameters resource, or the resource alone
 * where the only out-parameter is one named `return`.
 */
import type { JsonValue } from '@praxis/fhir';
import { type Disclosed, markServerWritten, unwrapDisclosed } from '../access/disclosure.ts';
import type { FhirResponse } from '../engine/context.ts';

/** One occurrence of an out-parameter. */
export type OutputParameter =
  | { readonly name: string; readonly type: string; readonly value: JsonValue }
  | { readonly name: string; readonly resource: Disclosed<string> }
  | { readonly name: string; readonly parts: readonly OutputParameter[] };

/** 200 with a Parameters resource. Its values must be the server's own or disclosed before. */
export function buildParametersResponse(parameters: readonly OutputParameter[]): FhirResponse {
  const list = parameters.length === 0 ? '' : `,"parameter":[${parameters.map(parameterText).join(',')}]`;
  return { status: 200, body: markServerWritten(`{"resourceType":"Parameters"${list}}`) };
}

/** 200 with the resource that is the out-parameter `return`. */
export function buildResourceResponse(resource: Disclosed<string>): FhirResponse {
  return { status: 200, body: resource };
}

/** As `buildResourceResponse`, of a resource that the server makes and that holds nothing hidden from the caller. */
export function buildOwnResourceResponse(resource: {
  readonly resourceType: string;
  readonly [member: string]: unknown;
}): FhirResponse {
  return { status: 200, body: markServerWritten(JSON.stringify(resource)) };
}

function parameterText(parameter: OutputParameter): string {
  const name = JSON.stringify(parameter.name);
  if ('resource' in parameter) return `{"name":${name},"resource":${unwrapDisclosed(parameter.resource)}}`;
  if ('parts' in parameter) return `{"name":${name},"part":[${parameter.parts.map(parameterText).join(',')}]}`;
  const { type, value } = parameter;
  return `{"name":${name},"value${type.charAt(0).toUpperCase()}${type.slice(1)}":${JSON.stringify(value)}}`;
}
