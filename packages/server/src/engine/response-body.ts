/**
 * Answers without their bodies, where several have a limit together.
 */
import { type Disclosed, unwrapDisclosed } from '../access/disclosure.ts';
import type { FhirResponse } from './context.ts';

/** Bytes of a body, as it is sent in JSON. */
export function countBodyBytes(body: Disclosed<string> | undefined): number {
  return body === undefined ? 0 : Buffer.byteLength(unwrapDisclosed(body));
}

/** The answer without its body, and what that is made of. */
export function withoutBody({ body: _body, list: _list, ...facts }: FhirResponse): FhirResponse {
  return facts;
}
