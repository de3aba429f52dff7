/**
 * A page as a browser would read it, as far as tests look: every element is closed where HTML asks for it, attributes are in
 * double quotes, and text holds no markup.
 */
import assert from 'node:assert/strict';

export interface PageElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** The text inside, that of elements inside it too. */
  text: string;
}

export interface ParsedPage {
  readonly elements: readonly PageElement[];
  /** Elements and texts, as a browser counts its nodes. */
  readonly nodes: number;
}

/** https://html.spec.whatwg.org/multipage/syntax.html#void-elements */
const voidElements: ReadonlySet<string> = new Set(['meta', 'link', 'input', 'br', 'hr']);
/** Their content is not read as HTML. */
const rawElements: ReadonlySet<string> = new Set(['script', 'style', 'textarea', 'title']);

const references: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

const tagPattern = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*>/y;

/** Reads a page. @throws AssertionError where it is not well-formed */
export function parsePage(page: string): ParsedPage {
  const body = page.replace(/^<!doctype html>\n/, '');
  assert.notEqual(body, page, 'a page begins with its doctype');
  const elements: PageElement[] = [];
  const open: PageElement[] = [];
  let nodes = 1;
  let at = 0;
  const addText = (text: string): void => {
    if (text === '') return;
    assert.doesNotMatch(text, /[<>"]|&(?!(?:amp|lt|gt|quot|#39);)/, `text is escaped: ${text.slice(0, 200)}`);
    nodes += 1;
    for (const element of open) element.text += decode(text);
  };
  while (at < body.length) {
    const next = body.indexOf('<', at);
    addText(body.slice(at, next < 0 ? body.length : next));
    if (next < 0) break;
    tagPattern.lastIndex = next;
    const [tag = '', slash, name = '', attributes = ''] = tagPattern.exec(body) ?? [];
    assert.notEqual(tag, '', `a tag: ${body.slice(next, next + 200)}`);
    at = next + tag.length;
    if (slash === '/') {
      assert.equal(open.pop()?.name, name, `${name} ends what is open: ${body.slice(next - 200, next + 20)}`);
      continue;
    }
    nodes += 1;
    const element: PageElement = { name, attributes: readAttributes(attributes), text: '' };
    elements.push(element);
    if (voidElements.has(name)) continue;
    if (rawElements.has(name)) {
      const end = body.indexOf(`</${name}>`, at);
      assert.ok(end >= 0, `${name} ends`);
      element.text = decode(body.slice(at, end));
      nodes += 1;
      at = end + name.length + 3;
    } else open.push(element);
  }
  assert.deepEqual(open, []);
  return { elements, nodes };
}

function readAttributes(text: string): ReadonlyMap<string, string> {
  const listed = [...text.matchAll(/([a-z-]+)(?:="([^"]*)")?/g)].map(
    ([, name = '', value = '']) => [name, decode(value)] as const,
  );
  const map = new Map(listed);
  assert.equal(map.size, listed.length, `each attribute stands once: ${text}`);
  return map;
}

function decode(text: string): string {
  return text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (reference) => references[reference] ?? '');
}

/** The elements of a name. */
export function listElements({ elements }: ParsedPage, name: string): readonly PageElement[] {
  return elements.filter((element) => element.name === name);
}
