/**
 * The invariants of R4's base definitions, where they are declared, with what is known to be wrong in them corrected
 * (../errata.ts).
 *
 * https://hl7.org/fhir/R4/conformance-rules.html#constraints
 */
import { type ElementDefinition, findTypeDefinition, type TypeDefinition } from '../definitions.ts';
import { constraintTexts } from '../generated/constraints.js';
import { getOrMake } from '../memo.ts';

/** https://hl7.org/fhir/R4/elementdefinition-definitions.html#ElementDefinition.constraint */
export interface Invariant {
  /** 'obs-6'; unique within the type that it stands in only. */
  readonly key: string;
  readonly severity: 'error' | 'warning';
  /** FHIRPath; evaluated on the element. Two invariants of R4 have none: ''. */
  readonly expression: string;
  readonly human: string;
}

/** All paths that have some: types ('Period', 'DomainResource') and elements ('Observation.component'). */
export const invariantPaths: readonly string[] = Object.keys(constraintTexts);

const known = new Map<string, readonly Invariant[]>();

/** The invariants that are declared at a type or an element, in the order of R4. Those of a base stand at the base. */
export function listInvariantsAt(path: string): readonly Invariant[] {
  const text = Object.hasOwn(constraintTexts, path) ? constraintTexts[path] : undefined;
  return text === undefined ? [] : getOrMake(known, path, () => text.split('\n').map(parseInvariant));
}

/**
 * All that are asked of an element of a type: those of the element, of the declaration that it shares ("see
 * Questionnaire.item"), of its type and the bases of that.
 */
export function listInvariants(element: ElementDefinition | undefined, type: string, definition: TypeDefinition) {
  const paths = new Set(element === undefined ? [definition.name] : [element.path, definition.name]);
  for (let at: string | undefined = type; at !== undefined; at = findTypeDefinition(at)?.base) paths.add(at);
  return [...paths].flatMap(listInvariantsAt);
}

// The format is described in tools/generate-fhir/constraints.ts.
function parseInvariant(line: string): Invariant {
  const fields: unknown = JSON.parse(line);
  const [key, severity, expression, human] = Array.isArray(fields) ? fields.map(String) : [];
  if (key === undefined || expression === undefined || human === undefined)
    throw new Error(`Not an invariant: ${line}`);
  return { key, severity: severity === 'warning' ? 'warning' : 'error', expression, human };
}
