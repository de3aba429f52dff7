/**
 * Checks that every relative link of a document leads to a file or directory, and its fragment to a heading, and that the map of the
 * documentation has every page.
 *
 *     node tools/check-links.ts
 */
import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

/** The documents of the project. */
const patterns = ['*.md', 'docs/**/*.md', 'changes/*.md', 'clients/*/*.md'];

/** The map of the documentation, and the pages that it has to link to. */
const map = 'docs/README.md';
const mappedPages = 'docs/*/*.md';
const isDecision = (path: string): boolean => path.startsWith('docs/decisions/'); // their index is generated

/** Lines that say which links under `root` lead nowhere, and which pages no link of the map leads to; none if all is well. */
export function checkLinks(root: string): string[] {
  return [...findBrokenLinks(root), ...findUnmappedPages(root)];
}

function findUnmappedPages(root: string): string[] {
  if (!existsSync(join(root, map))) return [];
  const mapped = new Set(
    linksIn(readFileSync(join(root, map), 'utf8')).map(({ target }) => normalize(join(dirname(map), target))),
  );
  return globSync(mappedPages, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .filter((path) => !mapped.has(path) && !isDecision(path))
    .map((path) => `${map} has no link to ${path}`);
}

function findBrokenLinks(root: string): string[] {
  const paths = patterns.flatMap((pattern) => globSync(pattern, { cwd: root }));
  return paths
    .map((path) => path.replaceAll('\\', '/'))
    .sort()
    .flatMap((path) =>
      linksIn(readFileSync(join(root, path), 'utf8')).flatMap(({ line, target, fragment }) => {
        const file = target === '' ? path : normalize(join(dirname(path), target));
        if (!existsSync(join(root, file))) return [`${path}:${line} links to ${file}, which does not exist`];
        if (fragment === '' || !file.endsWith('.md')) return [];
        const anchors = anchorsIn(readFileSync(join(root, file), 'utf8'));
        return anchors.has(fragment) ? [] : [`${path}:${line} links to ${file}#${fragment}, which is no heading there`];
      }),
    );
}

interface Link {
  readonly line: number;
  readonly target: string;
  readonly fragment: string;
}

/** Links to files of the project; those with a scheme are left out. */
function linksIn(document: string): readonly Link[] {
  return withoutCode(document).flatMap((text, index) =>
    [...text.matchAll(/\]\((?![a-z]+:)([^)\s#]*)(?:#([^)\s]*))?\)/g)].map(([, target = '', fragment = '']) => ({
      line: index + 1,
      target,
      fragment,
    })),
  );
}

/** The lines of a document; those of code blocks, and code between backticks, are empty. */
function withoutCode(document: string): readonly string[] {
  let isCode = false;
  return document.split('\n').map((line) => {
    const isFence = line.startsWith('```');
    if (isFence) isCode = !isCode;
    return isFence || isCode ? '' : line.replaceAll(/`[^`]*`/g, '');
  });
}

/** Fragments of the headings, as code hosts make them: lower case, hyphens for spaces, no punctuation. */
export function anchorsIn(document: string): ReadonlySet<string> {
  const headings = [...document.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

if (import.meta.main) {
  const lines = checkLinks(join(import.meta.dirname, '..'));
  for (const line of lines) console.error(line);
  process.exitCode = lines.length === 0 ? 0 : 1;
}
