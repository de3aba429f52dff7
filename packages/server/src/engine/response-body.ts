/**
 * Answers without their bodies, where several have a limit together.
 */
import { type Disclosed, disclosedText } from '../access/disclosure.ts';
import type { FhirResponse } from './context.ts';

/** Bytes of a body, as it is sent in JSON. */
export function bytesOf(body: Disclosed<string> | undefined): number {
  return body === undefined ? 0 : Buffer.byteLength(disclosedText(body));
}

/** The answer without its body, and what that is made of. */
export function withoutBody({ body: _body, list: _list, ...facts }: FhirResponse): FhirResponse {
  return facts;
}
