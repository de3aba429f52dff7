// Writes the FHIRPath invariants of R4's base definitions, errata applied: one text per element path, one line of JSON per invariant:
//   [key, severity, expression, human]
// An invariant stands where it is declared: at the root of a type ('Period', 'Observation'), or at an element
// ('Observation.component'). Those that an element has from its type, or a type from its base, are left out.
// https://hl7.org/fhir/R4/conformance-rules.html#constraints
import type { Erratum } from '../../packages/fhir/src/erratum.ts';
import type { PublishedConstraint, PublishedElement, StructureDefinition } from './packages.ts';

/** Element path → lines, in the order of the definitions. @throws Error for an erratum that does not fit what R4 publishes */
export function constraintTexts(
  definitions: readonly StructureDefinition[],
  errata: readonly Erratum[],
): ReadonlyMap<string, string> {
  const open = new Set(errata.filter(({ change }) => change.kind === 'invariant'));
  const roots = new Map(definitions.map((definition) => [definition.type, definition.snapshot.element[0]]));
  const texts = new Map<string, string>();
  for (const definition of definitions) {
    const base = definition.baseDefinition?.slice(definition.baseDefinition.lastIndexOf('/') + 1);
    for (const element of definition.snapshot.element) {
      const isRoot = element.path === definition.type;
      if (!isRoot && element.base?.path !== element.path) continue;
      const inherited = isRoot ? keysOf(roots.get(base ?? '')) : typeKeys(element, roots);
      const lines = (element.constraint ?? [])
        .filter((constraint) => !inherited.has(identityOf(constraint)))
        .map((constraint) => line(corrected(element.path, constraint, open)));
      if (lines.length > 0) texts.set(element.path, lines.join('\n'));
    }
  }
  for (const { name } of open) throw new Error(`Erratum ${name}: R4 publishes no such invariant`);
  return texts;
}

/** Takes the erratum that it applies out of `open`. */
function corrected(path: string, constraint: PublishedConstraint, open: Set<Erratum>): PublishedConstraint {
  for (const erratum of open) {
    const { change } = erratum;
    if (change.kind !== 'invariant' || change.path !== path || change.key !== constraint.key) continue;
    if (change.from !== constraint.expression) continue;
    open.delete(erratum);
    return { ...constraint, expression: change.to };
  }
  return constraint;
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
