/** The files that the architecture is about, read once. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface SourceFile {
  /** From the root of the repository, with `/`. */
  readonly path: string;
  readonly text: string;
  /** Written by a generator: only its place is checked. */
  readonly isGenerated: boolean;
}

export interface Tree {
  readonly files: readonly SourceFile[];
  /** Directory under packages/ → names of packages that its package.json declares; `''` is the root. */
  readonly dependencies: ReadonlyMap<string, ReadonlySet<string>>;
}

const sourceEndings = /\.(ts|tsx|mts|js|mjs|sql)$/;

/** Reads packages/<name>/{src,bin,test}, tools, bench and examples under `root`. */
export function readTree(root: string): Tree {
  const names = existsSync(join(root, 'packages')) ? readdirSync(join(root, 'packages')) : [];
  const directories = names.flatMap((name) => ['src', 'bin', 'test'].map((part) => `packages/${name}/${part}`));
  const files = [...directories, 'tools', 'bench', 'examples'].flatMap((directory) => readSources(root, directory));
  const dependencies = new Map(['', ...names].map((name) => [name, readDependencies(root, name)] as const));
  return { files, dependencies };
}

function readSources(root: string, directory: string): SourceFile[] {
  if (!existsSync(join(root, directory))) return [];
  return readdirSync(join(root, directory), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && sourceEndings.test(entry.name))
    .map((entry) => {
      const path = join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/');
      return { path, text: readFileSync(join(root, path), 'utf8'), isGenerated: path.includes('/generated/') };
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

function readDependencies(root: string, name: string): ReadonlySet<string> {
  const file = join(root, name === '' ? '' : `packages/${name}`, 'package.json');
  if (!existsSync(file)) return new Set();
  const text: Record<string, Record<string, string> | undefined> = JSON.parse(readFileSync(file, 'utf8'));
  return new Set(
    ['dependencies', 'devDependencies', 'peerDependencies'].flatMap((key) => Object.keys(text[key] ?? {})),
  );
}
