/**
 * Which test file runs which part of which source, as V8 counts it by blocks (https://v8.dev/blog/javascript-code-coverage).
 * Type stripping keeps every character in its place, so V8's offsets are those of the TypeScript source.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Parts that ran: pairs of offsets, first included and last not, in order. */
export type Parts = readonly number[];

interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
  readonly count: number;
}

interface Script {
  readonly url: string;
  readonly functions: readonly { readonly ranges: readonly Range[] }[];
}

/**
 * Calls `run` with the environment in which processes write what they cover. Returns that, by the source's path from the
 * root, beside what `run` returns.
 * @param folders of sources, from the root
 */
export async function coverageOf<T>(
  root: string,
  folders: readonly string[],
  run: (environment: Readonly<Record<string, string>>) => Promise<T>,
): Promise<{ readonly outcome: T; readonly parts: Readonly<Record<string, Parts>> }> {
  const directory = mkdtempSync(join(root, 'coverage-'));
  try {
    // Code from a compile cache is counted less precisely.
    const outcome = await run({ NODE_V8_COVERAGE: directory, NODE_DISABLE_COMPILE_CACHE: '1' });
    const scripts = readdirSync(directory).flatMap((name): readonly Script[] => {
      const { result }: { result: readonly Script[] } = JSON.parse(readFileSync(join(directory, name), 'utf8'));
      return result;
    });
    return { outcome, parts: partsOf(root, folders, scripts) };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function partsOf(root: string, folders: readonly string[], scripts: readonly Script[]): Record<string, Parts> {
  const base = `${pathToFileURL(root).href}/`;
  const ran = new Map<string, Uint8Array>();
  for (const { url, functions } of scripts) {
    const path = url.slice(base.length);
    // A copy of a module that a test has loaded under a name with a query has another text.
    if (!url.startsWith(base) || path.includes('?') || !folders.some((folder) => path.startsWith(`${folder}/`)))
      continue;
    const own = painted(functions.flatMap(({ ranges }) => ranges));
    const known = ran.get(path);
    ran.set(path, known ? own.map((value, at) => value | (known[at] ?? 0)) : own);
  }
  return Object.fromEntries([...ran].map(([path, bytes]) => [path, intervals(bytes)]));
}

/** One byte per character: 1 where it ran. Inner ranges come after the outer ones that they correct. */
function painted(ranges: readonly Range[]): Uint8Array {
  const bytes = new Uint8Array(Math.max(0, ...ranges.map(({ endOffset }) => endOffset)));
  const ordered = ranges.toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ordered) bytes.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  return bytes;
}

function intervals(bytes: Uint8Array): number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(1); at >= 0; ) {
    const end = bytes.indexOf(0, at);
    found.push(at, end < 0 ? bytes.length : end);
    at = end < 0 ? -1 : bytes.indexOf(1, end);
  }
  return found;
}

/** Whether the character at the offset ran. */
export function ran(parts: Parts | undefined, offset: number): boolean {
  return parts?.some((begin, at) => at % 2 === 0 && begin <= offset && offset < (parts[at + 1] ?? 0)) ?? false;
}
