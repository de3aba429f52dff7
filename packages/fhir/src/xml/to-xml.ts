/**
 * FHIR resources from their JSON form to XML: elements in the order of the definitions, values in attributes, decimals
 * digit by digit, the narrative as it stands.
 *
 * https://hl7.org/fhir/R4/xml.html
 */
import { decimalText, isRawDecimal, type JsonObject, type JsonValue } from '../json.ts';
import { isObject } from '../validation/scope.ts';
import { attributeText } from './characters.ts';
import { type Layout, layoutOf, type Member, primitiveLayout, resourceLayout } from './layout.ts';
import { fhirNamespace } from './namespaces.ts';

export interface XmlOptions {
  /** Whether each element begins a line, indented by two spaces a level. */
  readonly pretty?: boolean;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

/**
 * The XML text of a resource that is valid, or a part of a valid one. Characters that XML does not have become U+FFFD.
 * @throws Error naming the element for what the definitions do not have, so that nothing is lost in silence
 */
export function toXml(resource: JsonObject, options: XmlOptions = {}): string {
  const lineStart = options.pretty === true ? '\n' : '';
  const text = resourceText(resource, lineStart, ` xmlns="${fhirNamespace}"`);
  return lineStart === '' ? declaration + text : `${declaration}${text}\n`;
}

/** `lineStart` is what stands before the element: nothing, or a line feed and the indentation. */
function resourceText(resource: JsonValue, lineStart: string, attributes: string): string {
  const type = isObject(resource) && typeof resource.resourceType === 'string' ? resource.resourceType : '';
  const layout = resourceLayout(type);
  if (layout === undefined || !isObject(resource)) throw new Error(`${type} is no resource type of R4`);
  return elementText(type, attributes, resource, layout, lineStart);
}

function elementText(name: string, attributes: string, object: JsonObject, layout: Layout, lineStart: string): string {
  const content = childrenText(object, layout, lineStart === '' ? '' : `${lineStart}  `);
  if (content === '') return `${lineStart}<${name}${attributes}/>`;
  return `${lineStart}<${name}${attributes}>${content}${lineStart}</${name}>`;
}

/** The elements of an object in the order of its type. */
function childrenText(object: JsonObject, layout: Layout, lineStart: string): string {
  const members = membersOf(object, layout);
  let text = '';
  for (const member of members) text += memberText(object, member, lineStart);
  return text;
}

/** The members that an object has beside its attributes, in order. */
function membersOf(object: JsonObject, layout: Layout): readonly Member[] {
  const members: Member[] = [];
  let order = -1;
  let ordered = true;
  for (const key of Object.keys(object)) {
    const member = memberOf(object, key, layout);
    if (member === undefined) continue;
    ordered &&= member.order >= order;
    order = member.order;
    members.push(member);
  }
  return ordered ? members : members.sort((one, other) => one.order - other.order);
}

/** The member that a key stands for; undefined when it is written elsewhere. */
function memberOf(object: JsonObject, key: string, layout: Layout): Member | undefined {
  const member = layout.members.get(key);
  if (member !== undefined) return member.kind === 'attribute' ? undefined : member;
  if (key === 'resourceType' && layout.isResource) return undefined;
  const base = key.startsWith('_') ? layout.members.get(key.slice(1)) : undefined;
  if (base?.kind === 'scalar') return object[base.name] === undefined ? base : undefined;
  throw new Error(`${layout.definition.name} has no element ${key}`);
}

function memberText(object: JsonObject, member: Member, lineStart: string): string {
  const value = object[member.name];
  if (member.kind === 'scalar') return scalarsText(value, object[member.siblingName], member, lineStart);
  if (!member.repeats) return value === undefined ? '' : complexText(value, member, lineStart);
  if (!Array.isArray(value)) throw new Error(`${member.name} must be an array`);
  let text = '';
  for (const entry of value) text += complexText(entry, member, lineStart);
  return text;
}

function complexText(value: JsonValue, member: Member, lineStart: string): string {
  const { name, kind, definition } = member;
  if (kind === 'xhtml' && typeof value === 'string') return lineStart + value;
  if (!isObject(value)) throw new Error(`${name} must be an object`);
  if (kind === 'resource') {
    const inner = resourceText(value, lineStart === '' ? '' : `${lineStart}  `, '');
    return `${lineStart}<${name}>${inner}${lineStart}</${name}>`;
  }
  if (definition === undefined) throw new Error(`${name} has no definition`);
  const layout = layoutOf(definition);
  return elementText(name, attributesText(value, layout), value, layout, lineStart);
}

/** The id of an element and the url of an extension. */
function attributesText(object: JsonObject, layout: Layout): string {
  let text = '';
  if (typeof object.id === 'string') text += ` id="${attributeText(object.id)}"`;
  if (layout.definition.name === 'Extension' && typeof object.url === 'string') {
    text += ` url="${attributeText(object.url)}"`;
  }
  return text;
}

function scalarsText(
  value: JsonValue | undefined,
  sibling: JsonValue | undefined,
  member: Member,
  lineStart: string,
): string {
  if (!member.repeats) return scalarText(value ?? null, sibling ?? null, member, lineStart);
  const values = Array.isArray(value) ? value : [];
  const siblings = Array.isArray(sibling) ? sibling : [];
  const length = Math.max(values.length, siblings.length);
  let text = '';
  for (let index = 0; index < length; index++) {
    text += scalarText(values[index] ?? null, siblings[index] ?? null, member, lineStart);
  }
  return text;
}

function scalarText(value: JsonValue, sibling: JsonValue, { name }: Member, lineStart: string): string {
  const attribute = value === null ? '' : ` value="${scalarAttribute(value, name)}"`;
  if (sibling === null) return `${lineStart}<${name}${attribute}/>`;
  if (!isObject(sibling)) throw new Error(`_${name} must be an object`);
  const layout = primitiveLayout();
  return elementText(name, attributesText(sibling, layout) + attribute, sibling, layout, lineStart);
}

function scalarAttribute(value: JsonValue, name: string): string {
  if (typeof value === 'string') return attributeText(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || isRawDecimal(value)) return decimalText(value);
  throw new Error(`${name} must be a primitive value`);
}
