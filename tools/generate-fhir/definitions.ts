// Writes R4's structure definitions as one text per type: a head line, then one line per element, indented by depth:
//   name[x] min..max type,Reference(Target|Target) flags(s = summary, m = modifier, - = none) [required value set]
// Elements that a type inherits unchanged are left out: the reader adds those of the base.
// https://hl7.org/fhir/R4/structuredefinition.html
import type { Erratum } from '../../packages/fhir/src/erratum.ts';
import type { PublishedElement, PublishedType, StructureDefinition } from './packages.ts';

const valueSetPrefix = /^http:\/\/hl7\.org\/fhir\/ValueSet\//;

/** Type name → text. Primitive types have a head line only. */
export function definitionTexts(
  definitions: readonly StructureDefinition[],
  errata: readonly Erratum[],
): ReadonlyMap<string, string> {
  const byName = new Map(definitions.map((definition) => [definition.type, definition]));
  return new Map(definitions.map((definition) => [definition.type, textOf(definition, byName, errata)]));
}

/** Primitive type → regular expression of its values as R4 publishes it. */
export function primitivePatterns(definitions: readonly StructureDefinition[]): ReadonlyMap<string, string> {
  const patterns = new Map<string, string>();
  for (const definition of definitions) {
    if (definition.kind !== 'primitive-type') continue;
    const value = definition.snapshot.element.find((element) => element.path === `${definition.type}.value`);
    const pattern = extensionOf(value?.type?.[0], 'regex')?.valueString;
    if (pattern !== undefined) patterns.set(definition.type, pattern);
  }
  return patterns;
}

/** The canonical URLs, without versions, of the value sets that R4 binds as required; sorted. */
export function requiredValueSets(definitions: readonly StructureDefinition[]): readonly string[] {
  const urls = definitions.flatMap((definition) => definition.snapshot.element.map(bindingOf));
  return [...new Set(urls.filter((url) => url !== undefined))].sort();
}

function textOf(
  definition: StructureDefinition,
  byName: ReadonlyMap<string, StructureDefinition>,
  errata: readonly Erratum[],
): string {
  const base = baseOf(definition);
  const head = [definition.abstract ? 'abstract' : 'concrete', definition.kind, base ?? '-'].join(' ');
  if (definition.kind === 'primitive-type') return head;
  const inherited = new Set(base === undefined ? [] : topLines(byName.get(base), errata));
  const backbone = new Map(
    ['Element', 'BackboneElement'].map((name) => [name, new Set(topLines(byName.get(name), errata))] as const),
  );
  const lines: string[] = [];
  const typeByPath = new Map<string, string>();
  for (const element of definition.snapshot.element.slice(1)) {
    const names = element.path.split('.').slice(1);
    const line = lineOf(element, errata);
    typeByPath.set(element.path, element.type?.[0]?.code ?? '');
    const parent =
      definition.type +
      names
        .slice(0, -1)
        .map((name) => `.${name}`)
        .join('');
    const known = names.length === 1 ? inherited : backbone.get(typeByPath.get(parent) ?? '');
    if (!known?.has(line)) lines.push(' '.repeat(names.length - 1) + line);
  }
  return [head, ...lines].join('\n');
}

function baseOf(definition: StructureDefinition): string | undefined {
  return definition.baseDefinition?.slice(definition.baseDefinition.lastIndexOf('/') + 1);
}

function topLines(definition: StructureDefinition | undefined, errata: readonly Erratum[]): string[] {
  const elements = definition?.snapshot.element.slice(1) ?? [];
  return elements.filter((element) => element.path.split('.').length === 2).map((element) => lineOf(element, errata));
}

function lineOf(element: PublishedElement, errata: readonly Erratum[]): string {
  const name = element.path.slice(element.path.lastIndexOf('.') + 1);
  const types = typesOf(element, errata);
  const flags = `${element.isSummary ? 's' : ''}${element.isModifier ? 'm' : ''}` || '-';
  const binding = bindingOf(element)?.replace(valueSetPrefix, '');
  return [name, `${element.min}..${element.max}`, types, flags, ...(binding === undefined ? [] : [binding])]
    .join(' ')
    .replace(/ -$/, '');
}

function typesOf(element: PublishedElement, errata: readonly Erratum[]): string {
  if (element.contentReference !== undefined) return element.contentReference;
  const published = (element.type ?? []).map(typeText).join(',');
  for (const { name, change } of errata) {
    // An inherited element is corrected together with the one that it is inherited from.
    if (change.kind !== 'element-type' || change.path !== (element.base?.path ?? element.path)) continue;
    if (change.from !== published) throw new Error(`Erratum ${name}: ${element.path} is published as ${published}`);
    return change.to;
  }
  return published;
}

/** 'Reference(Patient|Group)', 'canonical(ValueSet)', 'string'. No parenthesis: any target. */
export function typeText(type: PublishedType): string {
  if (type.code.startsWith('http://hl7.org/fhirpath/')) {
    return extensionOf(type, 'structuredefinition-fhir-type')?.valueUrl ?? 'string';
  }
  const targets = [...new Set(type.targetProfile?.map((url) => url.slice(url.lastIndexOf('/') + 1)))];
  return targets.length === 0 || targets.includes('Resource') ? type.code : `${type.code}(${targets.join('|')})`;
}

function bindingOf(element: PublishedElement): string | undefined {
  return element.binding?.strength === 'required' ? element.binding.valueSet?.split('|')[0] : undefined;
}

function extensionOf(type: PublishedType | undefined, name: string) {
  return type?.extension?.find((extension) => extension.url === `http://hl7.org/fhir/StructureDefinition/${name}`);
}
