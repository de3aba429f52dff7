/**
 * Markdown as HTML (https://github.github.com/gfm/). marked reads it; this writes it, so that no markup of a text reaches a
 * page, and no link leads where the page does not want it to. Code blocks of different languages that follow each other are
 * tabs (docs/decisions/0337).
 */
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { type Html, html, joinHtml } from './html.ts';
import { findTabLabel, renderTabs } from './tabs.ts';

/** Where a link of the text leads: a URL, or undefined for one that cannot be followed here and stays text. */
export type ResolveLink = (target: string) => string | undefined;

export interface Section {
  /** Fragment of the heading. Empty: what comes before the first. */
  readonly id: string;
  readonly depth: number;
  readonly title: string;
  /** All that is said below the heading, without markup. */
  readonly text: string;
}

export interface RenderedMarkdown {
  readonly body: Html;
  readonly sections: readonly Section[];
}

/** Renders a document. Raw HTML in it is shown as text; comments are left out. */
export function renderMarkdown(text: string, resolveLink: ResolveLink): RenderedMarkdown {
  const writer = new Writer(resolveLink);
  const tokens = lexer(text);
  return { body: writer.blocks(tokens), sections: listSections(tokens) };
}

/** A description; one of a single paragraph is no block. */
export function renderText(text: string): Html {
  const tokens = lexer(text).filter(({ type }) => type !== 'space');
  const writer = new Writer(resolveWebLink);
  const [first] = tokens;
  return tokens.length === 1 && first?.type === 'paragraph' ? writer.inline(first.tokens ?? []) : writer.blocks(tokens);
}

/** Links of descriptions: absolute URLs of the web, without those that only name something of ours. */
export function resolveWebLink(target: string): string | undefined {
  const isOpen = /^https?:\/\//.test(target) && URL.canParse(target);
  return isOpen && new URL(target).hostname !== 'praxis.health' ? target : undefined;
}

/** The fragment of a heading, as code hosts make it. */
export function slugHeading(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

class Writer {
  readonly #resolveLink: ResolveLink;
  #tabs = 0;

  constructor(resolveLink: ResolveLink) {
    this.#resolveLink = resolveLink;
  }

  blocks(tokens: readonly Token[]): Html {
    const shown = tokens.filter(({ type }) => type !== 'space');
    const written: Html[] = [];
    for (let at = 0; at < shown.length; ) {
      const run = takeTabs(shown.slice(at));
      if (run.length > 1) written.push(this.#tabsOf(run));
      else written.push(this.#block(shown[at] as MarkedToken));
      at += Math.max(1, run.length);
    }
    return joinHtml(written, '\n');
  }

  #tabsOf(run: readonly Tokens.Code[]): Html {
    this.#tabs += 1;
    const panels = run.map((token) => ({ label: findTabLabel(token.lang) ?? '', body: renderCode(token) }));
    return renderTabs(`code-${this.#tabs}`, panels);
  }

  #block(token: MarkedToken): Html {
    switch (token.type) {
      case 'heading':
        return heading(token, this.inline(token.tokens));
      case 'paragraph':
        return html`<p>${this.inline(token.tokens)}</p>`;
      case 'text':
        return token.tokens === undefined ? html`${decode(token.text)}` : this.inline(token.tokens);
      case 'code':
        return renderCode(token);
      case 'list':
        return this.#list(token);
      case 'table':
        return this.#table(token);
      case 'blockquote':
        return html`<blockquote>${this.blocks(token.tokens)}</blockquote>`;
      case 'hr':
        return html`<hr>`;
      case 'html':
        return rawHtml(token.text);
      default:
        return this.#inlineToken(token);
    }
  }

  #list({ ordered, start, items }: Tokens.List): Html {
    const written = items.map((item) => html`<li>${this.blocks(item.tokens)}</li>`);
    if (!ordered) return html`<ul>${written}</ul>`;
    return start === 1 || start === '' ? html`<ol>${written}</ol>` : html`<ol start="${start}">${written}</ol>`;
  }

  #table({ header, rows }: Tokens.Table): Html {
    const head = header.map((cell) => html`<th scope="col">${this.inline(cell.tokens)}</th>`);
    const body = rows.map((row) => html`<tr>${row.map((cell) => html`<td>${this.inline(cell.tokens)}</td>`)}</tr>`);
    return renderTable(html`<tr>${head}</tr>`, body);
  }

  inline(tokens: readonly Token[]): Html {
    return joinHtml(tokens.map((token) => this.#inlineToken(token as MarkedToken)));
  }

  #inlineToken(token: MarkedToken): Html {
    switch (token.type) {
      case 'text':
        return token.tokens === undefined ? html`${decode(token.text)}` : this.inline(token.tokens);
      case 'escape':
        return html`${token.text}`;
      case 'codespan':
        return html`<code>${token.text}</code>`;
      case 'strong':
        return html`<strong>${this.inline(token.tokens)}</strong>`;
      case 'em':
        return html`<em>${this.inline(token.tokens)}</em>`;
      case 'del':
        return html`<del>${this.inline(token.tokens)}</del>`;
      case 'br':
        return html`<br>`;
      case 'link':
        return this.#link(token);
      case 'html':
        return rawHtml(token.text);
      default:
        return html`${token.raw}`; // images among others: the pages load nothing
    }
  }

  #link({ href, tokens }: Tokens.Link): Html {
    const url = this.#resolveLink(href);
    const text = this.inline(tokens);
    if (url === undefined) return text;
    return html`<a href="${url}"${isForeign(url) && html` rel="noreferrer"`}>${text}</a>`;
  }
}

function isForeign(url: string): boolean {
  return /^https?:/.test(url);
}

/** The code blocks at the beginning that are tabs of one group: each in a language of its own. */
function takeTabs(tokens: readonly Token[]): readonly Tokens.Code[] {
  const run: Tokens.Code[] = [];
  const labels = new Set<string>();
  for (const token of tokens) {
    const label = token.type === 'code' ? findTabLabel((token as Tokens.Code).lang) : undefined;
    if (label === undefined || labels.has(label)) break;
    labels.add(label);
    run.push(token as Tokens.Code);
  }
  return run;
}

/** A table that is scrolled by itself where it is too wide. */
export function renderTable(head: Html, rows: readonly Html[]): Html {
  return html`<div class="wide"><table><thead>${head}</thead><tbody>${rows}</tbody></table></div>`;
}

/** A block of code. Diagrams stay what they are written in, closed: the tables beside them say the same. */
function renderCode({ lang = '', text }: Pick<Tokens.Code, 'lang' | 'text'>): Html {
  const block = html`<pre tabindex="0"><code>${text}</code></pre>`;
  return lang === 'mermaid' ? html`<details><summary>Diagram as Mermaid</summary>${block}</details>` : block;
}

function heading({ depth, text, tokens }: Tokens.Heading, content: Html): Html {
  const id = slugHeading(plain(tokens) || text);
  switch (depth) {
    case 1:
      return html`<h1>${content}</h1>`;
    case 2:
      return html`<h2 id="${id}">${content}</h2>`;
    case 3:
      return html`<h3 id="${id}">${content}</h3>`;
    default:
      return html`<h4 id="${id}">${content}</h4>`;
  }
}

/** Markup of a text is text; comments are for those who edit it. */
function rawHtml(text: string): Html {
  const shown = text.replaceAll(/<!--.*?-->/gs, '').trim();
  return html`${shown === '' ? undefined : shown}`;
}

const references: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0' };

/** Character references of Markdown's text, those that are used: https://spec.commonmark.org/0.31.2/#entity-and-numeric-character-references */
function decode(text: string): string {
  return text.replaceAll(/&(\w+);/g, (whole, name: string) => references[name] ?? whole);
}

/** Headings of the first three depths, each with what follows it. */
function listSections(tokens: readonly Token[]): readonly Section[] {
  const sections: { id: string; depth: number; title: string; texts: string[] }[] = [];
  let current = { id: '', depth: 1, title: '', texts: [] as string[] };
  sections.push(current);
  for (const token of tokens) {
    if (token.type === 'heading' && (token as Tokens.Heading).depth <= 3) {
      const { depth, tokens: inside } = token as Tokens.Heading;
      const title = plain(inside);
      if (depth === 1) current.title = title;
      else {
        current = { id: slugHeading(title), depth, title, texts: [] };
        sections.push(current);
      }
    } else current.texts.push(plain([token]));
  }
  return sections.map(({ texts, ...section }) => ({
    ...section,
    text: texts.join(' ').replaceAll(/\s+/g, ' ').trim(),
  }));
}

/** The text of tokens without markup. */
function plain(tokens: readonly Token[]): string {
  return tokens
    .map((given) => {
      const token = given as MarkedToken;
      if (token.type === 'html') return '';
      if (token.type === 'list') return token.items.map((item) => plain(item.tokens)).join(' ');
      if (token.type === 'table')
        return [token.header, ...token.rows].map((row) => row.map((cell) => plain(cell.tokens)).join(' ')).join(' ');
      if ('tokens' in token && token.tokens !== undefined) return plain(token.tokens);
      return 'text' in token ? token.text : '';
    })
    .join('');
}
