/**
 * Values as invariants see them: each knows its type, and finds the elements inside by their definitions.
 *
 * http://hl7.org/fhirpath/N1/#object-model · https://hl7.org/fhir/R4/json.html
 */
import { findTypeDefinition, type JsonElement, listJsonElements, type TypeDefinition } from '../definitions.ts';
import { isJsonObject, isRawDecimal, type JsonObject, type JsonValue } from '../json.ts';

/** A value of a collection. */
export interface Item {
  /** Null for a primitive that has extensions only. */
  readonly value: JsonValue;
  /** Id and extensions of a primitive. */
  readonly sibling: JsonObject | undefined;
  /** 'Quantity', 'code', 'BackboneElement'; of a resource its own type; of a computed value 'System.Integer', …. */
  readonly type: string;
  /** Of the elements inside; undefined for a computed value. */
  readonly definition: TypeDefinition | undefined;
}

export type Items = readonly Item[];

export const nothing: Items = [];

/** A computed value. http://hl7.org/fhirpath/N1/#literals */
export function makeComputedItem(value: string | number | boolean): Item {
  return { value, sibling: undefined, type: systemTypes[typeof value] ?? 'System.Any', definition: undefined };
}

const systemTypes: Readonly<Record<string, string>> = {
  string: 'System.String',
  number: 'System.Integer',
  boolean: 'System.Boolean',
};

/** The item of a resource; undefined when it has no type of R4. */
export function makeResourceItem(value: JsonValue): Item | undefined {
  if (!isJsonObject(value) || typeof value['resourceType'] !== 'string') return undefined;
  const definition = findTypeDefinition(value['resourceType']);
  return definition?.kind === 'resource' ? { value, sibling: undefined, type: definition.name, definition } : undefined;
}

/** What stands under one JSON name. */
interface Child {
  /** Of the element: 'value' for valueQuantity. */
  readonly name: string;
  readonly jsonName: string;
  /** `_name`; undefined for what is no primitive. */
  readonly siblingName: string | undefined;
  readonly type: string;
  /** Undefined for resources, which name their own type. */
  readonly definition: TypeDefinition | undefined;
}

interface ChildTable {
  /** Element name → its JSON names: one, or those of all types of a choice. */
  readonly byName: ReadonlyMap<string, readonly Child[]>;
  readonly byJsonName: ReadonlyMap<string, Child>;
}

const tables = new WeakMap<TypeDefinition, ChildTable>();

/** The elements of a name in an item, in their order. What does not fit the definition is not there. */
export function listChildrenNamed(item: Item, name: string): Items {
  const { value, definition } = item;
  if (definition === undefined) return nothing;
  if (definition.kind === 'primitive-type') return name === 'extension' ? extensionsOf(item.sibling) : nothing;
  if (!isJsonObject(value)) return nothing;
  const children = tableOf(definition).byName.get(name);
  if (children === undefined) return nothing;
  let found: Item[] | undefined;
  for (const child of children) {
    const inner = value[child.jsonName];
    const sibling = child.siblingName === undefined ? undefined : value[child.siblingName];
    if (inner === undefined && sibling === undefined) continue;
    found ??= [];
    addItems(found, child, inner, sibling);
  }
  return found ?? nothing;
}

/** All elements inside an item. http://hl7.org/fhirpath/N1/#children-collection */
export function listChildren({ value, sibling, definition }: Item): Items {
  if (definition === undefined) return nothing;
  if (definition.kind === 'primitive-type') return extensionsOf(sibling);
  if (!isJsonObject(value)) return nothing;
  const { byJsonName } = tableOf(definition);
  const found: Item[] = [];
  for (const key of Object.keys(value)) {
    const ofSibling = key.startsWith('_');
    if (ofSibling && value[key.slice(1)] !== undefined) continue; // it comes with its value
    const child = byJsonName.get(ofSibling ? key.slice(1) : key);
    if (child === undefined) continue;
    const besides = child.siblingName === undefined ? undefined : value[child.siblingName];
    addItems(found, child, value[child.jsonName], besides);
  }
  return found;
}

function extensionsOf(sibling: JsonObject | undefined): Items {
  const extensions = sibling?.['extension'];
  const definition = findTypeDefinition('Extension');
  if (!Array.isArray(extensions)) return nothing;
  return extensions
    .filter(isJsonObject)
    .map((value): Item => ({ value, sibling: undefined, type: 'Extension', definition }));
}

function addItems(found: Item[], child: Child, value: JsonValue | undefined, sibling: JsonValue | undefined): void {
  if (!Array.isArray(value) && !Array.isArray(sibling)) {
    addItem(found, child, value ?? null, sibling);
    return;
  }
  const values = Array.isArray(value) ? value : [];
  const siblings = Array.isArray(sibling) ? sibling : [];
  const length = Math.max(values.length, siblings.length);
  for (let index = 0; index < length; index += 1) addItem(found, child, values[index] ?? null, siblings[index]);
}

function addItem(found: Item[], child: Child, value: JsonValue, sibling: JsonValue | undefined): void {
  const { type, definition, siblingName } = child;
  if (siblingName !== undefined) {
    const besides = isJsonObject(sibling) ? sibling : undefined;
    const fits = (typeof value !== 'object' && value !== undefined) || isRawDecimal(value);
    if (fits || (value === null && besides !== undefined)) found.push({ value, sibling: besides, type, definition });
  } else if (definition === undefined) {
    const resource = makeResourceItem(value);
    if (resource !== undefined) found.push(resource);
  } else if (isJsonObject(value)) found.push({ value, sibling: undefined, type, definition });
}

function tableOf(definition: TypeDefinition): ChildTable {
  let table = tables.get(definition);
  if (table === undefined) {
    const children = listJsonElements(definition).map(childOf);
    const byJsonName = new Map(children.map((child) => [child.jsonName, child]));
    table = { byName: Map.groupBy(children, ({ name }) => name), byJsonName };
    tables.set(definition, table);
  }
  return table;
}

function childOf({ jsonName, element, type, definition }: JsonElement): Child {
  return {
    name: element.name,
    jsonName,
    siblingName: definition.kind === 'primitive-type' ? `_${jsonName}` : undefined,
    type: type.code,
    definition: definition.kind === 'resource' ? undefined : definition,
  };
}
