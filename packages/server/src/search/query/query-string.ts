/**
 * Parameters of a query string or a form body, in order, repeated names kept
 * (https://hl7.org/fhir/R4/search.html#escaping; https://url.spec.whatwg.org/#urlencoded-parsing).
 * Existing clients send `|`, `{`, `:`, `,`, accents and spaces unencoded: what an HTTP parser lets through is read.
 */
import { fail } from '../../base/errors.ts';

export type QueryParameter = readonly [name: string, value: string];

/** Parts between `&` that a text is split into, at most, empty ones counted: more than any search takes parameters. */
const partsMax = 10_000;

/**
 * Passes where the text has few enough parts to be split, which it counts without splitting it.
 * @throws PraxisError `too-costly`
 */
export function requireFewParts(text: string): void {
  let parts = 1;
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    parts += 1;
    if (parts > partsMax)
      fail('too-costly', {
        diagnostics: `The query has more than ${partsMax} parameters, the limit of one request. Nothing was changed. To make it cheaper: name fewer parameters`,
      });
  }
}

/**
 * The name/value pairs of `text` (no leading `?`). `+` is a space. A part without `=` continues the value before it:
 * some clients send the `&` of `name=Smith & Sons` as it is, and no search parameter is without a value.
 * @throws PraxisError `search-invalid` for a broken percent-escape or bytes that are not UTF-8, `too-costly`
 */
export function parseParameters(text: string): QueryParameter[] {
  requireFewParts(text);
  const parameters: QueryParameter[] = [];
  for (const part of text.split('&')) {
    if (part === '') continue;
    const at = part.indexOf('=');
    const before = parameters.at(-1);
    if (at < 0 && before !== undefined && !part.startsWith('_')) {
      parameters[parameters.length - 1] = [before[0], `${before[1]}&${decode(part, before[0])}`];
      continue;
    }
    const end = at < 0 ? part.length : at;
    const name = decode(part.slice(0, end));
    parameters.push([name, decode(part.slice(end + 1), name)]);
  }
  return parameters;
}

function decode(text: string, parameter?: string): string {
  const spaced = text.replaceAll('+', ' ');
  const decoded = spaced.includes('%') ? unescaped(spaced, parameter) : spaced;
  // No FHIR string holds U+0000 (https://hl7.org/fhir/R4/datatypes.html#string), so it can only be an attack or a fault.
  if (decoded.includes('\0')) refuse(parameter, 'holds the character U+0000, which no value has');
  return decoded;
}

function unescaped(text: string, parameter: string | undefined): string {
  try {
    return decodeURIComponent(text);
  } catch (cause) {
    return refuse(parameter, 'has a broken percent-escape: write % as %25 and encode characters as UTF-8', cause);
  }
}

function refuse(parameter: string | undefined, problem: string, cause?: unknown): never {
  return fail('search-invalid', {
    diagnostics: `${parameter === undefined ? 'A parameter name' : `The value of ${parameter}`} ${problem}`,
    ...(parameter === undefined ? {} : { expression: [parameter] }),
    cause,
  });
}
