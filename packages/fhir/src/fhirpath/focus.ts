// What the compiler knows about the values that a part of an expression selects, and what runs over them.
import type { StepMeter } from '../budget.ts';
import type { ElementType, TypeDefinition } from '../definitions.ts';
import { findTypeDefinition, isPrimitiveType, isSubtypeOf } from '../definitions.ts';
import type { JsonObject, JsonValue } from '../json.ts';
import { FhirPathError } from './fhirpath-error.ts';
import type { Expression } from './parse.ts';

/** A value that an expression selects. */
export interface TypedValue {
  /** FHIR type: 'Coding', 'dateTime', 'Patient'; for an element with elements of its own its path: 'Patient.contact'. */
  readonly type: string;
  readonly value: JsonValue;
  /** Where it stands, as FHIRPath: 'Patient.name[0].family', 'Observation.value'. A computed value has its input's. */
  readonly path: string;
}

/** The static side of a value: everything that follows from the definitions alone. */
export interface Focus {
  readonly typeName: string;
  readonly definition: TypeDefinition | undefined;
  readonly primitive: boolean;
  /** Element path from the resource: 'Patient.name.family', 'Observation.value[x]'; undefined for a computed value. */
  readonly elementPath: string | undefined;
  /** What a Reference or canonical may point to; undefined: anything. */
  readonly targets: readonly string[] | undefined;
}

/** One evaluation of an expression. */
export interface Run {
  readonly root: JsonObject;
  readonly found: TypedValue[];
  /** Values held back by an indexer until its whole collection is known. */
  readonly held: (() => void)[];
  /** Spent by a step for each element that is visited, each item and each criterion. */
  readonly meter: StepMeter;
}

/** Handles one value. `sibling` is the '_name' companion of a primitive; `value` is null where only that exists. */
export type Visit = (value: JsonValue, path: string, run: Run, sibling: JsonValue | undefined) => void;

/** The compiled rest of an expression. `usesSibling`: wants to see companions of primitives, also without value. */
export interface Step {
  readonly visit: Visit;
  readonly usesSibling: boolean;
}

/** Continues the compilation with what a part selects; undefined when nothing can come of it. */
export type Continuation = (focus: Focus) => Step | undefined;

/** True, false or, as an empty collection, undefined. http://hl7.org/fhirpath/N1/#boolean-logic */
export type Predicate = (...focus: Parameters<Visit>) => boolean | undefined;

/** The focus for a type by name; a path such as 'Observation.component' names the inline type of an element. */
export function focusOnType(name: string): Focus | undefined {
  const [rootName = '', ...names] = name.split('.');
  let definition = findTypeDefinition(rootName);
  for (const step of names) definition = definition?.elements.get(step)?.children;
  if (definition === undefined) return undefined;
  return { typeName: definition.name, definition, primitive: false, elementPath: name, targets: undefined };
}

export function focusOnElement(type: ElementType, children: TypeDefinition | undefined, elementPath: string): Focus {
  return {
    typeName: children?.name ?? type.code,
    definition: children ?? findTypeDefinition(type.code),
    primitive: children === undefined && isPrimitiveType(type.code),
    elementPath,
    targets: type.targets,
  };
}

/** The same values, known to be of a narrower type. */
export function narrowFocus(focus: Focus, typeName: string): Focus {
  return { ...focus, typeName, definition: findTypeDefinition(typeName), primitive: isPrimitiveType(typeName) };
}

export const booleanFocus: Focus = {
  typeName: 'boolean',
  definition: findTypeDefinition('boolean'),
  primitive: true,
  elementPath: undefined,
  targets: undefined,
};

/** Whether values of this focus are resources whose type only the value tells: contained, Bundle.entry.resource. */
export function isPolymorphic(focus: Focus): boolean {
  return focus.typeName === 'Resource' || focus.typeName === 'DomainResource';
}

/** The type of a value: for a polymorphic focus what the resource says about itself. */
export function resolveRuntimeType(focus: Focus, value: JsonValue): string {
  if (!isPolymorphic(focus)) return focus.typeName;
  const type = readProperty(value, 'resourceType');
  return typeof type === 'string' && isSubtypeOf(type, focus.typeName) ? type : focus.typeName;
}

/** A property of a JSON object; undefined when it is absent or the value is no object. */
export function readProperty(value: JsonValue | undefined, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  // What remains is an object or a raw decimal, which has none of the properties of FHIR.
  return (value as JsonObject)[name];
}

/** What one compilation passes around. */
export interface Compilation {
  readonly expression: string;
  /** %resource: the resource that the values belong to; undefined when the type of values does not tell it. */
  readonly root: Focus | undefined;
  /** Steps compiled so far: elements that can have many types multiply them. */
  steps: number;
  /** Element paths read so far. */
  readonly touched: Set<string>;
  /** Compiles an expression whose values go to `then`. Undefined when the definitions rule out that it selects any. */
  readonly compile: (expression: Expression, input: Focus, then: Continuation) => Step | undefined;
}

/** The visit that takes the values of a focus as found; records that they are read. */
export function collectFound(compilation: Compilation, focus: Focus): Visit {
  if (focus.elementPath !== undefined) compilation.touched.add(focus.elementPath);
  return (value, path, run) => {
    run.meter.spend(1);
    run.found.push({ type: resolveRuntimeType(focus, value), value, path });
  };
}

/** Steps of one compilation at most; the longest of R4's own expressions takes fewer than 1,000 for one type. */
const stepsMax = 10_000;

/** Counts a step. @throws FhirPathError when there are too many */
export function countStep(compilation: Compilation): void {
  compilation.steps += 1;
  requireFewSteps(compilation);
}

/** @throws FhirPathError when a compilation took too many steps */
export function requireFewSteps({ steps, expression }: Compilation): void {
  if (steps > stepsMax) throw new FhirPathError('Elements of many types follow each other too often', expression);
}
