// A view over the generated tables of R4's types, elements and required bindings. A type is parsed on its first use.
// https://hl7.org/fhir/R4/structuredefinition.html
import { typeTexts } from './generated/definitions.js';
import { primitivePatterns } from './generated/primitives.js';
import { valueSetTexts } from './generated/value-sets.js';
import { getOrMake } from './memo.ts';

export const r4Version = '4.0.1';

export type TypeKind = 'resource' | 'complex-type' | 'primitive-type' | 'backbone';

/** One alternative of an element's type. */
export interface ElementType {
  /** 'string', 'Reference', 'BackboneElement', … System types of FHIRPath are given as the FHIR type they stand for. */
  readonly code: string;
  /** Resource types that a Reference or canonical may point to; absent means any. */
  readonly targets?: readonly string[];
}

/** https://hl7.org/fhir/R4/elementdefinition.html */
export interface ElementDefinition {
  /** JSON name without the suffix of a choice: 'birthDate'; 'value' for value[x]. */
  readonly name: string;
  /** 'Patient.birthDate', 'Observation.value[x]', 'Patient.contact.name'; of the type that declares the element. */
  readonly path: string;
  readonly min: number;
  /** Infinity for '*'. */
  readonly max: number;
  readonly types: readonly ElementType[];
  /** Whether the JSON name carries a type: value[x]. */
  readonly choice: boolean;
  /** Canonical URL, without version, of the value set when the binding is *required*. */
  readonly binding?: string;
  readonly summary: boolean;
  readonly modifier: boolean;
  /** Definition of an element with elements of its own. Shared where R4 says "see …", so it may contain itself. */
  readonly children?: TypeDefinition;
}

export interface TypeDefinition {
  /** 'Patient', 'HumanName'; for an element with elements of its own its path: 'Patient.contact'. */
  readonly name: string;
  readonly kind: TypeKind;
  readonly base?: string;
  /** By name, in the order of the definition, inherited elements included. Empty for primitive types. */
  readonly elements: ReadonlyMap<string, ElementDefinition>;
}

/** The 146 concrete resource types of R4, alphabetical. https://hl7.org/fhir/R4/resourcelist.html */
export const resourceTypes: readonly string[] = Object.keys(typeTexts).filter((name) =>
  typeTexts[name]?.startsWith('concrete resource '),
);

/** The 145 resource types that a server offers at an endpoint of their own: all but Parameters, alphabetical. */
export const resourceTypesWithEndpoint: readonly string[] = resourceTypes.filter((name) => name !== 'Parameters');

const valueSetPrefix = 'http://hl7.org/fhir/ValueSet/';
const types = new Map<string, TypeDefinition | undefined>();
const elementTypes = new Map<string, readonly ElementType[]>();
const jsonNames = new WeakMap<TypeDefinition, ReadonlyMap<string, JsonElement>>();

/** An element and the alternative of its type that a JSON name stands for. */
export interface JsonElement {
  readonly jsonName: string;
  readonly element: ElementDefinition;
  readonly type: ElementType;
  /** Of the elements inside; of a primitive type it has none. */
  readonly definition: TypeDefinition;
}

/** The definition of a resource type, datatype or abstract type of R4; undefined for any other name. */
export function findTypeDefinition(name: string): TypeDefinition | undefined {
  if (types.has(name)) return types.get(name);
  const definition = Object.hasOwn(typeTexts, name) ? parseType(name, typeTexts[name] ?? '') : undefined;
  if (definition !== undefined) types.set(name, definition);
  return definition;
}

/**
 * The element of a type that a JSON property name stands for, and as which type: 'valueQuantity' of Observation is
 * value[x] as Quantity. Undefined for other names, also for 'value' and for the '_' siblings of primitive elements.
 * https://hl7.org/fhir/R4/formats.html#choice
 */
export function findElementByJsonName(type: TypeDefinition, jsonName: string): JsonElement | undefined {
  const names = getOrMake(jsonNames, type, () => new Map(listJsonElements(type).map((each) => [each.jsonName, each])));
  return names.get(jsonName);
}

/** What the elements of a type are called in JSON: a choice has a name for each of its types. In the order of the definition. */
export function listJsonElements({ elements }: TypeDefinition): JsonElement[] {
  return [...elements.values()].flatMap((element) =>
    element.types.map((type) => {
      const definition = element.children ?? findTypeDefinition(type.code);
      if (definition === undefined) throw new Error(`${element.path} has the unknown type ${type.code}`);
      return { jsonName: buildJsonName(element, type), element, type, definition };
    }),
  );
}

/** 'valueQuantity' for value[x] as Quantity; the plain name for an element that is no choice. */
export function buildJsonName(element: ElementDefinition, type: ElementType): string {
  return element.choice ? element.name + type.code.charAt(0).toUpperCase() + type.code.slice(1) : element.name;
}

/** Whether a type is another one or specialises it: Age is a Quantity, id is a string, Patient is a Resource. */
export function isSubtypeOf(name: string, ancestor: string): boolean {
  for (let type: string | undefined = name; type !== undefined; type = findTypeDefinition(type)?.base) {
    if (type === ancestor) return true;
  }
  return false;
}

/** Whether the name is that of a primitive type. https://hl7.org/fhir/R4/datatypes.html#primitive */
export function isPrimitiveType(name: string): boolean {
  return findTypeDefinition(name)?.kind === 'primitive-type';
}

/**
 * The regular expression that R4 publishes for the values of a primitive type, not anchored; undefined for xhtml and
 * names of other types. Those of base64Binary and markdown are slow on long values.
 */
export function findPrimitivePattern(name: string): string | undefined {
  return Object.hasOwn(primitivePatterns, name) ? primitivePatterns[name] : undefined;
}

/**
 * The codes of a value set that some element is bound to as *required*, of all its code systems. Undefined for other
 * value sets and for those whose codes cannot be listed (media types, UCUM units).
 */
export function findValueSetCodes(url: string): ReadonlySet<string> | undefined {
  return valueSet(url)?.codes;
}

/** As valueSetCodes, by code system: system → codes. */
export function findValueSetCodings(url: string): ReadonlyMap<string, ReadonlySet<string>> | undefined {
  return valueSet(url)?.codings;
}

interface ValueSetCodes {
  readonly codes: ReadonlySet<string>;
  readonly codings: ReadonlyMap<string, ReadonlySet<string>>;
}

const valueSets = new Map<string, ValueSetCodes>();

function valueSet(url: string): ValueSetCodes | undefined {
  const text = Object.hasOwn(valueSetTexts, url) ? valueSetTexts[url] : undefined;
  return text === undefined ? undefined : getOrMake(valueSets, url, () => parseValueSet(text));
}

function parseValueSet(text: string): ValueSetCodes {
  const lines = text.split('\n').map((line) => line.split(' '));
  return {
    codes: new Set(lines.flatMap(([, ...codes]) => codes)),
    codings: new Map(lines.map(([system = '', ...codes]) => [system, new Set(codes)])),
  };
}

interface ElementBuilder extends ElementDefinition {
  types: readonly ElementType[];
  children?: TypeDefinition;
}

interface TypeBuilder extends TypeDefinition {
  readonly elements: Map<string, ElementDefinition>;
}

// The format is described in tools/generate-fhir/definitions.ts.
function parseType(name: string, text: string): TypeDefinition {
  const [head = '', ...lines] = text.split('\n');
  const [, kind = '', base = '-'] = head.split(' ');
  const root = newType(name, typeKind(kind), base === '-' ? undefined : base);
  if (root.kind === 'primitive-type') return root;
  const open: TypeBuilder[] = [root];
  const byPath = new Map<string, ElementBuilder>();
  const references: (readonly [ElementBuilder, string])[] = [];
  for (const line of lines) {
    const depth = line.search(/[^ ]/);
    const owner = open[depth] ?? root;
    const fields = line.slice(depth).split(' ');
    const element = parseElement(owner.name, fields);
    const [, , typeText = ''] = fields;
    owner.elements.set(element.name, element);
    byPath.set(element.path, element);
    if (typeText.startsWith('#')) references.push([element, typeText.slice(1)]);
    else if (typeText === 'BackboneElement' || typeText === 'Element') {
      const children = newType(element.path, 'backbone', typeText);
      element.children = children;
      open[depth + 1] = children;
    }
  }
  for (const [element, path] of references) {
    const target = byPath.get(path);
    if (target?.children === undefined) throw new Error(`${element.path} refers to the unknown element ${path}`);
    element.types = target.types;
    element.children = target.children;
  }
  return root;
}

function newType(name: string, kind: TypeKind, base: string | undefined): TypeBuilder {
  const inherited = kind === 'primitive-type' || base === undefined ? [] : (findTypeDefinition(base)?.elements ?? []);
  return { name, kind, elements: new Map(inherited), ...(base === undefined ? {} : { base }) };
}

function parseElement(owner: string, fields: readonly string[]): ElementBuilder {
  const [jsonName = '', cardinality = '', typeText = '', flags = '', binding] = fields;
  const [min = '0', max = '1'] = cardinality.split('..');
  const choice = jsonName.endsWith('[x]');
  return {
    name: choice ? jsonName.slice(0, -3) : jsonName,
    path: `${owner}.${jsonName}`,
    min: Number(min),
    max: max === '*' ? Number.POSITIVE_INFINITY : Number(max),
    types: parseElementTypes(typeText),
    choice,
    summary: flags.includes('s'),
    modifier: flags.includes('m'),
    ...(binding === undefined ? {} : { binding: binding.includes('://') ? binding : valueSetPrefix + binding }),
  };
}

// Equal texts share one list: 'Reference(Patient|Group)' stands at dozens of elements.
function parseElementTypes(text: string): readonly ElementType[] {
  if (text.startsWith('#')) return [];
  return getOrMake(elementTypes, text, () =>
    text.split(',').map((part) => {
      const [code = '', targets] = part.replace(')', '').split('(');
      return targets === undefined ? { code } : { code, targets: targets.split('|') };
    }),
  );
}

function typeKind(text: string): TypeKind {
  if (text === 'resource' || text === 'complex-type' || text === 'primitive-type') return text;
  throw new Error(`Unknown kind of type: ${text}`);
}
