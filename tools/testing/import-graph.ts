/** Which file imports which: sources, tests, tools. What a file names relative to itself by `new URL(…)` counts as imported. */
import { posix } from 'node:path';
import { type Import, importsOf } from '../architecture/imports.ts';
import { targetOf } from '../architecture/place.ts';
import { readTree, type SourceFile } from '../architecture/tree.ts';

export interface Link {
  /** A path from the root, a folder without its `/`, or the name of a built-in or of a dependency. */
  readonly to: string;
  /** Of types alone: nothing of it is left when the file runs. */
  readonly isType: boolean;
}

/** By the path of the importing file. */
export type ImportGraph = ReadonlyMap<string, readonly Link[]>;

/** Reads the imports of all sources under `root`. */
export function readImportGraph(root: string): ImportGraph {
  const files = readTree(root).files.filter(({ path }) => !path.endsWith('.sql'));
  const imports = new Map(files.map(({ path, text }) => [path, importsOf(text)] as const));
  return new Map(files.map((file) => [file.path, linksIn(file, imports)]));
}

function linksIn({ path, text }: SourceFile, imports: ReadonlyMap<string, readonly Import[]>): Link[] {
  const imported = (imports.get(path) ?? []).flatMap((item) => {
    if (item.specifier === undefined) return [];
    const target = targetOf(path, item.specifier);
    if (target.kind === 'package') return exporters(target.name, item, imports);
    return [{ to: target.kind === 'file' ? target.path : target.name, isType: item.isType }];
  });
  const named = [...text.matchAll(/new URL\(\s*['"`](\.[^'"`$]*)['"`],\s*import\.meta\.url/g)].map(([, name = '']) => ({
    to: posix.join(posix.dirname(path), name).replace(/\/$/, ''),
    isType: false,
  }));
  return [...imported, ...named];
}

/** The files behind the index of a package that export what an import names. */
function exporters(name: string, item: Import, imports: ReadonlyMap<string, readonly Import[]>): Link[] {
  const index = `packages/${name}/src/index.ts`;
  const handedOn = imports.get(index) ?? [];
  return item.names.map((wanted) => {
    const from = handedOn.find(({ isReexport, names }) => isReexport && names.includes(wanted));
    if (from?.specifier === undefined) return { to: index, isType: item.isType };
    return { to: posix.join(posix.dirname(index), from.specifier), isType: item.isType };
  });
}

/** Everything that runs when `path` does: what it imports, and what that imports; itself too. */
export function findReached(graph: ImportGraph, path: string): ReadonlySet<string> {
  const reached = new Set([path]);
  // A set hands out what is added while it is walked.
  for (const file of reached) for (const { to, isType } of graph.get(file) ?? []) if (!isType) reached.add(to);
  return reached;
}

/**
 * The files that reach one of `targets`, and these themselves. `stops` are not gone through: who imports one of them
 * does not reach what lies behind it.
 */
export function findImporters(
  graph: ImportGraph,
  targets: readonly string[],
  isStop: (path: string) => boolean,
): ReadonlySet<string> {
  const importers = new Map<string, string[]>();
  for (const [path, links] of graph)
    for (const { to, isType } of links) if (!isType) importers.set(to, [...(importers.get(to) ?? []), path]);
  const found = new Set(targets.flatMap((path) => [path, ...foldersOf(path)]));
  for (const file of found)
    if (!isStop(file) || targets.includes(file)) for (const importer of importers.get(file) ?? []) found.add(importer);
  return found;
}

/** Who reads a whole folder reads the file. */
function foldersOf(path: string): string[] {
  const folder = posix.dirname(path);
  return folder === '.' ? [] : [folder, ...foldersOf(folder)];
}
