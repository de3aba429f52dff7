/**
 * FHIR resources from their JSON form to XML: elements in the order of the definitions, values in attributes, decimals
 * digit by digit, the narrative as it stands.
 *
 * https://hl7.org/fhir/R4/xml.html
 */
import { formatDecimal, isRawDecimal, type JsonObject, type JsonValue } from '../json.ts';
import { isObject } from '../validation/scope.ts';
import { escapeAttribute } from './characters.ts';
import { findResourceLayout, getLayout, getPrimitiveLayout, type Layout, type Member } from './layout.ts';
import { fhirNamespace } from './namespaces.ts';

export interface XmlOptions {
  /** Whether each element begins a line, indented by two spaces a level. */
  readonly pretty?: boolean;
}

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

/** Characters after which a part of the text ends: less than a millisecond's work. */
const partLength = 32_768;

/**
 * The XML text of a resource that is valid, or a part of a valid one. Characters that XML does not have become U+FFFD.
 * @throws Error naming the element for what the definitions do not have, so that nothing is lost in silence
 */
export function toXml(resource: JsonObject, options: XmlOptions = {}): string {
  return [...toXmlParts(resource, options)].join('');
}

/** The text of `toXml` in parts of some ten thousand characters; more where one value has more. @throws as `toXml` */
export function* toXmlParts(resource: JsonObject, { pretty = false }: XmlOptions = {}): Generator<string, void> {
  const writer = new XmlWriter();
  writer.beginResource(resource, pretty ? '\n' : '', ` xmlns="${fhirNamespace}"`);
  while (writer.writeNext()) {
    if (writer.length >= partLength) yield writer.take();
  }
  if (pretty) writer.write('\n');
  yield writer.take();
}

/** An element whose start tag is written and whose end is not. */
interface Begun {
  readonly name: string;
  readonly object: JsonObject;
  readonly members: readonly Member[];
  /** What stands before the element: nothing, or a line feed and the indentation. */
  readonly lineStart: string;
  /** What stands before the elements inside. */
  readonly innerStart: string;
  /** The end of the element that has this one alone inside. */
  readonly wrapperEnd: string;
  /** The member that is written next, and which of its values. */
  memberAt: number;
  valueAt: number;
  isEmpty: boolean;
}

/** Writes from a stack instead of by recursion, so that it can stop after any value. */
class XmlWriter {
  readonly #begun: Begun[] = [];
  /** Joined by the thousand: texts that grow piece by piece are held as trees, which are costly to collect. */
  #pieces: string[] = [declaration];
  /** Characters of the pieces that can be long. */
  length = 0;

  /** The text since it was taken the last time. */
  take(): string {
    const text = this.#pieces.join('');
    this.#pieces = [];
    this.length = 0;
    return text;
  }

  write(text: string): void {
    this.#pieces.push(text);
    this.length += text.length;
  }

  /** `lineStart` is what stands before the element. */
  beginResource(resource: JsonValue, lineStart: string, attributes = '', wrapperEnd = ''): void {
    const type = isObject(resource) && typeof resource.resourceType === 'string' ? resource.resourceType : '';
    const layout = findResourceLayout(type);
    if (layout === undefined || !isObject(resource)) throw new Error(`${type} is no resource type of R4`);
    this.#begin(type, attributes, resource, layout, lineStart, wrapperEnd);
  }

  /** Writes the next value or start tag, or ends the innermost element; false when all are ended. */
  writeNext(): boolean {
    const begun = this.#begun.at(-1);
    if (begun === undefined) return false;
    const member = begun.members[begun.memberAt];
    if (member === undefined) this.#end(begun);
    else if (member.kind === 'scalar') this.#writeScalar(begun, member);
    else this.#writeComplex(begun, member);
    return true;
  }

  #begin(
    name: string,
    attributes: string,
    object: JsonObject,
    layout: Layout,
    lineStart: string,
    wrapperEnd = '',
  ): void {
    this.#pieces.push(lineStart, '<', name, attributes);
    this.length += name.length + attributes.length + lineStart.length;
    const members = membersOf(object, layout);
    const innerStart = inside(lineStart);
    const [memberAt, valueAt, isEmpty] = [0, 0, true];
    this.#begun.push({ name, object, members, lineStart, innerStart, wrapperEnd, memberAt, valueAt, isEmpty });
  }

  #end({ name, lineStart, wrapperEnd, isEmpty }: Begun): void {
    if (isEmpty) this.#pieces.push('/>', wrapperEnd);
    else this.#pieces.push(lineStart, '</', name, '>', wrapperEnd);
    this.length += lineStart.length + name.length;
    this.#begun.pop();
  }

  /** Before something is written inside an element. */
  #fill(begun: Begun): void {
    if (begun.isEmpty) this.#pieces.push('>');
    begun.isEmpty = false;
  }

  #writeScalar(begun: Begun, member: Member): void {
    const { object } = begun;
    const value = object[member.name];
    const sibling = object[member.siblingName];
    if (!member.repeats) {
      begun.memberAt += 1;
      return this.#writeValue(begun, value ?? null, sibling ?? null, member);
    }
    const values = Array.isArray(value) ? value : [];
    const siblings = Array.isArray(sibling) ? sibling : [];
    const at = begun.valueAt;
    if (!hasNext(begun, Math.max(values.length, siblings.length))) return;
    this.#writeValue(begun, values[at] ?? null, siblings[at] ?? null, member);
  }

  #writeValue(begun: Begun, value: JsonValue, sibling: JsonValue, { name }: Member): void {
    this.#fill(begun);
    if (sibling === null) {
      const { innerStart } = begun;
      const attribute = value === null ? '' : scalarAttribute(value, name);
      if (value === null) this.#pieces.push(innerStart, '<', name, '/>');
      else this.#pieces.push(innerStart, '<', name, ' value="', attribute, '"/>');
      this.length += innerStart.length + name.length + attribute.length;
      return;
    }
    const attribute = value === null ? '' : ` value="${scalarAttribute(value, name)}"`;
    if (!isObject(sibling)) throw new Error(`_${name} must be an object`);
    const layout = getPrimitiveLayout();
    this.#begin(name, attributesText(sibling, layout) + attribute, sibling, layout, begun.innerStart);
  }

  #writeComplex(begun: Begun, member: Member): void {
    const value = begun.object[member.name];
    if (!member.repeats) {
      begun.memberAt += 1;
      if (value !== undefined) this.#writeElement(begun, value, member);
      return;
    }
    if (!Array.isArray(value)) throw new Error(`${member.name} must be an array`);
    const entry = value[begun.valueAt];
    if (hasNext(begun, value.length) && entry !== undefined) this.#writeElement(begun, entry, member);
  }

  #writeElement(begun: Begun, value: JsonValue, { name, kind, definition }: Member): void {
    const { innerStart } = begun;
    if (kind === 'xhtml' && typeof value === 'string') {
      if (innerStart + value !== '') this.#fill(begun);
      this.write(innerStart);
      this.write(value);
      return;
    }
    if (!isObject(value)) throw new Error(`${name} must be an object`);
    this.#fill(begun);
    if (kind === 'resource') {
      this.write(`${innerStart}<${name}>`);
      return this.beginResource(value, inside(innerStart), '', `${innerStart}</${name}>`);
    }
    if (definition === undefined) throw new Error(`${name} has no definition`);
    const layout = getLayout(definition);
    this.#begin(name, attributesText(value, layout), value, layout, innerStart);
  }
}

/** What stands before the elements inside one that `lineStart` stands before. */
function inside(lineStart: string): string {
  return lineStart === '' ? '' : `${lineStart}  `;
}

/** Whether the member has another value, which is counted; goes on to the next member if not. */
function hasNext(begun: Begun, length: number): boolean {
  if (begun.valueAt < length) {
    begun.valueAt += 1;
    return true;
  }
  begun.memberAt += 1;
  begun.valueAt = 0;
  return false;
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

/** The id of an element and the url of an extension. */
function attributesText(object: JsonObject, layout: Layout): string {
  let text = '';
  if (typeof object.id === 'string') text += ` id="${escapeAttribute(object.id)}"`;
  if (layout.definition.name === 'Extension' && typeof object.url === 'string') {
    text += ` url="${escapeAttribute(object.url)}"`;
  }
  return text;
}

function scalarAttribute(value: JsonValue, name: string): string {
  if (typeof value === 'string') return escapeAttribute(value);
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'number' || isRawDecimal(value)) return formatDecimal(value);
  throw new Error(`${name} must be a primitive value`);
}
