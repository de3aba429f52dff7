/**
 * The elements of a resource as a tree that knows their types and paths.
 *
 * https://hl7.org/fhir/R4/json.html
 */
import {
  buildJsonName,
  type ElementDefinition,
  type ElementType,
  findTypeDefinition,
  isSubtypeOf,
  type TypeDefinition,
} from '@praxis/fhir';

/** JSON of a resource in which decimals are plain numbers. */
export type Plain = null | boolean | number | string | readonly Plain[] | PlainObject;
export interface PlainObject {
  readonly [name: string]: Plain | undefined;
}

export interface ElementNode {
  /** Null for a primitive that has extensions only. */
  readonly value: Plain;
  /** Id and extensions of a primitive. */
  readonly sibling: PlainObject | undefined;
  /** 'Quantity', 'string', 'BackboneElement'; for a resource its own type. */
  readonly type: string;
  /** Of the elements inside; for primitives that of the primitive type. */
  readonly definition: TypeDefinition;
  /** The declared element; undefined for a resource that stands alone. */
  readonly element: ElementDefinition | undefined;
  /** FHIRPath from the outermost resource: 'Patient.contact[0].gender'. */
  readonly path: string;
  /** Position among its siblings of the same name. */
  readonly index: number;
  readonly parent: ElementNode | undefined;
  /** The resource it stands in, contained ones included (`%resource`). */
  readonly resource: PlainObject;
  /** As `resource`, but the container of contained ones (`%rootResource`). */
  readonly rootResource: PlainObject;
}

/** The node of a whole resource; undefined when its type is not one of R4. */
export function buildResourceNode(resource: PlainObject): ElementNode | undefined {
  const definition = resourceDefinition(resource);
  if (definition === undefined) return undefined;
  return {
    value: resource,
    sibling: undefined,
    type: definition.name,
    definition,
    element: undefined,
    path: definition.name,
    index: 0,
    parent: undefined,
    resource,
    rootResource: resource,
  };
}

/** All elements inside, in the order of the definition. */
export function listChildNodes(node: ElementNode): ElementNode[] {
  return [...node.definition.elements.values()].flatMap((element) => nodesOf(node, element));
}

/** The elements of a name: 'code', 'value' for value[x] of any type, 'valueQuantity' for value[x] as Quantity. */
export function listNamedNodes(node: ElementNode, name: string): ElementNode[] {
  const element = node.definition.elements.get(name);
  if (element !== undefined) return nodesOf(node, element);
  for (const choice of node.definition.elements.values()) {
    if (!choice.choice || !name.startsWith(choice.name)) continue;
    const type = choice.types.find((each) => buildJsonName(choice, each) === name);
    if (type !== undefined) return nodesOfType(node, choice, type);
  }
  return [];
}

export function isPlainObject(value: unknown): value is PlainObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; none of what is no list. */
export function listPlainObjects(value: Plain | undefined): readonly PlainObject[] {
  return Array.isArray(value) ? value.filter(isPlainObject) : [];
}

/** The texts of a list; none of what is no list. */
export function listPlainTexts(value: Plain | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function nodesOf(node: ElementNode, element: ElementDefinition): ElementNode[] {
  return element.types.flatMap((type) => nodesOfType(node, element, type));
}

function nodesOfType(node: ElementNode, element: ElementDefinition, type: ElementType): ElementNode[] {
  if (!isPlainObject(node.value)) return [];
  const name = buildJsonName(element, type);
  const value = node.value[name];
  const sibling = node.value[`_${name}`];
  if (value === undefined && sibling === undefined) return [];
  if (element.max <= 1) {
    const only = childNode(node, element, type, value ?? null, sibling, 0, `${node.path}.${element.name}`);
    return only === undefined ? [] : [only];
  }
  const values = Array.isArray(value) ? value : [];
  const siblings = Array.isArray(sibling) ? sibling : [];
  return Array.from({ length: Math.max(values.length, siblings.length) }, (_, index) => {
    const path = `${node.path}.${element.name}[${index}]`;
    return childNode(node, element, type, values[index] ?? null, siblings[index], index, path);
  }).filter((child) => child !== undefined);
}

/** Undefined for what has no place in the definition: the structure check reports it. */
function childNode(
  parent: ElementNode,
  element: ElementDefinition,
  type: ElementType,
  value: Plain,
  sibling: Plain | undefined,
  index: number,
  path: string,
): ElementNode | undefined {
  const ofResource = isSubtypeOf(type.code, 'Resource');
  const definition = ofResource ? resourceDefinition(value) : (element.children ?? findTypeDefinition(type.code));
  if (definition === undefined) return undefined;
  const isObject = isPlainObject(value);
  if (definition.kind === 'primitive-type' ? isObject || Array.isArray(value) : !isObject) return undefined;
  const resource = ofResource && isObject ? value : parent.resource;
  return {
    value,
    sibling: isPlainObject(sibling) ? sibling : undefined,
    type: ofResource ? definition.name : type.code,
    definition,
    element,
    path,
    index,
    parent,
    resource,
    rootResource: ofResource && element.name !== 'contained' ? resource : parent.rootResource,
  };
}

function resourceDefinition(value: Plain): TypeDefinition | undefined {
  if (!isPlainObject(value) || typeof value.resourceType !== 'string') return undefined;
  const definition = findTypeDefinition(value.resourceType);
  return definition?.kind === 'resource' ? definition : undefined;
}
