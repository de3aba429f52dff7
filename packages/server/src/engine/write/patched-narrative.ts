/**
 * The narrative of a patched resource: it must not go on telling what is no longer so
 * (https://hl7.org/fhir/R4/http.html#patch, "clinically unsafe").
 */
import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonObject } from '@praxis/fhir';
import { fail } from '../../base/errors.ts';

const untold: ReadonlySet<string> = new Set(['resourceType', 'id', 'meta', 'implicitRules', 'language', 'text']);

/**
 * `after` with a narrative that is safe. A patch that brings its own is trusted. Otherwise a change of the data takes away
 * the narrative that was made from them; one that people wrote (`additional`) is the business of those who can read it.
 * @param mayRead whether the caller may read the narrative; to others a refusal would tell of it
 * @throws PraxisError `patch-failed`
 */
export function withSafeNarrative(before: JsonObject, after: JsonObject, mayRead: boolean): JsonObject {
  const { text, ...data } = after;
  if (text === undefined || !isDeepStrictEqual(text, before['text'])) return after;
  const status = isJsonObject(text) ? text['status'] : undefined;
  if (status === 'empty' || isDeepStrictEqual(told(after), told(before))) return after;
  if (status !== 'additional' || !mayRead) return data;
  return fail('patch-failed', {
    diagnostics: 'text holds what people wrote (additional) and might no longer be so: replace it in the same patch',
    expression: ['text'],
  });
}

function told(resource: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(resource).filter(([name]) => !untold.has(name)));
}
