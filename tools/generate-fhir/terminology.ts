// Writes R4's code systems, one text per system: a line of JSON about the system, then one line per concept, indented by
// depth: code, display and properties (name=value), separated by tabs. And R4's value sets: one line of JSON per set.
// https://hl7.org/fhir/R4/codesystem.html · https://hl7.org/fhir/R4/valueset.html
import {
  type ExpandedValueSet,
  type ExpansionEntry,
  isCutOff,
  order,
  type PublishedCodeSystem,
  type PublishedCompose,
  type PublishedConcept,
  type PublishedValueSet,
} from './packages.ts';

/** Concept properties that are dropped: the day of a deprecation is of no use to anything that reads these tables. */
const droppedProperties: ReadonlySet<string> = new Set(['deprecationDate']);

/**
 * Its hierarchy may be copied under licence only, and what the packages hold of it is cut off. Value sets that list codes
 * of it one by one keep them: those lists are R4's own.
 */
const licensedSystem = 'http://snomed.info/sct';

/** URL → text, sorted. Without supplements, and without systems of which R4 publishes no concept. */
export function codeSystemTexts(
  codeSystems: readonly PublishedCodeSystem[],
  expanded: ReadonlyMap<string, ExpandedValueSet>,
): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const codeSystem of codeSystems) {
    const { url, concept, content } = codeSystem;
    if (content === 'supplement' || content === 'not-present') continue;
    texts.set(url, [headOf(codeSystem), ...(concept ?? []).flatMap((entry) => conceptLines(entry, 0))].join('\n'));
  }
  for (const [system, entries] of systemsOfExpansions(expanded, texts)) {
    const lines = [...entries].map(([code, display]) => fields(code, display, []));
    texts.set(system, [JSON.stringify({ content: 'fragment' }), ...lines].join('\n'));
  }
  return new Map([...texts].sort(([a], [b]) => order(a, b)));
}

/** URL → JSON of what a server has to know to expand the value set, sorted. Displays that its code system has are left out. */
export function valueSetDefinitionTexts(
  valueSets: readonly PublishedValueSet[],
  codeSystems: readonly PublishedCodeSystem[],
): ReadonlyMap<string, string> {
  const displays = new Map(codeSystems.map(({ url, concept }) => [url, displaysOf(concept ?? [])]));
  return new Map(
    valueSets.map(({ url, version, name, title, status, compose }) => {
      const include = compose.include.map((part) => withoutKnownDisplays(part, displays));
      const exclude = compose.exclude?.map((part) => withoutKnownDisplays(part, displays));
      const kept = { include, ...(exclude === undefined ? {} : { exclude }) };
      const named = title === name ? { name } : { name, title };
      return [url, JSON.stringify({ version, ...named, status, compose: kept })];
    }),
  );
}

function headOf({ version, name, title, content, caseSensitive, hierarchyMeaning }: PublishedCodeSystem): string {
  return JSON.stringify({ version, name, title, content, caseSensitive, hierarchyMeaning });
}

function conceptLines(concept: PublishedConcept, depth: number): string[] {
  const properties = (concept.property ?? [])
    .filter(({ code }) => !droppedProperties.has(code))
    .map(({ code, valueCode, valueString, valueBoolean }) => `${code}=${valueCode ?? valueString ?? valueBoolean}`);
  const line = ' '.repeat(depth) + fields(concept.code, concept.display, properties);
  return [line, ...(concept.concept ?? []).flatMap((child) => conceptLines(child, depth + 1))];
}

function fields(code: string, display: string | undefined, properties: readonly string[]): string {
  const parts = [code, (display ?? '').replace(/\s+/g, ' ').trim(), ...properties];
  while (parts.at(-1) === '') parts.pop();
  if (parts.some((part) => /[\t\n\r]/.test(part)))
    throw new Error(`The concept ${code} contains a tab or a line break`);
  return parts.join('\t');
}

/**
 * Systems that R4 holds no CodeSystem of, but that a value set includes as a whole and a package expands in full
 * (currencies, vaccines): what the expansion lists, as a fragment of the system.
 */
function systemsOfExpansions(
  expanded: ReadonlyMap<string, ExpandedValueSet>,
  known: ReadonlyMap<string, string>,
): Map<string, Map<string, string | undefined>> {
  const systems = new Map<string, Map<string, string | undefined>>();
  for (const { compose, expansion } of expanded.values()) {
    if (compose === undefined || isCutOff(expansion)) continue;
    const whole = compose.include.filter(({ filter, concept, valueSet }) => !(filter || concept || valueSet));
    const wanted = new Set(whole.flatMap(({ system }) => (system === undefined || known.has(system) ? [] : [system])));
    wanted.delete(licensedSystem);
    for (const { system, code, display } of (expansion?.contains ?? []).flatMap(flat)) {
      if (system === undefined || code === undefined || !wanted.has(system)) continue;
      systems.set(system, (systems.get(system) ?? new Map<string, string | undefined>()).set(code, display));
    }
  }
  return systems;
}

function flat(entry: ExpansionEntry): ExpansionEntry[] {
  return [entry, ...(entry.contains ?? []).flatMap(flat)];
}

function displaysOf(concepts: readonly PublishedConcept[]): Map<string, string | undefined> {
  const displays = new Map<string, string | undefined>();
  const visit = (concept: PublishedConcept) => {
    displays.set(concept.code, concept.display);
    for (const child of concept.concept ?? []) visit(child);
  };
  for (const concept of concepts) visit(concept);
  return displays;
}

function withoutKnownDisplays(
  { system, version, concept, filter, valueSet }: PublishedCompose,
  displays: ReadonlyMap<string, ReadonlyMap<string, string | undefined>>,
): PublishedCompose {
  const known = displays.get(system ?? '');
  const concepts = concept?.map(({ code, display }) =>
    display === undefined || known?.get(code) === display ? { code } : { code, display },
  );
  return {
    ...(system === undefined ? {} : { system }),
    // R4 publishes one version of each of its systems: another one can only be a slip (task-code names 3.6.0).
    ...(version === undefined || known !== undefined ? {} : { version }),
    ...(concepts === undefined ? {} : { concept: concepts }),
    ...(filter === undefined ? {} : { filter: filter.map(({ property, op, value }) => ({ property, op, value })) }),
    ...(valueSet === undefined ? {} : { valueSet }),
  };
}
