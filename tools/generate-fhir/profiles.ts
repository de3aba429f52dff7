// Writes R4's official profiles and extensions as one JSON text each, with no more of each element than a validator
// reads, and only the elements that ask more than the base types do (with those they stand in).
// https://hl7.org/fhir/R4/profiling.html
import { identityOf } from './constraints.ts';
import type { PublishedElement, StructureDefinition } from './packages.ts';

/** Members of ElementDefinition that a validator reads, beside fixed[x], pattern[x], minValue[x] and maxValue[x]. */
const members = ['slicing', 'sliceName', 'min', 'max', 'contentReference', 'maxLength'] as const;
const valueMember = /^(fixed|pattern|minValue|maxValue)[A-Z]/;

interface Base {
  /** By path, of all base types. */
  readonly elements: ReadonlyMap<string, PublishedElement>;
  /** Identities of the invariants that the base types have: they hold anyway. */
  readonly invariants: ReadonlySet<string>;
}

/** Canonical URL → JSON of url, type, derivation and the elements of the snapshot. */
export function profileTexts(
  profiles: readonly StructureDefinition[],
  definitions: readonly StructureDefinition[],
): ReadonlyMap<string, string> {
  const elements = definitions.flatMap(({ snapshot }) => snapshot.element);
  const base: Base = {
    elements: new Map(elements.map((element) => [element.path, element])),
    invariants: new Set(elements.flatMap(({ constraint = [] }) => constraint.map(identityOf))),
  };
  return new Map(profiles.map((profile) => [profile.url, textOf(profile, base)]));
}

function textOf(profile: StructureDefinition, base: Base): string {
  const { url, type } = profile;
  const kept = new Set<string>();
  for (const element of profile.snapshot.element) {
    const counterpart = baseElement(element.path, base);
    if (counterpart !== undefined && asText(element, base) === asText(counterpart, base)) continue;
    const id = idOf(element);
    for (let at = id.length; at > 0; at = id.lastIndexOf('.', at - 1)) {
      kept.add(id.slice(0, at));
      kept.add(id.slice(0, at).replace(/:[^.]*$/, ''));
    }
  }
  const element = profile.snapshot.element
    .filter((one, index) => index === 0 || kept.has(idOf(one)))
    .map((one) => ({ id: idOf(one), path: one.path, ...whatDiffers(one, base) }));
  return JSON.stringify({ url, type, snapshot: { element } });
}

/** Types and bindings that are those of the base are left out: they are checked anyway. */
function whatDiffers(element: PublishedElement, base: Base): object {
  const counterpart = baseElement(element.path, base);
  const published: Readonly<Record<string, unknown>> = counterpart === undefined ? {} : trimmed(counterpart, base);
  const entries = Object.entries(trimmed(element, base)).filter(
    ([name, value]) =>
      (name !== 'type' && name !== 'binding') || JSON.stringify(value) !== JSON.stringify(published[name]),
  );
  return Object.fromEntries(entries);
}

function idOf(element: PublishedElement): string {
  return element.id ?? element.path;
}

/** The element of a base type at a path: 'CodeableConcept.text' for 'Observation.code.text'. */
function baseElement(path: string, base: Base): PublishedElement | undefined {
  const known = base.elements.get(path);
  const end = path.lastIndexOf('.');
  if (known !== undefined || end < 0) return known;
  const type = baseElement(path.slice(0, end), base)?.type?.[0]?.code;
  return type === undefined ? undefined : base.elements.get(`${type}${path.slice(end)}`);
}

function asText(element: PublishedElement, base: Base): string {
  return JSON.stringify(trimmed(element, base));
}

function trimmed(element: PublishedElement, base: Base): Readonly<Record<string, unknown>> {
  const constraint = (element.constraint ?? [])
    .filter((one) => !base.invariants.has(identityOf(one)))
    .map(({ key, severity, human, expression }) => ({ key, severity, human, expression }));
  const { strength, valueSet } = element.binding ?? {};
  const isBound = strength === 'required' || strength === 'extensible';
  const all: Record<string, unknown> = { ...element };
  if (element.slicing !== undefined) all['slicing'] = { ...element.slicing, description: undefined };
  const names = [...members, ...Object.keys(all).filter((name) => valueMember.test(name))];
  return {
    ...Object.fromEntries(names.filter((name) => all[name] !== undefined).map((name) => [name, all[name]])),
    ...(element.type === undefined ? {} : { type: element.type.map(({ extension, ...rest }) => rest) }),
    ...(isBound && valueSet !== undefined ? { binding: { strength, valueSet } } : {}),
    ...(constraint.length > 0 ? { constraint } : {}),
  };
}
