/**
 * The Prefer header (RFC 7240 §2; https://hl7.org/fhir/R4/http.html#ops), `wait` included (§4.3). Unknown preferences are ignored, as RFC 7240 demands.
 */
import type { Preferences } from '../../engine/context.ts';

const none: Preferences = { return: undefined, handling: undefined };

/** The preferences that mean something here; the first of repeated ones counts. */
export function parsePrefer(header: string | undefined): Preferences {
  if (header === undefined) return none;
  const given = new Map<string, string>();
  for (const part of header.split(/[,;]/)) {
    const [name = '', value = ''] = part.split('=').map((piece) => piece.trim().replace(/^"(.*)"$/, '$1'));
    if (!given.has(name.toLowerCase())) given.set(name.toLowerCase(), value);
  }
  const wait = given.get('wait') ?? '';
  return {
    ...(given.has('respond-async') ? { respondAsync: true } : {}),
    ...(/^\d{1,5}$/.test(wait) ? { waitSeconds: Number(wait) } : {}),
    return: oneOf(given.get('return'), ['minimal', 'representation', 'OperationOutcome']),
    handling: oneOf(given.get('handling'), ['strict', 'lenient']),
  };
}

function oneOf<T extends string>(value: string | undefined, known: readonly T[]): T | undefined {
  return known.find((candidate) => candidate === value);
}
