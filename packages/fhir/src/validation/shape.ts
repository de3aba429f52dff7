/**
 * Types as the validator reads them: one property per JSON name, compiled from the definitions on first use.
 *
 * https://hl7.org/fhir/R4/json.html
 */
import {
  type ElementDefinition,
  type ElementType,
  findTypeDefinition,
  findValueSetCodes,
  type JsonElement,
  listJsonElements,
  type TypeDefinition,
} from '../definitions.ts';
import type { JsonObject } from '../json.ts';
import { checkCodingBinding, checkConceptBinding } from './bindings.ts';
import { checkExtension } from './extensions.ts';
import type { Place, Run } from './issue.ts';
import { elementIdCheck, getPrimitiveCheck, type PrimitiveCheck } from './primitives.ts';
import { checkReference } from './references.ts';

/** A check of a whole object, made after the checks of its elements. */
export type ObjectRule = (run: Run, value: JsonObject, place: Place) => void;

/** What may stand under one JSON name. All have the same fields, so that reading them is fast. */
export interface Property {
  readonly kind: 'primitive' | 'sibling' | 'object' | 'resource' | 'resourceType';
  /** 'birthDate', also for the sibling '_birthDate'; 'valueQuantity' for value[x]. */
  readonly jsonName: string;
  /** The name in a path: 'value' for value[x]. */
  readonly name: string;
  readonly repeats: boolean;
  /** The element's bit in Shape.required; 0 when it is optional. */
  readonly bit: number;
  /** For a choice its number within the shape, else −1. */
  readonly choice: number;
  /** For primitives. */
  readonly check: PrimitiveCheck | undefined;
  /** Codes and URL of a required value set, for primitives. */
  readonly codes: ReadonlySet<string> | undefined;
  readonly valueSet: string;
  /** Whether the value may be `#id` of a contained resource. */
  readonly linking: boolean;
  /** For objects. */
  readonly definition: TypeDefinition | undefined;
  readonly rule: ObjectRule | undefined;
}

export interface Shape {
  readonly definition: TypeDefinition;
  readonly properties: ReadonlyMap<string, Property>;
  /** Elements with min 1, by the number of their bit. */
  readonly required: readonly ElementDefinition[];
  /** All their bits. */
  readonly requiredMask: number;
  /** The elements that are choices, by their number. */
  readonly choices: readonly ElementDefinition[];
}

const shapes = new WeakMap<TypeDefinition, Shape>();

/** The compiled form of a type, made once per definition. */
export function getShape(definition: TypeDefinition): Shape {
  let shape = shapes.get(definition);
  if (shape === undefined) {
    shape = compile(definition);
    shapes.set(definition, shape);
  }
  return shape;
}

/** The compiled form of a type that R4 has for certain. */
export function requireShape(name: string): Shape {
  const definition = findTypeDefinition(name);
  if (definition === undefined) throw new Error(`R4 defines no type ${name}`);
  return getShape(definition);
}

function compile(definition: TypeDefinition): Shape {
  const elements = [...definition.elements.values()];
  const required = elements.filter((element) => element.min > 0);
  const choices = elements.filter((element) => element.choice);
  // Numbers of 31 bits: no type of R4 has more than nine required elements.
  if (required.length > 30) throw new Error(`${definition.name} has more than 30 required elements`);
  const properties = new Map<string, Property>();
  for (const member of listJsonElements(definition)) {
    const { jsonName, element } = member;
    const bit = element.min > 0 ? 1 << required.indexOf(element) : 0;
    const choice = choices.indexOf(element);
    const shared = { ...blank, jsonName, name: element.name, repeats: element.max > 1, bit, choice };
    properties.set(jsonName, { ...shared, ...detailsOf(definition, member) });
    if (mayHaveSibling(member)) properties.set(`_${jsonName}`, { ...shared, kind: 'sibling' });
  }
  if (definition.kind === 'resource') properties.set('resourceType', { ...blank, kind: 'resourceType' });
  return { definition, properties, required, requiredMask: (1 << required.length) - 1, choices };
}

const blank: Property = {
  kind: 'primitive',
  jsonName: '',
  name: '',
  repeats: false,
  bit: 0,
  choice: -1,
  check: undefined,
  codes: undefined,
  valueSet: '',
  linking: false,
  definition: undefined,
  rule: undefined,
};

function detailsOf(owner: TypeDefinition, { element, type, definition }: JsonElement): Partial<Property> {
  if (definition.kind === 'resource') return { kind: 'resource' };
  if (definition.kind !== 'primitive-type')
    return { kind: 'object', definition, rule: objectRules[type.code]?.(element, type) };
  const elementId = element.name === 'id' && owner.kind !== 'resource';
  return {
    check: elementId ? elementIdCheck : getPrimitiveCheck(type.code),
    codes: element.binding === undefined ? undefined : findValueSetCodes(element.binding),
    valueSet: element.binding ?? '',
    linking: type.code === 'uri' || type.code === 'url' || type.code === 'canonical',
  };
}

/** XML has ids and Extension.url as attributes and xhtml as a tree: they have no place for id and extension. */
function mayHaveSibling({ element, type, definition }: JsonElement): boolean {
  if (definition.kind !== 'primitive-type') return false;
  return element.name !== 'id' && element.path !== 'Extension.url' && type.code !== 'xhtml';
}

type RuleMaker = (element: ElementDefinition, type: ElementType) => ObjectRule | undefined;

/** Datatypes with rules of their own. */
const objectRules: Readonly<Record<string, RuleMaker>> = {
  Reference: (_, type) => (run, value, place) => checkReference(run, value, place, type.targets),
  Extension: () => checkExtension,
  CodeableConcept: ruleOfBinding(checkConceptBinding),
  Coding: ruleOfBinding(checkCodingBinding),
  Quantity: ruleOfBinding(checkCodingBinding),
};

function ruleOfBinding(check: typeof checkCodingBinding): RuleMaker {
  return ({ binding }) =>
    binding === undefined ? undefined : (run, value, place) => check(run, value, place, binding);
}
