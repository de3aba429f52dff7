/**
 * Resources in request bodies, JSON or XML, to the JSON values that interactions work with.
 */
import { JsonError, type JsonLimits, type JsonValue, parseJson, parseXml, XmlError } from '@praxis/fhir';
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
    if (!(error instanceof JsonError || error instanceof XmlError)) throw error;
    return fail(error instanceof JsonError ? 'json-malformed' : 'xml-malformed', {
      diagnostics: error.message,
      ...(error.path === '' ? {} : { expression: [error.path] }),
      cause: error,
    });
  }
}
