/**
 * Prefixes of ordered values: https://hl7.org/fhir/R4/search.html#prefix. None means `eq`.
 */
import { refuseValue } from '../query/search-values.ts';

export const prefixes = ['eq', 'ne', 'gt', 'lt', 'ge', 'le', 'sa', 'eb', 'ap'] as const;
export type Prefix = (typeof prefixes)[number];

/** The prefix and what follows it. */
export function splitPrefix(text: string, name: string): { readonly prefix: Prefix; readonly rest: string } {
  const prefix = prefixes.find((candidate) => text.startsWith(candidate));
  if (prefix !== undefined) return { prefix, rest: text.slice(2) };
  if (/^[<>=!~]/.test(text))
    refuseValue(name, `takes its comparison as letters before the value: ${prefixes.join(', ')}`);
  return { prefix: 'eq', rest: text };
}
