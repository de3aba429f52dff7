/**
 * The narrative's div: taken from an XML text as it stands, since JSON holds it as XML, too.
 *
 * https://hl7.org/fhir/R4/narrative.html · https://hl7.org/fhir/R4/json.html#xhtml
 *
 * Only what makes the text well-formed is checked here; what may stand in a narrative is for the validator to judge.
 */
import { shortenName } from '../text-error.ts';
import { collectNamespaces, type Namespaces, parseNamePrefix, resolveNamespace, xhtmlNamespace } from './namespaces.ts';
import {
  fail,
  readEndTag,
  readStartTag,
  requireReferences,
  type Scanner,
  type StartTag,
  skipComment,
  skipInstruction,
} from './scanner.ts';

/** A part of the text that is left out or replaced. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** Reads the content and end of the div whose start tag was read. Returns it with its tags, in the xhtml namespace by default. */
export function readDiv(scanner: Scanner, div: StartTag, around: Namespaces): string {
  const inside = collectNamespaces(scanner, div, around);
  if (resolveNamespace(scanner, div.name, div.start, inside) !== xhtmlNamespace) {
    fail(scanner, 'namespace', div.start, `must be in the namespace of xhtml: <div xmlns="${xhtmlNamespace}">`);
  }
  const edits = divEdits(scanner, div);
  const open = div.empty ? [] : [div.name];
  while (open.length > 0) readNode(scanner, open, parseNamePrefix(div.name), edits);
  const length = scanner.at - div.start;
  if (length > scanner.limits.stringLengthMax) {
    fail(scanner, 'too-long', div.start, `a narrative may have ${scanner.limits.stringLengthMax} characters at most`);
  }
  return edited(scanner.text.slice(div.start, scanner.at), div.start, edits);
}

/** What a div without a default namespace of its own needs to be one that stands alone. */
function divEdits(scanner: Scanner, div: StartTag): Edit[] {
  const prefix = parseNamePrefix(div.name);
  const edits: Edit[] = prefix === '' ? [] : [prefixEdit(div.start + 1, prefix)];
  const own = div.attributes.find(({ name }) => name === 'xmlns');
  if (own === undefined) {
    const after = div.start + 1 + div.name.length;
    edits.push({ start: after, end: after, text: ` xmlns="${xhtmlNamespace}"` });
  } else if (own.value !== xhtmlNamespace) {
    fail(scanner, 'namespace', own.start, `must be in the namespace of xhtml: <div xmlns="${xhtmlNamespace}">`);
  }
  return edits;
}

function prefixEdit(start: number, prefix: string): Edit {
  return { start, end: start + prefix.length + 1, text: '' };
}

/** Reads text, a comment, an instruction, a CDATA section, a start tag or the end tag of the innermost open element. */
function readNode(scanner: Scanner, open: string[], prefix: string, edits: Edit[]): void {
  const { text } = scanner;
  const innermost = open.at(-1) ?? '';
  readText(scanner, innermost);
  const next = text.charAt(scanner.at + 1);
  if (next === '/') {
    if (prefix !== '') edits.push(prefixEdit(scanner.at + 2, prefix));
    readEndTag(scanner, innermost);
    open.pop();
  } else if (next === '?') skipInstruction(scanner);
  else if (text.startsWith('<![CDATA[', scanner.at)) {
    const end = text.indexOf(']]>', scanner.at);
    if (end < 0) fail(scanner, 'syntax', scanner.at, 'a CDATA section must end with "]]>"');
    scanner.at = end + 3;
  } else if (next === '!') skipComment(scanner);
  else readInnerTag(scanner, open, prefix, edits);
}

function readInnerTag(scanner: Scanner, open: string[], prefix: string, edits: Edit[]): void {
  const tag = readStartTag(scanner);
  if (parseNamePrefix(tag.name) !== prefix) {
    fail(scanner, 'namespace', tag.start, `<${shortenName(tag.name)}> must have the namespace prefix of its div`);
  }
  if (prefix !== '') edits.push(prefixEdit(tag.start + 1, prefix));
  if (!tag.empty) open.push(tag.name);
}

function readText(scanner: Scanner, element: string): void {
  const { text, at } = scanner;
  const end = text.indexOf('<', at);
  if (end < 0)
    fail(scanner, 'syntax', text.length, `<${shortenName(element)}> is not closed: found the end of the text`);
  const part = text.slice(at, end);
  if (part.includes('&')) requireReferences(scanner, part, at);
  if (part.includes(']]>')) fail(scanner, 'syntax', at + part.indexOf(']]>'), '"]]>" must be written "]]&gt;"');
  scanner.at = end;
}

function edited(text: string, start: number, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const parts: string[] = [];
  let at = 0;
  for (const edit of edits) {
    parts.push(text.slice(at, edit.start - start), edit.text);
    at = edit.end - start;
  }
  return parts.join('') + text.slice(at);
}
