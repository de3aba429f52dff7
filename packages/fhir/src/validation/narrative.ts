/**
 * The xhtml of a narrative: one well-formed div with harmless elements and attributes only, and some content.
 * Checks, never repairs. Text that an XML parser and an HTML parser would read differently (CDATA, comments that begin
 * with `>`) is refused, so that nothing can hide from one of them.
 *
 * https://hl7.org/fhir/R4/narrative.html#xhtml (txt-1, txt-2)
 */
import { shortenName } from '../text-error.ts';
import { findReferenceProblem, notXmlCharacter, withoutReferences } from '../xml/characters.ts';
import { xhtmlNamespace } from '../xml/namespaces.ts';
import { narrativeElements, narrativeUrlSchemes } from './narrative-vocabulary.ts';

/** Characters of a name that a message quotes, at most. */
const quotedMax = 32;

/** Elements open inside each other, at most. */
const nestingMax = 200;

interface Scanner {
  readonly text: string;
  at: number;
  /** The elements that are open, outermost first. */
  readonly open: string[];
  /** Whether there was text or an image: txt-2. */
  content: boolean;
  /** Whether the text has "]]>" anywhere. */
  readonly brackets: boolean;
  /** Offset of the next "&" from `at` on, or beyond the end. */
  ampersand: number;
}

/** What is wrong with the value of Narrative.div, beginning with "must" or "may"; undefined if nothing is. */
export function findNarrativeProblem(text: string): string | undefined {
  const scanner: Scanner = { text, at: 0, open: [], content: false, brackets: text.includes(']]>'), ampersand: -1 };
  if (!/^\s*<div[\s>/]/.test(text)) return 'must be a <div> element';
  if (notXmlCharacter.test(text)) return 'must be well-formed: a control character is no character of XML';
  while (scanner.at < text.length) {
    const tag = indexOrEnd(text, '<', scanner.at);
    const problem = textProblem(scanner, tag) ?? (tag === text.length ? undefined : markupProblem(scanner));
    if (problem !== undefined) return problem;
    if (scanner.open.length === 0) break;
  }
  const unclosed = scanner.open.at(-1);
  if (unclosed !== undefined) return `must be well-formed: <${unclosed}> is not closed`;
  if (text.slice(scanner.at).trim() !== '') return 'must be one <div>: nothing may follow it';
  return scanner.content ? undefined : 'must have some content: text or an image (txt-2)';
}

/** Checks the text between tags and moves to its end. */
function textProblem(scanner: Scanner, end: number): string | undefined {
  const { text, at } = scanner;
  scanner.at = end;
  if (end === at) return undefined;
  if (!scanner.content) scanner.content = scanner.open.length > 0 && /[^ \t\r\n]/.test(text.slice(at, end));
  if (scanner.brackets && text.slice(at, end).includes(']]>'))
    return 'must be well-formed: "]]>" must be written "]]&gt;"';
  if (scanner.ampersand < at) scanner.ampersand = indexOrEnd(text, '&', at);
  return scanner.ampersand < end ? entityProblem(text.slice(at, end)) : undefined;
}

function indexOrEnd(text: string, wanted: string, from: number): number {
  const index = text.indexOf(wanted, from);
  return index < 0 ? text.length : index;
}

function markupProblem(scanner: Scanner): string | undefined {
  const next = scanner.text.charAt(scanner.at + 1);
  if (next === '/') return endTagProblem(scanner);
  if (next === '!' && scanner.text.startsWith('<!--', scanner.at)) return commentProblem(scanner);
  if (next === '!' || next === '?') return 'may not contain CDATA sections, declarations or processing instructions';
  return startTagProblem(scanner);
}

function commentProblem(scanner: Scanner): string | undefined {
  const { text } = scanner;
  const start = scanner.at + 4;
  const end = text.indexOf('--', start);
  if (end < 0 || text[end + 2] !== '>' || text[start] === '>' || text.startsWith('->', start)) {
    return 'must be well-formed: a comment may neither begin with ">" nor contain "--", and must end';
  }
  scanner.at = end + 3;
  return undefined;
}

const greaterThan = 0x3e; /* > */

const endTag = /<\/([A-Za-z][\w:.-]*)\s*>/y;

function endTagProblem(scanner: Scanner): string | undefined {
  if (passPlainEndTag(scanner)) return undefined;
  endTag.lastIndex = scanner.at;
  const name = endTag.exec(scanner.text)?.[1];
  if (name === undefined) return `must be well-formed: an end tag is broken at character ${scanner.at + 1}`;
  const expected = scanner.open.pop();
  if (name !== expected)
    return `must be well-formed: </${shortenName(name, quotedMax)}> does not close <${expected ?? ''}>`;
  scanner.at = endTag.lastIndex;
  return undefined;
}

/** Moves behind an end tag that has no white space and closes what is open, as almost all do. */
function passPlainEndTag(scanner: Scanner): boolean {
  const { text, at, open } = scanner;
  const expected = open.at(-1) ?? '';
  const end = at + 2 + expected.length;
  if (expected === '' || text.charCodeAt(end) !== greaterThan || !text.startsWith(expected, at + 2)) return false;
  open.pop();
  scanner.at = end + 1;
  return true;
}

const startOfTag = /<([A-Za-z][\w:.-]*)/y;
const attribute = /\s+([A-Za-z_][\w:.-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/y;
const endOfTag = /\s*(\/?)>/y;

function startTagProblem(scanner: Scanner): string | undefined {
  if (passPlainStartTag(scanner)) return undefined;
  startOfTag.lastIndex = scanner.at;
  const name = startOfTag.exec(scanner.text)?.[1];
  if (name === undefined) return `must be well-formed: "<" begins no tag at character ${scanner.at + 1}`;
  const allowed = narrativeElements.get(name);
  if (allowed === undefined) return `may not contain the element <${shortenName(name, quotedMax)}> (txt-1)`;
  scanner.at = startOfTag.lastIndex;
  const problem = attributesProblem(scanner, name, allowed);
  if (problem !== undefined) return problem;
  const isEmpty = passEndOfTag(scanner);
  if (isEmpty === undefined)
    return `must be well-formed: the attributes of <${name}> are broken at character ${scanner.at + 1}`;
  if (name === 'img') scanner.content = true;
  if (!isEmpty) scanner.open.push(name);
  return scanner.open.length > nestingMax ? `may nest elements ${nestingMax} deep at most` : undefined;
}

/** Longer than the name of any element of a narrative. */
const plainTagMax = 16;

/** Moves behind a start tag that has neither attributes nor white space, as most do. */
function passPlainStartTag(scanner: Scanner): boolean {
  const { text, at, open } = scanner;
  if (open.length === 0 || open.length >= nestingMax) return false;
  let end = at + 1;
  while (end - at < plainTagMax && isLetterOrDigit(text.charCodeAt(end))) end += 1;
  if (text.charCodeAt(end) !== greaterThan) return false;
  const name = text.slice(at + 1, end);
  if (!narrativeElements.has(name)) return false;
  if (name === 'img') scanner.content = true;
  open.push(name);
  scanner.at = end + 1;
  return true;
}

/** Of ASCII. */
function isLetterOrDigit(code: number): boolean {
  return (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a);
}

/** Moves behind the end of a start tag. @returns whether its element has no content; undefined where there is no such end */
function passEndOfTag(scanner: Scanner): boolean | undefined {
  if (scanner.text.charCodeAt(scanner.at) === greaterThan) {
    scanner.at += 1;
    return false;
  }
  endOfTag.lastIndex = scanner.at;
  const end = endOfTag.exec(scanner.text);
  if (end === null) return undefined;
  scanner.at = endOfTag.lastIndex;
  return end[1] !== '';
}

/** Checks the attributes of a start tag and moves behind them. */
function attributesProblem(scanner: Scanner, element: string, allowed: ReadonlySet<string>): string | undefined {
  const { text, open } = scanner;
  let names: string[] | undefined;
  while (text.charCodeAt(scanner.at) <= 0x20) {
    attribute.lastIndex = scanner.at;
    const match = attribute.exec(text);
    if (match === null) break;
    const name = match[1] ?? '';
    const value = match[2] ?? match[3] ?? '';
    if (!allowed.has(name))
      return `may not contain the attribute ${shortenName(name, quotedMax)} at <${element}> (txt-1)`;
    if (names?.includes(name)) return `must be well-formed: <${element}> has the attribute ${name} twice`;
    names = names === undefined ? [name] : [...names, name];
    const problem = valueProblem(element, name, value);
    if (problem !== undefined) return problem;
    scanner.at = attribute.lastIndex;
  }
  if (open.length === 0 && !names?.includes('xmlns')) return `must have the namespace: <div xmlns="${xhtmlNamespace}">`;
  return undefined;
}

function valueProblem(element: string, name: string, value: string): string | undefined {
  const problem = value.includes('&') ? entityProblem(value) : undefined;
  if (problem !== undefined) return problem;
  if (name === 'xmlns' && value !== xhtmlNamespace) return `must have the namespace: <div xmlns="${xhtmlNamespace}">`;
  if (name === 'style') return styleProblem(element, withoutReferences(value));
  const schemes = narrativeUrlSchemes.get(name);
  return schemes === undefined ? undefined : urlProblem(element, name, withoutReferences(value), schemes);
}

/** Browsers skip control characters and white space in a scheme, and so do we before we look at it. */
function urlProblem(element: string, name: string, value: string, schemes: ReadonlySet<string>): string | undefined {
  const url = value.replace(/[\u0000-\u0020\u007f-\u00a0]+/g, '').toLowerCase();
  const scheme = /^([^/?#:]*):/.exec(url)?.[1];
  if (scheme === undefined) return undefined;
  if (!schemes.has(scheme))
    return `may not contain the URL scheme ${shortenName(scheme, quotedMax)}: in ${name} of <${element}> (txt-1)`;
  if (scheme === 'data' && !pixelImage.test(url)) {
    return `may contain data: URLs of pixel images only: in ${name} of <${element}> (txt-1)`;
  }
  return undefined;
}

const styleThreat = /\\|\/\*|@import|expression\s*\(|behaviou?r\s*:|-moz-binding|javascript:/i;
const styleUrl = /url\s*\(\s*["']?\s*([^\s"')][^"')]*)?/gi;
const pixelImage = /^data:\s*image\/(?:png|gif|jpeg|webp|bmp)[;,]/i;

function styleProblem(element: string, value: string): string | undefined {
  const external = [...value.matchAll(styleUrl)].some(([, target]) => !pixelImage.test(target ?? ''));
  if (!external && !styleThreat.test(value)) return undefined;
  return `may not contain escapes, comments, imports, scripts or external URLs in style of <${element}> (txt-1)`;
}

function entityProblem(text: string): string | undefined {
  const problem = findReferenceProblem(text);
  return problem === undefined ? undefined : `must be well-formed: ${problem.text}`;
}
