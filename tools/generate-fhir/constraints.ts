// Writes the FHIRPath invariants of R4's base definitions: one text per element path, one line of JSON per invariant:
//   [key, severity, expression, human]
// An invariant stands where it is declared: at the root of a type ('Period', 'Observation'), or at an element
// ('Observation.component'). Those that an element has from its type, or a type from its base, are left out.
// https://hl7.org/fhir/R4/conformance-rules.html#constraints
import type { PublishedConstraint, PublishedElement, StructureDefinition } from './packages.ts';

/** Element path → lines, in the order of the definitions. */
export function constraintTexts(definitions: readonly StructureDefinition[]): ReadonlyMap<string, string> {
  const roots = new Map(definitions.map((definition) => [definition.type, definition.snapshot.element[0]]));
  const texts = new Map<string, string>();
  for (const definition of definitions) {
    const base = definition.baseDefinition?.slice(definition.baseDefinition.lastIndexOf('/') + 1);
    for (const element of definition.snapshot.element) {
      const isRoot = element.path === definition.type;
      if (!isRoot && element.base?.path !== element.path) continue;
      const inherited = isRoot ? keysOf(roots.get(base ?? '')) : typeKeys(element, roots);
      const lines = (element.constraint ?? []).filter((constraint) => !inherited.has(identityOf(constraint))).map(line);
      if (lines.length > 0) texts.set(element.path, lines.join('\n'));
    }
  }
  return texts;
}

/** What says that two invariants are one: keys alone are used twice. */
export function identityOf({ key, expression }: PublishedConstraint): string {
  return `${key} ${expression ?? ''}`;
}

function line({ key, severity, expression = '', human }: PublishedConstraint): string {
  return JSON.stringify([key, severity, expression, human]);
}

function typeKeys(
  element: PublishedElement,
  roots: ReadonlyMap<string, PublishedElement | undefined>,
): ReadonlySet<string> {
  const types = ['Element', ...(element.type ?? []).map(({ code }) => code)];
  return new Set(types.flatMap((type) => [...keysOf(roots.get(type))]));
}

function keysOf(element: PublishedElement | undefined): ReadonlySet<string> {
  return new Set((element?.constraint ?? []).map(identityOf));
}
