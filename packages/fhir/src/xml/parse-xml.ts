/**
 * FHIR resources from XML to the JSON form that everything else works with. Strict: well-formed, in the namespaces of
 * FHIR and xhtml, elements in the order of the definitions, values in attributes; no DTD, so no entities that expand or
 * fetch. Comments, processing instructions and white space between elements are not part of a resource and are dropped.
 *
 * https://hl7.org/fhir/R4/xml.html
 */
import { type JsonLimits, type JsonObject, type JsonValue, jsonLimitsDefault } from '../json.ts';
import { formatPathStep } from '../json-error.ts';
import { shortenName } from '../text-error.ts';
import { type Place, stepInto } from '../validation/issue.ts';
import { findResourceLayout, getLayout, getPrimitiveLayout, type Layout, type Member } from './layout.ts';
import {
  collectNamespaces,
  listOwnAttributes,
  type Namespaces,
  outermost,
  parseLocalName,
  requireFhirName,
} from './namespaces.ts';
import { readDiv } from './narrative-div.ts';
import { openScanner, requireEnd } from './prolog.ts';
import { parseScalar } from './scalars.ts';
import {
  type Attribute,
  fail,
  readEndTag,
  readStartTag,
  requireReferences,
  type Scanner,
  type StartTag,
  skipMiscellany,
} from './scanner.ts';

/**
 * The resource of an XML text. Values have the JSON types of their definitions; decimals keep their digits.
 *
 * What is not XML, or not the way FHIR writes resources, throws XmlError with rule, path, line and column. Elements that
 * the definitions do not have are kept, as `true` under their name, so that validateResource reports each by its path;
 * so are values that break the format of their type. The result must be validated before it is used.
 *
 * Limits: elements inside each other, repetitions of one element, characters of one attribute or narrative. The size of
 * the whole text is for the caller to bound.
 */
export function parseXml(text: string, limits: JsonLimits = jsonLimitsDefault): JsonObject {
  const scanner = openScanner(text, limits);
  const reader: Reader = { scanner, depth: 0 };
  const resource = readResource(reader, readStartTag(scanner), outermost, undefined);
  scanner.place = undefined;
  requireEnd(scanner);
  return resource;
}

/** Characters of a part, at least: about a millisecond's work. */
const partLength = 16_384;

/**
 * Returns what `parseXml` does, in parts: one ends between two elements of the resource. @throws XmlError, as `parseXml`
 */
export function* parseXmlInParts(text: string, limits: JsonLimits = jsonLimitsDefault): Generator<void, JsonObject> {
  const scanner = openScanner(text, limits);
  const reader: Reader = { scanner, depth: 0 };
  const { resource, content } = openResource(reader, readStartTag(scanner), outermost, undefined);
  if (content !== undefined) {
    const { element, layout } = content;
    readAttributes(scanner, element, layout, resource);
    if (!element.tag.empty) yield* readChildrenInParts(reader, element, layout, resource);
  }
  scanner.place = undefined;
  requireEnd(scanner);
  return resource;
}

function* readChildrenInParts(
  reader: Reader,
  parent: Element,
  layout: Layout,
  object: JsonObject,
): Generator<void, void> {
  const { scanner } = reader;
  const children = beginChildren(reader, parent, layout, object);
  let partEnd = scanner.at + partLength;
  while (nextIsTag(scanner, parent.tag)) {
    readChild(reader, children);
    if (scanner.at < partEnd) continue;
    partEnd = scanner.at + partLength;
    yield;
  }
  endChildren(reader, children);
}

interface Reader {
  readonly scanner: Scanner;
  /** Elements that are open around the current one. */
  depth: number;
}

/** An element whose start tag was read. */
interface Element {
  readonly tag: StartTag;
  readonly namespaces: Namespaces;
  readonly place: Place;
}

/** Reads a resource: at `place`, or the one that the text is. */
function readResource(reader: Reader, tag: StartTag, around: Namespaces, place: Place | undefined): JsonObject {
  const { resource, content } = openResource(reader, tag, around, place);
  if (content !== undefined) readContent(reader, content.element, content.layout, resource);
  return resource;
}

/** What is left to be read of a resource. */
interface ResourceContent {
  readonly element: Element;
  readonly layout: Layout;
}

/** The resource, of which only the type was read; no content: its type is none, and all of it was skipped. */
function openResource(
  reader: Reader,
  tag: StartTag,
  around: Namespaces,
  place: Place | undefined,
): { readonly resource: JsonObject; readonly content: ResourceContent | undefined } {
  const { scanner } = reader;
  const namespaces = collectNamespaces(scanner, tag, around);
  const type = requireFhirName(scanner, tag, namespaces);
  scanner.place = place ?? { parent: undefined, name: formatPathStep(type), index: -1 };
  const resource: JsonObject = { resourceType: type };
  const layout = findResourceLayout(type);
  if (layout !== undefined)
    return { resource, content: { element: { tag, namespaces, place: scanner.place }, layout } };
  skipContent(reader, tag); // the validator says what is wrong with the type
  return { resource, content: undefined };
}

/** Reads the attributes of an element, the elements inside and its end into an object. */
function readContent(reader: Reader, element: Element, layout: Layout, object: JsonObject): void {
  readAttributes(reader.scanner, element, layout, object);
  readChildren(reader, element, layout, object);
}

function readChildren(reader: Reader, parent: Element, layout: Layout, object: JsonObject): void {
  if (parent.tag.empty) return;
  const children = beginChildren(reader, parent, layout, object);
  while (nextIsTag(reader.scanner, parent.tag)) readChild(reader, children);
  endChildren(reader, children);
}

/** What is being read into an object. */
interface Children {
  readonly parent: Element;
  readonly layout: Layout;
  readonly object: JsonObject;
  previous: Member | undefined;
  /** Members whose values and siblings differ in number. */
  uneven: Set<Member> | undefined;
}

function beginChildren(reader: Reader, parent: Element, layout: Layout, object: JsonObject): Children {
  requireDepth(reader.scanner, ++reader.depth, parent.tag);
  return { parent, layout, object, previous: undefined, uneven: undefined };
}

function readChild(reader: Reader, children: Children): void {
  const { scanner } = reader;
  const { parent, layout, object } = children;
  const tag = readStartTag(scanner);
  const namespaces = collectNamespaces(scanner, tag, parent.namespaces);
  const member = layout.members.get(parseLocalName(tag.name));
  if (member?.kind !== 'xhtml') requireFhirName(scanner, tag, namespaces);
  if (member === undefined || member.kind === 'attribute') {
    readUnknown(reader, tag, object, parent, member);
  } else {
    const place = placeOf(scanner, object, member, parent.place, children.previous, tag);
    children.previous = member;
    scanner.place = place;
    if (readMember(reader, { tag, namespaces, place }, member, object))
      children.uneven = (children.uneven ?? new Set()).add(member);
  }
  scanner.place = parent.place;
}

function endChildren(reader: Reader, { parent, object, uneven }: Children): void {
  readEndTag(reader.scanner, parent.tag.name);
  reader.depth--;
  for (const member of uneven ?? []) alignSiblings(object, member);
}

function requireDepth(scanner: Scanner, depth: number, tag: StartTag): void {
  const { depthMax } = scanner.limits;
  if (depth > depthMax) fail(scanner, 'too-deep', tag.start, `elements may be nested ${depthMax} deep at most`);
}

/** Moves to the next tag inside an element: true at a start tag, false at an end tag. */
function nextIsTag(scanner: Scanner, parent: StartTag): boolean {
  const next = skipMiscellany(scanner);
  if (next === 'start-tag') return true;
  if (next === 'end-tag') return false;
  const { text, at } = scanner;
  if (next === 'end')
    fail(scanner, 'syntax', at, `<${shortenName(parent.name)}> is not closed: found the end of the text`);
  const end = text.indexOf('<', at);
  requireReferences(scanner, text.slice(at, end < 0 ? text.length : end), at);
  return fail(scanner, 'structure', at, 'text is not allowed here: a value stands in the attribute "value"');
}

/** The place of a member that is about to be read; checks order and repetition. */
function placeOf(
  scanner: Scanner,
  object: JsonObject,
  member: Member,
  parent: Place,
  previous: Member | undefined,
  tag: StartTag,
): Place {
  const { name, siblingName, pathName } = member;
  scanner.place = stepInto(parent, pathName);
  if (previous !== undefined && member.order < previous.order) {
    const problem = `must stand before ${previous.name}: elements have the order of the definition`;
    fail(scanner, 'structure', tag.start, problem);
  }
  if (!member.repeats) {
    if (object[name] === undefined && object[siblingName] === undefined) return scanner.place;
    return fail(scanner, 'structure', tag.start, `${name} stands twice: it has one value at most`);
  }
  const values = object[name];
  const index = Array.isArray(values) ? values.length : 0;
  const { arrayLengthMax } = scanner.limits;
  if (index >= arrayLengthMax)
    fail(scanner, 'too-long', tag.start, `an element may repeat ${arrayLengthMax} times at most`);
  return stepInto(parent, pathName, index);
}

/** Reads one member into an object. Returns whether it is one of several scalars that has an id or extensions. */
function readMember(reader: Reader, element: Element, member: Member, object: JsonObject): boolean {
  const { scanner } = reader;
  if (member.kind === 'scalar') return readScalar(reader, element, member, object);
  if (member.kind === 'xhtml') put(object, member, readDiv(scanner, element.tag, element.namespaces));
  else if (member.kind === 'resource') put(object, member, readWrapper(reader, element));
  else {
    const value: JsonObject = {};
    if (member.definition === undefined) throw new Error(`${member.name} has no definition`);
    readContent(reader, element, getLayout(member.definition), value);
    put(object, member, value);
  }
  return false;
}

function put(object: JsonObject, member: Member, value: JsonValue): void {
  const { name } = member;
  if (!member.repeats) {
    object[name] = value;
    return;
  }
  const values = object[name];
  if (Array.isArray(values)) values.push(value);
  else object[name] = [value];
}

/** Reads the id of an element and the url of an extension. */
function readAttributes(scanner: Scanner, { tag, namespaces }: Element, layout: Layout, object: JsonObject): void {
  if (tag.attributes.length === 0) return;
  for (const attribute of listOwnAttributes(scanner, tag, namespaces)) {
    const { name, value, start } = attribute;
    const member = layout.members.get(name);
    if (member?.kind !== 'attribute') refuseAttribute(scanner, attribute, layout.definition.name);
    object[name] = parseScalar(scanner, value, member.scalar, member.typeName, start);
  }
}

function refuseAttribute(scanner: Scanner, { name, start }: Attribute, type: string): never {
  return fail(scanner, 'structure', start, `the attribute ${shortenName(name)} is not one of ${type}`);
}

/** Reads a primitive element: its value into the object, its id and extensions into the sibling. */
function readScalar(reader: Reader, element: Element, member: Member, object: JsonObject): boolean {
  const { scanner } = reader;
  const { tag, namespaces } = element;
  let value: JsonValue | undefined;
  let sibling: JsonObject | undefined;
  for (const attribute of listOwnAttributes(scanner, tag, namespaces)) {
    if (attribute.name === 'value') {
      value = parseScalar(scanner, attribute.value, member.scalar, member.typeName, attribute.start);
    } else if (attribute.name === 'id') {
      sibling = { id: parseScalar(scanner, attribute.value, 'token', 'string', attribute.start) };
    } else refuseAttribute(scanner, attribute, member.typeName);
  }
  if (!tag.empty) {
    const inside: JsonObject = sibling ?? {};
    readChildren(reader, element, getPrimitiveLayout(), inside);
    if (Object.keys(inside).length > 0) sibling = inside;
  }
  if (value === undefined && sibling === undefined) {
    scanner.place = element.place;
    fail(scanner, 'structure', tag.start, 'is empty: an element has a value, an extension, or is left out');
  }
  if (member.repeats) put(object, member, value ?? null);
  else if (value !== undefined) object[member.name] = value;
  if (sibling === undefined) return false;
  putSibling(object, member, sibling);
  return member.repeats;
}

function putSibling(object: JsonObject, member: Member, sibling: JsonObject): void {
  const { name, siblingName } = member;
  if (!member.repeats) {
    object[siblingName] = sibling;
    return;
  }
  const values = object[name];
  const siblings = object[siblingName];
  const index = Array.isArray(values) ? values.length - 1 : 0;
  const aligned: JsonValue[] = Array.isArray(siblings) ? siblings : [];
  while (aligned.length < index) aligned.push(null);
  aligned.push(sibling);
  object[siblingName] = aligned;
}

/** Makes siblings as many as values, and leaves values out where none has any. https://hl7.org/fhir/R4/json.html#primitive */
function alignSiblings(object: JsonObject, { name, siblingName }: Member): void {
  const values = object[name];
  const siblings = object[siblingName];
  if (!Array.isArray(values) || !Array.isArray(siblings)) return;
  while (siblings.length < values.length) siblings.push(null);
  if (values.every((value) => value === null)) delete object[name];
}

/** Reads the one resource inside of contained, entry.resource, … */
function readWrapper(reader: Reader, { tag, namespaces, place }: Element): JsonObject {
  const { scanner } = reader;
  const [attribute] = listOwnAttributes(scanner, tag, namespaces);
  if (attribute !== undefined) refuseAttribute(scanner, attribute, 'an element that holds a resource');
  if (tag.empty) fail(scanner, 'structure', tag.start, 'must hold a resource');
  requireDepth(scanner, ++reader.depth, tag);
  if (!nextIsTag(scanner, tag)) fail(scanner, 'structure', scanner.at, 'must hold a resource');
  const resource = readResource(reader, readStartTag(scanner), namespaces, place);
  scanner.place = place;
  if (nextIsTag(scanner, tag)) fail(scanner, 'structure', scanner.at, 'may hold one resource only');
  readEndTag(scanner, tag.name);
  reader.depth--;
  return resource;
}

/** Notes an element that the type does not have, for the validator to report. */
function readUnknown(reader: Reader, tag: StartTag, object: JsonObject, parent: Element, member?: Member): void {
  const { scanner } = reader;
  const name = parseLocalName(tag.name);
  scanner.place = stepInto(parent.place, formatPathStep(name));
  if (member !== undefined) fail(scanner, 'structure', tag.start, `${name} is an attribute of <${parent.tag.name}>`);
  // Names with a meaning of their own in JSON.
  if (name.startsWith('_') || name === 'resourceType') fail(scanner, 'structure', tag.start, 'unknown element');
  skipContent(reader, tag);
  object[name] = true;
}

/** Reads what is inside an element, and its end, for well-formedness alone. */
function skipContent(reader: Reader, outer: StartTag): void {
  const { scanner } = reader;
  const open = outer.empty ? [] : [outer];
  for (let tag = open.at(-1); tag !== undefined; tag = open.at(-1)) {
    requireDepth(scanner, reader.depth + open.length, tag);
    if (nextIsTag(scanner, tag)) {
      const inner = readStartTag(scanner);
      if (!inner.empty) open.push(inner);
    } else {
      readEndTag(scanner, tag.name);
      open.pop();
    }
  }
}
