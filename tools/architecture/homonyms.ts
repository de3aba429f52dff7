/** Names with two meanings: a reader has to look up which of them is meant. */
import { posix } from 'node:path';
import { findIndexOwner, placeOf } from './place.ts';
import type { SourceFile } from './tree.ts';

export interface Homonym {
  readonly name: string;
  /** The files that declare and export it, in order. */
  readonly paths: readonly string[];
}

const declaration =
  /^export (?:declare |abstract |async )*(?:function\*?|const|let|class|interface|type|enum) ([A-Za-z_$][\w$]*)/gm;

/** `export { a, type b, c as d } from '…'`, and `export * from '…'`. */
const reexport = /^export (?:type )?(?:\{([^}]*)\}|\*) from '([^']+)'/gm;

/**
 * Names that two files of the server declare and export, where both files are of one module, or of two of which one imports
 * the other. Each other package counts as a module: its index, with all names that it exports.
 * @param links file → the files that it imports, of a package its index
 */
export function homonymsOf(files: readonly SourceFile[], links: ReadonlyMap<string, readonly string[]>): Homonym[] {
  const meetings = meetingsOf(links);
  const meet = (one: string, other: string): boolean => {
    const [from, to] = [moduleOf(one), moduleOf(other)];
    return from === to || meetings.has(`${from} ${to}`) || meetings.has(`${to} ${from}`);
  };
  return [...exportersOf(files)].flatMap(([name, all]) => {
    const paths = all.filter((path) => all.some((other) => other !== path && meet(path, other)));
    return paths.length === 0 ? [] : [{ name, paths: paths.sort() }];
  });
}

/** Name → the sources of the server that declare and export it, and the indexes that export it. */
function exportersOf(files: readonly SourceFile[]): ReadonlyMap<string, string[]> {
  const exporters = new Map<string, string[]>();
  for (const file of files) {
    if (file.isGenerated || moduleOf(file.path) === undefined) continue;
    const names = new Set([...declaredIn(file), ...handedOnBy(file, files)]);
    for (const name of names) exporters.set(name, [...(exporters.get(name) ?? []), file.path]);
  }
  return exporters;
}

function declaredIn({ text }: SourceFile): string[] {
  return [...text.matchAll(declaration)].map(([, name = '']) => name);
}

/** What an index exports of the files of its package. */
function handedOnBy({ path, text }: SourceFile, files: readonly SourceFile[]): string[] {
  if (findIndexOwner(path) === undefined) return [];
  return [...text.matchAll(reexport)].flatMap(([, names, specifier = '']) => {
    if (names !== undefined) return names.split(',').flatMap((name) => name.match(/[\w$]+(?=\s*$)/) ?? []);
    const from = posix.join(posix.dirname(path), specifier);
    return files.filter((file) => file.path === from).flatMap(declaredIn);
  });
}

/** `importing imported`, of modules. */
function meetingsOf(links: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  return new Set([...links].flatMap(([path, targets]) => targets.map((to) => `${moduleOf(path)} ${moduleOf(to)}`)));
}

/** A module of the server, or another package; each feature of the practice counts as one. */
function moduleOf(path: string): string | undefined {
  const owner = findIndexOwner(path);
  if (owner !== undefined) return `@praxis/${owner}`;
  const { part, module, inner = '' } = placeOf(path);
  if (part !== 'src') return undefined;
  const [, feature, file] = inner.split('/');
  return module === 'practice' && file !== undefined ? `practice/${feature}` : module;
}
