// Writes the codes of the value sets that R4 binds as required: one text per value set, one line per code system:
// system, then its codes, all separated by spaces.
// https://hl7.org/fhir/R4/terminologies.html#required
import { type ExpandedValueSet, type ExpansionEntry, isCutOff, order } from './packages.ts';

/**
 * Canonical URL → text, for the value sets whose codes can be listed. Left out are those that no package expands or
 * that were cut off (media types, UCUM units, one LOINC answer list): any code has to be accepted for them.
 */
export function valueSetTexts(
  urls: readonly string[],
  expanded: ReadonlyMap<string, ExpandedValueSet>,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const url of urls) {
    const expansion = expanded.get(url)?.expansion;
    if (expansion === undefined || isCutOff(expansion)) continue;
    const text = textOf(url, expansion.contains ?? []);
    if (text !== '') texts.set(url, text);
  }
  return texts;
}

function textOf(url: string, entries: readonly ExpansionEntry[]): string {
  const bySystem = new Map<string, string[]>();
  const visit = (entry: ExpansionEntry) => {
    if (entry.code !== undefined && entry.abstract !== true) {
      if (/\s/.test(entry.code)) throw new Error(`${url}: the code "${entry.code}" contains a space`);
      const system = entry.system ?? '';
      bySystem.set(system, [...(bySystem.get(system) ?? []), entry.code]);
    }
    for (const child of entry.contains ?? []) visit(child);
  };
  for (const entry of entries) visit(entry);
  return [...bySystem]
    .sort(([a], [b]) => order(a, b))
    .map(([system, codes]) => [system, ...codes].join(' '))
    .join('\n');
}
