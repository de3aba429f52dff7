/**
 * Resources in request bodies, JSON or XML, to the JSON values that interactions work with.
 */
import {
  JsonError,
  type JsonLimits,
  type JsonValue,
  parseJson,
  parseJsonInParts,
  parseXml,
  parseXmlInParts,
  sliceMs,
  XmlError,
} from '@praxis/fhir';
import { fail } from '../../base/errors.ts';
import type { FormatKind } from '../answer/answer-format.ts';

/**
 * The value of a body; not validated.
 * @throws PraxisError `json-malformed`, `xml-malformed`, with path, line and column
 */
export function parseBody(text: string, format: FormatKind, limits: JsonLimits): JsonValue {
  try {
    return format === 'json' ? parseJson(text, limits) : parseXml(text, limits);
  } catch (error) {
    return refuseMalformed(error);
  }
}

/** Texts of so many characters are read in slices: a millisecond's work. */
const slicedCharacters = 131_072;

/**
 * As `parseBody`. A large body is read in slices.
 * @param pause resolves when the next slice may begin
 * @throws PraxisError as `parseBody`
 */
export async function parseBodyInSlices(
  text: string,
  format: FormatKind,
  limits: JsonLimits,
  pause: () => Promise<void>,
): Promise<JsonValue> {
  if (text.length < slicedCharacters) return parseBody(text, format, limits);
  try {
    const reading = format === 'json' ? parseJsonInParts(text, limits) : parseXmlInParts(text, limits);
    for (let beganMs = performance.now(); ; ) {
      const { done, value } = reading.next();
      if (done === true) return value;
      if (performance.now() - beganMs < sliceMs) continue;
      await pause();
      beganMs = performance.now();
    }
  } catch (error) {
    return refuseMalformed(error);
  }
}

function refuseMalformed(error: unknown): never {
  if (!(error instanceof JsonError || error instanceof XmlError)) throw error;
  return fail(error instanceof JsonError ? 'json-malformed' : 'xml-malformed', {
    diagnostics: error.message,
    ...(error.path === '' ? {} : { expression: [error.path] }),
    cause: error,
  });
}
