/**
 * Disclosed JSON texts in the format of the answer. The text passed the field mask before: what is written here is another
 * spelling of it and nothing more.
 */
import { isRawDecimal, type JsonLimits, type JsonObject, type JsonValue, parseJson, toXml } from '@praxis/fhir';
import type { AnswerFormat } from './answer-format.ts';

/** What the server wrote or stored is not bounded a second time. */
const noLimits: JsonLimits = {
  depthMax: Number.MAX_SAFE_INTEGER,
  arrayLengthMax: Number.MAX_SAFE_INTEGER,
  stringLengthMax: Number.MAX_SAFE_INTEGER,
};

/** Nobody reads longer texts, in characters, and what is deep takes many times as many when it is indented. */
const prettyCharactersMax = 1_048_576;

/** A resource's JSON text in a format; compact JSON is the text itself. */
export function representationOf(json: string, { kind, pretty: isPrettyWished }: AnswerFormat): string {
  const pretty = isPrettyWished && json.length <= prettyCharactersMax;
  if (kind === 'json' && !pretty) return json;
  const resource = parseJson(json, noLimits);
  return kind === 'json' ? JSON.stringify(resource, null, 2) : toXml(requireObject(resource), { pretty });
}

function requireObject(value: JsonValue): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || isRawDecimal(value)) {
    throw new Error('an answer is a resource');
  }
  return value;
}
