/**
 * The guides for vendors: the pages of docs/integrate, in the order of docs/README.md.
 */
import { existsSync, readFileSync } from 'node:fs';
import { buildGuidePath } from './addresses.ts';
import type { Html } from './markup/html.ts';
import { type RenderedMarkdown, renderMarkdown, type Section } from './markup/markdown.ts';

export interface Guide {
  /** Name of its file: `first-call`. */
  readonly name: string;
  readonly title: string;
  /** The question that it answers. */
  readonly question: string;
}

export interface RenderedGuide extends Guide {
  readonly body: Html;
  readonly sections: readonly Section[];
}

const folder = new URL('../../../../docs/', import.meta.url);

/** The guides that there are; none where the documentation is not installed. */
export function listGuides(): readonly Guide[] {
  const map = new URL('README.md', folder);
  if (!existsSync(map)) return [];
  const rows = readFileSync(map, 'utf8').matchAll(/^\| \[([^\]]+)\]\(integrate\/([a-z0-9-]+)\.md\) \| (.*) \|$/gm);
  return [...rows].map(([, title = '', name = '', question = '']) => ({ name, title, question }));
}

/** The guide as HTML. Links lead to other guides; what is not served stays text. */
export function renderGuide(guide: Guide): RenderedGuide {
  const text = readFileSync(new URL(`integrate/${guide.name}.md`, folder), 'utf8');
  const names = new Set(listGuides().map(({ name }) => name));
  const rendered: RenderedMarkdown = renderMarkdown(text, (target) => resolveGuideLink(target, names));
  return { ...guide, ...rendered };
}

/** The URL of a link of a guide; undefined where it leads to what is in the repository alone. */
function resolveGuideLink(target: string, names: ReadonlySet<string>): string | undefined {
  if (/^https?:\/\//.test(target) || target.startsWith('#')) return target;
  const [, name = '', fragment = ''] = /^([a-z0-9-]+)\.md(#.*)?$/.exec(target) ?? [];
  return names.has(name) ? buildGuidePath(name) + fragment : undefined;
}
