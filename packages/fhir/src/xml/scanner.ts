/**
 * The markup of XML 1.0 with namespaces, without DTDs: start tags, end tags, comments and processing instructions. The
 * text is walked once, in time linear to its length; what is not well-formed ends in an XmlError.
 *
 * https://www.w3.org/TR/xml/ · https://www.w3.org/TR/xml-names/
 */
import type { JsonLimits } from '../json.ts';
import { shortenName } from '../text-error.ts';
import { buildElementPath, type Place } from '../validation/issue.ts';
import { findReferenceProblem, withoutReferences } from './characters.ts';
import { measureName } from './names.ts';
import { XmlError, type XmlRule } from './xml-error.ts';

/** Attributes and namespace declarations of one element, at most. FHIR has three attributes. */
export const attributesMax = 64;

export interface Scanner {
  readonly text: string;
  readonly limits: JsonLimits;
  /** Offset of the next character to read. */
  at: number;
  /** The element that is being read, for errors. */
  place: Place | undefined;
}

export interface Attribute {
  /** With its prefix. */
  readonly name: string;
  /** With references resolved and white space normalised. */
  readonly value: string;
  /** Offset of the name. */
  readonly start: number;
}

export interface StartTag {
  /** Offset of "<". */
  readonly start: number;
  /** With its prefix. */
  readonly name: string;
  readonly attributes: readonly Attribute[];
  /** Whether it is `<name/>`. */
  readonly empty: boolean;
}

/** Throws the error for a fault at an offset; the path is that of the element which is being read. */
export function fail(scanner: Scanner, rule: XmlRule, offset: number, problem: string): never {
  const path = scanner.place === undefined ? '' : buildElementPath(scanner.place);
  throw new XmlError(rule, path, scanner.text.slice(0, offset), problem);
}

const lessThan = 0x3c;
const greaterThan = 0x3e;
const slash = 0x2f;
const equals = 0x3d;
const doubleQuote = 0x22;
const singleQuote = 0x27;
const noAttributes: readonly Attribute[] = [];

/** Moves behind white space. Returns whether there was any. */
export function skipSpace(scanner: Scanner): boolean {
  const { text } = scanner;
  const start = scanner.at;
  let at = start;
  for (; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code > 0x20 || (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09)) break;
  }
  scanner.at = at;
  return at > start;
}

/** Reads the start tag at a "<". */
export function readStartTag(scanner: Scanner): StartTag {
  const { text } = scanner;
  const start = scanner.at;
  scanner.at++;
  const name = readName(scanner, 'an element name');
  let attributes = noAttributes;
  for (;;) {
    const spaced = skipSpace(scanner);
    const code = text.charCodeAt(scanner.at);
    if (code === greaterThan) {
      scanner.at++;
      return { start, name, attributes, empty: false };
    }
    if (code === slash && text.charCodeAt(scanner.at + 1) === greaterThan) {
      scanner.at += 2;
      return { start, name, attributes, empty: true };
    }
    if (!spaced) fail(scanner, 'syntax', scanner.at, `">" or white space is expected in <${shortenName(name)}>`);
    attributes = withAttribute(scanner, attributes, name);
  }
}

function withAttribute(scanner: Scanner, attributes: readonly Attribute[], element: string): readonly Attribute[] {
  const attribute = readAttribute(scanner);
  if (attributes === noAttributes) return [attribute];
  if (attributes.some(({ name }) => name === attribute.name)) {
    const problem = `<${shortenName(element)}> has the attribute ${shortenName(attribute.name)} twice`;
    fail(scanner, 'syntax', attribute.start, problem);
  }
  if (attributes.length === attributesMax) {
    fail(scanner, 'too-long', attribute.start, `an element may have ${attributesMax} attributes at most`);
  }
  return [...attributes, attribute];
}

function readAttribute(scanner: Scanner): Attribute {
  const { text } = scanner;
  const start = scanner.at;
  const name = readName(scanner, 'an attribute name, ">" or "/>"');
  skipSpace(scanner);
  if (text.charCodeAt(scanner.at) !== equals)
    fail(scanner, 'syntax', scanner.at, `"=" is expected after ${shortenName(name)}`);
  scanner.at++;
  skipSpace(scanner);
  const quote = text.charCodeAt(scanner.at);
  if (quote !== doubleQuote && quote !== singleQuote) {
    fail(scanner, 'syntax', scanner.at, `the value of ${shortenName(name)} must stand in quotes`);
  }
  return { name, value: readAttributeValue(scanner, quote), start };
}

/** Reads from the opening quote to behind the closing one. */
function readAttributeValue(scanner: Scanner, quote: number): string {
  const { text, limits } = scanner;
  const start = scanner.at + 1;
  const end = text.indexOf(quote === doubleQuote ? '"' : "'", start);
  if (end < 0) fail(scanner, 'syntax', text.length, 'an attribute value is not closed: found the end of the text');
  if (end - start > limits.stringLengthMax) {
    fail(scanner, 'too-long', start, `an attribute may have ${limits.stringLengthMax} characters at most`);
  }
  scanner.at = end + 1;
  const raw = text.slice(start, end);
  if (!/[<&\t\n\r]/.test(raw)) return raw;
  const tag = raw.indexOf('<');
  if (tag >= 0) fail(scanner, 'syntax', start + tag, '"<" must be written "&lt;" in an attribute');
  requireReferences(scanner, raw, start);
  return withoutReferences(raw.replace(/\r\n|[\t\n\r]/g, ' '));
}

/** Checks the references of a part of the text that begins at an offset. */
export function requireReferences(scanner: Scanner, part: string, start: number): void {
  const problem = findReferenceProblem(part);
  if (problem === undefined) return;
  const named = /^&[A-Za-z_][\w.-]*;/.exec(part.slice(problem.offset))?.[0];
  if (named === undefined) fail(scanner, 'syntax', start + problem.offset, problem.text);
  fail(scanner, 'entity', start + problem.offset, `the entity ${shortenName(named)} is not accepted: ${problem.text}`);
}

/** Reads the end tag at "</", which must be that of `name`. */
export function readEndTag(scanner: Scanner, name: string): void {
  const start = scanner.at;
  scanner.at += 2;
  const found = readName(scanner, 'an element name');
  if (found !== name) fail(scanner, 'syntax', start, `</${shortenName(found)}> does not close <${shortenName(name)}>`);
  skipSpace(scanner);
  if (scanner.text.charCodeAt(scanner.at) !== greaterThan) fail(scanner, 'syntax', scanner.at, '">" is expected');
  scanner.at++;
}

/** Reads a name with at most one prefix. */
function readName(scanner: Scanner, expected: string): string {
  const { text, at } = scanner;
  const length = measureName(text, at);
  const name = text.slice(at, at + length);
  const colon = name.indexOf(':');
  if (length === 0 || colon === 0) fail(scanner, 'syntax', at, `${expected} is expected`);
  if (
    colon > 0 &&
    (colon === length - 1 ||
      measureName(name.slice(colon + 1), 0) !== length - colon - 1 ||
      name.includes(':', colon + 1))
  ) {
    fail(scanner, 'namespace', at, `${shortenName(name)} is no name with a prefix`);
  }
  scanner.at = at + length;
  return name;
}

/** What stands at the scanner's place after white space, comments and processing instructions. */
export type Next = 'start-tag' | 'end-tag' | 'text' | 'end';

/** Moves behind white space, comments and processing instructions. Refuses declarations and CDATA sections. */
export function skipMiscellany(scanner: Scanner): Next {
  const { text } = scanner;
  for (;;) {
    skipSpace(scanner);
    if (scanner.at >= text.length) return 'end';
    if (text.charCodeAt(scanner.at) !== lessThan) return 'text';
    const next = text.charCodeAt(scanner.at + 1);
    if (next === slash) return 'end-tag';
    if (next === 0x3f /* ? */) skipInstruction(scanner);
    else if (next === 0x21 /* ! */) skipComment(scanner);
    else return 'start-tag';
  }
}

/** Moves behind the comment at "<!". */
export function skipComment(scanner: Scanner): void {
  const { text, at } = scanner;
  if (!text.startsWith('<!--', at)) refuseDeclaration(scanner);
  const end = text.indexOf('--', at + 4);
  if (end < 0 || text[end + 2] !== '>') {
    fail(scanner, 'syntax', end < 0 ? at : end, 'a comment may not contain "--", and must end with "-->"');
  }
  scanner.at = end + 3;
}

function refuseDeclaration(scanner: Scanner): never {
  const { text, at } = scanner;
  if (text.startsWith('<!DOCTYPE', at)) {
    fail(scanner, 'doctype', at, 'a DOCTYPE is not accepted: a FHIR resource has no DTD');
  }
  if (text.startsWith('<![CDATA[', at)) fail(scanner, 'structure', at, 'a CDATA section is not accepted');
  return fail(scanner, 'syntax', at, '"<!" begins no comment');
}

/** Moves behind the processing instruction at "<?". */
export function skipInstruction(scanner: Scanner): void {
  const { text, at } = scanner;
  const target = text.slice(at + 2, at + 2 + measureName(text, at + 2));
  const end = text.indexOf('?>', at + 2 + target.length);
  if (target === '' || end < 0 || (end > at + 2 + target.length && !/\s/.test(text.charAt(at + 2 + target.length)))) {
    fail(scanner, 'syntax', at, 'a processing instruction must have a target and end with "?>"');
  }
  if (target.includes(':')) fail(scanner, 'namespace', at, 'the target of a processing instruction may have no colon');
  if (target.toLowerCase() === 'xml') {
    fail(scanner, 'syntax', at, 'the XML declaration may stand at the very beginning of the text only');
  }
  scanner.at = end + 2;
}
